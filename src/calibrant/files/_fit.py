"""Fitting to rows wherever they are: the same models, in memory or in passes."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._checks import shown
from calibrant._core._errors import DataError, ParameterError, ScoreDirectionWarning
from calibrant._core._estimator import clone
from calibrant._core._names import NamedColumns
from calibrant._core._words import option
from calibrant.calibrators import Calibrator, calibrator_of_kind, fit_plan, fit_rows, warn_of_direction
from calibrant.codes import check_code
from calibrant.files._batch import NO_GROUP
from calibrant.files._checked_rows import checked_rows, labels_of
from calibrant.files._labelled import LabelledRows
from calibrant.files._score_check import ScoreCheck
from calibrant.models import ScoreModel
from calibrant.passes import (
    NoRowsError,
    PassOptions,
    Plan,
    Progress,
    Reading,
    Rows,
    RowsOfPass,
    Sample,
    TakeSample,
    run_plan,
    surveyed,
)

#: More groups than this are none: somebody has named the wrong column.
MOST_GROUPS = 100_000


def fit(
    model: Any,
    rows: "LabelledRows | RowsOfPass",
    *,
    in_passes: bool | None = None,
    keep_predictions: bool = False,
    classes: object = None,
    n_rows: int | None = None,
    options: PassOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Any:
    """Fit a model or a calibrator to rows of a file, a database, a frame, or of batches of one's own.

    Parameters
    ----------
    model : ScoreModel, calibrator or str
        What to fit: it is copied, not changed. Or the name of a calibrator.
    rows : LabelledRows or callable
        What `labelled` gives; or a function that gives all rows in batches (`Rows`) whenever it is called.
        With ``labelled(..., by=...)`` a `ScoreModel` learns what sets the groups of that column apart.
    in_passes : bool, optional
        Whether rows of `labelled` are read in passes, or into memory. By default in passes if they would take
        more than 256 MiB, or a sixteenth of the machine's memory.
    keep_predictions : bool, default=False
        Whether a `ScoreModel` keeps the rows that it was measured on as ``predictions_``.
    classes : array-like of shape (k,), optional
        For a function that gives batches: the labels, in the order of the numbers in the rows. By default
        those of the model.
    n_rows : int, optional
        For a function that gives batches: about how many rows there are. By default they are counted.
    options : PassOptions, optional
        How much memory passes may use.
    progress : callable, optional
        Called after every batch with a `Progress`; by default what `labelled` was given.

    Returns
    -------
    object
        The fitted copy: an ordinary one, which `calibrant.save` takes. It remembers the columns of its
        scores.

    See Also
    --------
    labelled : Rows of a file.
    compare : Which method to use.

    Notes
    -----
    Nothing is approximated in passes. Isotonic calibration, binning and accuracy tables of rows without
    weights are those of the fit in memory bit for bit; weights and sigmoids agree to rounding, about 1e-12.
    A `ScoreModel` is measured, and learns its rule, on rows that its calibrators were not fitted to, see
    there; in passes a row's fold is told by its key, in memory folds are stratified.

    Not available in passes, as they would need all rows at once: ``n_bins="cv"``, and ``"cv"`` for the cells
    or for lambda of an accuracy table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant.files import fit, labelled
    >>> table = pa.table({"score": [1.0, 2.0, 3.0, 4.0] * 9, "answer": ["no", "no", "no", "yes"] * 9})
    >>> fit("auto", labelled(table, scores="score", label="answer")).predict([1.5, 4])
    array(['no', 'yes'], dtype='<U3')
    """
    if isinstance(rows, LabelledRows):
        return _fit_labelled(model, rows, in_passes, keep_predictions, options)
    labels = labels_of(classes, rows, model)
    known = getattr(rows, "n_rows", None) if n_rows is None else n_rows
    plan = plan_of(model, labels, options or PassOptions(), known, "margin", keep_predictions)
    fitted = run_plan(plan, checked_rows(rows, len(labels)), progress)
    warn_of_direction(fitted.calibrator_ if isinstance(fitted, ScoreModel) else fitted)
    return fitted


def _fit_labelled(
    model: Any,
    rows: LabelledRows,
    in_passes: bool | None,
    keep_predictions: bool,
    options: PassOptions | None,
) -> Any:
    in_memory = rows.load(in_passes)
    check = ScoreCheck(rows.source.name, rows.said, rows.classes)
    code = code_of(model, len(rows.classes), len(rows.columns))
    groups = _groups_of(model, rows)
    if in_memory is not None:
        check.rows(in_memory, code)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreDirectionWarning)  # said already
            fitted = fit_in_memory(model, in_memory, rows.kind, keep_predictions, groups)
    else:
        bounds = options or PassOptions()
        plan = plan_of(model, rows.classes, bounds, rows.n_rows, rows.kind, keep_predictions, groups)
        plan = surveyed(plan, len(rows.classes), check.survey, code)
        try:
            fitted = run_plan(plan, rows if groups is None else groups.of_pass, rows.progress)
        except NoRowsError:
            raise rows.no_weight() from None
    if isinstance(fitted, NamedColumns):
        fitted.name_columns(rows.columns)
    if groups is not None:
        fitted.name_group_column(rows.by)
    return fitted


def _groups_of(model: Any, rows: LabelledRows) -> "_Groups | None":
    """The groups of rows of ``labelled(..., by=...)``."""
    if rows.by is None:
        return None
    if not isinstance(model, ScoreModel):
        raise ParameterError(
            f"model must be a ScoreModel to learn what sets the groups of {rows.by!r} apart; got "
            f"{shown(model)}; use ScoreModel(...)"
        )
    return _Groups(rows)


class _Groups:
    """Groups that a column names, by their numbers without the rows that it names none for."""

    def __init__(self, rows: LabelledRows) -> None:
        self._rows = rows

    def names(self) -> tuple[str, ...]:
        """The groups that were found so far."""
        return tuple(name for name in self._rows.groups if name != NO_GROUP)

    def of(self, batch: Rows) -> Rows:
        """Rows with the numbers of their groups among these."""
        number = iter(range(len(self._rows.groups)))
        table = np.array([-1 if name == NO_GROUP else next(number) for name in self._rows.groups], np.intp)
        return replace(batch, group=table[batch.group])

    def of_pass(self) -> Iterator[Rows]:
        """All rows once, batch by batch."""
        for batch in self._rows():
            if len(self._rows.groups) > MOST_GROUPS:
                raise DataError(
                    f"the column {self._rows.by!r} of {self._rows.source.name} must have at most "
                    f"{MOST_GROUPS:,} groups for a fit; it has more; choose one of fewer"
                )
            yield self.of(batch)
        self.check()

    def check(self) -> None:
        """Refuse rows of which none has a group."""
        if not self.names():
            raise DataError(
                f"the column {self._rows.by!r} of {self._rows.source.name} must name a group; got none"
            )


def fit_in_memory(
    model: Any, rows: Rows, kind: Any, keep_predictions: bool = False, groups: _Groups | None = None
) -> Any:
    """A fitted copy of a model or a calibrator, for checked rows in memory, whose scores are of a kind."""
    if isinstance(model, ScoreModel):
        if groups is None:
            return clone(model).fit_rows(rows, keep_predictions=keep_predictions)
        groups.check()
        return clone(model).fit_rows(groups.of(rows), by=groups.names(), keep_predictions=keep_predictions)
    return fit_rows(calibrator_of_kind(model, kind), rows, rows.classes)


def plan_of(
    model: Any,
    classes: Array,
    options: PassOptions,
    n_rows: int | None,
    kind: Any,
    keep_predictions: bool = False,
    groups: _Groups | None = None,
) -> Plan[Any]:
    """The plan of a model, or of a calibrator."""
    if isinstance(model, ScoreModel):
        names = None if groups is None else groups.names
        return model.plan(classes, options, n_rows, by=names, keep_predictions=keep_predictions)
    return calibrator_plan(calibrator_of_kind(model, kind), classes, options, n_rows)


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


def code_of(model: Any, n_classes: int, n_columns: int) -> Array | None:
    """The code behind the scores; None without one, or if the fit will say that it does not suit."""
    given = getattr(model, "code", None)
    if given is None:
        return None
    try:
        code = np.asarray(check_code(given, n_classes))
    except ParameterError as error:  # here the number of classes is no option, but what the rows have
        raise DataError(
            f"there must be fewer classes for {option('code')} {given}; got {n_classes}; use another code"
        ) from error
    return code if code.shape[1] == n_columns else None
