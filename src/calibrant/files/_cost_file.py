"""Costs from a CSV file: decisions down, truths across."""

import re
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant._core._words import option
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
    """

    name: str
    decisions: list[str]
    truths: list[str]
    matrix: Float64Array

    def in_order_of(self, classes: list[str]) -> tuple[list[str], Float64Array]:
        """The decisions, the classes among them first and in their order; and their costs, columns in that "
        "order."""
        known = [self.decisions.index(name) for name in classes if name in self.decisions]
        others = [row for row, name in enumerate(self.decisions) if name not in classes]
        rows = [*known, *others]
        return [self.decisions[row] for row in rows], self.matrix[rows][:, self._places(classes)]

    def mapping(self, classes: Array) -> dict[object, dict[object, float]]:
        """The costs as `{decision: {truth: cost}}`, with the labels of the classes where the names are "
        "theirs."""
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
        if set(self.decisions) != set(self.truths):
            return
        from calibrant.decisions import reasonable  # noqa: PLC0415  (scikit-learn, which takes its time)

        order = [self.truths.index(name) for name in self.decisions]
        matrix = self.matrix[:, order]
        if reasonable(matrix):
            return
        too_cheap = matrix <= np.diag(matrix)
        np.fill_diagonal(too_cheap, False)
        i, j = np.argwhere(too_cheap)[0]
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


def read_cost_file(path: str) -> CostFile:
    """Read costs from a file whose first column names the decisions."""
    source = open_source(path)
    corner, *truths = source.columns
    _check_corner(corner, path)
    if not truths:
        raise DataError(
            f"{path} must have a column per class after the one of the decisions; it has the column "
            f"{corner!r} alone; {ORIENTATION}"
        )
    decisions, rows = _cells(source, corner, truths)
    if not decisions:
        raise DataError(f"{path} must have a row per decision; it has none; {ORIENTATION}")
    twice = first_twice(decisions)
    if twice is not None:
        raise DataError(f"every decision of {path} must have one row; got {twice!r} more than once")
    return CostFile(path, decisions, [truth.strip() for truth in truths], np.vstack(rows))


def _cells(source: Source, corner: str, truths: list[str]) -> tuple[list[str], list[Float64Array]]:
    decisions: list[str] = []
    rows: list[Float64Array] = []
    for batch in source.batches():
        columns = [read_numbers(batch.column(truth), truth, source, len(decisions)) for truth in truths]
        rows.append(np.column_stack(columns))
        codes, texts = label_codes(batch.column(corner), corner, source)
        decisions += [(text or "").strip() for text in np.array([*texts, None], dtype=object)[codes]]
    return decisions, rows


def _check_corner(corner: str, path: str) -> None:
    """Refuse a table whose corner says that its rows are truths."""
    truth, decision = re.search(_TRUTH, corner, re.IGNORECASE), re.search(_DECISION, corner, re.IGNORECASE)
    if truth and not (decision and decision.start() < truth.start()):
        raise DataError(
            f"the first column of {path} must name decisions; its heading {corner!r} says that it names "
            f"truths; {ORIENTATION}: transpose the table"
        )
