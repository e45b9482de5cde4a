"""How decision rules are saved."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array, IntArray
from calibrant._core._fields import (
    Choice,
    Either,
    ListOf,
    Matrix,
    Number,
    Numbers,
    Record,
    Whole,
    Wholes,
    check_length,
)
from calibrant._core._place import Place
from calibrant.decisions import (
    ExpectedCostRule,
    LachicheFlachRule,
    MossmanRule,
    ParallelPartitionRule,
    mossman_matrix,
    weight_matrix,
)
from calibrant.models._kinds import Kind, Kinds
from calibrant.models._two_class import SEED

#: A rule by weights has a matrix of the classes by the classes: more would fill the memory.
MOST_WEIGHTS = 4096
COSTS = {"cost_before": Number(), "cost_after": Number()}


def _restore_expected(model: ExpectedCostRule, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    del classes
    model.matrix_ = _square(fitted["matrix"], at / "matrix")
    _restore_costs(model, fitted)


def _restore_parallel(
    model: ParallelPartitionRule, fitted: dict[str, Any], at: Place, classes: Array
) -> None:
    del classes
    matrix = model.matrix_ = _square(fitted["matrix"], at / "matrix")
    free = model.family == "free"
    numbers = fitted["parameters"]
    shape = matrix.shape if free else matrix.shape[:1]
    if numbers.shape != shape:
        (at / "parameters").fail(
            f"must have the shape {shape} for family {model.family!r}; got {numbers.shape}"
        )
    model.parameters_, model.costs_ = numbers, fitted["costs"]
    model.order_ = _read_order(fitted["order"], len(matrix), at / "order", pairs=free)
    check_length(fitted["costs"], len(model.order_), at / "costs", "one per visit")
    _restore_costs(model, fitted)


def _read_order(visits: list[Any], n_classes: int, at: Place, *, pairs: bool) -> IntArray:
    """The classes visited, or the pairs of classes."""
    for number, visit in enumerate(visits):
        if (np.ndim(visit) == 1) != pairs or (pairs and len(visit) != 2):
            at[number].fail(f"must be {'a pair of classes' if pairs else 'a class'}; it is not")
        if np.max(visit) >= n_classes:
            at[number].refuse(f"be below {n_classes}, the number of classes", int(np.max(visit)))
    return np.array(visits, dtype=np.intp)


def _restore_weights(model: LachicheFlachRule, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    del classes
    model.weights_ = fitted["weights"]
    if len(model.weights_) > MOST_WEIGHTS:
        (at / "weights").fail(f"must have at most {MOST_WEIGHTS} entries; got {len(model.weights_)}")
    model.matrix_ = weight_matrix(model.weights_)
    _restore_costs(model, fitted)


def _restore_thresholds(model: MossmanRule, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    del at, classes
    model.thresholds_ = np.array([fitted["first"], fitted["second"]])
    place = np.argsort(model.order)
    model.matrix_ = mossman_matrix(fitted["first"], fitted["second"])[np.ix_(place, place)]
    _restore_costs(model, fitted)


def _restore_costs(model: Any, fitted: dict[str, Any]) -> None:
    model.cost_before_, model.cost_after_ = fitted["cost_before"], fitted["cost_after"]


def _square(matrix: Array, at: Place) -> Array:
    if matrix.shape[0] != matrix.shape[1]:
        at.fail(f"must have as many rows as columns; got shape {matrix.shape}")
    return matrix


class _MossmanKind(Kind):
    """Mossman's rule takes its classes in any order, each once."""

    def read_unfitted(self, plain: Any, at: Place) -> MossmanRule:
        """A rule with the parameters of the file."""
        order = self.parameters.read(plain, at)["order"]
        if sorted(order) != [0, 1, 2]:
            (at / "order").fail(f"must hold 0, 1 and 2 once each; got {order}")
        return MossmanRule(tuple(order))


EXPECTED = Kind(
    name="expected",
    type=ExpectedCostRule,
    parameters=Record(),
    fitted=Record(matrix=Matrix(), **COSTS),
    mark="cost_after_",
    state=lambda model: {"matrix": model.matrix_} | _cost_state(model),
    restore=_restore_expected,
)

PARALLEL = Kind(
    name="parallel",
    type=ParallelPartitionRule,
    parameters=Record(
        strategy=Choice("feasible", "paper"),
        family=Choice("row_add", "row_mul", "col_mul", "free"),
        passes=Whole(1),
        restarts=Whole(0),
        random_state=SEED,
    ),
    fitted=Record(
        matrix=Matrix(),
        parameters=Either(Numbers(), Matrix()),
        order=ListOf(Either(Whole(0), Wholes(0))),
        costs=Numbers(),
        **COSTS,
    ),
    mark="cost_after_",
    state=lambda model: (
        {
            "matrix": model.matrix_,
            "parameters": model.parameters_,
            "order": model.order_.tolist(),
            "costs": model.costs_,
        }
        | _cost_state(model)
    ),
    restore=_restore_parallel,
)

LACHICHE_FLACH = Kind(
    name="lachiche_flach",
    type=LachicheFlachRule,
    parameters=Record(
        active=Choice("all", "incremental"), passes=Whole(1), restarts=Whole(0), random_state=SEED
    ),
    fitted=Record(weights=Numbers(Number(0.0), least_length=1), **COSTS),
    mark="cost_after_",
    state=lambda model: {"weights": model.weights_} | _cost_state(model),
    restore=_restore_weights,
)

MOSSMAN = _MossmanKind(
    name="mossman",
    type=MossmanRule,
    parameters=Record(order=ListOf(Whole(0, 2), least=3)),
    fitted=Record(first=Number(above=0.0, below=1.0), second=Number(above=-1.0, below=1.0), **COSTS),
    mark="cost_after_",
    state=lambda model: {"first": model.thresholds_[0], "second": model.thresholds_[1]} | _cost_state(model),
    restore=_restore_thresholds,
)


def _cost_state(model: Any) -> dict[str, float]:
    return {"cost_before": model.cost_before_, "cost_after": model.cost_after_}


RULES = Kinds([EXPECTED, PARALLEL, LACHICHE_FLACH, MOSSMAN])
