"""The expected calibration error: how far probabilities are from frequencies, in bins."""

import math
from typing import Literal

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant._core._checks import check_flag, check_option, is_whole, shown
from calibrant._core._errors import ParameterError
from calibrant.metrics._bins import fixed_width_bins, group_sums
from calibrant.metrics._rows import Forecasts, read_forecasts

Mode = Literal["positive", "top_label", "classwise"]


def expected_calibration_error(
    y: object,
    proba: object,
    *,
    n_bins: int = 15,
    bins: Literal["width", "frequency"] = "width",
    mode: Mode | None = None,
    norm: Literal[1, 2] = 1,
    corrected: bool = False,
    sample_weight: object = None,
    classes: object = None,
) -> float:
    r"""Give the mean distance of probabilities from frequencies, over bins of the probabilities.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    proba : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or of every class.
    n_bins : int, default=15
        Number of bins.
    bins : {"width", "frequency"}, default="width"
        Bins of equal width, or of about equal weight; equal probabilities always share a bin.
    mode : {"positive", "top_label", "classwise"}, optional
        The probability of the positive of two classes; the greatest probability of a row, against whether
        that class is the true one; or each class against the others, averaged over the classes. By default
        the first for two classes, and the second for more.
    norm : {1, 2}, default=1
        The mean absolute distance, or the root of the mean squared one.
    corrected : bool, default=False
        Whether the part is taken off that chance adds: frequencies of few rows are away from the probability
        even where that is right. The corrected error of few rows can be 0, and never is below.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels of the columns in order.

    Returns
    -------
    float
        The error: 0 is best.

    See Also
    --------
    brier_decomposition : The calibration part of the Brier score, which needs no bins.
    reliability_bins : The bins of a diagram.

    Notes
    -----
    With the weight :math:`w_b` of a bin, as a share of all, its mean probability :math:`p_b` and its
    frequency :math:`f_b` the error is :math:`\sum_b w_b |p_b - f_b|`, or the root of
    :math:`\sum_b w_b (p_b - f_b)^2`. Bins of equal width contain their left end, and the last its right end
    too.

    The number depends on the bins, and is too great for few rows: right probabilities of 200 rows in 10 bins
    have an error of about 0.07. With ``norm=2`` the correction subtracts the variance
    :math:`f_b (1 - f_b)/(n_b - 1)` of the frequency from the squared distance (Kumar, Liang and Ma, 2019).
    With ``norm=1`` it subtracts what a normal error of that variance, about the distance that was seen, adds
    to the absolute distance on average; where probabilities are right, that is about half of what chance
    adds. Weights count as copies of rows.

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun and K. Weinberger, "On calibration of modern neural networks", ICML 2017.
    A. Kumar, P. Liang and T. Ma, "Verified uncertainty calibration", NeurIPS 2019.
    M. Kull et al., "Beyond temperature scaling", NeurIPS 2019, for the error by class.

    Examples
    --------
    >>> from calibrant.metrics import expected_calibration_error
    >>> expected_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.8], n_bins=2)
    0.25
    """
    if not is_whole(n_bins, 1):
        raise ParameterError(f"n_bins must be a whole number from 1; got {shown(n_bins)}")
    check_option("bins", bins, ("width", "frequency"))
    check_option("mode", mode, (None, "positive", "top_label", "classwise"))
    check_option("norm", norm, (1, 2))
    forecasts = read_forecasts(y, proba, sample_weight, classes)
    fair = check_flag("corrected", corrected)
    errors = []
    for happened, chance in _columns(forecasts, mode):
        if bins == "width":
            numbers = fixed_width_bins(chance, 1 / n_bins, 0.0, 1.0)[0]
        else:
            numbers = _even_bins(chance, forecasts.weights, n_bins)
        errors.append(_error(numbers, happened, chance, forecasts.weights, norm, corrected=fair))
    return float(np.mean(errors))


def _columns(forecasts: Forecasts, mode: Mode | None) -> list[tuple[BoolArray, Float64Array]]:
    """Probabilities, and whether what they are about happened."""
    truth, proba = forecasts.truth, forecasts.proba
    if mode == "positive" and forecasts.n_classes > 2:
        raise ParameterError(
            f"mode must be 'top_label' or 'classwise' for more than two classes; got {mode!r} for "
            f"{forecasts.n_classes}"
        )
    if mode == "positive" or (mode is None and forecasts.n_classes == 2):
        return [(truth == 1, proba[:, -1])]
    if proba.shape[1] == 1:
        proba = np.column_stack([1.0 - proba[:, 0], proba[:, 0]])
    if mode == "classwise":
        return [(truth == number, column) for number, column in enumerate(proba.T)]
    return [(truth == proba.argmax(axis=1), proba.max(axis=1))]


def _error(
    numbers: IntArray,
    happened: BoolArray,
    chance: Float64Array,
    weights: Float64Array,
    norm: int,
    *,
    corrected: bool,
) -> float:
    """The error of probabilities in numbered bins."""
    sums = (group_sums(numbers, each) for each in (weights, weights * chance, weights * happened))
    return error_in_bins(*sums, norm=norm, corrected=corrected)


def error_in_bins(
    mass: Float64Array, expected: Float64Array, came: Float64Array, *, norm: int = 1, corrected: bool = False
) -> float:
    """The error from the weights of bins, and of what was expected and what came in them."""
    held = mass > 0
    mass, expected, came = mass[held], expected[held], came[held]
    distance, share = np.abs(expected - came) / mass, mass / mass.sum()
    if not corrected:
        return math.sqrt(float(share @ distance**2)) if norm == 2 else float(share @ distance)
    variance, frequency = np.zeros(len(mass)), came / mass
    np.divide(frequency * (1 - frequency), mass - 1, out=variance, where=mass > 1)
    if norm == 2:
        return math.sqrt(max(0.0, float(share @ (distance**2 - variance))))
    return max(0.0, float(share @ (2 * distance - _mean_of_folded_normal(distance, np.sqrt(variance)))))


def _even_bins(chance: Float64Array, weights: Float64Array, n_bins: int) -> IntArray:
    """Bins of about equal weight: a probability is in the bin in which the weight below it ends."""
    _, place = np.unique(chance, return_inverse=True)
    starts = even_starts(np.cumsum(group_sums(place, weights)), n_bins)
    return np.repeat(np.arange(n_bins), np.diff(starts))[place]


def even_starts(reached: Float64Array, n_bins: int) -> IntArray:
    """Where such bins begin, given the weights up to distinct probabilities; at last the number of these."""
    edges = np.arange(1, n_bins) * reached[-1] / n_bins
    # The weight below a probability is what was reached at the one before.
    inner = np.minimum(np.searchsorted(reached, edges) + 1, len(reached))
    return np.concatenate([[0], inner, [len(reached)]])


def _mean_of_folded_normal(mean: Float64Array, spread: Float64Array) -> Float64Array:
    """Mean absolute value of normal numbers; that of a spread of 0 is the mean itself."""
    ratio = np.divide(mean, spread, out=np.full(len(mean), np.inf), where=spread > 0)
    bell = np.exp(-(ratio**2) / 2)
    tails = np.array([math.erf(each / math.sqrt(2)) for each in ratio])
    return np.asarray(spread * math.sqrt(2 / math.pi) * bell + mean * tails)
