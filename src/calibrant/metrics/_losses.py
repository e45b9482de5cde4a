"""What single forecasts lose on average: squared error, log loss, wrong decisions."""

import math
from typing import Literal

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._checks import check_number, check_option
from calibrant._core._errors import ParameterError
from calibrant.metrics._rows import read_forecasts, read_two_class, weighted_mean

Convention = Literal["sum", "mean", "positive"]
Base = Literal["e", 2] | float


def brier_score(
    y: object,
    proba: object,
    *,
    convention: Convention | None = None,
    sample_weight: object = None,
    classes: object = None,
) -> float:
    r"""Mean squared difference between the probabilities and what happened.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    proba : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or of every class.
    convention : {"sum", "mean", "positive"}, optional
        Which of the squared errors of a row count: the sum over the classes, that sum divided by the
        number of classes, or only that of the positive class. By default what is usual: for two classes
        that of the positive class, as in scikit-learn, and for more the sum. The sum is exactly twice
        "positive" for two classes; for more, "positive" has no meaning.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels of the columns of `proba` in order.

    Returns
    -------
    float
        The score; 0 is best.

    See Also
    --------
    brier_decomposition : The score as calibration and refinement.

    Notes
    -----
    With the truth :math:`T` as zeros and ones,

    .. math::
        \text{sum} = \frac{1}{n} \sum_i \sum_c (T_{ic} - P_{ic})^2, \qquad
        \text{mean} = \frac{\text{sum}}{k}, \qquad
        \text{positive} = \frac{1}{n} \sum_i (T_{i1} - P_{i1})^2 .

    Zadrozny and Elkan (2002) define the sum. That holds for their tables 1 to 3; tables 4 and 5 are
    divided by the number of classes.

    Examples
    --------
    Two classes have the usual score by default:

    >>> from calibrant.metrics import brier_score
    >>> round(brier_score([0, 1, 1], [0.1, 0.8, 0.6]), 2)
    0.07

    The base rate of KDD-98 as everybody's probability scores what table 1 of Zadrozny and Elkan says of
    good methods, 0.095, only if the squared errors of both classes are added:

    >>> donors, people = 4873, 96367
    >>> rate = donors / people
    >>> weight = [donors, people - donors]
    >>> round(brier_score([1, 0], [rate, rate], convention="sum", sample_weight=weight), 4)
    0.096
    >>> round(brier_score([1, 0], [rate, rate], convention="positive", sample_weight=weight), 4)
    0.048
    """
    check_option("convention", convention, ("sum", "mean", "positive", None))
    forecasts = read_forecasts(y, proba, sample_weight, classes)
    convention = _that_fits(convention, forecasts.n_classes)
    residuals = forecasts.residuals()
    if convention == "positive":
        return _mean_square(residuals[:, -1:], forecasts.weights)
    total = _mean_square(residuals, forecasts.weights)
    if residuals.shape[1] == 1:  # it stands for both classes, whose squared errors are the same
        total *= 2
    return total / forecasts.n_classes if convention == "mean" else total


def _that_fits(convention: Convention | None, n_classes: int) -> Convention:
    """The convention that was asked for, or the usual one."""
    if convention == "positive" and n_classes > 2:
        raise ParameterError(
            "convention must be 'sum' or 'mean' for more than two classes; got 'positive' for "
            f"{n_classes} classes; pass the column of one class and whether a row is of it"
        )
    return convention or ("positive" if n_classes == 2 else "sum")


def _mean_square(residuals: Float64Array, weights: Float64Array) -> float:
    return weighted_mean(np.einsum("ij,ij->i", residuals, residuals), weights)


def rms_error(y: object, proba: object, *, sample_weight: object = None) -> float:
    r"""Root of the mean squared error of the probability of the positive class.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes, two in all.
    proba : array-like of shape (n,) or (n, 2)
        Probabilities of the positive class, or of both.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.

    Returns
    -------
    float
        The error, from 0 to 1; 0 is best.

    Notes
    -----
    This is :math:`\sqrt{\text{positive}}` of `brier_score`. Table 2 of Langford and Zadrozny (2005) calls
    it squared error, but prints the root.

    Examples
    --------
    On COIL 2000 a classifier that gives everybody the base rate, 238 of 4000, gets the 0.237 of that
    table:

    >>> from calibrant.metrics import rms_error
    >>> round(rms_error([1, 0], [0.0595, 0.0595], sample_weight=[238, 3762]), 3)
    0.237
    """
    is_positive, probability, weights = read_two_class(y, proba, sample_weight)
    return math.sqrt(weighted_mean((probability - is_positive) ** 2, weights))


