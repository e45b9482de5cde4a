"""Platt's sigmoid calibration."""

import warnings
from typing import TYPE_CHECKING, Literal, Self

from calibrant import passes
from calibrant._core import _late as late
from calibrant._core._field_groups import Record
from calibrant._core._fields import Choice, Flag, Number, Whole
from calibrant._core._place import Place
from calibrant.calibrators._method import ScoreCalibrator
from calibrant.calibrators._registry import ScoreKind
from calibrant.maps import Logistic, Map

if TYPE_CHECKING:
    from calibrant.passes import Learning, LogisticAnswer

#: What of the score is used, by the name that the parameter has.
FEATURES_OF = {"identity": "score", "logit": "log_odds"}
TRANSFORM = Choice(*FEATURES_OF)


class SigmoidCalibrator(ScoreCalibrator, name="sigmoid"):
    """Calibrate one score by a sigmoid, after Platt.

    The map is ``P = 1/(1 + exp(A f + B))`` with A and B of greatest likelihood; a useful score has
    A < 0. Two parameters need few rows, and serve well where the scores are margins.

    Parameters
    ----------
    smooth : bool, default=True
        Fit to Platt's targets ``(N+ + 1)/(N+ + 2)`` and ``1/(N- + 2)`` instead of 1 and 0. With False
        the fit is plain maximum likelihood, which does not exist if a threshold separates the classes.
    transform : {"identity", "logit"}, default="identity"
        Fit on the score itself, or on its log-odds. The latter is for scores that are probabilities;
        they are first kept within ``[1e-12, 1 - 1e-12]``.
    max_iter : int, default=100
        Largest number of Newton steps; six or seven are usual, and one or two for thousands of rows, which
        start from an optimum in single precision.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    A_, B_ : float
        The parameters of the map.
    n_iter_ : int
        Number of Newton steps taken.
    converged_ : bool
        Whether the optimum was reached.

    See Also
    --------
    PAVCalibrator : A monotone map of any shape, for more rows.

    Notes
    -----
    Zadrozny & Elkan (2002) print the exponent as A (f + B). That form cannot express a score without
    information, as A = 0 forces P = 1/2; the one used here is Platt's.

    Any affine change of the scores changes A and B, but no prediction. If all scores are equal, or differ
    by less than 2^-48 of their size, A = 0 and P is the mean target; if only one class is present, A = 0
    and P is that class's target.

    References
    ----------
    J. Platt, "Probabilistic outputs for support vector machines", 1999. H.-T. Lin, C.-J. Lin and R. C.
    Weng, "A note on Platt's probabilistic outputs for support vector machines", 2007.

    Examples
    --------
    The scale and the origin of the scores do not matter:

    >>> from calibrant import SigmoidCalibrator
    >>> y = [0, 1, 0, 1]
    >>> SigmoidCalibrator().fit([-2, -1, 1, 2], y).predict_proba([0, 3])[:, 1].round(4)
    array([0.5   , 0.6472])
    >>> tiny = SigmoidCalibrator().fit([1 - 2e-9, 1 - 1e-9, 1 + 1e-9, 1 + 2e-9], y)
    >>> tiny.predict_proba([1, 1 + 3e-9])[:, 1].round(4)
    array([0.5   , 0.6472])
    """

    def __init__(
        self,
        smooth: bool = True,
        transform: Literal["identity", "logit"] = "identity",
        max_iter: int = 100,
    ) -> None:
        self.smooth = smooth
        self.transform = transform
        self.max_iter = max_iter

    parameters = Record(smooth=Flag(), transform=TRANSFORM, max_iter=Whole(1))
    fitted = Record(A=Number(), B=Number(), n_iter=Whole(0), converged=Flag())
    complexity = 2

    @classmethod
    def for_new_rows(cls, kind: ScoreKind = "margin") -> Self:
        """Work on the log-odds of probabilities."""
        return cls(transform="logit" if kind == "probability" else "identity")

    @property
    def takes_probabilities(self) -> bool:
        """Log-odds are those of probabilities."""
        return self.transform == "logit"

    def _learn(self) -> "Learning[Map]":
        found: LogisticAnswer = yield passes.LogisticRegression(
            FEATURES_OF[self.transform], bool(self.smooth), self.max_iter
        )
        fit = found.fit
        (self.A_,), self.B_ = found.slope, found.intercept
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged and not found.separable
        if found.separable:
            message = (
                "a threshold separates the classes, so plain maximum likelihood has no solution and the "
                "sigmoid is arbitrarily steep; use smooth=True"
            )
            warnings.warn(message, late.exceptions.ConvergenceWarning, stacklevel=5)
        elif not fit.converged:
            advice = (
                f"max_iter={self.max_iter} steps; raise max_iter"
                if fit.n_iter >= self.max_iter
                else f"{fit.n_iter} steps, short of the optimum; see whether some scores are out of all "
                "proportion to the others"
            )
            warnings.warn(
                f"the sigmoid fit stopped after {advice}", late.exceptions.ConvergenceWarning, stacklevel=5
            )
        return self._map_of()

    def _restored(self, at: Place, n_classes: int) -> Map:  # noqa: ARG002
        return self._map_of()

    def _map_of(self) -> Map:
        return Logistic((self.A_,), self.B_, FEATURES_OF[self.transform])

    def _scores_are(self) -> str:
        return "scores with transform='logit'"
