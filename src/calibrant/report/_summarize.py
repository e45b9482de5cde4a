"""From rows to a summary: every number of a report is computed here or below, none in the page."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._chance import Seed, generator
from calibrant.metrics import (
    Evaluation,
    EvaluationSums,
    Forecasts,
    InOrder,
    evaluate_all,
    evaluate_difference,
    in_order,
    side_by_side,
)
from calibrant.report._chance import p_values
from calibrant.report._column import added_up, detection_points
from calibrant.report._costs import MAX_LIVE_CLASSES, Decided, decide_rows, summarize_decisions
from calibrant.report._directed import measure_surprise
from calibrant.report._drawn import Roc
from calibrant.report._events import MAX_POINTS, Examined, curve, examine_column, examine_mean
from calibrant.report._methods import rank_methods
from calibrant.report._rows import Rows, read_row_names, read_rows
from calibrant.report._sections import Errors, Mistake, Sample
from calibrant.report._summary import Before, ClassTest, Summary
from calibrant.report._verdict import SHARES, SIGNIFICANT, Evidence, Tested, judge

if TYPE_CHECKING:
    from calibrant.models import MethodComparison

#: Classes that are drawn and tested: those that lose most to miscalibration.
MAX_DRAWN_CLASSES = 12
#: Rows that the page carries, and probabilities in all.
MAX_SAMPLE_ROWS, MAX_SAMPLE_ENTRIES = 2000, 24_000
N_MISTAKES = 20
DEFAULT_TITLE = "Can these probabilities be believed?"
#: The number of the most probable class among those of the classes.
CONFIDENCE = -1


def summarize(
    y: object,
    proba: object,
    *,
    classes: Sequence[object] | None = None,
    sample_weight: object = None,
    scores: object = None,
    methods: Mapping[str, object] | None = None,
    comparison: "MethodComparison | None" = None,
    cost: object = None,
    title: str | None = None,
    row_names: object = None,
    before: object = None,
    random_state: Seed = 0,
) -> Summary:
    """Say of probability forecasts whether they can be believed, and what decisions by them cost.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes, of rows that neither the learner nor its calibration has seen.
    proba : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, which is the larger label; or of every class, rows summing
        to one.
    classes : sequence of k labels, optional
        The labels of the columns in order. Without it integers are column numbers, and other labels are
        taken in sorted order.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    scores : array-like of shape (n,) or (n, k), optional
        The raw scores behind the probabilities. The methods of `calibrant.models.compare_methods` are
        then ranked on them, on a random sample of 20,000 rows if there are more.
    methods : mapping of str to array-like, optional
        Probabilities of the same rows by other methods, to be ranked beside these.
    comparison : calibrant.models.MethodComparison, optional
        A ranking that is already there; instead of `methods`.
    cost : array-like of shape (k, k) or (a, k), mapping or frame, optional
        ``cost[i, j]`` is the cost of deciding i when the truth is j; many libraries use the transpose. By
        label as in `calibrant.decisions.cost_matrix`. By default every mistake costs 1.
    title : str, optional
        What the report is about.
    row_names : array-like of shape (n,), optional
        Names of the rows, for the list of mistakes.
    before : array-like like `proba`, optional
        Probabilities that the same rows were given before, such as those of the learner that was calibrated:
        the report shows both side by side.
    random_state : int, Generator, RandomState or None, default=0
        For the bands, the test, intervals that have no formula, and the sample of rows.

    Returns
    -------
    Summary
        What there is to say; `Summary.to_html`, `Summary.to_json` and `Summary.save` show it.

    See Also
    --------
    calibrant.metrics.evaluate : The measures and their intervals.
    calibrant.metrics.isotonic_reliability : The curves and bands.
    calibrant.decisions.decide : The decisions.

    Notes
    -----
    Probabilities are called off if one of four tests finds it, which share a chance of error of 1%: the mean
    confidence against the share of right predictions (it gets 0.4%); the log loss against the one that the
    forecasts promise, their entropy; the mean of every class against its share; and the calibration part
    of the Brier score of every column against that of truths drawn from the forecasts, 100 times. They are
    called not believable if they are then off by 5 points or more (root mean square beyond chance), or could
    be by 10, or if a quarter of what they know is lost; and else nearly right, unless neither can matter.

    Probabilities that are not called off are believable as far as the rows can tell: `Verdict.bound` is how
    far they could still be off, and `Verdict.mean_bound` how far on average. Above 10 and 5 points there are
    too few rows to tell.

    Examples
    --------
    A forecaster who says 5% where 25% would be right, and 95% where 75% would:

    >>> import numpy as np
    >>> from calibrant.report import summarize
    >>> rng = np.random.default_rng(0)
    >>> bold = rng.choice([0.05, 0.95], size=2000)
    >>> y = rng.random(2000) < np.where(bold > 0.5, 0.75, 0.25)
    >>> summary = summarize(y, bold, title="Rain")
    >>> print(summary.verdict.headline)
    Do not believe these probabilities as they are.
    >>> print(summary.verdict.findings[0])
    Forecasts of about 5% for “True” came true 25.8% of the time (957 rows).
    >>> page = summary.to_html()
    """
    rows = read_rows(y, proba, classes, sample_weight)
    row_labels = read_row_names(row_names, rows.n_given)
    source = generator(random_state)
    seed = random_state if isinstance(random_state, int) else int(source.integers(2**31))
    ordered = in_order(rows.truth, rows.proba, rows.weight if rows.weighted else None, called=True)
    decided = decide_rows(rows, ordered.called, cost)
    found = _evaluate(rows, decided, ordered, seed)
    assert found.cost is not None
    mean_cost = found.cost.mean_cost
    works: list[Callable[[], Any]] = [
        lambda: _examine(rows, found, ordered, seed),
        lambda: summarize_decisions(rows, decided, ordered.called, mean_cost),
        lambda: _errors(rows, ordered, row_labels),
    ]
    examined, decisions, errors = side_by_side(lambda work: work(), works, len(rows))
    confidence = examined.pop(CONFIDENCE)
    ranking, ranked_as = rank_methods(rows, scores, methods, comparison, seed)
    evidence = _evidence(rows, found, confidence, examined, seed)
    return Summary(
        title=DEFAULT_TITLE if title is None else str(title),
        n_rows=len(rows),
        total_weight=rows.total,
        n_classes=rows.n_classes,
        verdict=judge(evidence, found, ranking, ranked_as, decisions),
        measures=found,
        classes=_class_tests(rows, examined, evidence),
        confidence=evidence.confidence.reliability,
        reliability=tuple(tested.reliability for tested in evidence.classes),
        roc=tuple(
            Roc(rows.class_names[place], each.roc, found.by_class[place].auc)
            for place, each in examined.items()
        ),
        methods=ranking,
        ranked_as=ranked_as,
        errors=errors,
        decisions=decisions,
        sample=_sample(rows, seed),
        before=None if before is None else _before(y, before, proba, classes, sample_weight, seed),
    )


def _before(
    y: object, before: object, proba: object, classes: Sequence[object] | None, weight: object, seed: int
) -> Before:
    """What is said of earlier probabilities, and by how much they differ."""
    earlier = summarize(y, before, classes=classes, sample_weight=weight, random_state=seed)
    return Before(
        verdict=earlier.verdict,
        measures=earlier.measures,
        confidence=earlier.confidence,
        reliability=earlier.reliability,
        difference=evaluate_difference(y, proba, before, sample_weight=weight, classes=classes),
    )


def _evaluate(rows: Rows, decided: Decided, ordered: InOrder, seed: int) -> Evaluation:
    sums = EvaluationSums(rows.n_classes, rows.n_classes, cost=decided.matrix, exact=True)
    return evaluate_all(
        sums,
        Forecasts(rows.truth, rows.proba, rows.weight),
        rows.classes,
        weighted=rows.weighted,
        decided=decided.rows,
        ordered=ordered,
        seed=seed,
    )


def _examine(rows: Rows, found: Evaluation, ordered: InOrder, seed: int) -> dict[int, Examined]:
    """Classes against the rest, by number: those whose mean is off, and that lose most.

    Last, under a number of its own, the most probable class.
    """
    places = list(range(rows.n_classes))
    columns = dict(zip([1] if rows.n_classes == 2 else places, ordered.columns, strict=False))
    if rows.n_classes > MAX_DRAWN_CLASSES:
        means = side_by_side(lambda place: examine_mean(added_up(columns[place])), places, len(rows))
        off = SIGNIFICANT * SHARES.classes / rows.n_classes
        order = sorted(
            places,
            key=lambda place: (min(means[place].p_value, off), -found.by_class[place].calibration),
        )
        columns = {place: columns[place] for place in sorted(order[:MAX_DRAWN_CLASSES])}
    columns[CONFIDENCE] = ordered.columns[-1]
    names = (*rows.class_names, "most probable class")

    def examine(place: int) -> Examined:
        return examine_column(names[place], added_up(columns[place]), _draws_of(seed, place % len(names)))

    return dict(zip(columns, side_by_side(examine, columns, len(rows)), strict=True))


def _draws_of(seed: int, place: int) -> np.random.Generator:
    """Every column has draws of its own, whatever else is drawn."""
    return np.random.default_rng([seed, place])


def _evidence(
    rows: Rows, found: Evaluation, confidence: Examined, examined: dict[int, Examined], seed: int
) -> Evidence:
    columns = [confidence, *examined.values()]
    chances = _chances(columns, rows.n_classes if rows.n_classes > 2 else 1, seed)
    lead, *classes = (
        Tested(replace(each.reliability, p_value=p_value), each.test)
        for each, p_value in zip(columns, chances, strict=True)
    )
    measured = [found.by_class[place] for place in examined]
    surprise = measure_surprise(rows, seed)
    return Evidence(
        n_rows=rows.total,
        confidence=lead,
        classes=tuple(classes),
        class_names=rows.class_names,
        resolution=sum(each.share * (1 - each.share) - each.refinement for each in measured),
        surprise=replace(surprise, p_value=min(surprise.p_value / SHARES.surprise, 1.0)),
        present=tuple(
            name for name, each in zip(rows.class_names, found.by_class, strict=True) if each.share > 0
        ),
    )


def _chances(columns: list[Examined], n_classes: int, seed: int) -> list[float]:
    """For every column, the most probable class first, the chance that right forecasts look as bad.

    The mean confidence is a test of its own. The means of all classes together are another one, and so are
    all columns point by point.
    """
    points = p_values([each.test for each in columns], n_classes + 1, seed)
    lead, *classes = (each.test.mean.p_value for each in columns)
    means = [lead / SHARES.confidence, *(p_value * n_classes / SHARES.classes for p_value in classes)]
    return [min(point / SHARES.points, mean, 1.0) for point, mean in zip(points, means, strict=True)]


def _class_tests(rows: Rows, examined: dict[int, Examined], evidence: Evidence) -> tuple[ClassTest, ...]:
    counts = np.bincount(rows.truth, rows.weight, rows.n_classes)
    judged = dict(zip(examined, (tested.reliability for tested in evidence.classes), strict=True))
    if rows.n_classes == 2:  # the other class is the mirror image
        judged[0] = judged[1]
    return tuple(
        ClassTest(
            name=name,
            rows=float(counts[place]),
            gap=judged[place].gap if place in judged else math.nan,
            p_value=judged[place].p_value if place in judged else math.nan,
        )
        for place, name in enumerate(rows.class_names)
    )


def _errors(rows: Rows, ordered: InOrder, row_names: Array | None) -> Errors:
    wrong = np.flatnonzero(ordered.called != rows.truth)
    surest = wrong[_largest(ordered.confidence[wrong], N_MISTAKES)]
    names = rows.class_names
    return Errors(
        n_errors=float(rows.weight[wrong].sum()),
        detection=curve(*detection_points(added_up(ordered.columns[-1]), MAX_POINTS)),
        mistakes=tuple(
            Mistake(
                row=int(rows.number[place]) + 1,
                name="" if row_names is None else str(row_names[rows.number[place]]),
                predicted=names[ordered.called[place]],
                truth=names[rows.truth[place]],
                confidence=float(ordered.confidence[place]),
                truth_probability=float(rows.proba[place, rows.truth[place]]),
            )
            for place in surest
        ),
    )


def _largest(values: Float64Array, most: int) -> IntArray:
    """Places of the largest values, falling; of equals the first."""
    if len(values) > most:
        least = np.partition(values, len(values) - most)[len(values) - most]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")[:most]]


def _sample(rows: Rows, seed: int) -> Sample:
    """The rows that the page carries: all, or a random sample in the order given."""
    if rows.n_classes > MAX_LIVE_CLASSES:
        return Sample((), (), (), ())
    most = min(MAX_SAMPLE_ROWS, MAX_SAMPLE_ENTRIES // rows.n_classes)
    kept = np.arange(len(rows))
    if len(rows) > most:
        kept = np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))
    taken = rows.take(kept)
    return Sample(
        rows=tuple((taken.number + 1).tolist()),
        truth=tuple(taken.truth.tolist()),
        proba=tuple(map(tuple, taken.proba.tolist())),
        weight=tuple(taken.weight.tolist()),
    )
