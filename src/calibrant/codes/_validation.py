"""What can be wrong with a code matrix, each finding with its name (docs/methods/codes.md)."""

import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import IntArray, as_array
from calibrant._core._checks import check_flag
from calibrant._core._errors import ParameterError
from calibrant.codes._matrices import CodeMatrix


@dataclass(frozen=True)
class Finding:
    """One thing to know about a code matrix.

    Parameters
    ----------
    kind : str
        Which thing, one of those that `code_findings` lists.
    indices : tuple of int
        The classes (rows) or columns concerned, counted from 0.
    """

    kind: str
    indices: tuple[int, ...]


#: What must hold for each kind, and what came when it does not.
_RULES = {
    "column_without_both_signs": ("have a +1 and a -1 in every column", "only one sign in column {0}"),
    "unreachable_class": ("use every class in some column", "only zeros in row {0}"),
    "identical_rows": ("tell every two classes apart", "identical rows {0} and {1}"),
    "duplicate_columns": ("not ask the same question twice", "identical columns {0} and {1}"),
    "complementary_columns": ("not ask the same question twice", "opposite columns {0} and {1}"),
    "disconnected_classes": ("link all classes by chains of columns", "unlinked groups with classes {all}"),
}

#: The kinds that leave probabilities undetermined.
FATAL = ("column_without_both_signs", "unreachable_class", "identical_rows")


def code_findings(code: object) -> tuple[Finding, ...]:
    """Look for everything that is wrong or odd in a code matrix.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix, of entries -1, 0 and 1.

    Returns
    -------
    tuple of Finding
        In this order of kinds:

        - column_without_both_signs (column): the column's problem has one class only;
        - unreachable_class (class): a row of zeros, about which no column says anything;
        - identical_rows (two classes): no column tells the two apart;
        - duplicate_columns, complementary_columns (two columns): harmless, they count twice;
        - disconnected_classes (the first class of every group): no chain of columns links the groups, so
          that nothing is said about the odds between them.

    Examples
    --------
    >>> from calibrant.codes import code_findings
    >>> for finding in code_findings([[1, -1], [-1, 1], [-1, 1]]):
    ...     print(finding)
    Finding(kind='identical_rows', indices=(1, 2))
    Finding(kind='complementary_columns', indices=(0, 1))
    """
    return tuple(_find(as_code(code)))


def _find(code: CodeMatrix) -> Iterator[Finding]:
    one_sided = (code.max(axis=0) < 1) | (code.min(axis=0) > -1)
    for column in np.flatnonzero(one_sided).tolist():
        yield Finding("column_without_both_signs", (column,))
    for row in np.flatnonzero(~code.any(axis=1)).tolist():
        yield Finding("unreachable_class", (row,))
    for pair in _equal_pairs(code, code):
        yield Finding("identical_rows", pair)
    for pair in _equal_pairs(code.T, code.T):
        yield Finding("duplicate_columns", pair)
    for pair in _equal_pairs(code.T, -code.T):
        yield Finding("complementary_columns", pair)
    groups = linked_classes(code)
    if len(groups) > 1:
        yield Finding("disconnected_classes", tuple(int(group[0]) for group in groups))


def _equal_pairs(vectors: CodeMatrix, others: CodeMatrix) -> list[tuple[int, int]]:
    """All i < j for which vector i equals other j."""
    places = defaultdict(list)
    for j, other in enumerate(others):
        places[other.tobytes()].append(j)
    return [(i, j) for i, vector in enumerate(vectors) for j in places[vector.tobytes()] if i < j]


def linked_classes(code: CodeMatrix) -> list[IntArray]:
    """The groups of classes that chains of columns link, each in ascending order."""
    used = (code != 0).astype(np.float32)  # products of floats are fast, and zero only for zero
    linked = (used @ used.T > 0) | np.eye(len(code), dtype=bool)
    unseen = np.ones(len(code), dtype=bool)
    groups = []
    while unseen.any():
        group = np.zeros(len(code), dtype=bool)
        group[np.argmax(unseen)] = True
        while not np.array_equal(grown := linked[group].any(axis=0), group):
            group = grown
        unseen &= ~group
        groups.append(np.flatnonzero(group))
    return groups


def validate_code(code: object, *, allow_degenerate: bool = False) -> CodeMatrix:
    """Refuse a code matrix that leaves probabilities undetermined.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix, of entries -1, 0 and 1.
    allow_degenerate : bool, default=False
        Accept columns with one sign, rows of zeros, identical rows and classes that no chain of columns
        links.

    Returns
    -------
    ndarray of shape (k, l) and type int8
        The matrix.

    Raises
    ------
    CalibrantError
        When the matrix has other entries, or a column with one sign, a row of zeros or identical rows.

    Warns
    -----
    UserWarning
        When the classes fall into groups that no chain of columns links.

    Examples
    --------
    >>> from calibrant.codes import validate_code
    >>> validate_code([[1, 0], [-1, 1], [0, -1]])
    array([[ 1,  0],
           [-1,  1],
           [ 0, -1]], dtype=int8)
    """
    matrix = as_code(code)
    if check_flag("allow_degenerate", allow_degenerate):
        return matrix
    findings = tuple(_find(matrix))
    fatal = [finding for finding in findings if finding.kind in FATAL]
    if fatal:
        more = f" and {len(fatal) - 1} more" if len(fatal) > 1 else ""
        raise ParameterError(f"{_sentence(fatal[0])}{more}; mend the matrix, or list all with code_findings")
    for finding in findings:
        if finding.kind == "disconnected_classes":
            message = f"{_sentence(finding)}; nothing is known of the odds between the groups"
            warnings.warn(message, UserWarning, stacklevel=2)
    return matrix


def _sentence(finding: Finding) -> str:
    must, came = _RULES[finding.kind]
    shown = ", ".join(map(str, finding.indices))
    return f"code must {must}; got {came.format(*finding.indices, all=shown)}"


def as_code(code: object) -> CodeMatrix:
    """A matrix of -1, 0 and 1 with a row for every class, as int8; nothing else is checked."""
    array = as_array(code, "code")
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise ParameterError(
            "code must be a matrix with one row per class, at least 2, and at least one column; "
            f"got shape {array.shape}"
        )
    if array.dtype != np.int8 or array.min() < -1 or array.max() > 1:
        known = (array == -1) | (array == 0) | (array == 1)
        if not np.all(known):
            row, column = np.argwhere(~known)[0].tolist()
            raise ParameterError(
                f"code must have entries -1, 0 and 1 only; got {array[row, column]} in row {row}, "
                f"column {column}; code positive classes as 1, negative ones as -1, unused ones as 0"
            )
    return array.astype(np.int8, copy=False)
