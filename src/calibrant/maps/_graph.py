"""Maps in an ONNX graph: all columns of one form at once."""

from collections.abc import Sequence

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._checks import ROUNDING
from calibrant.maps._map import Map, as_one, form_of
from calibrant.maps._onnx_graph import Tensor
from calibrant.maps._operations import GRAPH


def answers(scores: Tensor, maps: Sequence[Map]) -> Tensor:
    """Answer for every column of scores by its own map."""
    by_form: dict[object, list[int]] = {}
    for column, each in enumerate(maps):
        by_form.setdefault(form_of(each), []).append(column)
    groups = list(by_form.values())
    if len(groups) == 1:
        return _formula(scores, maps)
    parts = [
        _formula(scores.columns(columns), [maps[column] for column in columns])
        if len(columns) > 1
        else _formula(scores.column(columns[0]), [maps[columns[0]]]).as_column()
        for columns in groups
    ]
    return scores.graph.beside(parts).columns(np.argsort(np.concatenate(groups)))


def answers_of_rows(scores: Tensor, row_map: Map) -> Tensor:
    """Answer by a map of all scores of a row."""
    found: Tensor = row_map.formula(scores, GRAPH)
    return found


def refusals(scores: Tensor, probabilities: Sequence[bool]) -> Tensor:
    """Mark the rows that the library refuses, where a graph cannot raise an error."""
    if not any(probabilities):
        marks = scores * 0.0
    else:
        greatest = np.finfo(np.float64).max
        low = _per_column([-ROUNDING if bounded else -greatest for bounded in probabilities])
        high = _per_column([1 + ROUNDING if bounded else greatest for bounded in probabilities])
        inside = scores.graph.op("And", scores.is_at_least(low), scores.is_at_most(high))
        marks = inside.choose(0.0, np.nan)
    return marks if len(probabilities) == 1 else marks.row_sums()


def _formula(scores: Tensor, maps: Sequence[Map]) -> Tensor:
    found: Tensor = as_one(maps).formula(scores, GRAPH)
    return found


def _per_column(numbers: Sequence[float]) -> Array:
    """Numbers of the columns of a matrix; a single one for a vector."""
    return np.array(numbers[0] if len(numbers) == 1 else numbers, dtype=np.float64)
