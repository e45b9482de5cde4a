"""Costs that differ from row to row: cells such as 0.68 - amount, which name columns of the rows."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._errors import DataError

_NUMBER, _NAME = r"\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+", r"[^\W\d]\w*"
_TERM = re.compile(
    rf"\s*(?P<sign>[+-]?)\s*(?:(?P<factor>{_NUMBER})\s*(?:\*\s*(?P<of>{_NAME}))?|(?P<name>{_NAME}))\s*"
)
#: Words that are numbers, or none, and no names of columns.
_NO_NAMES = ("nan", "inf", "infinity", "none", "null", "na", "n_a")


def read_amount(text: str) -> dict[str, float] | None:
    """A cost as a number, under the empty name, and factors of columns; None for what is no such sum."""
    found: dict[str, float] = {}
    place = 0
    while place < len(text):
        term = _TERM.match(text, place)
        if term is None or (place > 0 and not term["sign"]):
            return None
        name = term["of"] or term["name"] or ""
        if name.lower() in _NO_NAMES:
            return None
        factor = float(term["factor"] or 1)
        found[name] = found.get(name, 0.0) + (-factor if term["sign"] == "-" else factor)
        place = term.end()
    return found or None


def split_costs(cost: Mapping[Any, Mapping[Any, Any]]) -> tuple[dict[Any, Any], dict[str, dict[Any, Any]]]:
    """Costs by label, whose cells may name columns, as what rows share and what every column adds."""
    cells = {i: {j: _cell(i, j, value) for j, value in row.items()} for i, row in cost.items()}
    names = sorted({name for row in cells.values() for cell in row.values() for name in cell} - {""})

    def part(name: str) -> dict[Any, Any]:
        return {i: {j: cell.get(name, 0.0) for j, cell in row.items()} for i, row in cells.items()}

    return part(""), {name: part(name) for name in names}


def _cell(decision: Any, truth: Any, value: Any) -> dict[str, float]:
    found = read_amount(value) if isinstance(value, str) else {"": value}
    if found is None:
        raise DataError(
            f"cost must hold numbers, or sums of numbers and columns such as '0.68 - amount'; got {value!r} "
            f"for deciding {decision!r} when the truth is {truth!r}"
        )
    return found


def costs_of_rows(
    amounts: Mapping[str, Float64Array], values: Mapping[str, Float64Array], n_rows: int
) -> Float64Array:
    """What the amounts of every row add to its costs, of shape (n, a, k)."""
    shape = next(iter(amounts.values())).shape
    added = np.zeros((n_rows, *shape))
    for name, factors in amounts.items():
        added += values[name][:, None, None] * factors
    return added
