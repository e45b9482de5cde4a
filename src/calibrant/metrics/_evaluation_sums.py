"""Sums over rows from which an evaluation is made: batches are added, and sums of other rows merged."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._chance import Seed
from calibrant._core._errors import DataError
from calibrant._core._mix import mix
from calibrant.metrics._bins import fixed_width_bins
from calibrant.metrics._evaluation import Evaluation, LossMeasures
from calibrant.metrics._intervals import N_MOMENTS, power_sums
from calibrant.metrics._points import ALL_CELLS, Column, Points, bin_starts, limit_of, points_of, sums_between
from calibrant.metrics._reliability import BIN_WIDTH
from calibrant.metrics._row_losses import log_losses, most_probable, squared_errors

#: Rows that are looked at together.
BLOCK = 1 << 15
#: Rows kept of more than two classes, to see how columns vary together; and their probabilities in all.
MOST_SAMPLED, LEAST_SAMPLED, ALL_SAMPLED = 4096, 256, 1 << 19
#: Losses of a row, of which sums of powers are kept.
LOG_LOSS, BRIER, ERROR, CONFIDENCE = range(4)
#: What a row of the table of `EvaluationSums.columns` is about.
SUM, POINT, CELL, SAMPLED = range(4)
N_VALUES = 7


class EvaluationSums:
    """What `evaluate` must know of rows; of any rows together it is the same however they were cut.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    n_columns : int
        Number of columns of probabilities: one for the positive of two classes, or one per class.
    n_bins : int, default=15
        Number of bins of the expected calibration errors.
    cost : ndarray of shape (a, k), optional
        ``cost[i, j]`` is the cost of deciding i when the truth is j.
    exact : bool, default=False
        Whether all distinct probabilities are kept, however many there are.
    n_cells : int, default=1048576
        The most distinct probabilities that are kept else, over all columns, though at least 1,024 in each.
        If a column has more, they are pooled into cells that are narrow in the log-odds.

    See Also
    --------
    evaluate : All at once.

    Notes
    -----
    Sums, least and greatest values merge. Isotonic regression, the area under the ROC curve, the slope and
    bins of equal weight come from the weights of both classes at every distinct probability of a column, or
    in every cell. For intervals of what belongs to several columns at once, 4,096 rows are kept: those whose
    keys have the least hashes.
    """

    def __init__(
        self,
        n_classes: int,
        n_columns: int,
        *,
        n_bins: int = 15,
        cost: Float64Array | None = None,
        exact: bool = False,
        n_cells: int = ALL_CELLS,
    ) -> None:
        self.n_classes, self.n_columns, self.n_bins, self.cost = n_classes, n_columns, n_bins, cost
        many = n_classes > 2
        #: Columns whose points are kept: that of the positive class; of more all, and the greatest of a row.
        self.n_points = n_classes + 1 if many else 1
        n_diagram = fixed_width_bins(np.zeros(0), BIN_WIDTH, 0.0, 1.0)[1]
        self.sums: dict[str, Float64Array] = {
            # Rows, certain mistakes, rows whose weight is not whole.
            "rows": np.zeros(3),
            "losses": np.zeros((4, N_MOMENTS)),
            # Weights of the classes, and their squares.
            "truth": np.zeros((2, n_classes)),
            # Of every class: sums of p, p² and of the squared error and its square; the same by w².
            "columns": np.zeros((n_classes, 2, 4)),
            # Of every bin: rows, weight, and sums of p and of what came.
            "diagrams": np.zeros((n_classes, 4, n_diagram)),
            # Of every bin what `sums_in` gives.
            "bins": np.zeros((self.n_points, 7, n_bins)),
        }
        if cost is not None:
            self.sums["decided"] = np.zeros((3, *cost.shape))
            if len(cost) == n_classes:
                self.sums["called"] = np.zeros((3, n_classes, n_classes))
        limit = None if exact else limit_of(self.n_points, n_cells)
        self.points = [Column(limit) for _ in range(self.n_points)]
        self.n_sampled = min(MOST_SAMPLED, max(LEAST_SAMPLED, ALL_SAMPLED // n_classes)) if many else 0
        #: Hash, then truth, weight and probabilities of the rows that are kept.
        self.sample: tuple[Array, Float64Array] = (
            np.empty(0, dtype=np.uint64),
            np.empty((0, 2 + n_classes)),
        )

    def add(
        self,
        truth: IntArray,
        proba: Float64Array,
        weights: Float64Array | None = None,
        *,
        decided: IntArray | None = None,
        keys: Array | None = None,
    ) -> Self:
        """Add rows, which have been checked.

        Parameters
        ----------
        truth : ndarray of int of shape (n,)
            The number of the true class.
        proba : ndarray of shape (n,), (n, 1) or (n, k)
            Probabilities: of the positive of two classes, or of every class.
        weights : ndarray of shape (n,), optional
            Weights, not negative; a row of weight 0 is absent. Cubes of those above 0 must be numbers above 0
            too: `evaluate` sees to that.
        decided : ndarray of int of shape (n,), optional
            What was decided, as a row of the costs; by default what costs least by the probabilities.
        keys : ndarray of uint64 of shape (n,), optional
            Something that differs from row to row, by which rows are kept; by default their numbers, counted
            from the first that was added to these sums.

        Returns
        -------
        EvaluationSums
            These sums.
        """
        matrix = proba.reshape(len(truth), -1)
        if matrix.shape[1] != self.n_columns:
            raise DataError(f"proba must have {self.n_columns} columns; got {matrix.shape[1]}")
        if weights is not None and len(weights) and weights.min() <= 0:
            kept = weights > 0
            truth, matrix, weights = truth[kept], matrix[kept], weights[kept]
            decided, keys = _some(decided, kept), _some(keys, kept)
        if len(truth) == 0:
            return self
        if weights is not None and bool(np.all(weights == 1)):
            weights = None
        right, confidence = np.empty(len(truth), dtype=np.bool_), np.empty(len(truth))
        first = int(self.sums["rows"][0])
        for start in range(0, len(truth), BLOCK):
            rows = slice(start, start + BLOCK)
            some = (truth[rows], matrix[rows], _some(weights, rows))
            called, confidence[rows] = self._add_losses(*some)
            right[rows] = called == truth[rows]
            self._add_decisions(*some, _some(decided, rows), called)
            self._add_classes(*some)
        self._add_columns(truth, matrix, weights)
        if self.n_classes > 2:
            self._add_points(self.n_classes, right, confidence, weights)
        if self.n_sampled:
            if keys is None:
                keys = np.arange(first, first + len(truth), dtype=np.uint64)
            self._add_sample(truth, matrix, weights, keys)
        return self

    def _add_losses(
        self, truth: IntArray, proba: Float64Array, weights: Float64Array | None
    ) -> tuple[IntArray, Float64Array]:
        """Losses of some rows; the most probable class of each, and its probability."""
        chance, loss = log_losses(truth, proba)
        certain = chance <= 0
        called, confidence = most_probable(proba)
        wrong = (called != truth).astype(np.float64)
        losses = self.sums["losses"]
        losses[LOG_LOSS] += power_sums(np.where(certain, 0.0, loss), weights)
        losses[BRIER] += power_sums(squared_errors(truth, proba), weights)
        losses[ERROR] += power_sums(wrong, weights)
        losses[CONFIDENCE] += power_sums(confidence, weights)
        unlike = 0 if weights is None else np.count_nonzero(weights != np.floor(weights))
        self.sums["rows"] += np.array([len(truth), np.count_nonzero(certain), unlike], dtype=np.float64)
        for place, mass in enumerate((weights, None if weights is None else weights**2)):
            self.sums["truth"][place] += np.bincount(truth, mass, self.n_classes)
        return called, confidence

    def _add_decisions(
        self,
        truth: IntArray,
        proba: Float64Array,
        weights: Float64Array | None,
        decided: IntArray | None,
        called: IntArray,
    ) -> None:
        if self.cost is None:
            return
        if decided is None:
            decided = least_cost(both_columns(proba), self.cost)
        for name, rows in (("decided", decided), ("called", called)):
            if name in self.sums:
                table = self.sums[name]
                cells, mass = rows * self.n_classes + truth, weights
                for place in range(len(table)):
                    table[place] += np.bincount(cells, mass, table[0].size).reshape(table[0].shape)
                    mass = None if mass is None or weights is None else mass * weights

    def _add_classes(self, truth: IntArray, proba: Float64Array, weights: Float64Array | None) -> None:
        """Sums over the rows of every class; those of a diagram where points do not have them."""
        for number in range(self.n_classes):
            p, happened = _column(proba, number), truth == number
            self.sums["columns"][number] += _column_sums(p, happened, weights)
            if weights is not None or (self.n_classes == 2 and number == 0):
                self.sums["diagrams"][number] += _diagram(p, happened, weights)

    def _add_columns(self, truth: IntArray, proba: Float64Array, weights: Float64Array | None) -> None:
        """Points, and what is found in them, of every class, or of the positive of two."""
        for number in range(self.n_classes) if self.n_classes > 2 else (1,):
            happened = truth == number
            place = number if self.n_classes > 2 else 0
            points = self._add_points(place, happened, _column(proba, number), weights)
            if weights is None:
                weight = points.weight
                self.sums["diagrams"][number] += sums_between(
                    bin_starts(points.p, BIN_WIDTH), weight, weight, weight * points.p, points.pos
                )

    def _add_points(
        self, place: int, happened: BoolArray, p: Float64Array, weights: Float64Array | None
    ) -> Points:
        points = points_of(happened, p, weights)
        self.points[place].add(points)
        self.sums["bins"][place] += sums_in(points, bin_starts(points.p, 1 / self.n_bins))
        return points

    def _add_sample(
        self, truth: IntArray, proba: Float64Array, weights: Float64Array | None, keys: Array
    ) -> None:
        hashes = mix(keys.astype(np.uint64, copy=False))
        kept = _least(hashes, self.n_sampled)
        mass = np.ones(len(kept)) if weights is None else weights[kept]
        self._keep(hashes[kept], np.column_stack([truth[kept], mass, proba[kept]]))

    def _keep(self, hashes: Array, rows: Float64Array) -> None:
        hashes = np.concatenate([self.sample[0], hashes])
        rows = np.concatenate([self.sample[1], rows])
        kept = _least(hashes, self.n_sampled)
        kept = kept[np.argsort(hashes[kept])]
        self.sample = hashes[kept], rows[kept]

    def merge(self, other: "EvaluationSums") -> Self:
        """Add the sums of other rows.

        Parameters
        ----------
        other : EvaluationSums
            The other ones, which are not changed.

        Returns
        -------
        EvaluationSums
            These sums.
        """
        if self._kind() != other._kind():
            raise DataError(
                "sums must be of the same classes, columns, bins and costs to be merged; got different ones"
            )
        for name, each in other.sums.items():
            self.sums[name] += each
        for mine, theirs in zip(self.points, other.points, strict=True):
            mine.add(theirs.points(), pooled=theirs.pooled)
        if self.n_sampled:
            self._keep(*other.sample)
        return self

    def _kind(self) -> tuple[object, ...]:
        costs = None if self.cost is None else self.cost.tolist()
        return self.n_classes, self.n_columns, self.n_bins, costs, self.points[0].limit

    def columns(self) -> dict[str, Array]:
        """Give all of it as columns of equal length, whose rows may come in any order.

        Returns
        -------
        dict of str to ndarray
            What a row is about, which of those, a hash, and numbers; rows of several such tables, one after
            the other, are the table of all their rows together.
        """
        flat = np.concatenate([each.ravel() for each in self.sums.values()])
        blocks = [_block(SUM, np.arange(len(flat)), None, flat)]
        for place, column in enumerate(self.points):
            points = column.points()
            kind = CELL if column.pooled else POINT
            blocks.append(_block(kind, np.full(len(points), place), None, *points.arrays()))
        hashes, rows = self.sample
        for place in range(self.n_classes if self.n_sampled else 0):
            where = np.full(len(rows), place)
            blocks.append(_block(SAMPLED, where, hashes, rows[:, 0], rows[:, 1], rows[:, 2 + place]))
        return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add what `columns` gave.

        Parameters
        ----------
        columns : mapping of str to ndarray
            The columns of sums, or of several, one after the other.
        """
        kind, place = np.asarray(columns["kind"]), np.asarray(columns["place"])
        values = [np.asarray(columns[f"value{number}"]) for number in range(N_VALUES)]
        chosen = kind == SUM
        sizes = [each.size for each in self.sums.values()]
        flat = np.bincount(place[chosen], values[0][chosen], sum(sizes))
        for name, part in zip(self.sums, np.split(flat, np.cumsum(sizes)[:-1]), strict=True):
            self.sums[name] += part.reshape(self.sums[name].shape)
        for number, column in enumerate(self.points):
            for what in (POINT, CELL):
                rows = np.flatnonzero((kind == what) & (place == number))
                if len(rows):
                    column.add(_points_of_values([each[rows] for each in values]), pooled=what == CELL)
        rows = np.flatnonzero(kind == SAMPLED)
        if len(rows):
            hashes = np.asarray(columns["hash"]).view(np.uint64)[rows]
            rows = rows[np.lexsort((place[rows], hashes))]
            kept = np.stack([each[rows].reshape(-1, self.n_classes) for each in values[:3]])
            hashes = np.asarray(columns["hash"]).view(np.uint64)[rows].reshape(-1, self.n_classes)[:, 0]
            self._keep(hashes, np.column_stack([kept[0][:, 0], kept[1][:, 0], kept[2]]))

    def result(self, classes: Sequence[object] | None = None, *, random_state: Seed = 0) -> Evaluation:
        """Make the evaluation.

        Parameters
        ----------
        classes : sequence, optional
            The labels in order; by default their numbers.
        random_state : int, Generator, RandomState or None, default=0
            The draws behind intervals that have no formula.

        Returns
        -------
        Evaluation
            What there is to say of the rows.
        """
        from calibrant.metrics._evaluation_result import evaluation_of  # noqa: PLC0415  (which needs this file)

        if self.sums["rows"][0] == 0:
            raise DataError("labels must have at least one row with a weight; got none")
        labels = tuple(range(self.n_classes)) if classes is None else tuple(classes)
        return evaluation_of(self, labels, random_state)

    def losses(self) -> LossMeasures:
        """Give the mean losses alone, which takes a fraction of the time of all there is to say.

        Returns
        -------
        LossMeasures
            What the forecasts lose.
        """
        from calibrant.metrics._evaluation_result import losses_of  # noqa: PLC0415  (which needs this file)

        return losses_of(self)


