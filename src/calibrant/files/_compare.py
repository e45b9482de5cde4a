"""Which method to use, on rows wherever they are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._chance import Seed
from calibrant._core._estimator import clone
from calibrant.calibrators import ScoreKind, half_a_row, warn_of_columns
from calibrant.files._checked_rows import checked_rows, labels_of
from calibrant.files._evaluate import Evaluate, Evaluated
from calibrant.files._fit import code_of
from calibrant.files._labelled import LabelledRows
from calibrant.files._score_check import ScoreCheck
from calibrant.models import (
    MOST_GROUPS,
    Contest,
    CrossFitForecast,
    MethodComparison,
    Trial,
    compare_rows,
    look_at,
    ranked,
)
from calibrant.passes import (
    NoRowsError,
    PassOptions,
    Plan,
    Progress,
    Rows,
    RowsOfPass,
    ScoreSurvey,
    Task,
    Totals,
    run_plan,
    surveyed,
    together,
    travels,
)


def compare(
    rows: "LabelledRows | RowsOfPass",
    *,
    methods: Sequence[str] | Mapping[str, object] | None = None,
    combine: object = None,
    kind: ScoreKind | None = None,
    code: object = None,
    cv: int = 5,
    in_passes: bool | None = None,
    random_state: Seed = 0,
    classes: object = None,
    n_rows: int | None = None,
    options: PassOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> MethodComparison:
    """Compare calibration methods, each on rows that it was not fitted to.

    Parameters
    ----------
    rows : LabelledRows or callable
        What `labelled` gives; or a function that gives all rows in batches (`Rows`) whenever it is called.
    methods : sequence of str, or mapping of str to calibrator, optional
        The methods by name, or calibrators of one's own under names of one's own. By default all that take
        such scores.
    combine : {"normalize", "least_squares", "coupling"} or object, optional
        How the answers of two-class methods become one distribution, where there are several scores; by
        default what suits the code, see `calibrant.codes.combination_for`.
    kind : {"margin", "probability"}, optional
        What the scores are; by default what `labelled` was told. Probabilities are tried as they are too.
    code : {"all_pairs", "one_vs_all", "exhaustive", "ordinal"} or array-like of shape (k, l), optional
        The code matrix behind the scores; `labelled` is then told ``coded=True``.
    cv : int, default=5
        Number of folds.
    in_passes : bool, optional
        Whether rows of `labelled` are read in passes, or into memory. By default in passes if they would take
        more than 256 MiB, or a sixteenth of the machine's memory.
    random_state : int, Generator, RandomState or None, default=0
        How rows are shuffled and resampled.
    classes : array-like of shape (k,), optional
        For a function that gives batches: the labels.
    n_rows : int, optional
        For a function that gives batches: about how many rows there are. By default they are counted.
    options : PassOptions, optional
        How much memory passes may use.
    progress : callable, optional
        Called after every batch with a `Progress`; by default what `labelled` was given.

    Returns
    -------
    MethodComparison
        The methods, the best first; and which to use, why, and how sure that is.

    See Also
    --------
    calibrant.models.compare_methods : For arrays.

    Notes
    -----
    In passes all methods are fitted without each of the folds in the same passes as one would be, and one
    more pass judges all of them. Differences and their errors then come from 2000 groups of rows, by the keys
    of these, so that rows of one key are never counted as independent.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from calibrant.files import compare, labelled
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=2000)
    >>> table = pa.table({"score": scores, "came": rng.random(2000) < 1 / (1 + np.exp(-scores))})
    >>> found = compare(labelled(table, scores="score", label="came"))
    >>> found.results[0].name == found.best
    True
    """
    filled = PassOptions() if options is None else options
    if kind is None:
        kind = rows.kind if isinstance(rows, LabelledRows) else "margin"
    contest = Contest(methods, kind, code, combine, cv, random_state)
    if isinstance(rows, LabelledRows):
        return _compare_labelled(rows, contest, in_passes, filled)
    labels = labels_of(classes, rows, None)
    known = getattr(rows, "n_rows", None) if n_rows is None else n_rows
    plan = comparison_plan(contest, labels, filled, known)
    seen: list[ScoreSurvey] = []
    if contest.any_can_only_rise():
        plan = surveyed(plan, len(labels), seen.append, contest.columns_of(len(labels)))
    found = run_plan(plan, checked_rows(rows, len(labels)), progress)
    for survey in seen:
        warn_of_columns(survey.directions, None if contest.coded else labels, stacklevel=3)
    return found


def _compare_labelled(
    rows: LabelledRows, contest: Contest, in_passes: bool | None, options: PassOptions
) -> MethodComparison:
    memory = rows.load(in_passes)
    check = ScoreCheck(rows.source.name, rows.said, rows.classes)
    code = code_of(contest, len(rows.classes), len(rows.columns))
    if memory is not None:
        check.rows(memory, code)
        return compare_rows(memory, contest)
    plan = comparison_plan(contest, rows.classes, options, rows.n_rows)
    try:
        return run_plan(surveyed(plan, len(rows.classes), check.survey, code), rows, rows.progress)
    except NoRowsError:
        raise rows.no_weight() from None


def comparison_plan(
    contest: Contest, classes: Array, options: PassOptions, n_rows: int | None
) -> Plan[MethodComparison]:
    """The plan of a comparison: the passes of the fits, and one that judges."""
    rows = yield from look_at(classes, options, n_rows)
    contestants, folds = contest.contestants(rows.n_dimensions, len(classes)), contest.folds(rows.n_rows)
    filled = options.for_problems(len(folds) * len(contestants), rows.n_rows)
    rows = rows.with_options(PassOptions(filled.n_bins, options.edges, filled.max_rows))
    fits: list[Plan[Any]] = [rows.count()]
    for calibrator in contestants.values():
        fits += [rows.fit(clone(calibrator), fold) for fold in folds]
    _, *fitted = yield from together(fits)
    limit = half_a_row(rows.n_rows)
    judges = [
        _judge(CrossFitForecast.of(fitted[place : place + len(folds)]), len(classes), limit)
        for place in range(0, len(fitted), len(folds))
    ]
    trials = dict(zip(contestants, (yield from together(judges)), strict=True))
    return ranked(trials, rows.n_rows, len(folds), limit, contest.random_state)


def _judge(forecast: CrossFitForecast, n_classes: int, limit: float) -> Plan[Trial]:
    tasks: list[Plan[Any]] = [
        _ask(Evaluate(forecast, n_classes)),
        _ask(GroupLosses(forecast, limit, MOST_GROUPS)),
    ]
    evaluated, losses = yield from together(tasks)
    loss, weight = losses.groups
    return Trial(evaluated.overall, loss, weight, grouped=True)


def _ask(task: Task) -> Plan[Any]:
    found: Evaluated = yield task
    return found


@travels
@dataclass(frozen=True, eq=False)
class GroupLosses(Task):
    """Limited log losses of groups of rows, by their keys.

    Parameters
    ----------
    forecast : object
        What gives the probabilities.
    limit : float
        What the probability of the true class counts at least.
    n_groups : int
        Number of groups.
    """

    forecast: Any
    limit: float
    n_groups: int

    def empty(self) -> "LossesOfGroups":
        """Give the sums over no rows."""
        return LossesOfGroups(self, 2 * self.n_groups)


class LossesOfGroups(Totals):
    """Weights and losses of the groups."""

    def update(self, rows: Rows) -> None:
        """Add rows."""
        rows = self.task.forecast.rows(rows)
        if len(rows) == 0:
            return
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        if rows.scores.ndim == 1:
            chance = np.where(rows.truth == 1, rows.scores, 1.0 - rows.scores)
        else:
            chance = rows.scores[np.arange(len(rows)), rows.truth]
        loss = 0.0 - np.log(np.maximum(chance, self.task.limit))
        group = (rows.keys() % np.uint64(self.task.n_groups)).astype(np.intp)
        sums = self.sums.reshape(2, -1)
        sums[0] += np.bincount(group, weight, self.task.n_groups)
        sums[1] += np.bincount(group, weight * loss, self.task.n_groups)

    @property
    def groups(self) -> tuple[Array, Array]:
        """Mean losses, and weights, of the groups that have rows."""
        weight, loss = self.sums.reshape(2, -1)
        held = weight > 0
        return loss[held] / weight[held], weight[held]
