"""The two-class problems of a code, and the answers that a distribution implies."""

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.codes import all_pairs, binary_problems, expected_answers, one_vs_all
from codes.cases import CODES, some_proba
from golden import assert_golden, golden_cases


@pytest.mark.parametrize("case", golden_cases("codes", "binary_labels"))
def test_golden_labels(case):
    problem = binary_problems(case["in"]["M"], case["in"]["y"])[case["in"]["b"]]
    signed = np.zeros(len(case["in"]["y"]), dtype=int)
    signed[problem.rows] = np.where(problem.labels, 1, -1)
    assert_golden(signed.tolist(), case["out"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("codes", "ratios"))
def test_golden_ratios(case):
    assert_golden(expected_answers(case["in"]["M"], [case["in"]["p"]])[0], case["out"], case["tol"])


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_every_column_counts_its_rows(code):
    rng = np.random.default_rng(0)
    y, weights = rng.integers(0, len(code), 40), rng.integers(0, 4, 40)
    weighted, copied = binary_problems(code, y, weights), binary_problems(code, np.repeat(y, weights))
    assert len(weighted) == len(copied) == code.shape[1]
    np.testing.assert_allclose(weighted.counts, copied.counts)
    np.testing.assert_allclose(weighted.positives, copied.positives)
    for one, other in zip(weighted, copied, strict=True):
        assert (weights[one.rows] > 0).all()
        np.testing.assert_array_equal(one.weights, weights[one.rows])
        np.testing.assert_array_equal(np.repeat(one.labels, weights[one.rows]), other.labels)
        assert other.weights is None
        assert (one.n_positive, one.n_rows) == (other.labels.sum(), len(other.labels))


def test_one_class_present_gives_a_constant():
    problems = binary_problems(all_pairs(3), [0, 0, 0, 1], [2, 1, 1, 1])
    assert [problem.constant for problem in problems] == [None, 5 / 6, 2 / 3]
    assert binary_problems(all_pairs(3), [2])[0].constant == 1 / 2


def test_slices_are_lists():
    problems = binary_problems(one_vs_all(4), [0, 1, 2, 3])
    assert [problem.labels.tolist().index(True) for problem in problems[1:3]] == [1, 2]


def test_bad_classes_and_weights():
    with pytest.raises(CalibrantError, match="from 0 to 2; got 3"):
        binary_problems(all_pairs(3), [0, 3])
    with pytest.raises(CalibrantError, match="sample_weight must not be negative; got -1.0 in row 1"):
        binary_problems(all_pairs(3), [0, 1], [1, -1])


def test_a_column_that_p_does_not_reach_answers_one_half():
    np.testing.assert_array_equal(expected_answers(all_pairs(3), [[1, 0, 0]]), [[1, 1, 0.5]])


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_scale_does_not_matter(code):
    proba = some_proba(len(code))
    np.testing.assert_allclose(expected_answers(code, proba / 7), expected_answers(code, proba))


def test_bad_probabilities():
    with pytest.raises(CalibrantError, match="one column per class, 3 in all; got shape \\(1, 2\\)$"):
        expected_answers(all_pairs(3), [[0.5, 0.5]])
    with pytest.raises(CalibrantError, match="got -0.5 in row 0"):
        expected_answers(all_pairs(3), [[1.0, 0.5, -0.5]])
