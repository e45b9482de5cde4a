"""Drift of scores without labels: a conformal martingale.

The rank of every new score among those of the reference and all before it is uniform as long as scores are
exchangeable with these. Scores are put into bins, so that ranks are counts; ties are broken by a number that
a hash of the row gives. Bets on uniform numbers multiply to e-processes.
"""

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._mix import mix
from calibrant._core._names import label_text
from calibrant.monitor._alternatives import MOST
from calibrant.monitor._bound import Bound
from calibrant.monitor._detector import BLOCK, Crossing, Detector

#: Bins of one column, and of all columns together.
MOST_BINS, ALL_BINS, LEAST_BINS = 4096, 8192, 64
#: Exponents of the bets e * u ** (e - 1), which expect low ranks, and of their mirror images.
POWERS = (0.25, 0.5, 0.75)
#: Cells of the histogram that learns, whatever has changed.
CELLS = 10
N_BETS = 2 * len(POWERS) + 1
#: Rows that are compared with each other, and rows whose ranks are found at once.
CHUNK, AT_ONCE = 64, 1024
#: Which of them (first index) come before which.
EARLIER = np.triu(np.ones((CHUNK, CHUNK), dtype=np.bool_), k=1)


class Drift:
    """The martingale of every column of scores, mixed evenly; of two classes only the second has one.

    Parameters
    ----------
    edges : ndarray of shape (c, b - 1)
        Where the bins of every column begin, but for the first.
    reference : ndarray of int of shape (c, b)
        Rows of the reference in every bin.
    bound : RunLength or Ever
        The promise.
    """

    NAMES = ("counts", "cells")

    def __init__(self, edges: Float64Array, reference: IntArray, bound: Bound) -> None:
        self.edges, self.reference = edges, reference
        self.columns = [1] if len(edges) == 1 else list(range(len(edges)))
        self.counts = reference.copy()
        self.cells = np.zeros((len(edges), CELLS), dtype=np.int64)
        self.detector = Detector(even_weights(len(edges)), bound)

    @classmethod
    def against(cls, reference: Float64Array, bound: Bound) -> "Drift":
        """Compare with forecasts of the time when all was well, which are put into bins of equal weight."""
        some = reference[:, 1:] if reference.shape[1] == 2 else reference
        n_bins = min(MOST_BINS, max(LEAST_BINS, ALL_BINS // some.shape[1]), len(some))
        levels = np.arange(1, n_bins) / n_bins
        quantiles = np.quantile(some, levels, axis=0, method="higher").reshape(-1, some.shape[1])
        edges = np.ascontiguousarray(quantiles.T, dtype=np.float32).astype(np.float64)
        places = bins_of(edges, some)
        counts = np.stack([np.bincount(each, minlength=n_bins) for each in places.T])
        return cls(edges, counts, bound)

    def ranks(self, proba: Float64Array, numbers: Float64Array) -> Float64Array:
        """Ranks in (0, 1) of the scores of rows with these numbers, among the reference and all rows before.

        They are made of counts, which are the same however rows are cut into batches.
        """
        scores = proba[:, self.columns]
        parts = range(0, len(scores), AT_ONCE)
        found = [self._ranks(scores[i : i + AT_ONCE], numbers[i : i + AT_ONCE]) for i in parts]
        return np.concatenate([np.empty((0, len(self.columns))), *found])

    def _ranks(self, scores: Float64Array, numbers: Float64Array) -> Float64Array:
        n, (n_columns, n_bins) = len(scores), self.counts.shape
        n_chunks = -(-n // CHUNK)
        column = np.arange(n_columns)
        keys = mix(numbers.astype(np.uint64))[:, np.newaxis] + column.astype(np.uint64)
        chance = ((mix(keys) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        # Rows that fill the last chunk are in a bin of their own, above all others.
        places = np.full((n_columns, n_chunks * CHUNK), n_bins, dtype=np.int64)
        places[:, :n] = bins_of(self.edges, scores).T
        chunk = np.arange(n_chunks * CHUNK) // CHUNK
        cells = (chunk * n_columns + column[:, np.newaxis]) * (n_bins + 1) + places
        counts = np.bincount(cells.ravel(), minlength=n_chunks * n_columns * (n_bins + 1))
        counts = counts.reshape(n_chunks, n_columns, n_bins + 1)[:, :, :-1]
        before = np.empty_like(counts)
        before[0] = self.counts
        for number in range(1, n_chunks):
            np.add(before[number - 1], counts[number - 1], out=before[number])
        below = np.cumsum(before, axis=2) - before
        at = np.minimum(places, n_bins - 1)
        short = places.astype(np.int16).reshape(n_columns, n_chunks, CHUNK)
        left, right = short[..., np.newaxis], short[:, :, np.newaxis]
        less, like = (
            np.add.reduce((each & EARLIER).view(np.uint8), axis=2, dtype=np.uint8).reshape(n_columns, -1)
            for each in (left < right, left == right)
        )
        lower = below[chunk, column[:, np.newaxis], at] + less
        same = before[chunk, column[:, np.newaxis], at] + like
        total = int(self.counts[0].sum()) + np.arange(n) + 1.0
        self.counts = before[-1] + counts[-1]
        return np.asarray((lower[:, :n].T + chance * (same[:, :n].T + 1.0)) / total[:, np.newaxis])

    def advance(self, ranks: Float64Array, rows: Float64Array, n: int) -> list[Crossing]:
        """Take a block, of which the first n are rows."""
        ratios = np.ones((BLOCK, len(self.columns) * N_BETS))
        ratios[:n] = self._bets(ranks[:n]).reshape(n, -1)
        return self.detector.advance(ratios, rows, n)[0]

    def _bets(self, ranks: Float64Array) -> Float64Array:
        """What every bet makes of one unit, shape (n, columns, bets)."""
        found = np.empty((*ranks.shape, N_BETS))
        for side, u in enumerate((ranks, np.maximum(1.0 - ranks, 2.0**-54))):
            root = np.sqrt(u)
            fourth = np.sqrt(root)
            for place, power in enumerate((root * fourth, root, fourth)):
                found[..., side * len(POWERS) + place] = np.minimum(POWERS[place] / power, MOST)
        cell = np.minimum((ranks * CELLS).astype(np.intp), CELLS - 1)
        drawn = (cell[..., np.newaxis] == np.arange(CELLS)).astype(np.int64)
        before = np.cumsum(drawn, axis=0) - drawn + self.cells
        came = np.take_along_axis(before, cell[..., np.newaxis], axis=-1)[..., 0]
        found[..., -1] = CELLS * (came + 1.0) / (before.sum(axis=-1) + float(CELLS))
        self.cells = self.cells + drawn.sum(axis=0)
        return found

    def follow(self, later: "Drift", *, restarted: bool) -> None:
        """Take over what is known of later rows, which were compared with the same reference."""
        self.counts = self.counts + later.counts - self.reference
        self.cells = self.cells + later.cells
        self.detector.follow(later.detector, restarted=restarted)


def bins_of(edges: Float64Array, scores: Float64Array) -> IntArray:
    """For every score of every column the number of its bin."""
    return np.stack(
        [np.searchsorted(each, scores[:, c], side="right") for c, each in enumerate(edges)], axis=1
    )


def even_weights(n_columns: int) -> Float64Array:
    """Every column the same, and in it the bets that expect something half, and the one that learns half."""
    bets = np.append(np.full(N_BETS - 1, 0.5 / (N_BETS - 1)), 0.5)
    return np.tile(bets / n_columns, n_columns)


def drift_words(leader: int, columns: list[int], labels: Array) -> str:
    """Say what the bet that leads says."""
    column, bet = divmod(leader, N_BETS)
    how = "are spread otherwise" if bet == N_BETS - 1 else f"are {'lower' if bet < len(POWERS) else 'higher'}"
    return f"scores of class {label_text(labels[columns[column]])} {how} than in the reference"
