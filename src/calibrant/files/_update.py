"""A model that is fitted again to new rows, and what that changes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.files._fit import fit
from calibrant.files._labelled import LabelledRows
from calibrant.files._model_columns import group_column
from calibrant.files._versions import VersionComparison, compare_refitted
from calibrant.models import ScoreModel, score_model_of


@dataclass(frozen=True)
class Updated:
    """A model that was fitted again, beside the one before.

    Attributes
    ----------
    model : ScoreModel
        The new model, with its `predictions_`.
    comparison : VersionComparison
        Both on the new rows; the new one by calibrators that were not fitted to the rows that they are
        measured on.
    base_rates : tuple of ndarray, or None
        The shares of the classes of the old model, in the rows of the old and of the new fit; None if the old
        model does not remember its rows.
    """

    model: ScoreModel
    comparison: VersionComparison
    base_rates: tuple[Array, Array] | None


def update(model: Any, rows: LabelledRows, *, in_passes: bool | None = None) -> Updated:
    """Fit a model again to new rows, with its own method, costs and rule, and say what changes.

    Parameters
    ----------
    model : ScoreModel, calibrator, str or path
        The fitted model, or the file that it was saved in; it stays as it is.
    rows : LabelledRows
        What `labelled` gives for the new rows; of a model with groups ``by`` is their column.
    in_passes : bool, optional
        Whether rows are read in passes, as in `fit`.

    Returns
    -------
    Updated
        The new model, and whether it is better on the new rows.

    See Also
    --------
    compare_versions : Two models on rows that neither was fitted to.

    Notes
    -----
    The old rows are not kept in a model, and take no part. Pass them with the new ones if they still hold.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from calibrant import ScoreModel
    >>> from calibrant.files import labelled, update
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(2, 1000))
    >>> came = rng.random((2, 1000)) < 1 / (1 + np.exp(-scores - [[0], [1]]))  # more of them come now
    >>> old = ScoreModel().fit(scores[0], came[0])
    >>> new = pa.table({"score": scores[1], "came": came[1]})
    >>> update(old, labelled(new, scores="score", label="came")).comparison.choice
    'new'
    """
    old = score_model_of(model)
    _check_classes(old, rows)
    fitted = fit(old, rows, in_passes=in_passes, keep_predictions=True)
    by = None
    if group_column(old) is not None:
        assert fitted.groups_ is not None
        names = np.array([*fitted.groups_.names, None], dtype=object)
        by = names[fitted.predictions_.rows.group]
    return Updated(fitted, compare_refitted(old, fitted, by), _base_rates(old, fitted))


def _check_classes(old: ScoreModel, rows: LabelledRows) -> None:
    known, there = ([str(label_text(each)) for each in classes] for classes in (old.classes_, rows.classes))
    if set(known) != set(there):
        raise DataError(
            f"the rows must have the classes of the model, {', '.join(known)}, to update it; "
            f"{rows.source.name} has {', '.join(there)}; name those of the model, or fit a new one"
        )


def _base_rates(old: ScoreModel, new: ScoreModel) -> tuple[Array, Array] | None:
    if old.summary_ is None or new.summary_ is None:
        return None
    places = [new.classes_.tolist().index(each) for each in old.classes_.tolist()]
    return np.asarray(old.summary_.base_rates), np.asarray(new.summary_.base_rates)[places]
