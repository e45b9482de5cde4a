"""How the findings of an experiment are laid out as a table: for the terminal and for the documentation."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibrant.experiments._printed import is_off

#: What a check came to.
HELD = {True: "held", False: "NOT HELD", None: "not checked"}


@dataclass(frozen=True, slots=True)
class Block:
    """The columns of one measure: ours, and where the paper prints it, the paper's and the difference.

    Attributes
    ----------
    headings : tuple of str
        One per column.
    cells : list of tuple of str
        For every row of the table its cells in these columns.
    """

    headings: tuple[str, ...]
    cells: list[tuple[str, ...]]

    @property
    def width(self) -> int:
        """Characters that the columns take, with two before each of them."""
        columns = zip(self.headings, *self.cells, strict=True)
        return sum(2 + max(map(len, column)) for column in columns)


def row_names(document: Mapping[str, Any]) -> list[str]:
    """What every row of the table is about."""
    return [", ".join(filter(None, row["labels"])) for row in document["rows"]]


def blocks(document: Mapping[str, Any]) -> list[Block]:
    """The columns of numbers."""
    return [_block(document["rows"], place, measure) for place, measure in enumerate(document["measures"])]


def _block(rows: Sequence[Mapping[str, Any]], place: int, measure: str) -> Block:
    ours, paper, spread, errors = (
        [_number(row.get(kind, ()), place) for row in rows] for kind in ("ours", "paper", "spread", "error")
    )
    show = _shower([value for value in (*ours, *paper) if value is not None and math.isfinite(value)])
    own = [
        show(value) + ("" if sd is None else f" ± {show(sd)}") for value, sd in zip(ours, spread, strict=True)
    ]
    if all(value is None for value in paper):
        return Block((measure,), [(cell,) for cell in own])
    differences = [_difference(*numbers, show) for numbers in zip(ours, paper, errors, strict=True)]
    return Block((measure, "paper", "difference"), list(zip(own, map(show, paper), differences, strict=True)))


def _difference(
    ours: float | None, paper: float | None, error: float | None, show: Callable[..., str]
) -> str:
    """The difference, how many standard errors it is, and whether that is more than chance."""
    if ours is None or paper is None:
        return ""
    shown = [show(ours - paper, "+")] if math.isfinite(ours - paper) else []
    if shown and error:
        shown.append(f"({abs(ours - paper) / error:.1f} se)")
    return " ".join([*shown, *(["off"] if is_off(ours, paper, error) else [])])


def _number(values: Sequence[Any], place: int) -> float | None:
    """The number of a measure; the texts "inf" and "-inf" stand for infinities."""
    value = values[place] if place < len(values) else None
    return None if value is None else float(value)


def _shower(numbers: Sequence[float]) -> Callable[..., str]:
    """How the numbers of a column are shown: small ones with more digits."""
    greatest = max(map(abs, numbers), default=0.0)
    whole = all(number == int(number) for number in numbers)
    digits = 0 if whole or greatest >= 1000 else 5 if greatest < 0.5 else 4 if greatest < 10 else 2

    def show(value: float | None, sign: str = "") -> str:
        return "" if value is None else f"{value:{sign},.{digits}f}"

    return show
