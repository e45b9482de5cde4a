"""A model fitted to the rows of a file, in memory or in passes."""

from collections.abc import Callable
from dataclasses import dataclass

from calibrant._core._arrays import Array
from calibrant.cli._left_out import left_out_probabilities
from calibrant.cli._passes import PassRows
from calibrant.cli._progress import watched_passes
from calibrant.cli._reading import Labelled
from calibrant.engines import PassOptions, run_plan
from calibrant.engines._fit import judged_model_plan
from calibrant.models import ScoreModel, TrainingSummary
from calibrant.models._cross_fit import Judged

#: Makes the unfitted model for a number of rows and the classes.
NewModel = Callable[[int, Array], ScoreModel]


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
    left_out : callable
        Gives rows with probabilities by a model that was not fitted to them.
    """

    model: ScoreModel
    summary: TrainingSummary
    columns: tuple[str, ...]
    in_passes: bool
    n_skipped: int | None
    left_out: Callable[[], Judged]

    @property
    def positive(self) -> object:
        """The class that a single score stands for; None if there are more scores."""
        classes = self.model.classes_
        return classes[1] if len(self.columns) == 1 and len(classes) == 2 else None


def fit_in_memory(rows: Labelled, new: NewModel) -> Fitted:
    """Fit to rows in memory."""
    n_counted = len(rows.position) if rows.weights is None else int((rows.weights > 0).sum())
    model = new(n_counted, rows.classes).fit(rows.score_array, rows.labels, rows.weights)
    summary = with_columns(model, rows.columns)
    return Fitted(
        model, summary, rows.columns, False, rows.n_skipped, lambda: left_out_probabilities(model, rows)
    )


def fit_passes(rows: PassRows, new: NewModel) -> Fitted:
    """Fit to rows that are read again and again."""
    n_counted = rows.count()
    plan = judged_model_plan(new(n_counted, rows.classes), rows.classes, PassOptions(), n_counted)
    with watched_passes(rows.source) as progress:
        model, judged = run_plan(plan, rows, progress)
    summary = with_columns(model, rows.scores)
    return Fitted(model, summary, rows.scores, True, rows.n_skipped, lambda: judged)


def with_columns(model: ScoreModel, columns: tuple[str, ...]) -> TrainingSummary:
    """Let the model remember where its scores came from."""
    assert model.summary_ is not None
    model.name_columns(columns)
    return model.summary_
