"""What scikit-learn's checks refuse, as errors of ours that say the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from calibrant._core._arrays import Array, as_array, as_floats, refuse_masked
from calibrant._core._checks import label_column, refuse_missing
from calibrant._core._errors import CalibrantError, DataError, DataTypeError


@contextmanager
def errors_as_ours() -> Iterator[None]:
    """Raise whatever the checks inside refuse as a `DataError` with their words.

    Not for the `fit` and `predict` of a user's learner, whose errors stay what they are.
    """
    try:
        yield
    except CalibrantError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        kind = DataTypeError if isinstance(error, TypeError) else DataError
        raise kind(str(error) or type(error).__name__) from error


def _exact(X: Any) -> Any:
    """Long floats as doubles, if these can hold them: scikit-learn would cut them."""
    dtype = getattr(X, "dtype", None)
    return (
        as_floats(X, "X") if isinstance(dtype, np.dtype) and dtype.kind == "f" and dtype.itemsize > 8 else X
    )


def read_table(owner: Any, X: Any, *, reset: bool = False, dtype: Any = None) -> Array:
    """The rows that came to a learner, as scikit-learn checks them."""
    refuse_masked(X, "X")
    with errors_as_ours():
        return np.asarray(validate_data(owner, _exact(X), reset=reset, dtype=dtype))


def read_training_table(owner: Any, X: Any, y: Any, dtype: Any = None) -> tuple[Array, Array]:
    """The rows and labels that came to the `fit` of a learner, as scikit-learn checks them."""
    refuse_masked(X, "X")
    with errors_as_ours():
        labels = None if y is None else refuse_missing(as_array(y, "labels"))
        X, labels = validate_data(owner, _exact(X), labels, dtype=dtype)
        check_classification_targets(labels)
        return X, label_column(labels)
