"""Platt's sigmoid calibration."""

import warnings
from typing import Literal, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning

from calibrant._core._arrays import Array, Float64Array, FloatArray, Target
from calibrant._core._checks import (
    check_flag,
    check_option,
    check_probabilities,
    is_whole,
    shown,
)
from calibrant._core._errors import ParameterError
from calibrant.calibrators._binary import BinaryCalibrator, class_totals
from calibrant.calibrators._logistic import LogisticFit, fit_logistic

#: How close to 0 and 1 a probability may come before its log-odds are taken.
LOGIT_CLIP = 1e-12
#: The greatest number below 1.
BELOW_ONE = float(np.nextafter(1.0, 0.0))


class SigmoidCalibrator(BinaryCalibrator):
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
        Largest number of Newton steps; six or seven are usual.

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

    Any affine change of the scores changes A and B, but no prediction. If all scores are equal, A = 0
    and P is the mean target; if only one class is present, A = 0 and P is that class's target.

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

    def _check_parameters(self) -> None:
        check_option("transform", self.transform, ("identity", "logit"))
        check_flag("smooth", self.smooth)
        if not is_whole(self.max_iter, 1):
            raise ParameterError(f"max_iter must be at least 1; got {shown(self.max_iter)}")

    def _fit(self, scores: FloatArray, target: Target, weights: Float64Array | None) -> None:
        features = self._features(scores.astype(np.float64, copy=False))
        positive, negative = class_totals(target, weights)
        wanted = _targets(target, positive, negative, smooth=self.smooth or min(positive, negative) == 0)
        if min(positive, negative) == 0 or features.min() == features.max():
            mean = wanted.mean() if weights is None else np.average(wanted, weights=weights)
            self._keep(flat_fit(float(mean)), separable=False)
            return
        fit = fit_logistic(features[:, None], wanted, weights, max_iter=self.max_iter)
        self._keep(fit, separable=not self.smooth and _separable(features, wanted))

    def fit_map(self, fit: LogisticFit, classes: Array, *, separable: bool = False) -> Self:
        """Take a map that somebody else has fitted to the scores, or to their log-odds.

        Parameters
        ----------
        fit : LogisticFit
            The map.
        classes : ndarray of shape (2,)
            The labels, the positive one second.
        separable : bool, default=False
            Whether a threshold separates the classes, so that there is no best map.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        self._check_parameters()
        self._keep(fit, separable=separable)
        self.classes_ = classes
        return self

    def _keep(self, fit: LogisticFit, *, separable: bool) -> None:
        fit = fit.checked()
        self.A_, self.B_ = float(fit.slope[0]), fit.intercept
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged and not separable
        if separable:
            message = (
                "a threshold separates the classes, so plain maximum likelihood has no solution and the "
                "sigmoid is arbitrarily steep; use smooth=True"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
        elif not fit.converged:
            advice = (
                f"max_iter={self.max_iter} steps; raise max_iter"
                if fit.n_iter >= self.max_iter
                else f"{fit.n_iter} steps, short of the optimum; see whether some scores are out of all "
                "proportion to the others"
            )
            warnings.warn(f"the sigmoid fit stopped after {advice}", ConvergenceWarning, stacklevel=4)

    def _positive(self, scores: Float64Array) -> Float64Array:
        with np.errstate(over="ignore"):  # far out the answer is 0 or 1
            z = self.A_ * self._features(scores)
            z += self.B_
        return np.asarray(expit(np.negative(z, out=z), out=z))

    def _features(self, scores: Float64Array) -> Float64Array:
        if self.transform == "identity":
            return scores
        proba = check_probabilities(scores, "scores with transform='logit'")
        return np.asarray(logit(np.clip(proba, LOGIT_CLIP, 1 - LOGIT_CLIP)))


def flat_fit(mean: float) -> LogisticFit:
    """The map that gives the mean target to every score."""
    return LogisticFit(np.zeros(1), float(-logit(mean)), 0, True)


def platt_targets(positive: float, negative: float, *, smooth: bool) -> tuple[float, float]:
    """What positives and negatives are wanted to get: Platt's targets for their totals, or 1 and 0.

    Platt's stay below 1, however large a total is, as no finite map gives 1.
    """
    return (min((positive + 1) / (positive + 2), BELOW_ONE), 1 / (negative + 2)) if smooth else (1.0, 0.0)


def _targets(target: Target, positive: float, negative: float, *, smooth: bool) -> Float64Array:
    """Platt's targets for the given class totals, or the labels themselves."""
    high, low = platt_targets(positive, negative, smooth=smooth)
    if target.dtype == bool:
        return np.where(target, high, low)
    return low + (high - low) * target


def _separable(features: Float64Array, target: Float64Array) -> bool:
    """Whether some threshold leaves the classes on different sides, touching at most."""
    may_be_negative, may_be_positive = features[target < 1], features[target > 0]
    return bool(
        may_be_negative.max() <= may_be_positive.min() or may_be_positive.max() <= may_be_negative.min()
    )
