"""Losses against plain loops, scikit-learn, and their own definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics as sk

from calibrant._core._errors import ParameterError
from calibrant.metrics import brier_score, cross_entropy, error_rate, evaluate, log_loss, rms_error

cheap = settings(max_examples=40, deadline=None)
inside = st.floats(0.001, 0.999)
two_class_rows = st.lists(st.tuples(st.integers(0, 1), inside, st.floats(0.1, 5)), min_size=2, max_size=15)


@st.composite
def class_rows(draw, n_classes=4):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(n_classes, 20))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return y, rng.dirichlet(np.ones(n_classes), n), rng.uniform(0.1, 3, n)


@cheap
@given(rows=two_class_rows)
def test_two_class_losses_are_what_a_loop_gives(rows):
    y, p, w = (list(column) for column in zip(*rows, strict=True))
    total = squares = logs = wrong = 0.0
    for label, probability, weight in rows:
        total += weight
        squares += weight * (label - probability) ** 2
        logs -= weight * math.log(probability if label == 1 else 1 - probability)
        wrong += weight * ((probability > 0.5) != (label == 1))
    assert brier_score(y, p, convention="positive", sample_weight=w) == pytest.approx(squares / total)
    assert rms_error(y, p, sample_weight=w) == pytest.approx(math.sqrt(squares / total))
    assert cross_entropy(y, p, sample_weight=w) == pytest.approx(logs / total)
    assert cross_entropy(y, p, reduce="sum", sample_weight=w) == pytest.approx(logs)
    assert cross_entropy(y, p, base=2, sample_weight=w) == pytest.approx(logs / total / math.log(2))
    assert error_rate(y, p, sample_weight=w) == pytest.approx(wrong / total)


@cheap
@given(rows=class_rows())
def test_multiclass_losses_are_what_a_loop_gives(rows):
    y, proba, weights = rows
    total = squares = logs = wrong = 0.0
    for label, row, weight in zip(y.tolist(), proba.tolist(), weights.tolist(), strict=True):
        total += weight
        squares += weight * sum((float(c == label) - row[c]) ** 2 for c in range(4))
        logs -= weight * math.log(row[label])
        wrong += weight * (row.index(max(row)) != label)
    assert brier_score(y, proba, sample_weight=weights) == pytest.approx(squares / total)
    assert brier_score(y, proba, convention="mean", sample_weight=weights) == pytest.approx(
        squares / total / 4
    )
    assert log_loss(y, proba, sample_weight=weights) == pytest.approx(logs / total)
    assert error_rate(y, proba, sample_weight=weights) == pytest.approx(wrong / total)


@cheap
@given(rows=two_class_rows)
def test_two_class_losses_agree_with_scikit_learn(rows):
    y, p, w = (list(column) for column in zip(*rows, strict=True))
    assert brier_score(y, p, convention="positive", sample_weight=w) == pytest.approx(
        sk.brier_score_loss(y, p, sample_weight=w, pos_label=1)
    )
    assert log_loss(y, p, sample_weight=w) == pytest.approx(sk.log_loss(y, p, sample_weight=w, labels=[0, 1]))


@cheap
@given(rows=class_rows())
def test_multiclass_losses_agree_with_scikit_learn(rows):
    y, proba, weights = rows
    assert log_loss(y, proba, sample_weight=weights) == pytest.approx(
        sk.log_loss(y, proba, sample_weight=weights)
    )
    assert brier_score(y, proba, sample_weight=weights) == pytest.approx(
        sk.brier_score_loss(y, proba, sample_weight=weights, scale_by_half=False)
    )


@cheap
@given(rows=class_rows(), order=st.permutations(range(4)))
def test_renaming_the_classes_changes_nothing(rows, order):
    y, proba, weights = rows
    renamed, permuted = np.argsort(order)[y], proba[:, order]
    for loss in (brier_score, log_loss, error_rate):
        assert loss(renamed, permuted, sample_weight=weights) == pytest.approx(
            loss(y, proba, sample_weight=weights)
        )


@cheap
@given(rows=two_class_rows)
def test_one_column_stands_for_both(rows):
    y, p, w = (list(column) for column in zip(*rows, strict=True))
    matrix = np.column_stack([1 - np.array(p), p])
    for convention in ("sum", "mean", "positive"):
        alone = brier_score(y, p, convention=convention, sample_weight=w)
        assert alone == pytest.approx(brier_score(y, matrix, convention=convention, sample_weight=w))
    positive = brier_score(y, p, convention="positive", sample_weight=w)
    assert brier_score(y, p, convention="sum", sample_weight=w) == 2 * positive
    assert brier_score(y, p, convention="mean", sample_weight=w) == positive
    assert log_loss(y, matrix, sample_weight=w) == pytest.approx(cross_entropy(y, p, sample_weight=w))
    assert log_loss(y, p, sample_weight=w) == cross_entropy(y, p, sample_weight=w)


def test_two_classes_have_the_usual_score_by_default():
    rng = np.random.default_rng(0)
    y, p, w = rng.integers(0, 2, 50), rng.random(50), rng.random(50)
    usual = sk.brier_score_loss(y, p, sample_weight=w)
    assert brier_score(y, p, sample_weight=w) == pytest.approx(usual)
    assert brier_score(y, np.column_stack([1 - p, p]), sample_weight=w) == pytest.approx(usual)
    assert evaluate(y, p, sample_weight=w).brier_score == pytest.approx(usual)


def test_convention_that_does_not_fit():
    proba = [[0.2, 0.3, 0.5]]
    with pytest.raises(ParameterError, match="got 'positive' for 3 classes"):
        brier_score([2], proba, convention="positive")
    with pytest.raises(ParameterError, match="'sum', 'mean', 'positive', None; got 'half'"):
        brier_score([2], proba, convention="half")


def test_brier_of_columns_that_do_not_sum_to_one():
    proba = [[0.5, 0.5], [0.0, 0.5]]
    assert brier_score([0, 1], proba, convention="sum") == (0.25 + 0.25 + 0.0 + 0.25) / 2
    assert brier_score([0, 1], proba, convention="positive") == 0.25


def test_certain_mistake_is_infinite():
    assert cross_entropy([1, 0, 1], [0.0, 0.5, 0.5]) == math.inf
    assert cross_entropy([0, 0, 1], [1.0, 0.5, 0.5], reduce="sum", base=2) == math.inf
    assert log_loss([2, 0, 1], [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]) == math.inf


def test_certain_and_right_loses_nothing():
    for loss in (cross_entropy([1, 0], [1.0, 0.0]), log_loss([1, 0], [[0.0, 1.0], [1.0, 0.0]])):
        assert loss == 0.0
        assert math.copysign(1.0, loss) == 1.0


def test_clip_projects():
    assert cross_entropy([1, 0], [0.0, 1.0], clip=0.001) == pytest.approx(-math.log(0.001))
    assert cross_entropy([1, 0], [1.0, 0.0], clip=0.001) == pytest.approx(-math.log(0.999))
    three = [[0.0, 0.4, 0.6], [0.0, 1.0, 0.0]]
    assert log_loss([0, 1], three, clip=0.01) == pytest.approx(-(math.log(0.01) + math.log(0.99)) / 2)


@pytest.mark.parametrize("clip", [-0.1, 0.5, math.nan, "small"])
def test_clip_out_of_range(clip):
    with pytest.raises(ParameterError, match=f"clip must be None or a number .* got {clip!r}"):
        cross_entropy([1, 0], [0.5, 0.5], clip=clip)


def test_tiny_probabilities_keep_their_digits():
    assert cross_entropy([0], [1e-20]) == pytest.approx(1e-20, rel=1e-12)


def test_base():
    assert cross_entropy([1, 0], [0.5, 0.5], base=2) == pytest.approx(1.0)
    assert cross_entropy([1, 0], [0.5, 0.5], base=math.e) == pytest.approx(math.log(2))
    with pytest.raises(ParameterError, match=r"base must be one of 'e', 2, .* got 10"):
        log_loss([1, 0], [0.5, 0.5], base=10)


def test_reduce():
    with pytest.raises(ParameterError, match="reduce must be one of 'mean', 'sum'; got 'max'"):
        cross_entropy([1, 0], [0.5, 0.5], reduce="max")


def test_one_half_is_negative_and_ties_go_to_the_first():
    assert error_rate([0, 1], [0.5, 0.5]) == 0.5
    assert error_rate([1], [0.5000001]) == 0.0
    assert error_rate([1, 2], [[0.2, 0.4, 0.4], [0.2, 0.4, 0.4]]) == 0.5


def test_one_class_only():
    assert brier_score([1, 1], [0.5, 1.0], convention="positive") == 0.125
    assert cross_entropy([0, 0], [0.0, 0.5]) == pytest.approx(math.log(2) / 2)
    assert error_rate([1, 1, 1], [[0.2, 0.5, 0.3]] * 3) == 0.0
