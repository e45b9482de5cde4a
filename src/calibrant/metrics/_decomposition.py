"""The Brier score taken apart: what is lost by miscalibration, and what by not telling rows apart.

One piece of arithmetic, `_split`, does it for one column of probabilities whose rows have been put into
groups. Everything else here is a way to choose the groups. The parts of several columns add up.
"""

from dataclasses import astuple, dataclass
from typing import Literal

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray, as_floats
from calibrant._core._checks import check_flag, check_option
from calibrant._core._errors import ParameterError
from calibrant.metrics._bins import bins_between, group_sums, number_alike
from calibrant.metrics._isotonic import isotonic_fit
from calibrant.metrics._rows import Forecasts, read_forecasts, weighted_mean


@dataclass(frozen=True, slots=True)
class BrierDecomposition:
    """The parts of a Brier score.

    `brier = calibration + refinement + within_bin_variance - within_bin_covariance`, and
    `refinement = uncertainty - resolution`.

    Attributes
    ----------
    brier : float
        The score itself.
    calibration : float
        What is lost because the probabilities of a group differ from its frequencies; 0 is best. Also
        called reliability.
    refinement : float
        What is lost because groups mix the classes; 0 is best.
    resolution : float
        How much the frequencies of the groups differ from each other; high is good.
    uncertainty : float
        The score of the overall frequencies, given to every row.
    within_bin_variance : float
        What the probabilities vary within the groups; 0 unless rows are grouped by bins.
    within_bin_covariance : float
        Twice the covariance of probability and truth within the groups; 0 unless rows are grouped by
        bins.
    """

    brier: float
    calibration: float
    refinement: float
    resolution: float
    uncertainty: float
    within_bin_variance: float
    within_bin_covariance: float


def brier_decomposition(
    y: object,
    proba: object,
    *,
    edges: object = None,
    isotonic: bool = False,
    mode: Literal["joint", "classwise"] = "joint",
    sample_weight: object = None,
    classes: object = None,
) -> BrierDecomposition:
    r"""Split the Brier score into calibration and refinement.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    proba : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or of every class.
    edges : array-like of shape (m + 1,), optional
        Group rows whose probabilities lie in the same of m bins with these rising edges. A bin has its
        left edge, the last one both; what lies outside belongs to the first and to the last bin. Without
        it rows are alike only if their probabilities are equal.
    isotonic : bool, default False
        Group rows by isotonic regression instead, one class at a time: calibration is then what the best
        rising function of the probabilities would gain. It needs no bins.
    mode : {"joint", "classwise"}, default "joint"
        With one column per class, whether rows are alike that agree in all columns, or every column is
        split for itself and the parts are added.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels of the columns of `proba` in order.

    Returns
    -------
    BrierDecomposition
        The parts; of the "positive" score for one column, of the "sum" score for one column per class.

    See Also
    --------
    brier_score : The conventions "positive" and "sum".
    reliability_bins : The groups as a diagram.

    Notes
    -----
    With groups :math:`g` of weight :math:`n_g`, and :math:`\bar p_g`, :math:`\bar y_g` their mean
    probabilities and frequencies,

    .. math::
        \text{calibration} &= \sum_g \tfrac{n_g}{n} (\bar p_g - \bar y_g)^2 \\
        \text{refinement} &= \sum_g \tfrac{n_g}{n} \bar y_g (1 - \bar y_g) \\
        \text{resolution} &= \sum_g \tfrac{n_g}{n} (\bar y_g - \bar y)^2 \\
        \text{within-bin variance} &= \tfrac{1}{n} \sum_i (p_i - \bar p_{g(i)})^2 \\
        \text{within-bin covariance} &= \tfrac{2}{n} \sum_i (y_i - \bar y_{g(i)}) (p_i - \bar p_{g(i)}) .

    Groups of equal probabilities give the split of DeGroot and Fienberg (1983), whose last two terms are
    zero; bins give that of Murphy (1973), which does not add up without them. If nearly all
    probabilities differ, groups of equal ones are single rows: all is then calibration, which says
    nothing. Use `edges` or `isotonic`.

    With `isotonic`, groups are the blocks on which the isotonic regression of the truth on the
    probabilities is constant, and calibration is the score minus that of the recalibrated
    probabilities (Dimitriadis, Gneiting and Jordan, 2021). For more than two classes it takes
    ``mode="classwise"``.

    Calibration is never lower in the joint mode than in the classwise mode for groups of equal
    probabilities.

    Examples
    --------
    Both forecasters are calibrated; only refinement tells that the second one knows something:

    >>> from calibrant.metrics import brier_decomposition
    >>> y = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> parts = brier_decomposition(y, [0.5] * 8)
    >>> parts.calibration, parts.refinement
    (0.0, 0.25)
    >>> parts = brier_decomposition(y, [0.25] * 4 + [0.75] * 4)
    >>> parts.calibration, parts.refinement, parts.resolution
    (0.0, 0.1875, 0.0625)

    Overconfidence costs calibration and nothing else:

    >>> parts = brier_decomposition(y, [0.0] * 4 + [1.0] * 4)
    >>> parts.calibration, parts.refinement
    (0.0625, 0.1875)
    """
    check_option("mode", mode, ("joint", "classwise"))
    check_flag("isotonic", isotonic)
    limits = _check_edges(edges)
    if isotonic and limits is not None:
        raise ParameterError("isotonic must be False where edges are given; got True; choose one of them")
    forecasts = read_forecasts(y, proba, sample_weight, classes)
    if isotonic:
        _check_classwise(mode, forecasts.n_classes)
        return _added([_isotonic_split(*column, forecasts.weights) for column in forecasts.columns()])
    groups = _groups(forecasts, limits, mode)
    return _added(
        [
            _split(alike, *column, forecasts.weights)
            for alike, column in zip(groups, forecasts.columns(), strict=True)
        ]
    )


