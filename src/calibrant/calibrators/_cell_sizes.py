"""How large the cells of a table are: a width, a number of cells, or a way to choose one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._checks import check_number
from calibrant._core._errors import ParameterError
from calibrant._core._fields import Choice, Number, Whole
from calibrant.calibrators._cells import Axis

CRITERIA = ("cv", "aic", "bic")
#: Widths to choose from, those of the paper, and numbers of cells.
WIDTHS = (0.05, 0.1, 0.2, 0.3, 0.5)
NUMBERS_OF_CELLS = (5, 7, 10, 15, 20, 30, 40, 60)
#: A range divided into more cells could no longer tell an edge from the score on it.
MOST_PER_AXIS = 1000
#: Sizes in a model file.
WIDTH, CELLS, CRITERION = Number(above=0.0), Whole(1, MOST_PER_AXIS), Choice(*CRITERIA)


@dataclass(frozen=True, slots=True)
class CellSizes:
    """Sizes to take or, if a criterion is named, to choose from: those with the largest cells first.

    A size is one number for all axes, or a tuple with one for each.
    """

    is_width: bool
    criterion: str | None
    sizes: tuple[Any, ...]

    @classmethod
    def of(cls, width: object, n_cells: object, candidates: Sequence[float] | None) -> "CellSizes":
        """Check what the user asked for."""
        is_width = width is not None
        name, given = ("width", width) if is_width else ("n_cells", n_cells)
        if not isinstance(given, str):
            return cls(is_width, None, (_check_size(name, given, is_width),))
        if given not in CRITERIA:
            raise ParameterError(f"{name} must be a number or one of 'cv', 'aic', 'bic'; got {given!r}")
        tried = (WIDTHS if is_width else NUMBERS_OF_CELLS) if candidates is None else list(candidates)
        if len(tried) == 0:
            raise ParameterError("candidates must hold at least one size; got none")
        sizes = {_check_number("candidates", size, is_width) for size in tried}
        return cls(is_width, given, tuple(sorted(sizes, reverse=is_width)))

    def axes(self, size: Any, ranges: Sequence[tuple[float, float]]) -> list[Axis]:
        """Axes with cells of a size, over the ranges of the scores."""
        sizes = size if isinstance(size, tuple) else (size,) * len(ranges)
        if len(sizes) != len(ranges):
            name = "width" if self.is_width else "n_cells"
            raise ParameterError(
                f"{name} must be one number, or one per axis, {len(ranges)} in all; got {len(sizes)}"
            )
        if self.is_width:
            return [Axis(0.0, width) for width in sizes]
        return [Axis.dividing(*ends, n_cells) for n_cells, ends in zip(sizes, ranges, strict=True)]


def _check_size(name: str, given: Any, is_width: bool) -> Any:
    if np.iterable(given) and not isinstance(given, bytes):
        return tuple(_check_number(name, size, is_width) for size in given)
    return _check_number(name, given, is_width)


def _check_number(name: str, size: object, is_width: bool) -> float:
    if is_width:
        return check_number(name, size, "above 0, for all axes or one per axis", lambda width: width > 0)
    must = f"a whole number from 1 to {MOST_PER_AXIS}, for all axes or one per axis"
    return int(check_number(name, size, must, lambda number: number in range(1, MOST_PER_AXIS + 1)))
