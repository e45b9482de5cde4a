"""Fitting in passes: the same models as in memory, on rows that may live anywhere."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant._core._arrays import Array, as_array
from calibrant._core._errors import ParameterError
from calibrant._core._names import NamedColumns
from calibrant.calibrators import Calibrator, calibrator_for, fit_plan, new_calibrator, warn_of_direction
from calibrant.files._checked_rows import checked_rows
from calibrant.models import Judged, ScoredRows, ScoreModel, TrainingSummary, measure
from calibrant.passes import (
    ClassCounts,
    Fold,
    NoRowsError,
    PassOptions,
    Plan,
    Progress,
    Reading,
    Rows,
    RowsOfPass,
    Sample,
    TakeSample,
    count_classes,
    run_plan,
    together,
)

#: Rows that a model is measured on, and that decisions are learned from, at most; and the folds of few rows.
MOST_HELD_OUT, N_FOLDS = 200_000, 5


def fit_in_passes(
    model: Any,
    rows_of_pass: RowsOfPass,
    *,
    classes: object = None,
    n_rows: int | None = None,
    options: PassOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Any:
    """Fit a model or a calibrator on rows that are read in passes.

    Parameters
    ----------
    model : ScoreModel, calibrator or str
        What to fit: it is copied, not changed. Or the name of a calibrator.
    rows_of_pass : callable
        Gives an iterable of all rows in batches (`Rows`), whenever it is called; see `rows_of`.
    classes : array-like of shape (k,), optional
        The labels, in the order of the numbers in the rows. By default those of `rows_of_pass` or of the
        model.
    n_rows : int, optional
        About how many rows there are, to choose the number of bins by. By default what `rows_of_pass` knows.
    options : PassOptions, optional
        How much memory may be used.
    progress : callable, optional
        Called after every batch with a `Progress`.

    Returns
    -------
    object
        The fitted copy: an ordinary one, as fitted in memory.

    See Also
    --------
    rows_of : Rows of a file or frame.

    Notes
    -----
    Nothing is approximated. Isotonic calibration, binning and accuracy tables of rows without weights are
    those of the fit in memory bit for bit; weights and sigmoids agree to rounding, about 1e-12.

    A `ScoreModel` is measured, and learns its rule, on a part of the rows by a calibrator that was fitted to
    others: to one fifth of the rows, by the other four. Of more than a million rows it is about 200 000, by
    800 000 others. In memory fewer rows are judged in five folds instead.

    Not available, as they would need the folds of the fit in memory: ``n_bins="cv"``, and ``"cv"`` for the
    cells or for lambda of an accuracy table.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.files import Rows, fit_in_passes
    >>> scores = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> position = np.array([0, 1, 0, 0, 1, 1])
    >>> batches = [Rows(scores[:4], position[:4]), Rows(scores[4:], position[4:])]
    >>> pav = fit_in_passes("pav", lambda: batches, classes=["no", "yes"])
    >>> pav.blocks_.value
    array([0.        , 0.33333333, 1.        ])
    """
    labels = _labels(classes, rows_of_pass, model)
    known = getattr(rows_of_pass, "n_rows", None) if n_rows is None else n_rows
    filled = PassOptions() if options is None else options
    if isinstance(model, ScoreModel):
        plan = model_plan(model, labels, filled, known)
    else:
        plan = calibrator_plan(new_calibrator(model), labels, filled, known)
    fitted = run_plan(plan, checked_rows(rows_of_pass, len(labels)), progress)
    warn_of_direction(fitted.calibrator_ if isinstance(fitted, ScoreModel) else fitted)
    names = getattr(rows_of_pass, "scores", None)  # rows of a table know where they come from
    if names is not None and isinstance(fitted, NamedColumns):
        fitted.name_columns(names)
    return fitted


def _labels(classes: object, rows_of_pass: Any, model: Any) -> Array:
    for given in (classes, getattr(rows_of_pass, "classes", None), getattr(model, "classes", None)):
        if given is not None:
            labels = as_array(given, "classes")
            if len(labels) < 2 or len(np.unique(labels)) < len(labels):
                raise ParameterError(f"classes must be two or more distinct labels; got {labels.tolist()}")
            return labels
    raise ParameterError("classes must be given where rows have only the numbers of their classes; got none")


def calibrator_plan(
    calibrator: Calibrator, classes: Array, options: PassOptions, n_rows: int | None = None
) -> Plan[Any]:
    """The plan of a calibrator, which is fitted in place.

    Parameters
    ----------
    calibrator : object
        One of those of this package.
    classes : ndarray of shape (k,)
        The labels.
    options : PassOptions
        How much memory may be used.
    n_rows : int, optional
        About how many rows there are.

    Returns
    -------
    object
        The calibrator.
    """
    taken: Sample = yield TakeSample()
    sample = taken.rows()
    if len(sample) == 0:
        raise NoRowsError
    fitted = yield from fit_plan(calibrator, classes, Reading(sample, options, n_rows))
    return fitted


@dataclass(frozen=True, eq=False)
class _Held:
    """The rows that a model is measured on, and the calibrator that has not seen them."""

    calibrator: Calibrator
    rows: Rows


def model_plan(
    model: ScoreModel, classes: Array, options: PassOptions, n_rows: int | None = None
) -> Plan[ScoreModel]:
    """The plan of a whole model, of which a fitted copy is returned.

    Parameters
    ----------
    model : ScoreModel
        The model.
    classes : ndarray of shape (k,)
        The labels.
    options : PassOptions
        How much memory may be used.
    n_rows : int, optional
        About how many rows there are.

    Returns
    -------
    ScoreModel
        The fitted model.
    """
    fitted, _ = yield from judged_model_plan(model, classes, options, n_rows)
    return fitted


def judged_model_plan(
    model: ScoreModel, classes: Array, options: PassOptions, n_rows: int | None = None
) -> Plan[tuple[ScoreModel, Judged]]:
    """The plan of a whole model; beside its fitted copy, the rows that it was measured on come back."""
    costs, rule = model.read_decisions(classes)
    taken: Sample = yield TakeSample()
    sample = taken.rows()
    if len(sample) == 0:
        raise NoRowsError
    n_dimensions = 1 if sample.scores.shape[1] == 1 and len(classes) == 2 else 2
    calibrator = calibrator_for(new_calibrator(model.calibrator), n_dimensions, model.code, model.combine)
    fold = Fold(0, max(N_FOLDS, (n_rows or 0) // MOST_HELD_OUT), N_FOLDS - 1)
    parts: list[Plan[Any]] = [
        count_classes(len(classes)),
        fit_plan(clone(calibrator), classes, Reading(sample, options, n_rows)),
        _hold_out(clone(calibrator), classes, sample, options, n_rows, fold),
    ]
    counts, fitted, held = yield from together(parts)
    judged = _judge(held, classes, n_dimensions).with_estimates()
    learned = None
    if rule is not None and costs is not None and judged.rows.n_rows:
        learned = rule.fit(judged.proba, judged.rows.position, costs.matrix, judged.rows.weights)
    summary = _summary(counts, judged, measure(judged, costs, rule))
    copy: ScoreModel = clone(model)
    copy.keep_parts(fitted, classes, costs, learned, summary)
    return copy, judged


def _hold_out(
    calibrator: Calibrator, classes: Array, sample: Rows, options: PassOptions, n_rows: int | None, fold: Fold
) -> Plan[_Held | None]:
    """Fit to four folds, and keep the rows of a fifth."""
    n_fitted = None if n_rows is None else n_rows * (N_FOLDS - 1) // fold.n_folds
    reading = Reading(sample, options.at_most(n_fitted), n_fitted, fold)
    parts: list[Plan[Any]] = [fit_plan(calibrator, classes, reading), _rows_of_fold(fold)]
    try:
        fitted, rows = yield from together(parts)
    except NoRowsError:  # all of a few rows happened to be of this fold
        return None
    return _Held(fitted, rows)


def _rows_of_fold(fold: Fold) -> Plan[Rows]:
    kept: Sample = yield TakeSample(MOST_HELD_OUT, fold)
    return kept.rows()


def _judge(held: _Held | None, classes: Array, n_dimensions: int) -> Judged:
    if held is None:
        nothing = np.empty(0, dtype=np.intp)
        return Judged(
            ScoredRows(np.empty(0), nothing, None, classes), np.empty((0, len(classes))), nothing, 0
        )
    scores = held.rows.scores[:, 0] if n_dimensions == 1 else held.rows.scores
    weights = held.rows.weight
    unweighted = weights is None or bool((weights == 1).all())
    rows = ScoredRows(scores, held.rows.position, None if unweighted else weights, classes)
    proba = np.empty((0, len(classes))) if rows.n_rows == 0 else held.calibrator.predict_proba(scores)
    return Judged(rows, np.asarray(proba), np.zeros(rows.n_rows, dtype=np.intp), 1)


def _summary(counts: ClassCounts, judged: Judged, metrics: Any) -> TrainingSummary:
    return TrainingSummary(
        n_rows=counts.n_rows,
        weight=float(counts.mass.sum()),
        base_rates=counts.mass / counts.mass.sum(),
        n_folds=judged.n_folds,
        n_measured=judged.rows.n_rows,
        metrics=metrics,
    )
