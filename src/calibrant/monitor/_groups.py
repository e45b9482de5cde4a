"""Calibration within groups: an e-process each, and discoveries whose false ones are bounded (e-BH).

Sums are whole multiples of a small unit, so that they do not depend on the order of rows, and merge exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray, as_floats
from calibrant._core._checks import check_finite, check_number
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.metrics import Estimate, normal_estimate, share_estimate
from calibrant.monitor._alternatives import GROUP_SHIFTS, Alternatives

#: Sums are multiples of this; logarithms of ratios are rounded down, and variances up.
UNIT = 2.0**-32
#: Shifts of the log-odds below those of the tilts. A group may have so many rows that these are certain.
GENTLE_SHIFTS = np.array([sign * 2.0**-power for power in (2, 3, 4, 5) for sign in (1, -1)])
#: A group has too few rows if they cannot tell a shift of the log-odds by so much.
TELLING_SHIFT = 1.0
#: Bits before which the facet and the first of two values stand in the key of a group.
FACET, VALUE = 48, 24


@dataclass(frozen=True, slots=True)
class Group:
    """What is known of the rows of a group.

    Attributes
    ----------
    name : str
        Columns and values, as in "region=north, sex=f".
    values : dict of str to object
        The same by column; None where the value is missing.
    n_rows : int
        Rows with labels.
    e_value : float
        Evidence against calibration: 1 is none, 20 is much for one group alone. At most 1e300.
    found : bool
        Whether it is among the groups that are said to be off, of which at most the share alpha is expected
        to be wrongly said.
    worst_class : object
        The class whose frequency is farthest from its forecasts, by its standard error.
    mean_forecast : tuple of float
        How often every class was expected.
    frequency : tuple of Estimate
        How often it came.
    gap : Estimate
        Frequency minus mean forecast of the worst class.
    verdict : str
        In words.
    """

    name: str
    values: dict[str, object]
    n_rows: int
    e_value: float
    found: bool
    worst_class: object
    mean_forecast: tuple[float, ...]
    frequency: tuple[Estimate, ...]
    gap: Estimate
    verdict: str


def e_bh(log_e_values: object, alpha: object) -> BoolArray:
    """Tell which hypotheses to reject so that the false discovery rate is at most alpha (Wang and Ramdas).

    Parameters
    ----------
    log_e_values : array-like of shape (m,)
        Logarithms of e-values, dependent in any way.
    alpha : float
        The rate.

    Returns
    -------
    ndarray of bool of shape (m,)
        The discoveries: the r greatest, for the greatest r whose r-th is at least m / (r alpha).
    """
    logs = np.asarray(as_floats(log_e_values, "log_e_values"), dtype=np.float64)
    if logs.ndim != 1:
        raise DataError(f"log_e_values must be one row of numbers; got shape {logs.shape}")
    check_finite(logs, "log_e_values")
    rate = check_number("alpha", alpha, "above 0 and below 1", lambda x: 0 < x < 1)
    m = len(logs)
    order = np.argsort(-logs, kind="stable")
    ranks = np.arange(1, m + 1)
    enough = logs[order] >= np.log(m / rate) - np.log(ranks) if m else np.zeros(0, dtype=np.bool_)
    r = int(np.flatnonzero(enough)[-1]) + 1 if enough.any() else 0
    found = np.zeros(m, dtype=np.bool_)
    found[order[:r]] = True
    return found


class Groups:
    """Sums of every value of every column, and of every pair of values of two columns.

    Parameters
    ----------
    columns : list of str
        Names of the columns.
    base_rates : ndarray of shape (k,)
        How often every class comes.
    most : int
        How many groups there may be.
    """

    def __init__(self, columns: list[str], base_rates: Float64Array, most: int) -> None:
        self.columns, self.most, self.k = columns, most, len(base_rates)
        self.facets = [(c,) for c in range(len(columns))] + list(combinations(range(len(columns)), 2))
        self.alternatives = Alternatives(base_rates, GROUP_SHIFTS, learned=False)
        self.shown = self.alternatives.columns
        self.n_logs = len(self.alternatives.weights)
        #: Facet, and the numbers of the values (0 for the second of a single column), in one number; sorted.
        self.keys = np.empty(0, dtype=np.int64)
        #: Sums of logarithms; of rows, w and w²; of w p, of w (y - p), of the squares of the latter, and of
        #: their variances w² p (1 - p).
        self.sums = np.empty((0, self.n_logs + 3 + 4 * len(self.shown)), dtype=np.int64)

    def add(self, proba: Float64Array, truth: IntArray, weights: Float64Array, codes: IntArray) -> None:
        """Add rows."""
        if not len(truth):
            return
        what = self._summands(proba, truth, weights)
        for keys in self._keys(codes):
            order = np.argsort(keys, kind="stable")
            there = keys[order]
            starts = np.append(0, np.flatnonzero(there[1:] != there[:-1]) + 1)
            places = self._places(there[starts])
            self.sums[places] += np.add.reduceat(what[order], starts, axis=0)

    def meet(self, codes: IntArray) -> None:
        """Make room for the groups of rows that come, before anything else changes."""
        keys = [np.unique(each) for each in self._keys(codes)]
        if keys and len(codes):
            self._places(np.concatenate(keys))

    def _keys(self, codes: IntArray) -> Iterator[IntArray]:
        """For every column, and every pair of columns, the keys of the groups of rows."""
        for number, facet in enumerate(self.facets):
            second = codes[:, facet[1]] if len(facet) > 1 else 0
            yield (number << FACET) + (codes[:, facet[0]] << VALUE) + second

    def _summands(self, proba: Float64Array, truth: IntArray, weights: Float64Array) -> IntArray:
        ratios = np.empty((len(truth), self.n_logs))
        self.alternatives.ratios(proba, truth, ratios)
        p = proba[:, self.shown]
        w = weights[:, np.newaxis]
        gap = w * ((truth[:, np.newaxis] == self.shown) - p)
        logs = np.floor(w * np.log(ratios) / UNIT)
        others = [np.ones_like(w), w, w * w, w * p, gap, gap * gap]
        variances = np.ceil(w * w * p * (1.0 - p) / UNIT)
        return np.column_stack([logs, np.rint(np.column_stack(others) / UNIT), variances]).astype(np.int64)

    def _places(self, keys: IntArray) -> IntArray:
        """Where the sums of groups are, of which some may be new; keys are sorted and distinct."""
        new = keys[~np.isin(keys, self.keys, assume_unique=True)]
        if len(new):
            if len(self.keys) + len(new) > self.most:
                raise DataError(
                    f"groups and pairs of them must be at most {self.most:,}; more came; give columns with "
                    "fewer values, or raise max_groups"
                )
            order = np.argsort(np.concatenate([self.keys, new]))
            nothing = np.zeros((len(new), self.sums.shape[1]), dtype=np.int64)
            self.keys = np.concatenate([self.keys, new])[order]
            self.sums = np.concatenate([self.sums, nothing])[order]
        return np.searchsorted(self.keys, keys)

    def log_e_values(self) -> Float64Array:
        """The logarithms of the mixtures of all groups, one half tilts, one half gentle shifts."""
        tilts = self.sums[:, : self.n_logs] * UNIT + np.log(self.alternatives.weights / 2)
        shares = np.tile(self.alternatives.shares / (2 * len(GENTLE_SHIFTS)), len(GENTLE_SHIFTS))
        logs = np.hstack([tilts, self._gentle() + np.log(shares)])
        top = logs.max(axis=1, initial=-np.inf, keepdims=True)
        return np.asarray(top[:, 0] + np.log(np.exp(logs - top).sum(axis=1)))

    def _gentle(self) -> Float64Array:
        """The logarithms of the evidence of every group for gentle shifts, all classes of a shift together.

        A gap w (y - p) is at most 1 and has mean 0, so that exp(d gap - v (exp |d| - 1 - |d|)) with its
        variance v has mean at most 1 (Bennett), and so has the product over rows: two sums serve any d.
        """
        gap, _, variance = np.split(self.sums[:, self.n_logs + 3 + len(self.shown) :] * UNIT, 3, axis=1)
        size = np.abs(GENTLE_SHIFTS)[:, np.newaxis]
        price = np.expm1(size) - size
        bets = GENTLE_SHIFTS[:, np.newaxis] * gap[:, np.newaxis] - price * variance[:, np.newaxis]
        return np.asarray(bets.reshape(len(bets), -1))

    def merge(self, later: "Groups", renumbered: list[list[int]]) -> None:
        """Add the sums of other rows, whose values have other numbers."""
        for key, sums in zip(later.keys.tolist(), later.sums, strict=True):
            facet, values = _parts(key)
            columns = self.facets[facet]
            codes = [renumbered[c][v] for c, v in zip(columns, values, strict=False)] + [0]
            new = (facet << FACET) + (codes[0] << VALUE) + codes[1]
            place = self._places(np.array([new]))
            self.sums[place] += sums

    def found(self, values: list[list[object]], labels: Array, alpha: float) -> tuple[Group, ...]:
        """All groups, those with most evidence first."""
        if not len(self.keys):
            return ()
        seen = np.flatnonzero(self.sums[:, self.n_logs])
        if not len(seen):
            return ()
        evidence = self.log_e_values()[seen]
        said = e_bh(evidence, alpha)
        needed = np.log(len(evidence) / alpha)
        order = np.argsort(-evidence, kind="stable")
        return tuple(
            self._group(int(seen[place]), float(evidence[place]), bool(said[place]), needed, values, labels)
            for place in order
        )

    def _group(
        self,
        place: int,
        evidence: float,
        said: bool,
        needed: float,
        values: list[list[object]],
        labels: Array,
    ) -> Group:
        facet, codes = _parts(int(self.keys[place]))
        columns = self.facets[facet]
        named = {self.columns[c]: values[c][v] for c, v in zip(columns, codes, strict=False)}
        sums = self.sums[place, self.n_logs :] * UNIT
        n_rows, weight, square = (float(each) for each in sums[:3])
        forecast, gap, squares, _ = sums[3:].reshape(4, -1)
        errors = np.sqrt(np.maximum(squares - gap**2 * square / weight**2, squares / 4)) / weight
        errors = np.maximum(errors, 1e-12)
        worst = int(np.argmax(np.abs(gap / weight) / errors))
        difference = normal_estimate(float(gap[worst] / weight), float(errors[worst]))
        worth = weight**2 / square
        came = np.clip((forecast + gap) / weight, 0.0, 1.0)
        expected = np.clip(forecast / weight, 0.0, 1.0)
        if self.k == 2:
            came, expected = (np.array([1.0 - each[0], each[0]]) for each in (came, expected))
        label = labels[self.shown[worst]]
        few = TELLING_SHIFT**2 / 2 * float(squares.max()) < needed
        verdict = "no evidence that it is off"
        if said:
            more = "more" if gap[worst] > 0 else "less"
            verdict = f"off: class {label_text(label)} comes {more} often than forecast"
        elif few:
            verdict = "too few rows to tell"
        elif not difference.low <= 0 <= difference.high:  # an interval of one group, looked at once
            verdict = "not sure: little evidence for so many groups"
        return Group(
            name=", ".join(f"{c}={'missing' if v is None else v}" for c, v in named.items()),
            values=named,
            n_rows=round(n_rows),
            e_value=float(np.exp(np.clip(evidence, -690.0, 690.0))),
            found=said,
            worst_class=label.item() if hasattr(label, "item") else label,
            mean_forecast=tuple(expected.tolist()),
            frequency=tuple(share_estimate(float(each), worth) for each in came),
            gap=difference,
            verdict=verdict,
        )


def _parts(key: int) -> tuple[int, tuple[int, int]]:
    """The facet and the values of a key."""
    values = key & ((1 << FACET) - 1)
    return key >> FACET, (values >> VALUE, values & ((1 << VALUE) - 1))