def cross_entropy(
    y: object,
    proba: object,
    *,
    base: Base = "e",
    clip: float | None = None,
    reduce: Literal["mean", "sum"] = "mean",
    sample_weight: object = None,
) -> float:
    r"""Log loss of two classes: how surprising the truth is, given the probabilities.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes, two in all.
    proba : array-like of shape (n,) or (n, 2)
        Probabilities of the positive class, or of both.
    base : {"e", 2}, default "e"
        The base of the logarithm: nats or bits.
    clip : float, optional
        Move the probabilities into [clip, 1 - clip] first. Langford and Zadrozny (2005) use 0.001.
    reduce : {"mean", "sum"}, default "mean"
        Whether the losses of the rows are averaged or added.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.

    Returns
    -------
    float
        The loss; 0 is best. One certain mistake that is not clipped makes it `inf`.

    See Also
    --------
    log_loss : The same for any number of classes.

    Notes
    -----
    With :math:`0 \log 0 = 0`,

    .. math:: -\frac{1}{n} \sum_i y_i \log p_i + (1 - y_i) \log (1 - p_i) .

    Langford and Zadrozny write it with the natural logarithm, but their table 1 is in bits.

    Examples
    --------
    On COIL 2000 everybody's base rate, 238 of 4000, loses its entropy. It is the 0.326 of that table, up to
    rounding, in bits only:

    >>> from calibrant.metrics import cross_entropy
    >>> y, proba, weight = [1, 0], [0.0595, 0.0595], [238, 3762]
    >>> round(cross_entropy(y, proba, base=2, sample_weight=weight), 3)
    0.325
    >>> round(cross_entropy(y, proba, sample_weight=weight), 3)
    0.226

    A certain mistake is not hidden:

    >>> cross_entropy([1, 0], [0.0, 0.0])
    inf
    >>> round(cross_entropy([1, 0], [0.0, 0.0], clip=0.001), 3)
    3.454
    """
    check_option("reduce", reduce, ("mean", "sum"))
    unit, margin = _check_base(base), _check_clip(clip)
    is_positive, probability, weights = read_two_class(y, proba, sample_weight)
    mean = _mean_loss(_log_of_truth(is_positive, probability, margin), weights) / unit
    return mean * float(weights.sum()) if reduce == "sum" else mean


def log_loss(
    y: object,
    proba: object,
    *,
    base: Base = "e",
    clip: float | None = None,
    sample_weight: object = None,
    classes: object = None,
) -> float:
    r"""Mean negative logarithm of the probability that was given to the true class.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    proba : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or of every class.
    base : {"e", 2}, default "e"
        The base of the logarithm: nats or bits.
    clip : float, optional
        Move the probabilities into [clip, 1 - clip] first, each for itself.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels of the columns of `proba` in order.

    Returns
    -------
    float
        The loss; 0 is best. One certain mistake that is not clipped makes it `inf`.

    See Also
    --------
    cross_entropy : The same for two classes, also as a sum.

    Notes
    -----
    .. math:: -\frac{1}{n} \sum_i \log P_{i y_i}

    Examples
    --------
    Who knows nothing about k classes loses log k:

    >>> from calibrant.metrics import log_loss
    >>> log_loss([0, 1, 2, 3], [[0.25, 0.25, 0.25, 0.25]] * 4, base=2)
    2.0
    """
    unit, margin = _check_base(base), _check_clip(clip)
    forecasts = read_forecasts(y, proba, sample_weight, classes)
    if forecasts.proba.shape[1] == 1:
        logs = _log_of_truth(forecasts.truth == 1, forecasts.proba[:, 0], margin)
    else:
        of_truth = np.take_along_axis(forecasts.proba, forecasts.truth[:, np.newaxis], axis=1)[:, 0]
        logs = _log(np.clip(of_truth, margin, 1.0 - margin))
    return _mean_loss(logs, forecasts.weights) / unit


def _check_base(base: Base) -> float:
    """The natural logarithm of the base, which is the unit of the loss."""
    check_option("base", base, ("e", 2, math.e))
    return math.log(2.0) if base == 2 else 1.0


def _check_clip(clip: float | None) -> float:
    if clip is None:
        return 0.0
    return check_number("clip", clip, "None or a number from 0 to below 0.5", lambda eps: 0.0 <= eps < 0.5)


def _log_of_truth(is_positive: BoolArray, probability: Float64Array, margin: float) -> Float64Array:
    """Logarithm of the probability of what happened; of tiny probabilities of what did not, exactly."""
    probability = np.clip(probability, margin, 1.0 - margin)
    logs = np.empty_like(probability)
    logs[is_positive] = _log(probability[is_positive])
    with np.errstate(divide="ignore"):
        logs[~is_positive] = np.log1p(-probability[~is_positive])
    return logs


def _log(probability: Float64Array) -> Float64Array:
    with np.errstate(divide="ignore"):
        return np.log(probability)


def _mean_loss(logs: Float64Array, weights: Float64Array) -> float:
    return 0.0 - weighted_mean(logs, weights)  # a plain minus would turn no loss into -0.0


def error_rate(y: object, proba: object, *, sample_weight: object = None, classes: object = None) -> float:
    """Share of rows whose most probable class is not the true one.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    proba : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or of every class.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels of the columns of `proba` in order.

    Returns
    -------
    float
        The rate, from 0 to 1; 0 is best.

    Notes
    -----
    Two classes: a row is called positive if its probability is above one half; at one half it is called
    negative. More classes: the class with the highest probability, and of several such the first.
    Takahashi, Takamura and Okumura ask for more than one half there too, which would leave rows without
    any class.

    Examples
    --------
    >>> from calibrant.metrics import error_rate
    >>> error_rate([1, 0], [0.5, 0.5])
    0.5
    >>> error_rate([0, 2], [[0.4, 0.3, 0.3], [0.3, 0.3, 0.4]])
    0.0
    """
    forecasts = read_forecasts(y, proba, sample_weight, classes)
    if forecasts.proba.shape[1] == 1:
        called = (forecasts.proba[:, 0] > 0.5).astype(np.intp)
    else:
        called = np.argmax(forecasts.proba, axis=1)
    return weighted_mean(called != forecasts.truth, forecasts.weights)
