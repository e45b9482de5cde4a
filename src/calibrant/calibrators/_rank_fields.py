"""How the methods for ranked scores stand in a model file: one table, or one logistic map, per rank.

Which scores a rank uses follows from the parameters; the file names them too, for those who read it, and
both must agree.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant._core._errors import CalibrantError
from calibrant._core._field_groups import ListOf, Numbers, Record, Wholes, check_length
from calibrant._core._fields import PROBABILITY, Field, Flag, Maybe, Number, Schema, Whole
from calibrant._core._place import ModelFileError, Place
from calibrant.calibrators._cells import MOST_CELLS, Axis, Cells, Grid
from calibrant.calibrators._combinations import RankPlan, plan_ranks
from calibrant.calibrators._smoothing import Smoothed
from calibrant.calibrators._table import Counted, TableModel


class _ScoreName(Field):
    """The name of a ranked score: "f1", "f2", ... or "fr", "fr-1", "fr+1"."""

    json_type = (str,)
    what = "the name of a ranked score"

    def _read(self, plain: Any, at: Place) -> str:  # noqa: ARG002
        return str(plain)

    def schema(self) -> Schema:
        """A pattern."""
        return {"type": "string", "pattern": "^f([1-9][0-9]*|r([+-]1)?)$"}


class _Table(Record):
    """A table: the axes of its grid, and the cells that have an estimate, with the rows that they hold."""

    def write(self, value: TableModel) -> Any:
        """The model of a table as plain data."""
        grid, smoothed, table = value.grid, value.smoothed, value.table
        count, right = np.zeros((2, len(smoothed.key)))
        held = _hold_rows(value)
        count[held], right[held] = table.count, table.right
        axes = zip(table.axes, grid.axes, grid.lowest, grid.sizes, strict=True)
        return super().write(
            {
                "axes": [
                    {
                        "score": score,
                        "origin": axis.origin,
                        "width": axis.width,
                        "lowest": lowest,
                        "size": size,
                    }
                    for score, axis, lowest, size in axes
                ],
                "cells": {
                    "place": np.unravel_index(smoothed.key, grid.sizes),
                    "count": count,
                    "right": right,
                    "value": smoothed.value,
                },
                "default": None if math.isnan(value.default) else value.default,
                "lam": table.lam,
                "criterion": [{"size": size, "value": each} for size, each in table.criterion.items()],
            }
        )

    def _read(self, plain: Any, at: Place) -> TableModel:
        return _read_table(super()._read(plain, at), at)


class _RankMap(Record):
    """A logistic map of ranked scores."""

    def _read(self, plain: Any, at: Place) -> dict[str, Any]:
        given: dict[str, Any] = super()._read(plain, at)
        check_length(given["A"], len(given["scores"]), at / "A", "one per score")
        return given | {"scores": tuple(given["scores"])}


TABLE = _Table(
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

RANK_MAP = _RankMap(
    scores=ListOf(_ScoreName(), least=1),
    A=Numbers(least_length=1),
    B=Number(),
    n_iter=Whole(0),
    converged=Flag(),
    smoothed=Flag(),
)


def check_plan_of_file(
    model: Any, own: Sequence[Any], shared: Any, accuracy: Float64Array, at: Place, n_classes: int
) -> RankPlan:
    """Which scores the parameters say that every rank uses; the file must say the same."""
    models_at = at / tuple(model.fitted.fields)[1]
    n_own = n_classes if model.max_rank is None else min(model.max_rank, n_classes)
    check_length(own, n_own, models_at, "one per rank that has a model of its own")
    used = sum(len(each.axes) for each in own)
    if used < _fewest_used(model.combination, n_own):  # before the plan, whose size no file bounds
        models_at.fail("must use the ranked scores that the combination names; some are missing")
    try:
        plan = plan_ranks(model.combination, model.max_rank, n_classes)
        model._check_plan(plan)
    except CalibrantError as error:
        models_at.fail(f"must fit the parameters: {error}")
    for number, (each, ranks) in enumerate(zip(own, plan.own, strict=True)):
        wanted = tuple(f"f{rank + 1}" for rank in ranks)
        if each.axes != wanted:
            models_at[number].fail(f"must use the scores {', '.join(wanted)}; got {', '.join(each.axes)}")
    wanted_shared = None if plan.shared is None else tuple(each.name for each in plan.shared)
    axes = None if shared is None else shared.axes
    if axes != wanted_shared:
        models_at.fail(f"must leave to the shared one the scores {wanted_shared}; got {axes}")
    check_length(accuracy, len(own), at / "rank_accuracy", "one per rank that has a model of its own")
    return plan


def _hold_rows(model: TableModel) -> BoolArray:
    """Which cells that have an estimate are in the table: it lists those with rows, by their bounds."""
    table = model.table
    lower = table.origin + model.grid.places(model.smoothed.key) * table.width
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
    for number, axis in enumerate(given["axes"]):
        ends = (axis["origin"] + (axis["lowest"] + edge) * axis["width"] for edge in (0, axis["size"]))
        if not all(map(math.isfinite, ends)):
            (at / "axes")[number].fail("must have cells with finite bounds; they are beyond all numbers")
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


def _fewest_used(combination: Any, n_own: int) -> int:
    if combination == "B":
        return n_own * (n_own + 1) // 2
    if isinstance(combination, str):
        return n_own
    lists = combination if isinstance(combination[0], list) else [combination]
    return sum(map(len, lists[:n_own])) + len(lists[-1]) * max(0, n_own - len(lists))
