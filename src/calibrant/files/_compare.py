"""Which method to use, on rows that do not fit into memory."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant._core._arrays import Array
from calibrant._core._chance import Seed, generator
from calibrant._core._checks import check_number, check_option
from calibrant._core._errors import DataError
from calibrant.calibrators import (
    calibrator_for,
    can_only_rise,
    fit_plan,
    half_a_row,
    named_method,
    new_calibrator,
    warn_of_columns,
)
from calibrant.files._checked_rows import checked_rows
from calibrant.files._evaluate import decomposition, split_plans
from calibrant.files._fit import _labels
from calibrant.files._forecast import CrossFitForecast
from calibrant.files._metric_pass import MetricSums, SumMetrics
from calibrant.models import MOST_GROUPS, Losses, MethodComparison, MethodResult, advise, methods_of
from calibrant.passes import (
    ClassCounts,
    Fold,
    NoRowsError,
    PassOptions,
    Plan,
    Points,
    Progress,
    Reading,
    Rows,
    RowsOfPass,
    Sample,
    ScoreSurvey,
    TakeSample,
    count_classes,
    run_plan,
    surveyed,
    together,
)


def compare_in_passes(
    rows_of_pass: RowsOfPass,
    *,
    methods: Sequence[str] | Mapping[str, object] | None = None,
    classes: object = None,
    combine: object = "normalize",
    kind: str = "margin",
    cv: int = 5,
    random_state: Seed = 0,
    n_rows: int | None = None,
    options: PassOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> MethodComparison:
    """Compare calibration methods, each on rows that it was not fitted to, in passes over the rows.

    Parameters
    ----------
    rows_of_pass : callable
        Gives an iterable of all rows in batches (`Rows`), whenever it is called; see `rows_of`. The key of a
        row, or else its number, decides its fold.
    methods : sequence of str, or mapping of str to calibrator, optional
        The methods by name, or calibrators of one's own under names of one's own. By default all that take
        such scores.
    classes : array-like of shape (k,), optional
        The labels; by default those of `rows_of_pass`.
    combine : {"normalize", "least_squares", "coupling"} or object, default="normalize"
        How the answers of two-class methods become one distribution, where there is a score for every class.
    kind : {"margin", "probability"}, default="margin"
        What the scores are. Probabilities are tried as they are too, under the name "identity".
    cv : int, default=5
        Number of folds.
    random_state : int, Generator, RandomState or None, default=0
        How groups of rows are resampled.
    n_rows : int, optional
        About how many rows there are; by default what `rows_of_pass` knows.
    options : PassOptions, optional
        How much memory may be used.
    progress : callable, optional
        Called after every batch with a `Progress`.

    Returns
    -------
    MethodComparison
        The methods, the best first; and which to use, why, and how sure that is.

    See Also
    --------
    calibrant.models.compare_methods : The same for rows in memory, where the folds are stratified.

    Notes
    -----
    All methods are fitted without each of the folds in the same passes. Differences and their errors come
    from 2000 groups of rows, by the keys of these, so that rows of one key are never counted as independent.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.files import Rows, compare_in_passes
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=2000)
    >>> rows = Rows(scores, (rng.random(2000) < 1 / (1 + np.exp(-scores))).astype(np.intp))
    >>> compare_in_passes(lambda: [rows], classes=[0, 1]).best
    'sigmoid'
    """
    check_option("kind", kind, ("margin", "probability"))
    n_folds = int(check_number("cv", cv, "a whole number from 2", lambda n: n >= 2 and n == int(n)))
    known = getattr(rows_of_pass, "n_rows", None) if n_rows is None else n_rows
    labels = _labels(classes, rows_of_pass, None)
    plan = comparison_plan(
        methods,
        labels,
        combine,
        kind,
        n_folds,
        random_state,
        PassOptions() if options is None else options,
        known,
    )
    seen: list[ScoreSurvey] = []
    if any_can_only_rise(methods):
        plan = surveyed(plan, len(labels), seen.append)
    found = run_plan(plan, checked_rows(rows_of_pass, len(labels)), progress)
    for survey in seen:
        warn_of_columns(survey.directions, labels, stacklevel=3)
    return found


def any_can_only_rise(methods: Sequence[str] | Mapping[str, object] | None) -> bool:
    """Whether one of the methods, as one of all of them, makes nothing of scores that point the wrong way."""
    if methods is None:
        return True
    return any(map(can_only_rise, methods.values() if isinstance(methods, Mapping) else methods))


def comparison_plan(
    methods: Any,
    classes: Array,
    combine: object,
    kind: Any,
    n_folds: int,
    random_state: Seed,
    options: PassOptions,
    n_rows: int | None,
) -> Plan[MethodComparison]:
    """The plan of a comparison of methods."""
    taken: Sample = yield TakeSample()
    sample = taken.rows()
    if len(sample) == 0:
        raise NoRowsError
    counts: ClassCounts = yield from count_classes(len(classes))
    n_dimensions = 1 if sample.scores.shape[1] == 1 else 2
    chosen = methods_of(methods, n_dimensions, kind)
    per_method = _share(options, n_folds * len(chosen), counts.n_rows)
    plans: list[Plan[Any]] = []
    for given in chosen.values():
        method = named_method(given, kind) if isinstance(given, str) else new_calibrator(given)
        calibrator = calibrator_for(method, n_dimensions, None, combine)
        plans += [
            fit_plan(clone(calibrator), classes, Reading(sample, per_method, n_rows, Fold(fold, n_folds)))
            for fold in range(n_folds)
        ]
    fitted = yield from together(plans)
    limit = half_a_row(counts.n_rows)
    measures = [
        _measure(fitted[place : place + n_folds], classes, sample, limit, per_method, counts.n_rows)
        for place in range(0, len(fitted), n_folds)
    ]
    measured = yield from together(measures)
    return _ranked(list(chosen), measured, counts.n_rows, n_folds, limit, random_state)


def _share(options: PassOptions, n_parts: int, n_rows: int) -> PassOptions:
    """The memory of one of several fits in the same passes."""
    filled = options.for_problems(n_parts, n_rows)
    return PassOptions(filled.n_bins, options.edges, filled.max_rows)


def _measure(
    models: list[Any], classes: Array, sample: Rows, limit: float, options: PassOptions, n_rows: int
) -> Plan[tuple[MetricSums, list[Points]]]:
    """Losses of a method, and its probabilities gathered for the split of the Brier score."""
    forecast = CrossFitForecast.of(models)
    k = len(classes)
    n_columns = 1 if k == 2 else k
    columns = split_plans(forecast, k, n_columns, sample, options, n_rows)
    plans: list[Plan[Any]] = [_sums(SumMetrics(forecast, k, n_columns, 1.0, limit, MOST_GROUPS)), *columns]
    sums, *points = yield from together(plans)
    return sums, points


def _sums(task: SumMetrics) -> Plan[MetricSums]:
    sums: MetricSums = yield task
    return sums


def _ranked(
    names: list[str],
    measured: list[tuple[MetricSums, list[Points]]],
    n_rows: int,
    n_folds: int,
    limit: float,
    random_state: Seed,
) -> MethodComparison:
    order = sorted(range(len(names)), key=lambda place: measured[place][0].log_loss)
    weights = measured[0][0].groups[0]
    losses = Losses(np.stack([measured[place][0].groups[1] for place in order], axis=1), weights)
    shares = losses.shares_best(generator(random_state))
    results = []
    for rank, place in enumerate(order):
        sums, points = measured[place]
        if np.isnan(sums.log_loss):
            raise DataError(
                f"every method must give a probability to every row; {names[place]!r} did not; use "
                "fallback='prior'"
            )
        parts = decomposition(sums, points)
        results.append(
            MethodResult(
                names[place],
                sums.log_loss,
                parts.brier,
                parts.calibration,
                parts.refinement,
                sums.error_rate,
                *losses.paired(rank, 0),
                float(shares[rank]),
                sums.impossible,
            )
        )
    recommended, advice = advise(results, n_rows)
    best = results[0].name
    return MethodComparison(tuple(results), "log loss", n_rows, n_folds, best, advice, recommended, limit)
