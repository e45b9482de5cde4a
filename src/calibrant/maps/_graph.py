"""Maps in symbols: all columns of one form at once."""

from collections.abc import Sequence

import numpy as np

from calibrant.maps._map import Map, as_one, form_of
from calibrant.maps._operations import SYMBOLS
from calibrant.maps._tensor import Tensor


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
    return scores.target.beside(parts).columns(np.argsort(np.concatenate(groups)))


def answers_of_rows(scores: Tensor, row_map: Map) -> Tensor:
    """Answer by a map of all scores of a row."""
    found: Tensor = row_map.formula(scores, SYMBOLS)
    return found


def _formula(scores: Tensor, maps: Sequence[Map]) -> Tensor:
    found: Tensor = as_one(maps).formula(scores, SYMBOLS)
    return found
