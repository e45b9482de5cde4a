"""Answers and column weights at the border: the same for every function that takes them."""

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.codes import all_pairs, coupling, kl_objective, least_squares, noniterative_coupling
from calibrant.codes._answers import row_blocks

CODE = all_pairs(3)


def objective(code, answers, weights=None):
    return kl_objective(code, answers, np.full((len(answers), 3), 1 / 3), weights)


FUNCTIONS = pytest.mark.parametrize("function", [coupling, least_squares, noniterative_coupling, objective])


@FUNCTIONS
@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([[0.5, 0.5]], "one column per column of the code, 3 in all; got 2 columns"),
        ([0.5, 0.5, 0.5], "answers must have shape \\(n, 3\\); got shape \\(3,\\)"),
        ([[0.5, 0.5, np.nan]], "answers must be finite; got nan in row 0, column 2"),
        ([[0.5, 0.5, 0.5], [0.5, 1.2, 0.5]], "answers must lie in \\[0, 1\\]; got 1.2 in row 1"),
        ([[-0.2, 0.5, 0.5]], "answers must lie in \\[0, 1\\]; got -0.2 in row 0"),
        ([["a", "b", "c"]], "answers must be numbers; got values of type"),
    ],
)
def test_bad_answers(function, answers, message):
    with pytest.raises(CalibrantError, match=message):
        function(CODE, answers)


@FUNCTIONS
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1], "one entry per column of the code, 3 in all; got shape \\(2,\\)"),
        ([1, -2, 1], "weights must not be negative; got -2.0 for column 1"),
        ([1, np.inf, 1], "weights must be finite; got inf in row 1"),
    ],
)
def test_bad_weights(function, weights, message):
    with pytest.raises(CalibrantError, match=message):
        function(CODE, [[0.5, 0.5, 0.5]], weights)


@FUNCTIONS
def test_bad_codes(function):
    with pytest.raises(CalibrantError, match="got 3 in row 1, column 0"):
        function([[1, 0, 0], [3, 0, 0], [0, 0, 0]], [[0.5, 0.5, 0.5]])


@FUNCTIONS
def test_rounding_outside_the_unit_interval_is_forgiven(function):
    answers = np.array([[1.0 + 1e-12, 0.5, -1e-12]])
    np.testing.assert_allclose(function(CODE, answers), function(CODE, np.clip(answers, 0, 1)))


@FUNCTIONS
def test_no_rows(function):
    assert len(function(CODE, np.empty((0, 3)))) == 0


@FUNCTIONS
def test_single_precision_and_frames(function):
    pandas = pytest.importorskip("pandas")
    answers = np.array([[0.25, 0.5, 0.75], [0.5, 0.125, 0.5]])
    want = function(CODE, answers)
    for given in (answers.astype(np.float32), answers.tolist(), pandas.DataFrame(answers)):
        got = function(CODE, given)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, want, atol=1e-12)


@FUNCTIONS
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_answers_are_left_alone(function, order):
    answers = np.array([[0.0, 0.5, 1.0], [0.2, 0.2, 0.2]], order=order)
    answers.setflags(write=False)
    np.testing.assert_array_equal(function(CODE, answers), function(CODE, answers.copy("C")))


def test_blocks_cover_all_rows_once():
    for n_rows, size in ((0, 1), (1, 1), (4096, 10), (4097, 10), (10, 10**9)):
        blocks = list(row_blocks(n_rows, size))
        assert [row for block in blocks for row in range(n_rows)[block]] == list(range(n_rows))
    assert next(row_blocks(10, 10**9)) == slice(0, 1)
