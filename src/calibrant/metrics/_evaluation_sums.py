"""Sums over rows from which an evaluation is made: batches are added, and sums of other rows merged."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._chance import Seed
from calibrant._core._errors import DataError
from calibrant._core._mix import mix
from calibrant.metrics._bins import fixed_width_bins
from calibrant.metrics._evaluation import Evaluation, LossMeasures
from calibrant.metrics._evaluation_rows import N_LOSSES, Batch, some
from calibrant.metrics._evaluation_table import Table, as_table
from calibrant.metrics._in_order import InOrder, in_order
from calibrant.metrics._intervals import N_MOMENTS
from calibrant.metrics._isotonic import Ordered
from calibrant.metrics._points import (
    ALL_CELLS,
    N_SUMS_IN,
    Column,
    Points,
    bin_starts,
    limit_of,
    points_of,
    sums_between,
    sums_in,
)
from calibrant.metrics._reliability import BIN_WIDTH
from calibrant.metrics._row_losses import BLOCK
from calibrant.metrics._threads import side_by_side

#: Rows kept of more than two classes, to see how columns vary together; and their probabilities in all.
MOST_SAMPLED, LEAST_SAMPLED, ALL_SAMPLED = 4096, 256, 1 << 19


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
            "losses": np.zeros((N_LOSSES, N_MOMENTS)),
            # Weights of the classes, and their squares.
            "truth": np.zeros((2, n_classes)),
            # Of every class: sums of p, p² and of the squared error and its square; the same by w².
            "columns": np.zeros((n_classes, 2, 4)),
            # Of every bin: rows, weight, and sums of p and of what came.
            "diagrams": np.zeros((n_classes, 4, n_diagram)),
            # Of every bin of every column what `sums_in` gives.
            "bins": np.zeros((self.n_points, N_SUMS_IN, n_bins)),
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
        ordered: InOrder | None = None,
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
        ordered : InOrder, optional
            The same rows in order, for whoever needs that too; all weights are then above 0.

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
            decided, keys = some(decided, kept), some(keys, kept)
        if len(truth) == 0:
            return self
        if weights is not None and bool(np.all(weights == 1)):
            weights = None
        if ordered is None:
            ordered = in_order(truth, matrix, weights, called=self.n_classes > 2)
        if self.n_sampled:
            self._add_sample(truth, matrix, weights, keys)
        batch = Batch(truth, matrix, weights, ordered.called, ordered.confidence, decided)
        for sums in side_by_side(self._sums_of_rows, batch.blocks(), len(truth)):
            for name, each in sums.items():
                self.sums[name] += each
        self._add_columns(ordered.columns, weighted=weights is not None)
        return self

    def _sums_of_rows(self, batch: Batch) -> dict[str, Float64Array]:
        """Sums over rows that do not ask for their order."""
        found = batch.losses(self.n_classes)
        if self.cost is not None:
            found |= batch.decisions(self.cost)
        # Where rows count once, sums over a class are found in its points: but for the first of two.
        classes = range(self.n_classes) if batch.weights is not None else [0] if self.n_classes == 2 else []
        for name, find in (("columns", batch.column_sums), ("diagrams", batch.diagram)) if classes else ():
            found[name] = np.zeros_like(self.sums[name])
            for number in classes:
                found[name][number] = find(number)
        return found

    def _add_columns(self, ordered: Sequence[Ordered], *, weighted: bool) -> None:
        """Points, and what is found in them: bins; of rows that count once diagrams and sums of classes."""
        n_rows = len(ordered[0].forecast)
        points = side_by_side(points_of, ordered[: self.n_points], n_rows)
        for place, (each, sums) in enumerate(
            zip(points, side_by_side(self._sums_of, points, n_rows), strict=True)
        ):
            self.points[place].add(each)
            self.sums["bins"][place] += sums[0]
            number = place if self.n_classes > 2 else 1
            if number < self.n_classes and not weighted:
                self.sums["diagrams"][number] += sums[1]
                self.sums["columns"][number] += sums[2]

    def _sums_of(self, points: Points) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Sums over a column: of its bins, of those of its diagram, and of all rows."""
        bins, diagram = (bin_starts(points.p, width) for width in (1 / self.n_bins, BIN_WIDTH))
        edges = np.union1d(bins, diagram)
        sums = sums_in(points, edges)
        _, p, _, squares, chance, fourth, *_ = sums.sum(axis=1)
        return (
            sums_between(np.searchsorted(edges, bins), *sums),
            sums_between(np.searchsorted(edges, diagram), sums[0], *sums[:3]),
            np.array([p, p - chance, squares, fourth]),
        )

    def _add_sample(
        self, truth: IntArray, proba: Float64Array, weights: Float64Array | None, keys: Array | None
    ) -> None:
        """Keep the rows whose keys have the least hashes; by default the keys are numbers of rows."""
        if keys is None:
            first = int(self.sums["rows"][0])
            keys = np.arange(first, first + len(truth), dtype=np.uint64)

        def least_of(start: int) -> tuple[Array, IntArray]:
            hashes = mix(keys[start : start + BLOCK].astype(np.uint64, copy=False))
            kept = _least(hashes, self.n_sampled)
            return hashes[kept], start + kept

        found = side_by_side(least_of, range(0, len(truth), BLOCK), len(truth))
        hashes, kept = (np.concatenate(each) for each in zip(*found, strict=True))
        least = _least(hashes, self.n_sampled)
        hashes, kept = hashes[least], kept[least]
        mass = np.ones(len(kept)) if weights is None else weights[kept]
        self._keep(hashes, np.column_stack([truth[kept], mass, proba[kept]]))

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
        return as_table(self.sums, self.points, self.sample)

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add what `columns` gave.

        Parameters
        ----------
        columns : mapping of str to ndarray
            The columns of sums, or of several, one after the other.
        """
        table = Table(columns)
        for name, each in table.sums(self.sums).items():
            self.sums[name] += each
        for place, column in enumerate(self.points):
            for points, pooled in table.points(place):
                column.add(points, pooled=pooled)
        if self.n_sampled:
            self._keep(*table.sample(self.n_classes))

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

    def losses(self, *, part_intervals: bool = False) -> LossMeasures:
        """Give the mean losses alone, which takes a fraction of the time of all there is to say.

        Parameters
        ----------
        part_intervals : bool, default=False
            Whether calibration and refinement have intervals, for which chance is simulated.

        Returns
        -------
        LossMeasures
            What the forecasts lose.
        """
        from calibrant.metrics._evaluation_result import losses_of  # noqa: PLC0415  (which needs this file)

        return losses_of(self, part_intervals=part_intervals)


def _least(hashes: Array, most: int) -> IntArray:
    """Places of the least hashes."""
    if len(hashes) <= most:
        return np.arange(len(hashes))
    return np.argpartition(hashes, most)[:most]
