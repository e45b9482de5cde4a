"""What the sections of a report say of mistakes and decisions, as plain values."""

from dataclasses import dataclass

from calibrant.metrics import Estimate
from calibrant.report._drawn import Curve, Floats


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong prediction.

    Attributes
    ----------
    row : int
        Its row, counted from 1.
    name : str
        The name of the row; "" if there are no names.
    predicted, truth : str
        The most probable class, and the true one.
    confidence, truth_probability : float
        The probabilities of the two.
    """

    row: int
    name: str
    predicted: str
    truth: str
    confidence: float
    truth_probability: float


@dataclass(frozen=True, slots=True)
class Errors:
    """Which rows are probably wrong.

    Attributes
    ----------
    n_errors : float
        Number of wrong predictions, or their weight.
    detection : Curve
        Share of the rows, the least certain first, and share of all mistakes among them; without points
        if there is no mistake.
    mistakes : tuple of Mistake
        The most confident ones.
    """

    n_errors: float
    detection: Curve
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """A pair of decision and truth that differ.

    Attributes
    ----------
    decision, truth : str
        The pair.
    rows, cost : Estimate
        How often it occurs, and what that costs; of weighted rows without intervals.
    """

    decision: str
    truth: str
    rows: Estimate
    cost: Estimate


@dataclass(frozen=True, slots=True)
class Rule:
    """What one way to decide costs on rows that it has not learned from.

    Attributes
    ----------
    name : str
        The rule.
    cost : Estimate
        The cost of all rows.
    saving : Estimate
        Percent saved against the plain rule.
    spread : float
        Its standard deviation over the folds.
    """

    name: str
    cost: Estimate
    saving: Estimate
    spread: float


@dataclass(frozen=True, slots=True)
class Decisions:
    """What the probabilities are worth under costs.

    Attributes
    ----------
    actions : tuple of str
        The decisions; by default the classes.
    cost : tuple of tuple of float
        ``cost[i][j]`` is the cost of deciding i when the truth is j; empty for more classes than can be
        shown.
    given : bool
        Whether the costs are the user's; otherwise every mistake costs 1.
    counts : tuple of tuple of float
        Rows by least-cost decision and truth; empty for more classes than can be shown.
    total : float
        What the least-cost decisions cost on all rows.
    mean_cost : Estimate
        The same per row.
    promised : float
        What they would have cost had the probabilities been right.
    plain_total : float
        What the most probable class costs instead; `nan` if some class cannot be decided.
    saving : Estimate
        Percent saved against that; `nan` if there is nothing to save.
    confusions : tuple of Confusion
        The pairs that cost most, at most 20.
    rules : tuple of Rule
        Learned rules beside the plain one, where trying them is quick; otherwise empty.
    """

    actions: tuple[str, ...]
    cost: tuple[Floats, ...]
    given: bool
    counts: tuple[Floats, ...]
    total: float
    mean_cost: Estimate
    promised: float
    plain_total: float
    saving: Estimate
    confusions: tuple[Confusion, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows that the page carries, so that decisions can be made anew in the browser.

    Attributes
    ----------
    rows : tuple of int
        Their row numbers, from 1; all rows if there are few, otherwise a random sample.
    truth : tuple of int
        The numbers of their true classes.
    proba : tuple of tuple of float
        Their forecasts, to the last digit.
    weight : tuple of float
        Their weights.
    """

    rows: tuple[int, ...]
    truth: tuple[int, ...]
    proba: tuple[Floats, ...]
    weight: Floats
