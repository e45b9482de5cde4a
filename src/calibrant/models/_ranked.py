"""How the calibrators of ranked scores are saved: one table, or one logistic map, per rank.

Which scores a rank uses follows from the parameters; the file names them too, for those who read it, and
both must agree.
"""

import math
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._errors import CalibrantError
from calibrant._core._fields import (
    Choice,
    Either,
    Field,
    Flag,
    ListOf,
    Maybe,
    Number,
    Numbers,
    Record,
    Schema,
    Whole,
    Wholes,
    check_length,
)
from calibrant._core._place import ModelFileError, Place
from calibrant.calibrators import AccuracyTableCalibrator, RankedLogisticCalibrator, RankMap
from calibrant.calibrators._cell_sizes import MOST_PER_AXIS
from calibrant.calibrators._cells import MOST_CELLS, Axis, Cells, Grid
from calibrant.calibrators._combinations import RankPlan, plan_ranks
from calibrant.calibrators._smoothing import Smoothed
from calibrant.calibrators._table import Counted, TableModel
from calibrant.models._kinds import Kind
from calibrant.models._two_class import PROBABILITY, SEED

CRITERION = Choice("cv", "aic", "bic")
RANK, WIDTH, CELLS = Whole(1), Number(above=0.0), Whole(1, MOST_PER_AXIS)
COMBINATION = Either(
    Choice("single", "A", "B", "C"), ListOf(RANK, least=1), ListOf(ListOf(RANK, least=1), least=1)
)


class _ScoreName(Field):
    """The name of a ranked score: "f1", "f2", ... or "fr", "fr-1", "fr+1"."""

    json_type = (str,)
    what = "the name of a ranked score"

    def _read(self, plain: Any, at: Place) -> str:  # noqa: ARG002
        return str(plain)

    def schema(self) -> Schema:
        """A pattern."""
        return {"type": "string", "pattern": "^f([1-9][0-9]*|r([+-]1)?)$"}


TABLE = Record(
    axes=ListOf(
        Record(
            score=_ScoreName(),
            origin=Number(),
            width=Number(above=0.0),
            lowest=Number(),
            size=Whole(5, MOST_CELLS),
        ),
        least=1,
    ),
    cells=Record(
        place=ListOf(Wholes(0), least=1),
        count=Numbers(Number(0.0)),
        right=Numbers(Number(0.0)),
        value=Numbers(PROBABILITY),
    ),
    default=Maybe(PROBABILITY),
    lam=Maybe(Number(0.0)),
    criterion=ListOf(Record(size=Number(above=0.0), value=Number(infinite=True))),
)

RANK_MAP = Record(
    scores=ListOf(_ScoreName(), least=1),
    A=Numbers(least_length=1),
    B=Number(),
    n_iter=Whole(0),
    converged=Flag(),
    smoothed=Flag(),
)


def _write_table(model: TableModel) -> dict[str, Any]:
    """A table as the axes of its grid, and the cells that have an estimate, with the rows that they hold."""
    grid, smoothed, table = model._grid, model._smoothed, model.table
    count, right = np.zeros((2, len(smoothed.key)))
    held = _hold_rows(model)
    count[held], right[held] = table.count, table.right
    axes = zip(table.axes, grid.axes, grid.lowest, grid.sizes, strict=True)
    return {
        "axes": [
            {"score": score, "origin": axis.origin, "width": axis.width, "lowest": lowest, "size": size}
            for score, axis, lowest, size in axes
        ],
        "cells": {
            "place": np.unravel_index(smoothed.key, grid.sizes),
            "count": count,
            "right": right,
            "value": smoothed.value,
        },
        "default": None if math.isnan(model._default) else model._default,
        "lam": table.lam,
        "criterion": [{"size": size, "value": value} for size, value in table.criterion.items()],
    }


