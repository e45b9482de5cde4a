"""Rows that wait for their labels, so that labels that come late take their place in time."""

from collections.abc import Sequence

import numpy as np

from calibrant._core._arrays import IntArray, as_array
from calibrant._core._checks import shown
from calibrant._core._errors import DataError
from calibrant.monitor._rows import UNKNOWN, Rows

#: What rows are called by.
Key = str | int


class Waiting:
    """A queue in time order: its first row has no label yet, and rows behind it wait with it.

    Parameters
    ----------
    rows : Rows
        None, of the kind that will come.
    most : int
        How many rows there may be. Beyond that the first row is given up: it never gets a label.
    """

    def __init__(self, rows: Rows, most: int) -> None:
        self.most = most
        self.rows = rows
        self.keys: list[Key | None] = []
        self.n_given_up = 0

    def __len__(self) -> int:
        return len(self.keys)

    def put(self, rows: Rows, keys: Sequence[Key | None]) -> Rows:
        """Take rows; give back those whose turn it is."""
        rows = rows.take(slice(None)) if not len(self) else self.rows.then(rows)
        self.keys = [*self.keys, *keys]
        return self._release(rows)

    def label(self, keys: Sequence[Key], truth: IntArray) -> Rows:
        """Give labels to rows that wait; give back those whose turn it is."""
        places = {key: place for place, key in enumerate(self.keys) if key is not None}
        unknown = [key for key in keys if key not in places]
        if unknown:
            more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
            raise DataError(
                f"labels must be for rows that wait for one; none waits under {shown(unknown[0])}{more}; it "
                "has had its label, was given up, or never came with this key"
            )
        if len(set(keys)) < len(keys):
            raise DataError("keys of labels must differ; one came twice; give every row one label")
        where = [places[key] for key in keys]
        self.rows.truth[where] = truth
        for place in where:
            self.keys[place] = None
        return self._release(self.rows)

    def _release(self, rows: Rows) -> Rows:
        """Rows up to the first one without label; of more than there may be, the first are given up."""
        open_rows = np.flatnonzero(rows.truth == UNKNOWN)
        # The first rows are given up as long as what begins with the next one without label is too long.
        lengths = len(rows) - open_rows
        first = int((lengths > self.most).sum())
        self.n_given_up += first
        end = int(open_rows[first]) if first < len(open_rows) else len(rows)
        ready = rows.take(slice(0, end))
        self.rows = rows.take(slice(end, None))
        self.keys = self.keys[end:]
        return ready.take(ready.truth != UNKNOWN)


def read_keys(key: object, n_rows: int) -> list[Key]:
    """Keys of rows: texts or whole numbers."""
    values = as_array(key, "key")
    if values.shape != (n_rows,):
        raise DataError(f"key must have one value per row, {n_rows} in all; got shape {values.shape}")
    keys: list[Key] = values.tolist()
    for row, each in enumerate(keys):
        if not isinstance(each, str | int) or isinstance(each, bool):
            raise DataError(f"key must be texts or whole numbers; got {shown(each)} in row {row}")
    return keys


def check_keys(keys: Sequence[Key], waiting: Sequence[Key | None]) -> None:
    """Refuse keys that are there twice, or wait already."""
    known = set(waiting)
    for key in keys:
        if key in known:
            raise DataError(
                f"keys of rows that wait for labels must differ; got {shown(key)} twice; give every row a "
                "key of its own"
            )
        known.add(key)
