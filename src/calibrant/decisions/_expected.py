"""The plain rule: least expected cost, nothing learned."""

from calibrant._core._field_groups import Matrix, Record
from calibrant.decisions._decide import least_risk
from calibrant.decisions._rule import COSTS, DecisionRule
from calibrant.decisions._training import TrainingRows


class ExpectedCostRule(DecisionRule):
    """Decide what costs least if the probabilities are right.

    This is `decide` as a rule, the yardstick for the learned ones. `fit` only looks at the costs, and
    adds up what the decisions cost on the rows given.

    Attributes
    ----------
    matrix_ : ndarray of shape (k, k) or (a, k)
        The costs.
    cost_before_, cost_after_ : float
        The cost of the decisions on the training rows, twice.

    See Also
    --------
    ParallelPartitionRule : Repairs the systematic errors of the probabilities.

    Examples
    --------
    >>> from calibrant.decisions import ExpectedCostRule
    >>> rule = ExpectedCostRule().fit([[0.9, 0.1], [0.6, 0.4]], [0, 1], [[0, 5], [1, 0]])
    >>> rule.decide([[0.85, 0.15], [0.8, 0.2]]), rule.cost_after_
    (array([0, 1]), 0.0)
    """

    name = "expected"
    any_decisions = True
    fitted = Record(matrix=Matrix(), **COSTS)

    def _fit(self, rows: TrainingRows) -> tuple[float, float]:
        self.matrix_ = rows.cost
        cost = rows.total(least_risk(rows.proba, rows.cost))
        return cost, cost
