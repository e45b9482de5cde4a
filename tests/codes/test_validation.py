"""What is found in a code matrix, and what is refused."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from calibrant import CalibrantError
from calibrant.codes import Finding, all_pairs, code_findings, one_vs_all, validate_code
from golden import assert_golden, golden_cases


@pytest.mark.parametrize("case", golden_cases("codes", "problems"))
def test_golden(case):
    found = [[finding.kind, list(finding.indices)] for finding in code_findings(case["in"]["M"])]
    assert_golden(found, case["out"], case["tol"])


def plainly(code):
    """The findings by comparing everything with everything."""
    k, n_columns = code.shape
    yield from (("column_without_both_signs", (b,)) for b in range(n_columns) if {1, -1} - set(code[:, b]))
    yield from (("unreachable_class", (c,)) for c in range(k) if not code[c].any())
    for kind, vectors, sign in (
        ("identical_rows", code, 1),
        ("duplicate_columns", code.T, 1),
        ("complementary_columns", code.T, -1),
    ):
        for i, j in combinations(range(len(vectors)), 2):
            if (vectors[i] == sign * vectors[j]).all():
                yield kind, (i, j)
    group = list(range(k))
    for column in code.T:
        linked = {group[c] for c in np.flatnonzero(column)}
        group = [min(linked) if g in linked else g for g in group]
    if len(set(group)) > 1:
        yield "disconnected_classes", tuple(sorted(set(group)))


@settings(max_examples=150, deadline=None)
@given(arrays(np.int8, st.tuples(st.integers(2, 5), st.integers(1, 5)), elements=st.integers(-1, 1)))
def test_all_findings_in_order(code):
    assert [(finding.kind, finding.indices) for finding in code_findings(code)] == list(plainly(code))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ([[1, 1], [1, -1], [1, 0]], "a \\+1 and a -1 in every column; got only one sign in column 0;"),
        ([[1, 0], [-1, 0]], "got only one sign in column 1;"),
        ([[1, 1], [-1, -1], [0, 0]], "every class in some column; got only zeros in row 2;"),
        ([[1, -1], [-1, 1], [-1, 1]], "tell every two classes apart; got identical rows 1 and 2;"),
        ([[1, -1], [-1, 1], [-1, 1], [-1, 1]], "got identical rows 1 and 2 and 2 more; mend the matrix"),
    ],
)
def test_undetermined_matrices_are_refused(code, message):
    with pytest.raises(CalibrantError, match=message):
        validate_code(code)
    np.testing.assert_array_equal(validate_code(code, allow_degenerate=True), code)


def test_islands_get_a_warning():
    code = [[1, 0], [-1, 0], [0, 1], [0, -1]]
    with pytest.warns(UserWarning, match="unlinked groups with classes 0, 2; nothing is known of the odds"):
        validate_code(code)
    with warnings.catch_warnings(action="error"):
        validate_code(code, allow_degenerate=True)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ([[1, 2], [-1, 1]], "entries -1, 0 and 1 only; got 2 in row 0, column 1; code positive"),
        ([[1.0, 0.5], [-1, 1]], "got 0.5 in row 0, column 1;"),
        ([[np.nan, 1], [-1, -1]], "got nan in row 0, column 0;"),
        ([["1"], ["-1"]], "got 1 in row 0, column 0;"),
        (np.array([[1], [-2]], dtype=np.int8), "got -2 in row 1, column 0;"),
        ([[1, -1]], "one row per class, at least 2, .* got shape \\(1, 2\\)$"),
        ([[], []], "at least one column; got shape \\(2, 0\\)$"),
        ([1, -1], "got shape \\(2,\\)$"),
        ([[1, -1], [1]], "code must be a regular array; got rows of different lengths"),
    ],
)
def test_what_is_no_code_matrix(code, message):
    with pytest.raises(CalibrantError, match=message):
        validate_code(code)
    with pytest.raises(CalibrantError, match=message):
        code_findings(code)


def test_harmless_findings_pass():
    assert code_findings(one_vs_all(2)) == (Finding("complementary_columns", (0, 1)),)
    assert validate_code(np.hstack([all_pairs(3)] * 2).astype(float)).dtype == np.int8
