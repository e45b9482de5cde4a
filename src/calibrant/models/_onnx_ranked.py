"""The calibrators of ranked scores: accuracy tables and ranked logistic regression."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.calibrators import AccuracyTableCalibrator, RankedLogisticCalibrator, RankMap
from calibrant.calibrators._cells import EDGE_SLACK, Grid
from calibrant.calibrators._combinations import SharedScore
from calibrant.calibrators._table import TableModel
from calibrant.models._onnx_answers import falling_sigmoid, log_odds
from calibrant.models._onnx_combine import divide_by_sum
from calibrant.models._onnx_graph import Graph, Tensor
from calibrant.models._onnx_steps import intervals

#: Tables of up to this many cells in all, empty ones included, are written in full: 8 MB.
DENSE = 1 << 20


def ranked_proba(
    graph: Graph, calibrator: AccuracyTableCalibrator | RankedLogisticCalibrator, refused: Tensor
) -> Tensor:
    """Probabilities of all classes, in the order of the classes.

    Parameters
    ----------
    graph : Graph
        The graph, whose scores are ranked.
    calibrator : AccuracyTableCalibrator or RankedLogisticCalibrator
        The fitted calibrator.
    refused : Tensor of shape (rows, 1)
        0, or NaN for rows that must not have probabilities.

    Returns
    -------
    Tensor of shape (rows, k)
        The estimates of the classes by their ranks, divided by their sum.
    """
    plan, own = calibrator._plan, calibrator._own
    ranks = _Ranks.of(graph, plan.n_leading)
    estimates = _own_estimates(ranks, own, plan.own)
    accuracy = calibrator.rank_accuracy_
    if plan.shared is None:
        by_rank = divide_by_sum(estimates, accuracy, refused)
        return graph.spread(np.zeros(graph.n_columns)).scattered(ranks.leaders, by_rank)
    later = _estimate([ranks.shared(each) for each in plan.shared], [calibrator._shared])
    if all(each.fixed for each in plan.shared):
        later = later * graph.spread(np.ones(graph.n_columns))
    places = ranks.leaders.columns(range(len(own)))
    left = (1.0 - accuracy.sum()) / (graph.n_columns - len(own))
    overall = graph.spread(np.full(graph.n_columns, left)).scattered(places, graph.spread(accuracy))
    return divide_by_sum(later.scattered(places, estimates), overall, refused)


@dataclass(frozen=True, slots=True)
class _Ranks:
    """The classes at the leading ranks and their scores; of equal scores the lower number comes first."""

    graph: Graph
    leaders: Tensor
    leading: Tensor

    @classmethod
    def of(cls, graph: Graph, n_leading: int) -> "_Ranks":
        leading, leaders = graph.ops("TopK", 2, graph.scores, np.array([n_leading]), axis=1)
        return cls(graph, leaders, leading)

    def at(self, ranks: IntArray) -> Tensor:
        """The scores at these ranks; one column, to be broadcast, if the ranks are all the same."""
        return self.leading.columns(ranks[:1] if (ranks == ranks[0]).all() else ranks)

    def shared(self, score: SharedScore) -> Tensor:
        """A score that the model of the later ranks uses, for every class or, if fixed, for all at once."""
        if score.fixed:
            return self.leading.columns([score.rank])
        if score.rank == 0:
            return self.graph.scores
        last = self.graph.n_columns - 1
        moved = self.leading.columns(np.clip(np.arange(last + 1) + score.rank, 0, last))
        return self.graph.spread(np.zeros(last + 1)).scattered(self.leaders, moved)


def _own_estimates(ranks: _Ranks, models: Sequence[Any], used: Sequence[Sequence[int]]) -> Tensor:
    """The estimates of all ranks with a model of their own, side by side.

    Models that use fewer scores than others get some score more, with no influence.
    """
    most = max(map(len, used))
    padded = np.array([[*each, *[0] * (most - len(each))] for each in used])
    return _estimate([ranks.at(padded[:, place]) for place in range(most)], models)


def _estimate(scores: Sequence[Tensor], models: Sequence[Any]) -> Tensor:
    """Estimates of models side by side, each given its column of every score.

    A single model may be given matrices of any width. Scores of one column are broadcast.
    """
    return _logistic(scores, models) if isinstance(models[0], RankMap) else _table(scores, models)


def _logistic(scores: Sequence[Tensor], maps: Sequence[RankMap]) -> Tensor:
    def term(place: int) -> Tensor:
        slope = np.array([each.A[place] if place < len(each.A) else 0.0 for each in maps])
        score = scores[place] if maps[0].transform == "identity" else log_odds(scores[place])
        return score * slope

    z = term(0) + np.array([each.B for each in maps])
    for place in range(1, len(scores)):
        z = z + term(place)
    return falling_sigmoid(z)


def _table(scores: Sequence[Tensor], models: Sequence[TableModel]) -> Tensor:
    grids = [model._grid for model in models]
    keys = _keys(scores, grids)
    before = np.cumsum([0, *(grid.n_keys for grid in grids)])
    if before[-1] <= DENSE:
        # A score that is no number may have any key, which must be one nevertheless.
        place = (keys.cast(np.int64) + before[:-1]).at_least(np.array(0)).at_most(before[-1] - 1)
        return place.in_table(np.concatenate([_in_full(model) for model in models]))
    return _sparse(keys, models)


def _keys(scores: Sequence[Tensor], grids: Sequence[Grid]) -> Tensor:
    """Numbers of the cells, whole but as float64, in which they are exact; as `Grid.keys` finds them."""
    axes = [_Axes.of(grids, number) for number in range(len(scores))]
    key = axes[0].places(scores[0])
    for score, axis in zip(scores[1:], axes[1:], strict=True):
        key = key * axis.size + axis.places(score)
    return key


class _Axes(NamedTuple):
    """One axis of several grids: where its cells begin, how wide they are, and how many there are."""

    origin: Float64Array
    width: Float64Array
    shift: Float64Array
    size: Float64Array

    @classmethod
    def of(cls, grids: Sequence[Grid], number: int) -> "_Axes":
        """The axis of this number; a single cell in the grids that have no such axis."""
        columns = np.array([_axis(grid, number) for grid in grids]).T
        return cls(*np.ascontiguousarray(columns))

    def places(self, score: Tensor) -> Tensor:
        """The numbers of the cells of scores along this axis."""
        place = (score - self.origin) / self.width + self.shift
        return score.graph.op("Floor", place.at_least(0.0).at_most(self.size - 1))


def _axis(grid: Grid, number: int) -> tuple[float, float, float, float]:
    if number >= len(grid.axes):
        return 0.0, 1.0, 0.0, 1.0
    axis = grid.axes[number]
    return axis.origin, axis.width, EDGE_SLACK - grid.lowest[number], grid.sizes[number]


def _in_full(model: TableModel) -> Float64Array:
    values = np.full(model._grid.n_keys, model._default)
    values[model._smoothed.key] = model._smoothed.value
    return values


def _sparse(keys: Tensor, models: Sequence[TableModel]) -> Tensor:
    """Look up the cells that have an estimate, each found by its key; the others get the default."""
    graph = keys.graph
    alone = len(models) == 1
    wanted = keys.as_vector() if alone else keys
    known: list[IntArray] = [model._smoothed.key for model in models]
    place = intervals(wanted, known)
    ends = [np.append(each, -1.0) for each in known]  # behind the last key there is none
    default = np.array(models[0]._default if alone else [model._default for model in models])
    values = [np.append(model._smoothed.value, 0.0) for model in models]
    found = place.in_table(np.concatenate(ends)).is_equal(wanted)
    estimates = found.choose(place.in_table(np.concatenate(values)), default)
    return graph.op("Reshape", estimates, graph.op("Shape", keys)) if alone else estimates
