"""Fitting in passes: the same models as in memory, on rows that may live anywhere."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, as_array
from calibrant._core._errors import ParameterError
from calibrant._core._names import NamedColumns
from calibrant.calibrators import Calibrator, fit_plan, new_calibrator, warn_of_direction
from calibrant.files._checked_rows import checked_rows
from calibrant.models import ScoreModel
from calibrant.passes import (
    NoRowsError,
    PassOptions,
    Plan,
    Progress,
    Reading,
    RowsOfPass,
    Sample,
    TakeSample,
    run_plan,
)


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
        plan = model.plan(labels, filled, known)
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
