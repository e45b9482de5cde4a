"""How rows come into a monitor: all of them are checked before anything changes."""

from typing import cast

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._checks import check_weights
from calibrant._core._errors import DataError, ParameterError
from calibrant.monitor._drift import Drift
from calibrant.monitor._findings import Findings
from calibrant.monitor._groups import Groups
from calibrant.monitor._rows import (
    UNKNOWN,
    Rows,
    no_rows,
    numbered,
    read_columns,
    read_proba,
    read_times,
    read_truth,
    read_weights,
)
from calibrant.monitor._streams import LabelledStream, ScoreStream
from calibrant.monitor._waiting import Key, Waiting, check_keys, read_keys


class Intake(Findings):
    """The way of rows into `CalibrationMonitor`."""

    max_groups: int
    max_waiting: int
    _base_rates: Float64Array | None
    _drift: Drift | None
    _greatest: float

    def _begin(self) -> None:
        """Know no rows."""
        self._dated = None
        self._timed = None
        self._n_rows = self._n_never = 0
        self._first: float | None = None
        self._last = None
        self._closed = []
        self._group_columns: list[str] = []
        self._group_values = []
        self._labelled = self._scores = self._waiting = None

    def _read_reference(self, reference: object, weight: object) -> None:
        proba = read_proba(reference, self._n_classes, self._given)
        if len(proba) == 0:
            raise DataError("reference must have at least one row; got none")
        given = check_weights(weight, len(proba))
        if given is not None:
            self._greatest = float(given.max())
            proba, given = proba[given > 0], given[given > 0]
        self._n_classes, self._base_rates = proba.shape[1], np.average(proba, axis=0, weights=given)
        self._drift = Drift.against(proba, self._promise())

    def _read(
        self, proba: object, y: object, time: object, group: object, sample_weight: object, key: object
    ) -> tuple[Rows, list[Key] | None]:
        """Rows of positive weight, numbered, and their keys."""
        matrix = read_proba(proba, self._n_classes, self._given)
        n = len(matrix)
        truth = read_truth(y, n, matrix.shape[1], self._given)
        weights = read_weights(sample_weight, n, self._greatest) if n else np.empty(0)
        keys = None if key is None else read_keys(key, n)
        times, dated = self._read_times(time, n)
        columns = {} if group is None else read_columns(group, n)
        if n == 0:
            return no_rows(matrix.shape[1], 0), None
        counted = weights > 0
        if keys is not None:
            keys = [each for each, c in zip(keys, counted, strict=True) if c]
            asked = [each for each, t in zip(keys, truth[counted], strict=True) if t == UNKNOWN]
            check_keys(asked, [] if self._waiting is None else self._waiting.keys)
        codes = self._start(matrix.shape[1], columns, counted)
        self._timed, self._dated, self._last = time is not None, dated, float(times[-1])
        self._first = float(times[0]) if self._first is None else self._first
        numbers = self._n_rows + np.cumsum(counted) - 1.0
        self._n_rows += int(counted.sum())
        place = np.column_stack([numbers, times if time is not None else numbers])
        return Rows(matrix, truth, weights, place, codes).take(counted), keys

    def _take(self, rows: Rows, keys: list[Key] | None) -> None:
        """Give rows to the streams, or let them wait."""
        if not len(rows):
            return
        assert self._scores is not None
        assert self._labelled is not None
        assert self._waiting is not None
        none = np.full(len(rows), UNKNOWN)
        self._scores.take(Rows(rows.proba, none, rows.weights, rows.place, rows.groups[:, :0]))
        if keys is None:
            known = rows.truth != UNKNOWN
            self._n_never += int((~known).sum())
            if not known.all():
                rows = rows.take(known)
            awaited = cast("list[Key | None]", [None] * len(rows))
        else:
            awaited = [each if t == UNKNOWN else None for each, t in zip(keys, rows.truth, strict=True)]
        self._labelled.take(self._waiting.put(rows, awaited))

    def _read_times(self, time: object, n: int) -> tuple[Float64Array, bool]:
        if self._timed is not None and n and (time is not None) is not self._timed:
            came, before = ("none", "given") if time is None else ("some", "not given")
            raise DataError(
                f"time must be given for all rows or for none; it was {before} before; got {came}"
            )
        if isinstance(self.window, str) and time is None and n:
            raise DataError(f"time must be given for windows of a {self.window}; got none; pass dates")
        if time is None:
            return np.zeros(n), False
        last = -np.inf if self._last is None else self._last
        times, dated = read_times(time, n, last, dated=self._dated)
        if isinstance(self.window, str) and n and not dated:
            raise DataError(f"time must be dates for windows of a {self.window}; got numbers; pass dates")
        return times, dated

    def _start(self, n_classes: int, columns: dict[str, Array], counted: Array) -> IntArray:
        """Make all that depends on the first rows; the numbers of the groups of these rows."""
        if self._labelled is not None and list(columns) != self._group_columns:
            before = ", ".join(self._group_columns) or "none"
            raise DataError(
                f"group must have the columns of the first rows, {before}; got {', '.join(columns) or 'none'}"
            )
        if self._cost is not None and self._cost.shape[1] != n_classes:
            raise ParameterError(
                f"cost must have one column per class, {n_classes} in all; got {self._cost.shape[1]}"
            )
        started = self._labelled is not None
        values = [list(each) for each in self._group_values] if started else [[] for _ in columns]
        codes = np.zeros((len(counted), len(columns)), dtype=np.intp)
        for c, each in enumerate(columns.values()):
            codes[:, c] = numbered(each, values[c])
        if self._labelled is None:
            new = Groups(list(columns), self._rates(n_classes), self.max_groups)
            new.meet(codes[counted])
            self._make_streams(n_classes, new if columns else None)
        elif self._labelled.groups is not None:
            self._labelled.groups.meet(codes[counted])
        self._group_columns, self._group_values = list(columns), values
        return codes

    def _make_streams(self, n_classes: int, groups: Groups | None) -> None:
        self._n_classes = n_classes
        common = self._cost, self.window, self.n_windows
        rates = self._rates(n_classes)
        self._labelled = LabelledStream(self.classes, rates, self._promise(), groups, *common)
        self._scores = ScoreStream(self.classes, self._drift, *common)
        columns = [] if groups is None else groups.columns
        self._waiting = Waiting(no_rows(n_classes, len(columns)), self.max_waiting)

    def _rates(self, n_classes: int) -> Float64Array:
        """How often the classes come, as far as the reference says."""
        return np.full(n_classes, 1.0 / n_classes) if self._base_rates is None else self._base_rates
