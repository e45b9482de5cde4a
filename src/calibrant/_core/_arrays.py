"""Whatever a user holds (list, array, series, frame) as a NumPy array."""

import sys
from itertools import chain
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
    refuse_masked(values, name)
    if isinstance(values, np.ndarray | list | tuple):
        array = _converted(values, name)
    elif hasattr(values, "toarray"):
        raise DataError(f"{name} must be dense; got a sparse {type(values).__name__}; call .toarray() on it")
    else:
        frame = open_frame(values, name)
        array = _converted(values, name) if frame is None else _from_frame(frame)
    if array.ndim == 0 and array.dtype.kind == "O":
        raise DataError(
            f"{name} must be a list, an array, a series or a frame; got {type(values).__name__}; put it into "
            "a list"
        )
    return array


def open_frame(values: object, name: str) -> Any:
    """Give a frame or a series by way of narwhals; None for what is neither."""
    import narwhals as nw  # noqa: PLC0415  (only those who pass frames pay for it)

    if hasattr(values, "__arrow_c_stream__") and type(values).__name__ == "RecordBatch":
        import pyarrow as pa  # noqa: PLC0415

        values = pa.table(values)
    try:
        frame = nw.from_native(values, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"every column of {name} must have a name of its own; one is there twice") from error
    if isinstance(frame, nw.LazyFrame):
        raise DataError(f"{name} must be in memory; got a lazy frame; call .collect() on it")
    return frame if isinstance(frame, nw.DataFrame | nw.Series) else None


def _from_frame(frame: Any) -> Array:
    """Values of a frame or a series, in which what is missing stays missing.

    Dictionaries of Arrow lose that: a missing entry has the number -1, which is that of the last one.
    """
    import narwhals as nw  # noqa: PLC0415

    coded = (nw.Categorical, nw.Enum)
    if isinstance(frame, nw.DataFrame):
        if not any(isinstance(kind, coded) for kind in frame.schema.values()):
            return frame.to_numpy()
        return np.column_stack([_from_frame(frame[:, place]) for place in range(len(frame.columns))])
    array: Array = frame.to_numpy()
    if isinstance(frame.dtype, coded) and frame.null_count():
        array = array.astype(object)
        array[frame.is_null().to_numpy()] = None
    return array


def refuse_masked(values: object, name: str) -> None:
    """Refuse masked entries, of which NumPy and scikit-learn would take what lies under the mask."""
    if _n_masked(values):
        raise DataError(
            f"{name} must have no missing values; got {_n_masked(values)} masked ones; drop those rows or "
            "fill them first"
        )


def is_masked(entry: object) -> bool:
    """Whether it is the entry that stands for those under a mask; who has not asked for it has none."""
    return "numpy.ma" in sys.modules and entry is np.ma.masked


def _n_masked(values: object) -> int:
    """How many masked entries there are, in an array, or in lists of lists of such."""
    if "numpy.ma" not in sys.modules:  # nobody has made any
        return 0
    if isinstance(values, np.ma.MaskedArray):
        return int(np.ma.getmaskarray(values).sum())
    if not isinstance(values, list | tuple):
        return 0
    # The kinds of entries first, as most lists hold numbers, and many of them.
    nested = (list, tuple, np.ma.MaskedArray)
    kinds = set(map(type, values))
    if kinds and kinds <= {list, tuple}:
        kinds = set(map(type, chain.from_iterable(values)))
    return sum(map(_n_masked, values)) if any(issubclass(kind, nested) for kind in kinds) else 0


def _converted(values: object, name: str) -> Array:
    """The values as an array by NumPy, or by whatever they know of arrays themselves."""
    try:
        return np.asarray(values)
    except Exception as error:  # the values may be of any type, and so may what they raise
        if isinstance(error, ValueError) and "inhomogeneous" in str(error):
            raise DataError(f"{name} must be a regular array; got rows of different lengths") from error
        raise DataError(f"{name} must be an array; got {type(values).__name__}: {error}") from error


def as_floats(values: object, name: str) -> FloatArray:
    """Give the values as floating point: float32 stays, everything else becomes float64."""
    array = as_array(values, name)
    if array.dtype in (np.float64, np.float32):
        return array
    if array.dtype.kind not in "biufO":
        raise DataError(f"{name} must be numbers; got values of type {array.dtype}")
    try:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            floats = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name} must be numbers; got {_first_text(array)}") from error
    if array.dtype.kind == "f" and array.dtype.itemsize > floats.dtype.itemsize:
        _refuse_cut(array, floats, name)
    return floats


def _refuse_cut(array: Array, floats: Float64Array, name: str) -> None:
    """Refuse numbers that 64 bits cannot hold, as they are too great or have more digits."""
    cut = (floats != array) & ~np.isnan(array)
    if cut.any():
        place = tuple(int(index) for index in np.argwhere(cut)[0])
        where = f" in row {place[0]}" if place else ""
        raise DataError(
            f"{name} must fit into 64 bits; got {array[place]!s} of type {array.dtype}{where}; if rounding "
            "does no harm, call .astype(float) on it"
        )


def _first_text(array: Array) -> str:
    """Name the first entry that is not a number, with its place."""
    for place, value in np.ndenumerate(array):
        try:
            float(value)
        except OverflowError:
            return f"a number beyond 1e308 in row {place[0]}"
        except (TypeError, ValueError):
            return f"{value!r:.60} in row {place[0]}"
    return f"values of type {array.dtype}"
