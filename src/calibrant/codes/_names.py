"""Codes by name, or as the user's own matrix."""

from functools import partial
from typing import TYPE_CHECKING

from calibrant._core._chance import Seed
from calibrant._core._checks import not_among
from calibrant._core._errors import ParameterError
from calibrant.codes._matrices import (
    CodeMatrix,
    all_pairs,
    check_class_count,
    exhaustive,
    one_vs_all,
    ordinal,
)
from calibrant.codes._random_matrices import random_dense, random_sparse
from calibrant.codes._validation import validate_code

if TYPE_CHECKING:
    from collections.abc import Callable


#: What codes are called elsewhere.
ALIASES = {
    "ovr": "one_vs_all",
    "one_vs_rest": "one_vs_all",
    "ovo": "all_pairs",
    "one_vs_one": "all_pairs",
}


def code_name(code: object) -> object:
    """Our name of a code that is called as elsewhere; all else as it is."""
    return ALIASES.get(code, code) if isinstance(code, str) else code


def check_code(code: object, n_classes: int, *, random_state: Seed = None) -> CodeMatrix:
    """Give the code matrix that a name stands for, or check a matrix of one's own.

    Parameters
    ----------
    code : str or array-like of shape (n_classes, l)
        "one_vs_all" (or "ovr", "one_vs_rest"), "all_pairs" (or "ovo", "one_vs_one"), "exhaustive", "ordinal",
        "random_dense" or "random_sparse", or a code matrix.
    n_classes : int
        The number of classes, which are the rows.
    random_state : int, Generator, RandomState or None, default=None
        The source of randomness of the random codes.

    Returns
    -------
    ndarray of shape (n_classes, l) and type int8
        The code matrix.

    Examples
    --------
    >>> from calibrant.codes import check_code
    >>> check_code("ordinal", 3)
    array([[-1, -1],
           [ 1, -1],
           [ 1,  1]], dtype=int8)
    """
    code = code_name(code)
    if isinstance(code, str):
        builders: dict[str, Callable[[int], CodeMatrix]] = {
            "one_vs_all": one_vs_all,
            "all_pairs": all_pairs,
            "exhaustive": exhaustive,
            "ordinal": ordinal,
            "random_dense": partial(random_dense, random_state=random_state),
            "random_sparse": partial(random_sparse, random_state=random_state),
        }
        if code not in builders:
            raise not_among("code", code, builders, otherwise=" or a matrix", aliases=ALIASES)
        return builders[code](n_classes)
    matrix = validate_code(code)
    n_classes = check_class_count(n_classes)
    if len(matrix) != n_classes:
        raise ParameterError(f"code must have one row per class, {n_classes} in all; got {len(matrix)} rows")
    return matrix
