"""What comes to `fit` and `predict` of every classifier: rows in whatever form the learner takes."""

from typing import Any

import numpy as np
from sklearn.utils import indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from calibrant._core._arrays import as_array, refuse_masked
from calibrant._core._checks import check_weights, label_column, refuse_missing
from calibrant._core._errors import DataError
from calibrant._core._foreign import errors_as_ours
from calibrant.classifiers._kernels import is_pairwise, kernel_columns
from calibrant.classifiers._rows import Given, drop_absent


def read_given(
    owner: Any, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any], cv: Any = None
) -> Given:
    """Check what came to `fit`, and leave out the rows of weight zero."""
    refuse_masked(X, "X")
    if X is None:
        raise DataError("X must be rows to learn from; got None")
    with errors_as_ours():
        labels = None if y is None else refuse_missing(as_array(y, "labels"))
        X, labels = indexable(X, labels)
        validate_data(owner, X=X, skip_check_array=True)
        labels = label_column(column_or_1d(labels, warn=True))
        check_classification_targets(labels)
        weights = check_weights(sample_weight, len(labels))
        given = drop_absent(Given(X, labels, weights, fit_params, cv), owner.estimator)
    owner._kept_rows = given.kept
    return given


def read_new(owner: Any, X: Any) -> Any:
    """Check what came to `predict`; of a kernel only the columns of rows that were trained on are left."""
    check_is_fitted(owner, "classes_")
    refuse_masked(X, "X")
    if X is None:
        raise DataError("X must be rows to answer for; got None")
    if getattr(X, "ndim", 2) == 1 and hasattr(owner, "n_features_in_"):
        raise DataError(
            f"X must be a table; got shape {np.shape(X)}. Reshape your data: one row is a table too"
        )
    with errors_as_ours():
        (X,) = indexable(X)
        validate_data(owner, X=X, reset=False, skip_check_array=True)
    return kernel_columns(X, getattr(owner, "_kept_rows", None)) if is_pairwise(owner.estimator) else X
