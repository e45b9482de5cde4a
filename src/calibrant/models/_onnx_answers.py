"""The two-class calibrators: a matrix of scores to a matrix of answers, all columns of a kind at once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import ROUNDING
from calibrant.calibrators import (
    BinningCalibrator,
    ConstantAnswer,
    IdentityCalibrator,
    PAVCalibrator,
    SigmoidCalibrator,
)
from calibrant.calibrators._sigmoid import LOGIT_CLIP
from calibrant.models._onnx_graph import OnnxExportError, Tensor
from calibrant.models._onnx_steps import intervals


def answers(scores: Tensor, calibrators: Sequence[Any]) -> Tensor:
    """Answer for every column of scores by its own calibrator.

    Parameters
    ----------
    scores : Tensor of shape (rows, c), or (rows,) if c is 1
        The scores.
    calibrators : sequence of c fitted two-class calibrators
        Those of the columns.

    Returns
    -------
    Tensor of the same shape
        Probabilities of the positive side.
    """
    by_kind: dict[str, list[int]] = {}
    for column, calibrator in enumerate(calibrators):
        by_kind.setdefault(_kind(calibrator), []).append(column)
    if len(by_kind) == 1:
        return _ANSWERS[next(iter(by_kind))](scores, calibrators)
    parts = [
        _ANSWERS[kind](scores.columns(columns), [calibrators[column] for column in columns])
        if len(columns) > 1
        else _ANSWERS[kind](scores.column(columns[0]), [calibrators[columns[0]]]).as_column()
        for kind, columns in by_kind.items()
    ]
    order = np.concatenate([np.array(columns) for columns in by_kind.values()])
    return scores.graph.beside(parts).columns(np.argsort(order))


def takes_probabilities(calibrator: Any) -> bool:
    """Whether a two-class calibrator refuses scores outside [0, 1]."""
    return _kind(calibrator) in ("identity", "sigmoid of log-odds")


def refusals(scores: Tensor, probabilities: Sequence[bool]) -> Tensor:
    """Mark the rows that the library refuses, where a graph cannot raise an error.

    Parameters
    ----------
    scores : Tensor of shape (rows, c), or (rows,) if c is 1
        The scores.
    probabilities : sequence of c bool
        Which columns must lie in [0, 1] and not only be finite.

    Returns
    -------
    Tensor of shape (rows, 1), or (rows,) if c is 1
        0 for a good row, else NaN; to be added to its probabilities.
    """
    if not any(probabilities):
        marks = scores * 0.0
    else:
        greatest = np.finfo(np.float64).max
        low = _per_column([-ROUNDING if bounded else -greatest for bounded in probabilities])
        high = _per_column([1 + ROUNDING if bounded else greatest for bounded in probabilities])
        inside = scores.graph.op("And", scores.is_at_least(low), scores.is_at_most(high))
        marks = inside.choose(0.0, np.nan)
    return marks if len(probabilities) == 1 else marks.row_sums()


def log_odds(proba: Tensor) -> Tensor:
    """Log-odds of probabilities that are kept from 0 and 1."""
    kept = proba.at_least(LOGIT_CLIP).at_most(1 - LOGIT_CLIP)
    return proba.graph.op("Log", kept / (1.0 - kept))


def falling_sigmoid(z: Tensor) -> Tensor:
    """The map 1/(1 + exp(z)); where the exponential overflows it is 0, as it should be."""
    return 1.0 / (z.graph.op("Exp", z) + 1.0)


def _kind(calibrator: Any) -> str:
    """Which way of answering a calibrator needs; subclasses may do anything and are refused."""
    if type(calibrator) is PAVCalibrator:
        return "lines" if hasattr(calibrator._map, "_rise") else "steps"
    if type(calibrator) is SigmoidCalibrator:
        return "sigmoid" if calibrator.transform == "identity" else "sigmoid of log-odds"
    kinds = {BinningCalibrator: "steps", IdentityCalibrator: "identity", ConstantAnswer: "constant"}
    if type(calibrator) not in kinds:
        raise OnnxExportError(
            "a two-class calibrator must be one of calibrant's own to be written as ONNX; got a "
            f"{type(calibrator).__name__}, whose map is not known; fit a PAVCalibrator, SigmoidCalibrator or "
            "BinningCalibrator in its place"
        )
    return kinds[type(calibrator)]


def _steps(scores: Tensor, calibrators: Sequence[PAVCalibrator | BinningCalibrator]) -> Tensor:
    maps = [_step_map(calibrator) for calibrator in calibrators]
    place = intervals(scores, [edges for edges, _ in maps])
    return place.in_table(np.concatenate([values for _, values in maps]))


def _step_map(calibrator: Any) -> tuple[Float64Array, Float64Array]:
    """Edges of the intervals, and their values."""
    if isinstance(calibrator, BinningCalibrator):
        return calibrator.edges_, calibrator.bins_.value
    steps, clip = calibrator._map, calibrator.clip
    values = steps._values if clip is None else np.clip(steps._values, clip, 1 - clip)
    return steps._interval.edges, values


def _lines(scores: Tensor, calibrators: Sequence[Any]) -> Tensor:
    """Straight lines between the blocks, by the same operations in the same order as the calibrator."""
    maps = [calibrator._map for calibrator in calibrators]
    place = intervals(scores, [each._interval.edges for each in maps])

    def of_interval(name: str) -> Tensor:
        return place.in_table(np.concatenate([getattr(each, name) for each in maps]))

    low, high = (_per_column([getattr(each, name) for each in maps]) for name in ("_low", "_high"))
    inside = scores.at_least(low).at_most(high) * of_interval("_half")
    way = (inside - of_interval("_from")) / of_interval("_width")
    positive = way * of_interval("_rise") + of_interval("_value")
    if all(calibrator.clip is None for calibrator in calibrators):
        return positive
    clip = _per_column([-np.inf if each.clip is None else each.clip for each in calibrators])
    return positive.at_least(clip).at_most(1 - clip)


def _sigmoid(scores: Tensor, calibrators: Sequence[SigmoidCalibrator]) -> Tensor:
    slope, intercept = ([getattr(each, name) for each in calibrators] for name in ("A_", "B_"))
    return falling_sigmoid(scores * _per_column(slope) + _per_column(intercept))


def _sigmoid_of_log_odds(scores: Tensor, calibrators: Sequence[SigmoidCalibrator]) -> Tensor:
    return _sigmoid(log_odds(scores), calibrators)


def _identity(scores: Tensor, calibrators: Sequence[IdentityCalibrator]) -> Tensor:  # noqa: ARG001
    return scores.at_least(0.0).at_most(1.0)


def _constant(scores: Tensor, calibrators: Sequence[ConstantAnswer]) -> Tensor:
    return scores * 0.0 + _per_column([each.value for each in calibrators])


def _per_column(numbers: Sequence[float]) -> Array:
    """Numbers of the columns of a matrix; a single one for a vector."""
    return np.array(numbers[0] if len(numbers) == 1 else numbers, dtype=np.float64)


_ANSWERS: dict[str, Callable[[Tensor, Sequence[Any]], Tensor]] = {
    "steps": _steps,
    "lines": _lines,
    "sigmoid": _sigmoid,
    "sigmoid of log-odds": _sigmoid_of_log_odds,
    "identity": _identity,
    "constant": _constant,
}
