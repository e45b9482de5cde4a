"""How good are probabilities, and which method to use: `calibrant.files` on a frame."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pyspark.sql import DataFrame

from calibrant._core._checks import check_option
from calibrant.calibrators import ScoreKind, warn_of_columns
from calibrant.files import PassOptions, comparison_plan, evaluation_plan
from calibrant.metrics import Evaluation
from calibrant.models import Contest, MethodComparison
from calibrant.passes import ScoreSurvey, surveyed
from calibrant.spark._columns import score_columns
from calibrant.spark._decider import classes_of
from calibrant.spark._engine import FrameRows


def evaluate(
    frame: DataFrame,
    *,
    labelCol: str = "label",
    probabilityCol: str = "probability",
    weightCol: str | None = None,
    classes: Sequence[Any] | None = None,
    handleInvalid: str = "error",
) -> Evaluation:
    """Measure the probabilities of a frame.

    Parameters
    ----------
    frame : DataFrame
        The frame.
    labelCol : str, default="label"
        The column of the labels.
    probabilityCol : str, default="probability"
        The column of the probabilities: vectors or arrays, or numbers that are those of the second of two
        classes.
    weightCol : str, optional
        The column of the weights.
    classes : sequence, optional
        The labels in the order of the probabilities; by default those that the column carries, or 0, 1, ...
    handleInvalid : {"error", "skip"}, default="error"
        What happens to rows without probabilities or without a known label.

    Returns
    -------
    Evaluation
        What was measured, as `calibrant.metrics.evaluate` does it.

    Examples
    --------
    >>> from calibrant.spark import evaluate
    >>> frame = spark.createDataFrame([(0.2, 0), (0.7, 0), (0.7, 1), (0.9, 1)], ["probability", "label"])
    >>> found = evaluate(frame)
    >>> float(found.error_rate), round(found.brier_score, 4)
    (0.25, 0.1575)
    """
    rows = forecast_rows(frame, labelCol, probabilityCol, weightCol, classes, handleInvalid)
    return rows.run(evaluation_plan(len(rows.classes))).result(rows.classes)


def forecast_rows(
    frame: DataFrame,
    label: str,
    probability: str,
    weight: str | None,
    classes: Sequence[Any] | None,
    invalid: str,
) -> FrameRows:
    """The rows of a frame with probabilities in the place of scores."""
    check_option("handleInvalid", invalid, ("error", "skip"))
    labels: Any = classes
    if score_columns(frame, probability, None).packed:
        labels = classes_of(frame, probability, classes).tolist()
    return FrameRows.of(
        frame,
        labelCol=label,
        rawPredictionCol=probability,
        weightCol=weight,
        classes=labels,
        skip=invalid == "skip",
    )


def compare(
    frame: DataFrame,
    *,
    labelCol: str = "label",
    rawPredictionCol: str = "rawPrediction",
    scoresCols: Sequence[str] | None = None,
    weightCol: str | None = None,
    keyCol: str | None = None,
    classes: Sequence[Any] | None = None,
    methods: Sequence[str] | Mapping[str, object] | None = None,
    combine: str | None = None,
    kind: ScoreKind = "margin",
    code: Any = None,
    cv: int = 5,
    handleInvalid: str = "error",
) -> MethodComparison:
    """Compare calibration methods, each on rows that it was not fitted to.

    Parameters
    ----------
    frame : DataFrame
        The frame.
    labelCol : str, default="label"
        The column of the labels.
    rawPredictionCol : str, default="rawPrediction"
        The column of the scores: numbers, vectors or arrays.
    scoresCols : sequence of str, optional
        Several numeric columns of scores, instead of that.
    weightCol : str, optional
        The column of the weights.
    keyCol : str, optional
        A column that says which rows belong together; they are never in two folds.
    classes : sequence, optional
        The labels in the order of the scores.
    methods : sequence of str, or mapping of str to calibrator, optional
        The methods; by default all that take such scores.
    combine : {"normalize", "least_squares", "coupling"}, optional
        How the answers of several columns become one distribution; by default "normalize" for one score per
        class, and "coupling" for any other code.
    kind : {"margin", "probability"}, default="margin"
        What the scores are.
    code : str or array-like of shape (k, l), optional
        The code matrix behind the scores, or its name.
    cv : int, default=5
        Number of folds.
    handleInvalid : {"error", "skip"}, default="error"
        What happens to rows that cannot be used.

    Returns
    -------
    MethodComparison
        The methods, the best first; and which to use.

    See Also
    --------
    calibrant.models.compare_methods : The same in memory.

    Examples
    --------
    >>> from calibrant.spark import compare
    >>> rows = [(float(i % 17), int(i % 17 > i * 7 % 19)) for i in range(500)]
    >>> frame = spark.createDataFrame(rows, ["score", "label"])
    >>> found = compare(frame, rawPredictionCol="score")
    >>> found.results[0].name == found.best
    True
    """
    check_option("handleInvalid", handleInvalid, ("error", "skip"))
    contest = Contest(methods, kind, code, combine, cv)
    rows = FrameRows.of(
        frame,
        labelCol=labelCol,
        rawPredictionCol=rawPredictionCol,
        scoresCols=scoresCols,
        weightCol=weightCol,
        keyCol=keyCol,
        classes=classes,
        skip=handleInvalid == "skip",
        coded=contest.coded,
    )
    bounds = rows.options(rows.n_scores)
    # Every method is fitted without each of the folds in the same passes.
    bins = max(256, int(bounds.n_bins or 1) // max(1, 3 * contest.cv))
    options = PassOptions(n_bins=bins, max_rows=bounds.max_rows)
    labels = np.asarray(rows.classes)
    plan = comparison_plan(contest, labels, options, rows.n_rows)
    seen: list[ScoreSurvey] = []
    if contest.any_can_only_rise():
        plan = surveyed(plan, len(labels), seen.append, contest.columns_of(len(labels)))
    found = rows.run(plan)
    for survey in seen:
        warn_of_columns(survey.directions, None if contest.coded else rows.classes, stacklevel=3)
    return found
