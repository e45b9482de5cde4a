"""A model fitted to the rows of a file, in memory or in passes."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._errors import DataError, ParameterError, ScoreDirectionWarning
from calibrant.cli._direction import ScoreCheck
from calibrant.cli._passes import PassRows
from calibrant.cli._progress import watched_passes
from calibrant.cli._reading import Labelled
from calibrant.codes import check_code
from calibrant.files import PassOptions, run_plan
from calibrant.models import Predictions, ScoreModel, TrainingSummary
from calibrant.passes import Plan, surveyed

#: Makes the unfitted model for the classes.
NewModel = Callable[[Array], ScoreModel]


@dataclass(frozen=True)
class Fitted:
    """A model, and how it was fitted.

    Attributes
    ----------
    model : ScoreModel
        The model.
    summary : TrainingSummary
        What it remembers of its training rows.
    columns : tuple of str
        The score columns.
    in_passes : bool
        Whether the rows were read in passes.
    n_skipped : int or None
        Rows that were left out because they cannot be used; None if they were not counted.
    predictions : Predictions
        Rows with probabilities from calibrators that were not fitted to them.
    """

    model: ScoreModel
    summary: TrainingSummary
    columns: tuple[str, ...]
    in_passes: bool
    n_skipped: int | None
    predictions: Predictions

    @property
    def positive(self) -> object:
        """The class that a single score stands for; None if there are more scores."""
        classes = self.model.classes_
        return classes[1] if len(self.columns) == 1 and len(classes) == 2 else None


def fit_in_memory(rows: Labelled, new: NewModel, check: ScoreCheck) -> Fitted:
    """Fit to rows in memory."""
    model = new(rows.classes)
    check.rows(rows, code_of(model, len(rows.classes), rows.scores.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoreDirectionWarning)  # said already
        model.fit(rows.score_array, rows.labels, rows.weights, keep_predictions=True)
    summary = with_columns(model, rows.columns)
    return Fitted(model, summary, rows.columns, False, rows.n_skipped, model.predictions_)


def fit_passes(rows: PassRows, new: NewModel, check: ScoreCheck) -> Fitted:
    """Fit to rows that are read again and again."""
    n_counted = rows.count()
    plan = checked_plan(new(rows.classes), rows.classes, PassOptions(), n_counted, check)
    with watched_passes(rows.source) as progress:
        model = run_plan(plan, rows, progress)
    summary = with_columns(model, rows.scores)
    return Fitted(model, summary, rows.scores, True, rows.n_skipped, model.predictions_)


def checked_plan(
    model: ScoreModel, classes: Array, options: PassOptions, n_rows: int, check: ScoreCheck
) -> Plan[ScoreModel]:
    """The plan of a model, which ends as soon as its scores turn out not to be what they must."""
    plan = model.plan(classes, options, n_rows, keep_predictions=True)
    return surveyed(plan, len(classes), check.survey, code_of(model, len(classes), len(check.columns)))


def code_of(model: ScoreModel, n_classes: int, n_columns: int) -> Array | None:
    """The code behind the scores; None without one, or if the fit will say that it does not suit."""
    if model.code is None:
        return None
    try:
        code = np.asarray(check_code(model.code, n_classes))
    except ParameterError as error:  # here the number of classes is no option, but what the rows have
        raise DataError(
            f"there must be fewer classes for --code {model.code}; got {n_classes}; use another code"
        ) from error
    return code if code.shape[1] == n_columns else None


def with_columns(model: ScoreModel, columns: tuple[str, ...]) -> TrainingSummary:
    """Let the model remember where its scores came from."""
    assert model.summary_ is not None
    model.name_columns(columns)
    return model.summary_
