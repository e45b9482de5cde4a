"""Whatever a user holds (list, array, series, frame) as a NumPy array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._core._errors import DataError

Array = NDArray[Any]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float32] | NDArray[np.float64]
Float64Array = NDArray[np.float64]
IntArray = NDArray[np.intp]
#: Two-class labels as booleans, or shares of the positive class as float64.
Target = NDArray[Any]


def as_array(values: object, name: str) -> Array:
    """Give the values as a NumPy array, without copying where that is possible.

    Series and frames of pandas, polars, pyarrow and others are read through narwhals.
    """
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            raise DataError(
                f"{name} must have no missing values; got {np.ma.getmaskarray(values).sum()} masked ones; "
                "drop those rows or fill them first"
            )
        return np.asarray(values.data)
    if isinstance(values, np.ndarray | list | tuple):
        return _from_sequence(values, name)
    if hasattr(values, "toarray"):
        raise DataError(f"{name} must be dense; got a sparse {type(values).__name__}; call .toarray() on it")
    return _from_frame(values, name)


def _from_sequence(values: object, name: str) -> Array:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} must be a regular array; got rows of different lengths") from error


def _from_frame(values: object, name: str) -> Array:
    import narwhals as nw  # noqa: PLC0415  (only those who pass frames pay for it)

    frame = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        raise DataError(f"{name} must be in memory; got a lazy frame; call .collect() on it")
    if isinstance(frame, nw.DataFrame | nw.Series):
        return frame.to_numpy()
    return np.asarray(values)


def as_floats(values: object, name: str) -> FloatArray:
    """Give the values as floating point: float32 stays, everything else becomes float64."""
    array = as_array(values, name)
    if array.dtype in (np.float64, np.float32):
        return array
    if array.dtype.kind in "biufO":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"{name} must be numbers; got {_first_text(array)}") from error
    raise DataError(f"{name} must be numbers; got values of type {array.dtype}")


def _first_text(array: Array) -> str:
    """Name the first entry that is not a number, with its place."""
    for place, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r} in row {place[0]}"
    return f"values of type {array.dtype}"