def both_columns(proba: Float64Array) -> Float64Array:
    """One column per class."""
    return np.column_stack([1.0 - proba, proba]) if proba.shape[1] == 1 else proba


def least_cost(proba: Float64Array, cost: Float64Array) -> IntArray:
    """The decision that costs least by the probabilities; of those within rounding the first."""
    risk = proba @ cost.T
    least = risk.min(axis=1)
    unit = min(float(np.abs(cost).max(initial=0.0)), 1.0)
    return np.asarray(
        np.argmax(risk <= (least + 1e-12 * np.maximum(np.abs(least), unit))[:, np.newaxis], axis=1)
    )


def sums_in(points: Points, starts: IntArray) -> Float64Array:
    """Of every bin: weight, sums of p and of what came; of the squared error and p (1 - p); these by w²."""
    p, weight, other = points.p, points.weight, 1.0 - points.p
    squares = points.pos * other**2 + points.neg * p**2
    by_forecast = weight * (p * other)
    sums = [weight, weight * p, points.pos, squares, by_forecast]
    if points.pos2 is points.pos:
        found = sums_between(starts, *sums)
        return np.concatenate([found, found[3:]])
    sums += [points.pos2 * other**2 + points.neg2 * p**2, (points.pos2 + points.neg2) * (p * other)]
    return sums_between(starts, *sums)