def _hold_rows(model: TableModel) -> BoolArray:
    """Which cells that have an estimate are in the table: it lists those with rows, by their bounds."""
    table = model.table
    lower = table.origin + model._grid.places(model._smoothed.key) * table.width
    listed = {row.tobytes() for row in table.lower}
    held: BoolArray = np.array([row.tobytes() in listed for row in lower])
    if held.sum() != len(table.count):
        raise ModelFileError(
            "cells must differ in their bounds to be saved; got cells so narrow that rounding makes some of "
            "them equal; use wider cells"
        )
    return held


def _read_table(given: dict[str, Any], at: Place) -> TableModel:
    names = tuple(axis["score"] for axis in given["axes"])
    grid = Grid(
        tuple(Axis(axis["origin"], axis["width"]) for axis in given["axes"]),
        tuple(axis["lowest"] for axis in given["axes"]),
        tuple(axis["size"] for axis in given["axes"]),
    )
    if grid.n_keys >= MOST_CELLS:
        (at / "axes").fail("must have sizes whose product is below 2**50; they have not")
    cells, at = given["cells"], at / "cells"
    key = _read_keys(cells["place"], grid, at / "place")
    for name in ("count", "right", "value"):
        check_length(cells[name], len(key), at / name, "as place has")
    count, right = cells["count"], cells["right"]
    wrong = np.flatnonzero(right > count)
    if len(wrong):
        (at / "right")[int(wrong[0])].fail("must not exceed count at the same place")
    held = count > 0
    if not held.any():
        (at / "count").fail("must be above 0 for some cell; all are 0")
    smoothed = Smoothed(key, cells["value"], np.zeros(len(key)))
    criterion = {each["size"]: each["value"] for each in given["criterion"]}
    default = math.nan if given["default"] is None else given["default"]
    counted = Counted(grid, Cells(key[held], count[held], right[held]), None)
    return TableModel(counted, lambda *_: smoothed, default, names, given["lam"], criterion)


def _read_keys(places: list[IntArray], grid: Grid, at: Place) -> IntArray:
    """Keys of cells from their numbers along every axis; ascending."""
    check_length(places, len(grid.sizes), at, "one list per axis")
    for axis, (place, size) in enumerate(zip(places, grid.sizes, strict=True)):
        check_length(place, len(places[0]), at[axis], "as the first has")
        if (place >= size).any():
            at[axis][int(np.argmax(place >= size))].fail(f"must be below {size}, the size of the axis")
    key: IntArray = np.ravel_multi_index(tuple(places), grid.sizes).astype(np.intp)
    unsorted = np.flatnonzero(np.diff(key) <= 0)
    if len(unsorted):
        at.fail(f"must list cells in ascending order; number {int(unsorted[0]) + 1} does not follow")
    return key


def _read_plan(
    model: Any, own: list[tuple[str, ...]], shared: tuple[str, ...] | None, at: Place, n_classes: int
) -> RankPlan:
    """Which scores the parameters say that every rank uses; the file must say the same."""
    n_own = n_classes if model.max_rank is None else min(model.max_rank, n_classes)
    check_length(own, n_own, at, "one per rank that has a model of its own")
    used = sum(map(len, own))
    if used < _fewest_used(model.combination, n_own):  # before the plan, whose size no file bounds
        at.fail("must use the ranked scores that the combination names; some are missing")
    try:
        plan = plan_ranks(model.combination, model.max_rank, n_classes)
        model._check_plan(plan)
    except CalibrantError as error:
        at.fail(f"must fit the parameters: {error}")
    for number, (names, ranks) in enumerate(zip(own, plan.own, strict=True)):
        wanted = tuple(f"f{rank + 1}" for rank in ranks)
        if names != wanted:
            at[number].fail(f"must use the scores {', '.join(wanted)}; got {', '.join(names)}")
    wanted_shared = None if plan.shared is None else tuple(each.name for each in plan.shared)
    if shared != wanted_shared:
        at.fail(f"must leave to the shared one the scores {wanted_shared}; got {shared}")
    return plan


