"""The costs of a model: by position or by label, of deciding for the classes or of any other decisions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import decisions
from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What every decision costs under every truth.

    Attributes
    ----------
    matrix : ndarray of shape (a, k)
        ``matrix[i, j]`` is the cost of decision i when the truth is class j.
    actions : ndarray of shape (a,)
        The labels of the decisions.
    of_classes : bool
        Whether the decisions are the classes, in the same order.
    """

    matrix: Float64Array
    actions: Array
    of_classes: bool

    @property
    def allowed(self) -> dict[str, bool]:
        """What a rule must be told besides the matrix: whether decisions may be others than the classes."""
        return {} if self.of_classes else {"allow_any": True}

    def as_given(self, classes: Array) -> object:
        """What `read_costs` would take: an array where decisions have no names of their own, or a mapping."""
        if self.of_classes or self.actions.tolist() == list(range(len(self.actions))):
            return self.matrix
        rows = zip(self.actions.tolist(), self.matrix.tolist(), strict=True)
        return {action: dict(zip(classes.tolist(), row, strict=True)) for action, row in rows}


def read_costs(cost: object, classes: Array, *, allow_any: bool = False) -> Costs:
    """Bring the user's costs into the order of the classes; those of classes are to be reasonable."""
    if hasattr(cost, "columns"):
        cost = _with_labels(
            decisions.costs_of_frame(cost, {str(label) for label in classes.tolist()}), classes
        )
    if isinstance(cost, Mapping):
        actions = _actions_of(cost, classes)
        costs = Costs(decisions.cost_matrix(cost, classes, actions), actions, actions is classes)
    else:
        matrix = decisions.check_cost(cost, len(classes), allow_any=True)
        if matrix.ndim == 3:
            raise DataError(
                f"cost must be one matrix for all rows; got shape {matrix.shape}; pass costs that depend on "
                "the row to calibrant.decisions.decide, with the probabilities of predict_proba"
            )
        of_classes = matrix.shape[0] == matrix.shape[1]
        costs = Costs(matrix, classes if of_classes else np.arange(len(matrix)), of_classes)
    if costs.of_classes and not allow_any:
        decisions.refuse_unreasonable(
            costs.matrix, "or use calibrant.decisions.decide(..., allow_any=True) on predict_proba"
        )
    return costs


def _with_labels(named: Mapping[Any, Mapping[Any, Any]], classes: Array) -> dict[Any, dict[Any, Any]]:
    """The texts in a frame as the labels that they stand for, where there are such."""
    label = {str(each): each for each in classes.tolist()}
    return {
        label.get(decision, decision): {label.get(truth, truth): value for truth, value in row.items()}
        for decision, row in named.items()
    }


def _actions_of(cost: Mapping[Any, Any], classes: Array) -> Array:
    """The decisions: the classes among them in their order, then the others in theirs.

    A class of the costs that the model does not know, neither as a truth nor as a decision, is no action.
    """
    labels = classes.tolist()
    truths = {truth for row in cost.values() if isinstance(row, Mapping) for truth in row}
    decided = [label for label in labels if label in cost]
    others = [action for action in cost if action not in labels and action not in truths]
    if decided == labels and not others:
        return classes
    return label_array([*decided, *others])


def label_array(labels: list[Any]) -> Array:
    """Labels as an array of their common type, or of objects where they have none."""
    if len({type(label) for label in labels}) == 1:
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array
