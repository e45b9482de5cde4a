"""Costs from a CSV file: decisions down, truths across."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError
from calibrant._core._hints import closest
from calibrant._core._names import label_text
from calibrant._core._words import option
from calibrant.files._amounts import read_amount
from calibrant.files._columns import label_codes, match_classes, read_numbers
from calibrant.files._open import open_source
from calibrant.files._source import Source, first_twice

#: Words for the two sides of a cost matrix in the corner of its table.
_DECISION, _TRUTH = r"decision|decid|action|predict", r"truth|true|actual|real"
ORIENTATION = "rows are decisions and columns are truths"


@dataclass(frozen=True)
class CostFile:
    """Costs by name, as they stand in the file.

    Attributes
    ----------
    name : str
        The file.
    decisions, truths : list of str
        The names of its rows and columns.
    matrix : ndarray of shape (a, k)
        The costs.
    amounts : dict of str to ndarray of shape (a, k)
        By columns of the rows, what of them is added to the costs of a row.
    """

    name: str
    decisions: list[str]
    truths: list[str]
    matrix: Float64Array
    amounts: dict[str, Float64Array] = field(default_factory=dict)

    def in_order_of(self, classes: list[str]) -> tuple[list[str], Float64Array]:
        """The decisions, the classes among them first and in their order; and their costs, columns in that
        order.
        """
        rows, places = self._order(classes)
        return [self.decisions[row] for row in rows], self.matrix[rows][:, places]

    def amounts_in_order_of(self, classes: list[str]) -> dict[str, Float64Array]:
        """What is added by the columns of a row, in the same order."""
        rows, places = self._order(classes)
        return {name: factors[rows][:, places] for name, factors in self.amounts.items()}

    def check_amounts(self, rows: Source) -> None:
        """Refuse costs that name no column of the rows."""
        for name, factors in self.amounts.items():
            if name not in rows.columns:
                row, column = np.argwhere(factors)[0]
                raise DataError(
                    f"the column {self.truths[column]!r} of {self.name} must hold finite numbers, or sums of "
                    f"numbers and columns of {rows.name}; got {name!r} in row {row + 1}, which is no column"
                    f"{closest(name, rows.columns)}"
                )

    def _order(self, classes: list[str]) -> tuple[list[int], list[int]]:
        known = [self.decisions.index(name) for name in classes if name in self.decisions]
        others = [row for row, name in enumerate(self.decisions) if name not in classes]
        return [*known, *others], self._places(classes)

    def mapping(self, classes: Array) -> dict[object, dict[object, float]]:
        """The costs as `{decision: {truth: cost}}`, with the labels of the classes where the names are
        theirs.
        """
        labels = {label_text(label): label for label in classes.tolist()}
        texts = [text for text in labels if text is not None]
        places = self._places(texts)
        truths = [labels[text] for text in texts]
        decisions = [labels.get(name, name) for name in self.decisions]
        return {
            decision: dict(zip(truths, row[places].tolist(), strict=True))
            for decision, row in zip(decisions, self.matrix, strict=True)
        }

    def check_reasonable(self) -> None:
        """Refuse costs by which a wrong decision is no dearer than the right one."""
        if set(self.decisions) != set(self.truths) or self.amounts:
            return
        from calibrant.decisions import too_cheap  # noqa: PLC0415  (scikit-learn, which takes its time)

        order = [self.truths.index(name) for name in self.decisions]
        matrix = self.matrix[:, order]
        wrong = too_cheap(matrix)
        if not wrong.any():
            return
        i, j = np.argwhere(wrong)[0]
        decided, truth = self.decisions[i], self.decisions[j]
        raise DataError(
            f"the right decision must be the cheapest; in {self.name} deciding {decided!r} when the truth is "
            f"{truth!r} costs {matrix[i, j]:g}, and deciding {truth!r} costs {matrix[j, j]:g}; check that "
            f"{ORIENTATION}, or pass {option('any_costs')}"
        )

    def _places(self, texts: list[str]) -> list[int]:
        """The columns of the classes, in their order."""
        unknown = [name for name in self.truths if name not in texts and name not in self.decisions]
        if (unknown or len(self.truths) > len(texts)) and set(self.decisions) == set(texts):
            raise DataError(
                f"the header of {self.name} must name truths, which are the classes; it names "
                f"{unknown[0]!r}, and the first column names the classes; {ORIENTATION}: transpose the table"
            )
        if unknown:
            raise DataError(
                f"the header of {self.name} must name classes, as {ORIENTATION}; it names {unknown[0]!r}, "
                f"and the classes are {', '.join(texts)}"
            )
        return match_classes(texts, self.truths, "the class", f"the truths in the header of {self.name}")


def read_cost_file(path: Any, *, amounts: bool = False) -> CostFile:
    """Read costs from a table whose first column names the decisions; cells may name columns of the rows."""
    found: dict[str, Float64Array] = {}
    read = named_rows(path, "decision", ORIENTATION, _check_corner, found if amounts else None)
    return CostFile(str(path) if isinstance(path, str) else "the costs", *read, found)


def named_rows(
    path: Any,
    row: str,
    form: str,
    check: Callable[[str, str], None] | None = None,
    amounts: dict[str, Float64Array] | None = None,
) -> tuple[list[str], list[str], Float64Array]:
    """A table of numbers whose first column names its rows: the names of both, and the numbers.

    Cells may also name columns of other rows, whose factors are then put among the amounts.
    """
    source = open_source(path)
    if amounts is not None:
        path = source.name
    corner, *columns = source.columns
    if check is not None:
        check(corner, path)
    if not columns:
        raise DataError(
            f"{path} must have a column per class after the one of the {row}s; it has the column "
            f"{corner!r} alone; {form}"
        )
    names, rows = _cells(source, corner, columns, amounts)
    if not names:
        raise DataError(f"{path} must have a row per {row}; it has none; {form}")
    twice = first_twice(names)
    if twice is not None:
        raise DataError(f"every {row} of {path} must have one row; got {twice!r} more than once")
    return names, [column.strip() for column in columns], np.vstack(rows)


def _cells(
    source: Source, corner: str, truths: list[str], amounts: dict[str, Float64Array] | None
) -> tuple[list[str], list[Float64Array]]:
    decisions: list[str] = []
    rows: list[Float64Array] = []
    for batch in source.batches():
        cells = None if amounts is None else _sums(batch, truths)
        if cells is not None and amounts is not None and not decisions:  # such a table is a single batch
            for name in sorted({name for row in cells for cell in row for name in cell} - {""}):
                amounts[name] = np.array([[cell.get(name, 0.0) for cell in row] for row in cells])
            columns = list(np.array([[cell.get("", 0.0) for cell in row] for row in cells]).T)
        else:
            columns = [read_numbers(batch.column(truth), truth, source, len(decisions)) for truth in truths]
        rows.append(np.column_stack(columns))
        codes, texts = label_codes(batch.column(corner), corner, source)
        decisions += [(text or "").strip() for text in np.array([*texts, None], dtype=object)[codes]]
    return decisions, rows


def _sums(batch: pa.RecordBatch, truths: list[str]) -> list[list[dict[str, float]]] | None:
    """All cells as sums of numbers and columns; None where one is neither, or all are numbers."""
    texts = [[str(cell) for cell in batch.column(truth).to_pylist()] for truth in truths]
    cells = [[read_amount(text) for text in row] for row in zip(*texts, strict=True)]
    if any(cell is None for row in cells for cell in row):
        return None
    known = [[cell or {} for cell in row] for row in cells]
    return known if any(name for row in known for cell in row for name in cell) else None


def _check_corner(corner: str, path: str) -> None:
    """Refuse a table whose corner says that its rows are truths."""
    truth, decision = re.search(_TRUTH, corner, re.IGNORECASE), re.search(_DECISION, corner, re.IGNORECASE)
    if truth and not (decision and decision.start() < truth.start()):
        raise DataError(
            f"the first column of {path} must name decisions; its heading {corner!r} says that it names "
            f"truths; {ORIENTATION}: transpose the table"
        )
