"""What decisions cost beside those for the most probable class, added up a batch of rows at a time."""

import math
from collections.abc import Sequence

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.decisions._estimates import row_blocks
from calibrant.metrics import DifferenceSums, Estimate, paired_difference


class Ledger:
    """Decisions by any rule, and beside them the most probable class, where all classes can be decided.

    Parameters
    ----------
    matrix : ndarray of shape (a, k)
        The costs.
    actions, classes : sequence
        What the rows and columns of the costs are called.
    intervals : bool, default=False
        Whether what was paid and saved shall have intervals.

    Attributes
    ----------
    n_rows : ndarray of shape (a,)
        Number of rows by decision.
    expected_by_decision : ndarray of shape (a,)
        What every decision costs if the probabilities are right.
    counts : ndarray of shape (a, k)
        Weight of the rows by decision and truth, of those whose truth is known.
    """

    def __init__(
        self,
        matrix: Float64Array,
        actions: Sequence[object],
        classes: Sequence[object],
        *,
        intervals: bool = False,
    ) -> None:
        self.matrix = matrix
        place = {name: row for row, name in enumerate(actions)}
        #: The row of the costs for deciding each class; None where some class cannot be decided.
        self.of_class = [place[name] for name in classes] if set(classes) <= set(place) else None
        self.n_rows = np.zeros(len(matrix), dtype=np.intp)
        self.expected_by_decision = np.zeros(len(matrix))
        self.counts, self._plain_counts = np.zeros(matrix.shape), np.zeros(matrix.shape)
        self._plain_expected = self._more_paid = self._more_plain_paid = 0.0
        #: Of intervals: what was paid by these decisions, by the most probable class, and how much less.
        self._sums = [DifferenceSums() for _ in range(3)] if intervals else []

    def add(
        self,
        proba: Float64Array,
        decided: IntArray,
        weights: Float64Array,
        truth: IntArray | None = None,
        called: IntArray | None = None,
        more: Float64Array | None = None,
    ) -> Float64Array:
        """Enter decisions about some rows; give what each is to cost.

        With their truth, and their most probable classes, if these are known; and with what the costs of
        these rows have more, of shape (n, a, k).
        """
        expected = self._expected_of(proba, decided, more)
        self.n_rows += np.bincount(decided, minlength=len(self.matrix))
        self.expected_by_decision += np.bincount(decided, weights * expected, len(self.matrix))
        counts = self._counts_of(decided, weights, truth)
        self.counts += counts
        self._more_paid += _more(more, decided, weights, truth)
        plain = None
        if self.of_class is not None:
            plain = np.array(self.of_class, dtype=np.intp)[proba.argmax(axis=1) if called is None else called]
            same = np.array_equal(plain, decided)
            self._plain_expected += float(
                weights @ (expected if same else self._expected_of(proba, plain, more))
            )
            self._plain_counts += counts if same else self._counts_of(plain, weights, truth)
            self._more_plain_paid += _more(more, plain, weights, truth)
        if self._sums and truth is not None:
            self._enter(decided, plain, weights, truth, more)
        return expected

    def _expected_of(self, proba: Float64Array, decided: IntArray, more: Float64Array | None) -> Float64Array:
        expected = np.empty(len(proba))
        for rows in row_blocks(*proba.shape):
            expected[rows] = np.einsum("ij,ij->i", self.matrix[decided[rows]], proba[rows])
        if more is not None:
            expected += np.einsum("ij,ij->i", more[np.arange(len(proba)), decided], proba)
        return expected

    def _counts_of(
        self, decided: IntArray, weights: Float64Array, truth: IntArray | None
    ) -> Float64Array | float:
        if truth is None:
            return 0.0
        cells = decided * self.matrix.shape[1] + truth
        return np.bincount(cells, weights, self.matrix.size).astype(np.float64).reshape(self.matrix.shape)

    def _enter(
        self,
        decided: IntArray,
        plain: IntArray | None,
        weights: Float64Array,
        truth: IntArray,
        more: Float64Array | None,
    ) -> None:
        """Add what every row has paid, and would have paid by its most probable class."""
        of_paid, of_plain, of_saved = self._sums
        paid = self._paid_by(decided, truth, more)
        none = np.zeros_like(paid)
        of_paid.add(paid, none, weights)
        if plain is not None:
            plain_paid = self._paid_by(plain, truth, more)
            of_plain.add(plain_paid, none, weights)
            of_saved.add(plain_paid, paid, weights)

    def _paid_by(self, decided: IntArray, truth: IntArray, more: Float64Array | None) -> Float64Array:
        paid = self.matrix[decided, truth]
        return paid if more is None else paid + more[np.arange(len(truth)), decided, truth]

    @property
    def expected(self) -> float:
        """What all decisions cost if the probabilities are right."""
        return float(self.expected_by_decision.sum())

    @property
    def plain_expected(self) -> float:
        """The same of the most probable class; `nan` where some class cannot be decided."""
        return math.nan if self.of_class is None else self._plain_expected

    @property
    def paid(self) -> Estimate:
        """What the decisions cost as the truth turned out."""
        return in_all(float((self.counts * self.matrix).sum()) + self._more_paid, self._sums[:1])

    @property
    def plain_paid(self) -> Estimate:
        """The same of the most probable class; `nan` where some class cannot be decided."""
        if self.of_class is None:
            return Estimate(math.nan)
        total = float((self._plain_counts * self.matrix).sum()) + self._more_plain_paid
        return in_all(total, self._sums[1:2])

    @property
    def saved(self) -> Estimate:
        """How much less was paid than by the most probable class, of the same rows."""
        return in_all(self.plain_paid - self.paid, self._sums[2:])


def in_all(total: float, sums: Sequence[DifferenceSums]) -> Estimate:
    """What rows have in all, with the interval that follows from that of their mean, where it is known."""
    weight = sum(float(each.sums[0]) for each in sums)
    if not weight:
        return Estimate(total)
    mean = sums[0].result()
    return Estimate(total, mean.low * weight, mean.high * weight, mean.error * weight)


def _more(
    more: Float64Array | None, decided: IntArray, weights: Float64Array, truth: IntArray | None
) -> float:
    """What rows have paid beyond the costs that all of them share."""
    if more is None or truth is None:
        return 0.0
    return float(weights @ more[np.arange(len(truth)), decided, truth])


def saved_share(plain: float, paid: float) -> float:
    """What is saved of the cost of the most probable class; `nan` where that is unknown or nothing."""
    return (plain - paid) / abs(plain) if plain else math.nan


def saving_estimate(
    saving: float, plain: Float64Array, paid: Float64Array, weights: Float64Array | None = None
) -> Estimate:
    """Percent saved against what is plain, of rows that paid so much; as a ratio of two means it scatters."""
    mean = float(np.average(plain, weights=weights))
    if not math.isfinite(saving) or not mean:
        return Estimate(saving)
    # In the first order the ratio scatters as this mean does, which is zero on these rows.
    around = paired_difference(100 * (plain - paid) / abs(mean), saving * plain / mean, sample_weight=weights)
    return Estimate(saving, saving + around.low, saving + around.high, around.error)
