"""Two models on the same rows: is the new one better?"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._checks import check_option
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.decisions import least_risk
from calibrant.files._batch import BatchReader
from calibrant.files._classes import Numbered
from calibrant.files._columns import match_classes
from calibrant.files._cost_file import read_cost_file
from calibrant.files._model_columns import find_scores, group_column
from calibrant.files._open import open_source
from calibrant.files._source import Source, how_far
from calibrant.metrics import DifferenceSums, Estimate, row_losses
from calibrant.models import ScoreModel, score_model_of
from calibrant.passes import Progress

#: The measures, in the order of the columns of losses.
NAMES = ("log_loss", "brier_score", "error_rate", "cost")
#: Those that say which is better, with their names in sentences.
JUDGED = {"log_loss": "log loss", "brier_score": "Brier score", "cost": "cost"}
#: More rows than this are not worth naming.
MOST_ROWS = 10**9


@dataclass(frozen=True)
class Versions:
    """A measure of two models on the same rows.

    Attributes
    ----------
    name : {"log_loss", "brier_score", "error_rate", "cost"}
        The measure; less is better.
    old, new : Estimate
        What a row loses by either.
    difference : Estimate
        New minus old, row by row: below 0 the new one is better.
    """

    name: str
    old: Estimate
    new: Estimate
    difference: Estimate


@dataclass(frozen=True)
class VersionComparison:
    """Whether a new model is better than the old one.

    Attributes
    ----------
    measures : tuple of Versions
        Log loss, Brier score, error rate, and with costs what decisions cost.
    n_rows, n_skipped : int
        Rows that were compared, and that were left out.
    choice : {"new", "old", "neither"}
        Which to take; "neither" if these rows do not tell, or tell it both ways.
    conclusion : str
        The same in a sentence.
    """

    measures: tuple[Versions, ...]
    n_rows: int
    n_skipped: int
    choice: str
    conclusion: str


def compare_versions(
    old: Any,
    new: Any,
    where: Any,
    *,
    label: str,
    scores: str | Sequence[str] | None = None,
    weight: str | None = None,
    costs: str | None = None,
    any_costs: bool = False,
    handle_invalid: str = "error",
    batch_rows: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> VersionComparison:
    """Test on the same rows whether a new model is better than the old one, in one pass over them.

    Parameters
    ----------
    old, new : ScoreModel, calibrator, str or path
        The models, or the files that they were saved in. They have the same classes.
    where : Source, str, path, or frame
        Rows with labels that neither was fitted to: whatever `open_source` opens.
    label : str
        The column of the labels.
    scores : str or sequence of str, optional
        The columns of the scores, of both models. By default those that each was fitted to.
    weight : str, optional
        The column of the weights.
    costs : str, optional
        A file of costs, by which both decide. By default those of the models, if both have the same.
    any_costs : bool, default=False
        Whether costs may be such that a wrong decision is no dearer than the right one.
    handle_invalid : {"error", "skip"}, default="error"
        What happens to a row that cannot be used: an error that names it, or it is left out.
    batch_rows : int, optional
        The greatest number of rows in a batch.
    progress : callable, optional
        Called after every batch with a `Progress`.

    Returns
    -------
    VersionComparison
        The measures of both, their differences row by row with intervals of 95%, and which to take.

    See Also
    --------
    calibrant.metrics.evaluate_difference : For arrays.
    compare : Which method to fit.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from calibrant import ScoreModel
    >>> from calibrant.files import compare_versions
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(3, 2000))
    >>> came = rng.random((3, 2000)) < 1 / (1 + np.exp(-2 * scores))
    >>> old = ScoreModel().fit(scores[0, :20], came[0, :20])
    >>> new = ScoreModel().fit(scores[1], came[1])
    >>> found = compare_versions(old, new, pa.table({"score": scores[2], "came": came[2]}), label="came")
    >>> found.choice, found.measures[0].difference.high < 0
    ('new', True)
    """
    check_option("handle_invalid", handle_invalid, ("error", "skip"))
    source = where if isinstance(where, Source) else open_source(where)
    models = [score_model_of(each) for each in (old, new)]
    columns = [find_scores(source, each, scores) for each in models]
    by = [group_column(each) for each in models]
    others = [name for name in (label, weight, *by) if name is not None]
    source.check_columns(others)
    texts = [str(label_text(each)) for each in models[0].classes_]
    order = _order(texts, models[1])
    judges = _judges(models, texts, order, costs, any_costs)
    tally = _Tally(3 + (judges is not None))
    number_of, n_there, n_skipped = Numbered(texts), 0, 0
    used = list(dict.fromkeys([*columns[0], *columns[1], *others]))
    for batch in source.batches(used, batch_rows):
        reader = BatchReader(batch, source, n_there, handle_invalid == "skip")
        given = [reader.scores(names) for names in columns]
        groups = [None if name is None else reader.names(name) for name in by]
        truth = reader.numbered(label, number_of)
        weights = None if weight is None else reader.weights(weight)
        n_there += batch.num_rows
        usable = np.ones(batch.num_rows, dtype=np.bool_) if reader.usable is None else reader.usable
        n_skipped += int((~usable).sum())
        if weights is not None:
            usable = usable & (weights > 0)
            weights = weights[usable]
        if usable.any():
            said = [
                model.predict_proba(scores[usable], None if group is None else group[usable])
                for model, scores, group in zip(models, given, groups, strict=True)
            ]
            tally.add(_losses(said[0], said[1][:, order], truth[usable], judges), weights)
        if progress is not None:
            progress(how_far(source, n_there, "comparing"))
    if not tally.n_rows:
        raise DataError(f"{source.name} must have a row that can be used; it has none of {n_there:,}")
    measures = tuple(tally.measures())
    choice, conclusion = _conclude(measures, tally.n_rows)
    return VersionComparison(measures, tally.n_rows, n_skipped, choice, conclusion)


def compare_refitted(old: ScoreModel, new: ScoreModel, by: Array | None = None) -> VersionComparison:
    """Compare a model with its successor, on the rows that were left out when that was fitted.

    Parameters
    ----------
    old, new : ScoreModel
        The models; the new one was fitted with ``keep_predictions=True``.
    by : ndarray of shape (m,), optional
        The groups of the rows that it has kept.

    Returns
    -------
    VersionComparison
        The new probabilities are by calibrators that were not fitted to the rows.
    """
    kept = new.predictions_
    texts = [str(label_text(each)) for each in old.classes_]
    order = _order(texts, new)
    back = np.argsort(order)
    judges = _judges([old, new], texts, order, None, False)
    tally = _Tally(3 + (judges is not None))
    before = old.predict_proba(kept.rows.scores, by)
    tally.add(_losses(before, kept.proba[:, order], back[kept.rows.truth], judges), kept.rows.weight)
    measures = tuple(tally.measures())
    choice, conclusion = _conclude(measures, tally.n_rows)
    return VersionComparison(measures, tally.n_rows, 0, choice, conclusion)


def _order(texts: list[str], new: ScoreModel) -> list[int]:
    """Where the classes of the old model are in the new one."""
    others = [str(label_text(each)) for each in new.classes_]
    order = match_classes(texts, others, "the class of the old model,", "those of the new model")
    if len(others) > len(texts):
        extra = next(each for each in others if each not in texts)
        raise DataError(
            f"both models must have the same classes; the new one has {extra!r}, and the old one does not; "
            "compare models of the same classes"
        )
    return order


Judge = Callable[[Float64Array, IntArray], Float64Array]


def _judges(
    models: list[ScoreModel], texts: list[str], order: list[int], costs: str | None, any_costs: bool
) -> list[Judge] | None:
    """What every row costs by the decisions of either model, given its probabilities and its truth."""
    if costs is not None:
        file = read_cost_file(costs)
        if not any_costs:
            file.check_reasonable()
        matrix = file.in_order_of(texts)[1]
        return [lambda proba, truth: matrix[least_risk(proba, matrix), truth]] * 2
    old, new = models
    if old.cost_ is None or new.cost_ is None:
        return None
    same = old.actions_.tolist() == new.actions_.tolist() and np.array_equal(old.cost_, new.cost_[:, order])
    if not same:
        return None
    back = np.argsort(order)
    cost: Array = old.cost_
    return [
        lambda proba, truth: cost[old.decide_positions(proba), truth],
        lambda proba, truth: cost[new.decide_positions(proba[:, back]), truth],
    ]


def _losses(
    old: Float64Array, new: Float64Array, truth: IntArray, judges: list[Judge] | None
) -> list[list[Float64Array]]:
    """For the probabilities of either model what every row loses, by every measure."""
    found = []
    for place, proba in enumerate((old, new)):
        losses = list(row_losses(truth, proba))
        found.append(losses if judges is None else [*losses, np.asarray(judges[place](proba, truth))])
    return found


class _Tally:
    """Sums of the losses of two models, and of their differences."""

    def __init__(self, n_measures: int) -> None:
        self.n_rows = 0
        self._sums = [[DifferenceSums() for _ in range(3)] for _ in range(n_measures)]

    def add(self, losses: list[list[Float64Array]], weights: Float64Array | None) -> None:
        """Add rows."""
        self.n_rows += len(losses[0][0])
        for (of_old, of_new, of_both), old, new in zip(self._sums, *losses, strict=True):
            none = np.zeros_like(old)
            of_old.add(old, none, weights)
            of_new.add(new, none, weights)
            of_both.add(new, old, weights)

    def measures(self) -> Iterator[Versions]:
        """Give the measures of both, and their differences."""
        for name, sums in zip(NAMES, self._sums, strict=False):
            yield Versions(name, *(each.result() for each in sums))


def _conclude(measures: Sequence[Versions], n_rows: int) -> tuple[str, str]:
    """Which model to take, and why, in a sentence."""
    judged = [each for each in measures if each.name in JUDGED]
    better = [each for each in judged if each.difference.high < 0]
    worse = [each for each in judged if each.difference.low > 0]
    if better and worse:
        return (
            "neither",
            f"It depends: the new model is better in {_said(better)}, and worse in {_said(worse)}.",
        )
    if better:
        return "new", f"Take the new model: it is better in {_said(better)}."
    if worse:
        return "old", f"Keep the old model: the new one is worse in {_said(worse)}."
    needed = _rows_needed(judged[0].difference, n_rows)
    more = f"; about {needed:,} rows would tell a difference in log loss as large as this" if needed else ""
    return "neither", f"These {n_rows:,} rows do not tell them apart{more}."


def _said(measures: Sequence[Versions]) -> str:
    parts = [f"{JUDGED[each.name]} ({each.difference})" for each in measures]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _rows_needed(difference: Estimate, n_rows: int) -> int | None:
    """How many rows would make the interval exclude 0, if the difference stays."""
    half = (difference.high - difference.low) / 2
    if not (math.isfinite(half) and difference):
        return None
    needed = math.ceil(n_rows * (half / abs(difference)) ** 2)
    return needed if n_rows < needed <= MOST_ROWS else None
