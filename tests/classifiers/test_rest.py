"""The answers for single classes as one distribution."""

import numpy as np
import pytest

from calibrant.classifiers._rest import combine, probed_classes
from golden import assert_golden, golden_cases

ANSWERS = np.array([[0.5, 0.3], [0.7, 0.6], [0.0, 0.0]])


@pytest.mark.parametrize("case", golden_cases("probing", "probing_multiclass"))
def test_golden(case):
    answers = np.array(case["in"]["Q"])
    got = combine(case["in"]["rule"], answers, np.arange(answers.shape[1]))
    assert_golden(got.tolist(), case["out"], case["tol"])


def test_clip_renormalise():
    got = combine("clip_renormalise", ANSWERS, np.array([0, 1]))
    np.testing.assert_allclose(got, [[0.5, 0.3, 0.2], [0.7 / 1.3, 0.6 / 1.3, 0], [0, 0, 1]])


@pytest.mark.parametrize("multiclass", ["raw", "clip_renormalise", "project"])
def test_the_left_out_class_keeps_its_place(multiclass):
    last = combine(multiclass, ANSWERS, np.array([0, 1]))
    first = combine(multiclass, ANSWERS, np.array([1, 2]))
    np.testing.assert_allclose(first, last[:, [2, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(last.sum(axis=1), 1)


def test_symmetric_divides_by_the_sum():
    answers = np.array([[0.2, 0.2, 0.4], [0.0, 0.0, 0.0]])
    got = combine("symmetric", answers, np.arange(3))
    np.testing.assert_allclose(got, [[0.25, 0.25, 0.5], [1 / 3, 1 / 3, 1 / 3]])


def test_who_is_probed():
    totals = np.array([3.0, 9.0, 9.0, 1.0])
    assert probed_classes("raw", "last", totals).tolist() == [0, 1, 2]
    assert probed_classes("project", "most_frequent", totals).tolist() == [0, 2, 3]
    assert probed_classes("symmetric", "last", totals).tolist() == [0, 1, 2, 3]
