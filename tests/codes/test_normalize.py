"""Normalisation."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from calibrant import CalibrantError
from calibrant.codes import expected_answers, normalize, one_vs_all
from codes.cases import some_proba
from golden import assert_golden, golden_cases


@pytest.mark.parametrize("case", golden_cases("least_squares", "normalise"))
def test_golden(case):
    options = {key: value for key, value in case["in"].items() if key != "r"}
    assert_golden(normalize([case["in"]["r"]], **options)[0].tolist(), case["out"], case["tol"])


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(2, 5)), elements=st.floats(0, 1)))
def test_rows_sum_to_one_and_keep_their_order(answers):
    proba = normalize(answers)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    some = answers.sum(axis=1) > 0
    np.testing.assert_allclose(
        proba[some], answers[some] / answers[some].sum(axis=1, keepdims=True), rtol=1e-12
    )
    np.testing.assert_array_equal(proba[~some], 1 / answers.shape[1])


def test_consistent_answers_come_back():
    proba = some_proba(5)
    np.testing.assert_allclose(normalize(expected_answers(one_vs_all(5), proba)), proba, atol=1e-15)


def test_blocks_and_single_precision():
    answers = np.random.default_rng(0).random((5000, 3), dtype=np.float32)
    answers[[0, 2047, 2048, 4999]] = 0
    proba = normalize(answers)
    assert proba.dtype == np.float64
    np.testing.assert_allclose(proba[1:2047], normalize(answers[1:2047]))
    np.testing.assert_allclose(proba[[0, 2047, 2048, 4999]], 1 / 3)
    assert normalize(np.empty((0, 3))).shape == (0, 3)


def test_the_answers_are_left_alone():
    answers = np.array([[0.2, 0.2], [0.0, 0.0]])
    answers.setflags(write=False)
    np.testing.assert_array_equal(normalize(answers), [[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fallback": "zero"}, "fallback must be one of 'uniform', 'prior'; got 'zero'"),
        ({"fallback": "prior"}, "got no prior with fallback='prior'"),
        ({"prior": [0.5, 0.5]}, "got a prior with fallback='uniform'"),
        ({"fallback": "prior", "prior": [0.2, 0.3, 0.5]}, "2 in all; got shape \\(3,\\)"),
        ({"fallback": "prior", "prior": [0.5, 0.6]}, "prior must sum to one; got a sum of 1.1"),
        ({"fallback": "prior", "prior": [1.5, -0.5]}, "prior must lie in \\[0, 1\\]; got 1.5 in row 0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(CalibrantError, match=message):
        normalize([[0.5, 0.5]], **options)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([[0.5]], "shape \\(n, k\\) with k >= 2; got shape \\(1, 1\\)"),
        ([0.5, 0.5], "got shape \\(2,\\)"),
        ([[0.5, np.nan]], "answers must be finite; got nan in row 0, column 1"),
        ([[0.5, 1.5]], "answers must lie in \\[0, 1\\]; got 1.5 in row 0"),
        ([[-0.1, 0.5]], "got -0.1 in row 0"),
    ],
)
def test_bad_answers(answers, message):
    with pytest.raises(CalibrantError, match=message):
        normalize(answers)
