"""Scores or probabilities with their labels, out of a file that is read pass by pass."""

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array
from calibrant._core._errors import DataError
from calibrant.cli._progress import watched
from calibrant.cli._reading import check_proba, in_order, read_groups, refuse_no_rows
from calibrant.cli._wanted import Wanted, choose_scores, texts_of_classes
from calibrant.files import (
    BatchReader,
    Chosen,
    Source,
    TableRows,
    label_codes,
    label_values,
    lenient_numbers,
    read_label_texts,
    texts_that_occur,
)
from calibrant.passes import Hashes, Rows

#: Groups that are measured in the same passes, at most.
MOST_GROUPS = 1000
#: The number of rows whose group has none.
NO_GROUP = (1 << 64) - 1


@dataclass(eq=False)
class PassRows(TableRows):
    """Rows of a file as the options want them, batch by batch; call it for another pass.

    With a column of groups, the key of a row is the number of its group.

    Attributes
    ----------
    wanted : Wanted
        What the options say.
    groups : dict of str to int
        The number of every group.
    """

    wanted: Wanted
    groups: dict[str, int] = field(default_factory=dict)
    _n_checked: int = field(default=0, init=False)
    _finding: bool = field(default=False, init=False)

    def _rows(self, batch: pa.RecordBatch, texts: dict[str | None, int], first: int) -> Rows:
        rows = super()._rows(batch, texts, first)
        if self.wanted.proba and first >= self._n_checked:
            columns = [lenient_numbers(batch.column(name), name, self.source) for name in self.scores]
            matrix = np.stack(columns, axis=1)
            check_proba(matrix, self.scores, self.source, first, sums=not self.wanted.coded)
            self._n_checked = first + batch.num_rows
        return rows

    def _keys(self, reader: BatchReader) -> Hashes | None:
        if self.key is None:
            return None
        codes, names = read_groups(reader.batch.column(self.key), self.key, self.source)
        if self._finding:
            for code in np.unique(codes):
                self.groups.setdefault(names[code], len(self.groups))
        return np.array([self.groups.get(name, NO_GROUP) for name in names], dtype=np.uint64)[codes]

    def find_groups(self) -> None:
        """Number the groups that have rows which count, in the order of their names, in a pass of its own."""
        self._finding = True
        counted: set[int] = set()
        for rows in watched(self(), self.source, "looking for groups"):
            counted |= set(np.unique(rows.present().keys()).tolist())
            if len(counted) > MOST_GROUPS:
                raise DataError(
                    f"the column {self.key!r} of {self.source.name} must have at most {MOST_GROUPS} groups "
                    "to be measured in passes; it has more; choose another, or pass --in-memory"
                )
        self._finding = False
        names = sorted(name for name, number in self.groups.items() if number in counted)
        self.groups = {name: number for number, name in enumerate(names)}

    def count(self) -> int:
        """Count the rows that can be used and have a weight, in a pass of its own unless the file tells."""
        if self.weight is None and not self.skips and self.n_rows is not None:
            return self.n_rows
        return sum(len(rows.present()) for rows in watched(self(), self.source, "counting"))


def rows_in_passes(source: Source, wanted: Wanted) -> PassRows:
    """Open the rows for passes: the columns are chosen, and the classes found."""
    assert wanted.label is not None
    chosen = choose_scores(source, wanted)
    classes = _classes(source, chosen, wanted)
    rows = PassRows(
        source,
        chosen.columns,
        wanted.label,
        wanted.weight,
        wanted.group,
        classes,
        wanted.skips,
        None,
        wanted,
    )
    if wanted.group is not None:
        rows.find_groups()
    return rows


def _classes(source: Source, chosen: Chosen, wanted: Wanted) -> Array:
    """The classes in order: as columns or options name them, or else by the labels of the file."""
    alone = len(chosen.columns) == 1 and not wanted.coded
    if wanted.classes is not None or not (alone or wanted.coded):
        needed = 0
    else:
        # A third label, which a single score cannot have, is an error with its row when the fit comes to it.
        needed = 2 if alone and not wanted.skips else sys.maxsize
    found, label_type = _find_labels(source, str(wanted.label), needed, wanted.skips)
    texts = texts_of_classes(in_order(found, label_type, source), chosen, wanted)
    return label_values(texts, label_type, source.as_text)


def _find_labels(source: Source, label: str, needed: int, skips: bool) -> tuple[list[str], Any]:
    """Look for so many labels, the first that occur, and for the type of their column."""
    found: dict[str, None] = {}
    label_type, first = None, 0
    for batch in watched(source.batches([label]), source, "looking for labels"):
        column = batch.column(label)
        label_type = column.type
        lenient = skips or not needed
        read = (
            label_codes(column, label, source) if lenient else read_label_texts(column, label, source, first)
        )
        found |= dict.fromkeys(texts_that_occur(*read))
        first += batch.num_rows
        if len(found) >= needed:
            break
    refuse_no_rows(max(len(found), int(needed == 0)), first, source)
    return list(found)[:needed], label_type