def _check_edges(edges: object) -> Float64Array | None:
    if edges is None:
        return None
    limits = np.asarray(as_floats(edges, "edges"), dtype=np.float64)
    if limits.ndim != 1 or len(limits) < 2:
        raise ParameterError(f"edges must be at least two numbers in one row; got shape {limits.shape}")
    rising = np.isfinite(limits[:-1]) & (np.diff(limits) > 0) & np.isfinite(limits[1:])
    if not rising.all():
        place = int(np.argmin(rising))
        raise ParameterError(
            f"edges must be finite and rising; got {limits[place]} and then {limits[place + 1]}"
        )
    return limits


def _check_classwise(mode: str, n_classes: int) -> None:
    if n_classes > 2 and mode != "classwise":
        raise ParameterError(
            f"mode must be 'classwise' for isotonic=True with more than two classes; got {mode!r} for "
            f"{n_classes} classes; isotonic regression takes one class at a time"
        )


def _groups(forecasts: Forecasts, edges: Float64Array | None, mode: str) -> list[IntArray]:
    """For every column the number of the group of every row."""
    marks = forecasts.proba if edges is None else bins_between(forecasts.proba, edges)
    n_columns = marks.shape[1]
    if mode == "joint":
        return [number_alike(marks)] * n_columns
    return [number_alike(marks[:, k : k + 1]) for k in range(n_columns)]


def _split(
    groups: IntArray, happened: BoolArray, probability: Float64Array, weights: Float64Array
) -> BrierDecomposition:
    share = group_sums(groups, weights) / weights.sum()
    frequency = _group_means(groups, happened.astype(np.float64), weights)
    forecast = _group_means(groups, probability, weights)
    overall = weighted_mean(happened, weights)
    within = probability - forecast[groups]
    return BrierDecomposition(
        brier=weighted_mean((probability - happened) ** 2, weights),
        calibration=float(share @ (forecast - frequency) ** 2),
        refinement=float(share @ (frequency * (1.0 - frequency))),
        resolution=float(share @ (frequency - overall) ** 2),
        uncertainty=overall * (1.0 - overall),
        within_bin_variance=weighted_mean(within**2, weights),
        within_bin_covariance=2.0 * weighted_mean((happened - frequency[groups]) * within, weights),
    )


def _group_means(groups: IntArray, values: Float64Array, weights: Float64Array) -> Float64Array:
    """Weighted mean of every group; exactly the common value where all values of a group are equal."""
    member = np.empty(groups.max() + 1)
    member[groups] = values  # any one of the group will do
    off_member = group_sums(groups, weights * (values - member[groups]))
    return np.asarray(member + off_member / group_sums(groups, weights))


def _isotonic_split(
    happened: BoolArray, probability: Float64Array, weights: Float64Array
) -> BrierDecomposition:
    blocks = isotonic_fit(happened, probability, weights)
    share = blocks.weight / blocks.weight.sum()
    brier = weighted_mean((probability - happened) ** 2, weights)
    overall = weighted_mean(happened, weights)
    refinement = float(share @ (blocks.frequency * (1.0 - blocks.frequency)))
    return BrierDecomposition(
        brier=brier,
        # The probabilities themselves are a rising function of themselves, and the regression is the best
        # of all these: what is below zero is rounding.
        calibration=max(brier - refinement, 0.0),
        refinement=refinement,
        resolution=float(share @ (blocks.frequency - overall) ** 2),
        uncertainty=overall * (1.0 - overall),
        within_bin_variance=0.0,
        within_bin_covariance=0.0,
    )


def _added(parts: list[BrierDecomposition]) -> BrierDecomposition:
    return BrierDecomposition(*(float(sum(terms)) for terms in zip(*map(astuple, parts), strict=True)))