def _fewest_used(combination: Any, n_own: int) -> int:
    if combination == "B":
        return n_own * (n_own + 1) // 2
    if isinstance(combination, str):
        return n_own
    lists = combination if isinstance(combination[0], list) else [combination]
    return sum(map(len, lists[:n_own])) + len(lists[-1]) * max(0, n_own - len(lists))


def _restore_tables(
    model: AccuracyTableCalibrator, fitted: dict[str, Any], at: Place, classes: Array
) -> None:
    own = [_read_table(each, (at / "tables")[rank]) for rank, each in enumerate(fitted["tables"])]
    given = fitted["shared_table"]
    shared = None if given is None else _read_table(given, at / "shared_table")
    axes = [each.table.axes for each in own]
    model._plan = _read_plan(
        model, axes, None if shared is None else shared.table.axes, at / "tables", len(classes)
    )
    model._keep(own, shared)
    _restore_ranks(model, own, shared, fitted["rank_accuracy"], at, classes)


def _restore_maps(model: RankedLogisticCalibrator, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    own = [_read_map(each, model.transform, (at / "maps")[rank]) for rank, each in enumerate(fitted["maps"])]
    given = fitted["shared_map"]
    shared = None if given is None else _read_map(given, model.transform, at / "shared_map")
    axes = [each.scores for each in own]
    model._plan = _read_plan(
        model, axes, None if shared is None else shared.scores, at / "maps", len(classes)
    )
    model.maps_, model.shared_map_ = own, shared
    _restore_ranks(model, own, shared, fitted["rank_accuracy"], at, classes)


def _read_map(given: dict[str, Any], transform: str, at: Place) -> RankMap:
    check_length(given["A"], len(given["scores"]), at / "A", "one per score")
    return RankMap(**given | {"scores": tuple(given["scores"])}, transform=transform)


def _restore_ranks(
    model: Any, own: list[Any], shared: Any, rank_accuracy: Float64Array, at: Place, classes: Array
) -> None:
    check_length(rank_accuracy, len(own), at / "rank_accuracy", "one per rank that has a model of its own")
    model._own, model._shared = own, shared
    model.rank_accuracy_ = rank_accuracy
    model.classes, model.classes_ = classes.tolist(), classes


ACCURACY_TABLE = Kind(
    name="accuracy_table",
    type=AccuracyTableCalibrator,
    parameters=Record(
        combination=COMBINATION,
        width=Maybe(Either(WIDTH, ListOf(WIDTH, least=1), CRITERION)),
        n_cells=Either(CELLS, ListOf(CELLS, least=1), CRITERION),
        smoothing=Choice("ma_cov", "ma", "median", "lidstone", "laplace", "none"),
        lam=Either(Number(0.0), Choice("cv")),
        fallback=Choice("prior", "half", "nan"),
        max_rank=Maybe(RANK),
        candidates=Maybe(ListOf(WIDTH, least=1)),
        cv=Whole(2),
        random_state=SEED,
    ),
    fitted=Record(
        rank_accuracy=Numbers(PROBABILITY), tables=ListOf(TABLE, least=1), shared_table=Maybe(TABLE)
    ),
    mark="tables_",
    state=lambda model: {
        "rank_accuracy": model.rank_accuracy_,
        "tables": [_write_table(each) for each in model._own],
        "shared_table": None if model._shared is None else _write_table(model._shared),
    },
    restore=_restore_tables,
)

RANKED_LOGISTIC = Kind(
    name="ranked_logistic",
    type=RankedLogisticCalibrator,
    parameters=Record(
        combination=COMBINATION,
        smooth=Flag(),
        max_rank=Maybe(RANK),
        transform=Choice("identity", "logit"),
    ),
    fitted=Record(
        rank_accuracy=Numbers(PROBABILITY), maps=ListOf(RANK_MAP, least=1), shared_map=Maybe(RANK_MAP)
    ),
    mark="maps_",
    state=lambda model: {
        "rank_accuracy": model.rank_accuracy_,
        "maps": model.maps_,
        "shared_map": model.shared_map_,
    },
    restore=_restore_maps,
)
