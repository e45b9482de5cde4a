"""What decisions cost: the part of a summary that is about money."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._errors import DataError
from calibrant.decisions import Ledger, compare_rules, cost_matrix, decide, saved_share, saving_estimate
from calibrant.metrics import Estimate, share_estimate
from calibrant.report._rows import Rows
from calibrant.report._sections import Confusion, Decisions, Rule

#: The most classes for which the matrices are shown, and decisions made anew in the browser.
MAX_LIVE_CLASSES = 26
#: Learned rules are tried on at most so many entries of probabilities, which takes a second or two.
MAX_RULE_ENTRIES = 20_000
N_CONFUSIONS = 20
N_FOLDS = 5


def read_costs(cost: object, rows: Rows) -> tuple[Float64Array, tuple[str, ...]]:
    """The costs in the order of the classes, and the names of the decisions."""
    classes = rows.class_names
    if cost is None:
        return 1.0 - np.eye(len(classes)), classes
    if isinstance(cost, Mapping):
        # The classes come first, as in the command and in models: of equal decisions the first is taken.
        others = [name for name in cost if name not in set(rows.classes)]
        actions = [*(name for name in rows.classes if name in cost), *others]
        return cost_matrix(cost, list(rows.classes), actions), tuple(map(str, actions))
    if hasattr(cost, "columns"):
        return cost_matrix(cost, list(rows.classes)), classes
    matrix = np.asarray(cost, dtype=object)
    if matrix.ndim == 3:
        raise DataError(
            "cost must be one matrix for all rows; got one per row; a report shows one matrix, so summarise "
            "rows of equal costs together"
        )
    if matrix.ndim == 2 and matrix.shape[0] != len(classes):
        actions = [f"decision {place}" for place in range(len(matrix))]
        return cost_matrix(cost, list(rows.classes), actions), tuple(actions)
    return cost_matrix(cost, list(rows.classes)), classes


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """What is decided by least cost.

    Attributes
    ----------
    matrix : ndarray of shape (a, k)
        The costs.
    actions : tuple of str
        The decisions.
    given : bool
        Whether the costs are the user's.
    rows : ndarray of int of shape (n,)
        The decision of every row.
    """

    matrix: Float64Array
    actions: tuple[str, ...]
    given: bool
    rows: IntArray


def decide_rows(rows: Rows, predicted: IntArray, cost: object) -> Decided:
    """Decide by least cost."""
    matrix, actions = read_costs(cost, rows)
    # Without costs the most probable class is the decision of least cost.
    decided = predicted if cost is None else decide(rows.proba, matrix, allow_any=actions != rows.class_names)
    return Decided(matrix, actions, cost is not None, decided)


def summarize_decisions(rows: Rows, found: Decided, called: IntArray, mean_cost: Estimate) -> Decisions:
    """Compare what was decided with the most probable class."""
    matrix, actions = found.matrix, found.actions
    ledger = Ledger(matrix, actions, rows.class_names)
    ledger.add(rows.proba, found.rows, rows.weight, rows.truth, called)
    shown = len(actions) <= MAX_LIVE_CLASSES and rows.n_classes <= MAX_LIVE_CLASSES
    return Decisions(
        actions=actions,
        cost=_nested(matrix) if shown else (),
        given=found.given,
        counts=_nested(ledger.counts) if shown else (),
        total=ledger.paid,
        mean_cost=mean_cost,
        promised=ledger.expected,
        plain_total=ledger.plain_paid,
        saving=_saving(rows, ledger, found.rows, called),
        confusions=_confusions(rows, ledger.counts, matrix, actions),
        rules=_rules(rows, found) if found.given else (),
    )


def _saving(rows: Rows, ledger: Ledger, decided: IntArray, called: IntArray) -> Estimate:
    """Percent saved against the most probable class; the interval is that of a ratio of two means."""
    saving = 100 * saved_share(ledger.plain_paid, ledger.paid)
    if ledger.of_class is None or not math.isfinite(saving):
        return Estimate(saving)
    named = np.array(ledger.of_class, dtype=np.intp)[called]
    if np.array_equal(named, decided):  # who decides alike saves nothing, for sure
        return Estimate(saving, saving, saving, 0.0)
    plain, paid = (ledger.matrix[each, rows.truth] for each in (named, decided))
    return saving_estimate(saving, plain, paid, rows.weight if rows.weighted else None)


def _nested(matrix: Float64Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _confusions(
    rows: Rows, counts: Float64Array, matrix: Float64Array, actions: tuple[str, ...]
) -> tuple[Confusion, ...]:
    """The pairs of different decision and truth that cost most."""
    classes, costs = rows.class_names, counts * matrix
    differ = np.array(actions)[:, None] != np.array(classes)[None, :]
    cells = np.flatnonzero((differ & (counts > 0)).ravel())
    ranked = cells[np.lexsort([-counts.ravel()[cells], -costs.ravel()[cells]])][:N_CONFUSIONS]
    return tuple(
        Confusion(
            actions[i],
            classes[j],
            _times(rows, float(counts[i, j]), 1.0),
            _times(rows, float(counts[i, j]), float(matrix[i, j])),
        )
        for i, j in zip(*np.unravel_index(ranked, counts.shape), strict=True)
    )


def _times(rows: Rows, count: float, each: float) -> Estimate:
    """What so many rows cost, where every one costs as much; with the interval of their share."""
    if rows.weighted:
        return Estimate(count * each)
    share, ends = share_estimate(count / len(rows), len(rows)), len(rows) * each
    low, high = sorted([share.low * ends, share.high * ends])
    return Estimate(count * each, low, high, abs(share.error * ends))


def _rules(rows: Rows, decided: Decided) -> tuple[Rule, ...]:
    """Learned rules side by side, if that is quick and every fold can have rows."""
    if rows.proba.size > MAX_RULE_ENTRIES or len(rows) < 20 * N_FOLDS:
        return ()
    smallest = np.bincount(rows.truth, minlength=rows.n_classes).min()
    if smallest < N_FOLDS:
        return ()
    weight = rows.weight if rows.weighted else None
    of_classes = decided.actions == rows.class_names
    found = compare_rules(
        rows.proba, rows.truth, decided.matrix, cv=N_FOLDS, sample_weight=weight, allow_any=not of_classes
    )
    return tuple(Rule(result.name, result.cost, result.saving, result.spread) for result in found.results)
