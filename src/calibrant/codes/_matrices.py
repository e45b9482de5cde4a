"""Code matrices: one row per class, one column per two-class problem (docs/methods/codes.md).

Entry +1 puts the class on the positive side of the column's problem, -1 on the negative side, and 0 leaves
it out.
"""

import numpy as np
from numpy.typing import NDArray

from calibrant._core._arrays import Float64Array, as_floats
from calibrant._core._checks import is_whole, shown
from calibrant._core._errors import DataError, ParameterError

CodeMatrix = NDArray[np.int8]

#: The largest k of any code.
MOST_CLASSES = 100_000
#: The largest k of `exhaustive`, whose columns double with every class.
MOST_EXHAUSTIVE = 15


def one_vs_all(k: int) -> CodeMatrix:
    """Set every class against all the others.

    Parameters
    ----------
    k : int
        The number of classes, at least 2.

    Returns
    -------
    ndarray of shape (k, k) and type int8
        +1 on the diagonal, -1 elsewhere. For k = 2 the two columns are complementary.

    Examples
    --------
    >>> from calibrant.codes import one_vs_all
    >>> one_vs_all(3)
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    """
    k = check_class_count(k)
    code = np.full((k, k), -1, dtype=np.int8)
    np.fill_diagonal(code, 1)
    return code


def is_one_vs_all(code: CodeMatrix) -> bool:
    """Whether a matrix is that of `one_vs_all`."""
    k, n_columns = code.shape
    return k == n_columns and np.array_equal(code, one_vs_all(k))


def all_pairs(k: int) -> CodeMatrix:
    """Set every class against every other one.

    Parameters
    ----------
    k : int
        The number of classes, at least 2.

    Returns
    -------
    ndarray of shape (k, k * (k - 1) / 2) and type int8
        Columns for the pairs (0, 1), (0, 2), ..., (k - 2, k - 1); the lower class is positive.

    Examples
    --------
    >>> from calibrant.codes import all_pairs
    >>> all_pairs(3)
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]], dtype=int8)
    """
    k = check_class_count(k)
    lower, upper = np.triu_indices(k, 1)
    columns = np.arange(len(lower))
    code = np.zeros((k, len(lower)), dtype=np.int8)
    code[lower, columns] = 1
    code[upper, columns] = -1
    return code


def exhaustive(k: int) -> CodeMatrix:
    """Split the classes in two in every way.

    Parameters
    ----------
    k : int
        The number of classes, from 2 to 15.

    Returns
    -------
    ndarray of shape (k, 2 ** (k - 1) - 1) and type int8
        The first class is positive in every column; class i, counted from 1, alternates runs of
        2 ** (k - i) entries that start with -1. The minimum distance of the rows is 2 ** (k - 2).

    Examples
    --------
    >>> from calibrant.codes import exhaustive
    >>> exhaustive(4)
    array([[ 1,  1,  1,  1,  1,  1,  1],
           [-1, -1, -1, -1,  1,  1,  1],
           [-1, -1,  1,  1, -1, -1,  1],
           [-1,  1, -1,  1, -1,  1, -1]], dtype=int8)
    """
    k = check_class_count(k)
    if k > MOST_EXHAUSTIVE:
        raise ParameterError(
            f"k must be at most {MOST_EXHAUSTIVE} for the exhaustive code; got {k}, which needs "
            f"{2 ** (k - 1) - 1} columns; use random_dense"
        )
    # read as a binary number with -1 for 0, column c below its first entry counts c
    digits = np.arange(2 ** (k - 1) - 1) >> np.arange(k - 1, -1, -1)[:, None] & 1
    digits[0] = 1
    return (2 * digits - 1).astype(np.int8)


def ordinal(k: int) -> CodeMatrix:
    """Split ordered classes between every two neighbours.

    Parameters
    ----------
    k : int
        The number of classes, at least 2.

    Returns
    -------
    ndarray of shape (k, k - 1) and type int8
        Column b has the classes up to b negative and those above b positive.

    Examples
    --------
    >>> from calibrant.codes import ordinal
    >>> ordinal(3)
    array([[-1, -1],
           [ 1, -1],
           [ 1,  1]], dtype=int8)
    """
    k = check_class_count(k)
    return np.where(np.arange(k)[:, None] > np.arange(k - 1), 1, -1).astype(np.int8)


def row_distances(code: CodeMatrix) -> Float64Array:
    """Measure the distance between every two rows of a code matrix.

    Parameters
    ----------
    code : ndarray of shape (k, l)
        The code matrix.

    Returns
    -------
    ndarray of shape (k, k)
        The sum of (1 - u_s v_s) / 2 over the columns s: the number of columns that separate the two
        classes, where a column that leaves out either counts one half. A row with zeros therefore has a
        positive distance to itself.

    Examples
    --------
    >>> from calibrant.codes import all_pairs, row_distances
    >>> row_distances(all_pairs(3))
    array([[0.5, 2. , 2. ],
           [2. , 0.5, 2. ],
           [2. , 2. , 0.5]])
    """
    entries = np.asarray(as_floats(code, "code"), dtype=np.float64)
    if entries.ndim != 2 or len(entries) < 2:
        raise DataError(f"code must have two rows or more, one per class; got shape {entries.shape}")
    return np.asarray((entries.shape[1] - entries @ entries.T) / 2)


def min_distance(code: CodeMatrix) -> float:
    """Measure the smallest distance between two rows of a code matrix.

    Parameters
    ----------
    code : ndarray of shape (k, l)
        The code matrix.

    Returns
    -------
    float
        The minimum over all pairs of classes of `row_distances`.

    Examples
    --------
    >>> from calibrant.codes import exhaustive, min_distance
    >>> min_distance(exhaustive(5)) == 2 ** (5 - 2)
    True
    """
    distances = row_distances(code)
    return float(distances[np.triu_indices(len(distances), 1)].min())


def check_class_count(k: object) -> int:
    """Refuse anything but a whole number of classes, two at least."""
    if is_whole(k, 2, MOST_CLASSES):
        return int(k)  # type: ignore[call-overload, no-any-return]
    raise ParameterError(f"k must be a whole number of classes, at least 2; got {shown(k)}")
