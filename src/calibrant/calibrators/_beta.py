"""Beta calibration: a logistic map of the logarithms of a probability and of its complement."""

import warnings
from typing import TYPE_CHECKING

from calibrant import passes
from calibrant._core import _late as late
from calibrant._core._field_groups import Record
from calibrant._core._fields import Flag, Number
from calibrant._core._place import Place
from calibrant.calibrators._method import ScoreCalibrator
from calibrant.maps import Logistic, Map

if TYPE_CHECKING:
    from calibrant.passes import BinTotals, Learning, LogisticAnswer


class BetaCalibrator(ScoreCalibrator, name="beta"):
    """Calibrate one probability by a beta map, after Kull, Silva Filho and Flach.

    The map is ``P = 1/(1 + exp(-(c + a log p - b log(1 - p))))`` with ``a, b >= 0`` and c of greatest
    likelihood. Three parameters need few rows. Unlike a sigmoid of the log-odds, which is the map with a = b,
    it can correct one end of the probabilities and leave the other, and ``a = b = 1, c = 0`` leaves all of
    them as they are.

    Parameters
    ----------
    smooth : bool, default=True
        Fit to Platt's targets ``(N+ + 1)/(N+ + 2)`` and ``1/(N- + 2)`` instead of 1 and 0. With False the
        fit is plain maximum likelihood, as in the paper, which does not exist if a threshold separates the
        classes.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    a_, b_, c_ : float
        The parameters of the map.

    See Also
    --------
    SigmoidCalibrator : Two parameters, also for margins.
    VennAbersCalibrator : A monotone map of any shape.

    Notes
    -----
    Before their logarithms are taken, probabilities are kept within ``[1e-12, 1 - 1e-12]``, in the fit and
    after it: 0 counts as 1e-12, and 1 as ``1 - 1e-12``.

    The optimum under the constraints is exact. Without them the loss is convex and its optimum is found
    first. If a is negative there, it is fixed at 0 and the rest fitted again, and the same holds for b; if
    what is left is negative then, the map is the constant of the mean target. That is the optimum:

    - Let a < 0 <= b at the free optimum. From an allowed map with a > 0, some first part of the way to the
      free optimum is allowed, and goes downhill. So the best allowed map has a = 0, and by convexity b is
      that of the fit without a, or 0 if that is negative.
    - Let a, b < 0 at the free optimum, so that its answers fall with p. Had the fit with one of the features
      alone, f, a positive slope, then its answers would rise. Both fits have the mean of the targets, and
      their mean product with f, so the difference of their answers is uncorrelated with f. But it rises
      with p, as f does. So no feature alone has a positive slope, and the constant is best.

    Deviations from the paper: the targets, unless ``smooth=False``; and that the constant is taken where
    what is left after a refit is negative.

    References
    ----------
    M. Kull, T. Silva Filho and P. Flach, "Beta calibration: a well-founded and easily implemented
    improvement on logistic calibration for binary classifiers", AISTATS 2017.

    Examples
    --------
    Probabilities of which the small ones are right, and the large ones too sure:

    >>> import numpy as np
    >>> from calibrant import BetaCalibrator
    >>> p = np.repeat([0.01, 0.1, 0.9, 0.99], 200)
    >>> y = np.concatenate([np.arange(200) < 200 * share for share in (0.01, 0.1, 0.7, 0.8)])
    >>> beta = BetaCalibrator().fit(p, y)
    >>> beta.predict_proba([0.01, 0.1, 0.9, 0.99])[:, 1].round(2)
    array([0.01, 0.11, 0.69, 0.8 ])
    >>> round(beta.a_, 2), round(beta.b_, 2)
    (1.12, 0.21)
    """

    def __init__(self, smooth: bool = True) -> None:
        self.smooth = smooth

    kinds = ("probability",)
    parameters = Record(smooth=Flag())
    fitted = Record(a=Number(0.0), b=Number(0.0), c=Number())
    complexity = 2.5

    def _learn(self) -> "Learning[Map]":
        smooth = bool(self.smooth)
        found: LogisticAnswer = yield passes.LogisticRegression("logs", smooth)
        slopes = found.slope  # a useful score has falling ones: they are -a and -b
        if max(slopes) > 0:
            without_a = slopes[0] > 0
            found = yield passes.LogisticRegression("log_rest" if without_a else "log", smooth)
            slopes = (0.0, *found.slope) if without_a else (*found.slope, 0.0)
        if max(slopes) > 0:
            whole: BinTotals = yield passes.EqualBins(1)
            slopes, intercept = (0.0, 0.0), _flat(whole, smooth)
        else:
            intercept = found.intercept
            self._warn(found)
        self.a_, self.b_, self.c_ = (0.0 - each for each in (*slopes, intercept))
        return self._map_of()

    def _warn(self, found: "LogisticAnswer") -> None:
        if found.separable or not found.fit.converged:
            message = (
                f"the beta fit stopped after {found.fit.n_iter} steps, short of the optimum; see if some "
                "weights are out of all proportion to the others"
                if self.smooth
                else "there is no beta map of greatest likelihood, or none that can be told, as where a "
                "threshold separates the classes; use smooth=True"
            )
            warnings.warn(message, late.exceptions.ConvergenceWarning, stacklevel=7)

    def _restored(self, at: Place, n_classes: int) -> Map:  # noqa: ARG002
        return self._map_of()

    def _map_of(self) -> Map:
        return Logistic((0.0 - self.a_, 0.0 - self.b_), 0.0 - self.c_, "logs")


def _flat(whole: "BinTotals", smooth: bool) -> float:
    """The intercept of the map that gives the mean target to every score."""
    positive, weight = float(whole.positive[0]), float(whole.weight[0])
    negative = weight - positive
    high, low = passes.platt_targets(positive, negative, smooth=smooth)
    return passes.flat_fit((high * positive + low * negative) / weight).intercept