def _some(values: Any, rows: slice | BoolArray) -> Any:
    """Some of what there may be."""
    return None if values is None else values[rows]


def _column(proba: Float64Array, number: int) -> Float64Array:
    """The probabilities of a class; a single column is that of the second."""
    if proba.shape[1] > 1:
        return np.ascontiguousarray(proba[:, number])
    return proba[:, 0] if number == 1 else 1.0 - proba[:, 0]


def _column_sums(p: Float64Array, happened: BoolArray, weights: Float64Array | None) -> Float64Array:
    error = (p - happened) ** 2
    values = (p, p * p, error, error * error)
    if weights is None:
        sums = [each.sum() for each in values]
        return np.array([sums, sums])
    return np.array([[mass @ each for each in values] for mass in (weights, weights**2)])


def _diagram(p: Float64Array, happened: BoolArray, weights: Float64Array | None) -> Float64Array:
    bins, n_bins = fixed_width_bins(p, BIN_WIDTH, 0.0, 1.0)
    mass = np.ones(len(p)) if weights is None else weights
    sums: tuple[Any, ...] = (None, mass, mass * p, mass * happened)
    return np.stack([np.bincount(bins, each, n_bins) for each in sums])


def _least(hashes: Array, most: int) -> IntArray:
    """Places of the least hashes."""
    if len(hashes) <= most:
        return np.arange(len(hashes))
    return np.argpartition(hashes, most)[:most]


def _block(kind: int, place: IntArray, hashes: Array | None, *values: Float64Array) -> dict[str, Array]:
    n = len(place)
    filled = [*values, *[np.zeros(n)] * (N_VALUES - len(values))]
    return {
        "kind": np.full(n, kind, dtype=np.int64),
        "place": place.astype(np.int64),
        "hash": np.zeros(n, dtype=np.int64) if hashes is None else hashes.view(np.int64),
        **{f"value{number}": each for number, each in enumerate(filled)},
    }


def _points_of_values(values: list[Float64Array]) -> Points:
    """Points in any order, of several summaries."""
    from calibrant.metrics._points import joined  # noqa: PLC0415

    order = np.argsort(values[1], kind="stable")
    p, low, high, *sums = (each[order] for each in values)
    exact = bool(np.array_equal(low, high))
    return joined([Points(low, low, low, *sums) if exact else Points(p, low, high, *sums)])
