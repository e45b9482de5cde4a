"""Vector and matrix scaling: the optimum of what they say they minimise, checked in other words."""

import numpy as np
import pytest
from scipy.special import log_softmax

from calibrant import MatrixCalibrator, TemperatureCalibrator, VectorCalibrator
from calibrators.joint_rows import log_loss_of, three_ways_wrong


def parts(model, scores):
    """The start's logarithms, the inputs, and the numbers of the one map, classes in its order."""
    pool = model.map_
    order, start, (linear,) = pool.entry.order, pool.start, pool.linear
    if pool.takes_probabilities:
        z = start.scale * np.log(np.clip(scores[:, order], 1e-300, 1) + start.floor)
    else:
        z = start.scale * scores[:, order] + (0 if start.bias is None else start.bias)
    k = len(order)
    log_start = np.log((1 - start.share) * np.exp(log_softmax(z, axis=1)) + start.share / k)
    inputs = None
    if linear.matrix is not None:
        raw = log_start if pool.takes_probabilities else scores[:, order]
        inputs = (raw - pool.basis.centre) / pool.basis.spread
    return order, log_start, inputs, linear


@pytest.mark.parametrize("kind", ["probability", "margin"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("method", [VectorCalibrator, MatrixCalibrator])
def test_the_slopes_of_loss_and_penalty_are_zero(method, k, weighted, kind):
    scores, y = three_ways_wrong(500, k, kind=kind)
    weight = np.random.default_rng(2).integers(1, 4, len(y)) * 0.5 if weighted else np.ones(len(y))
    model = method(kind).fit(scores, y, weight if weighted else None)
    order, log_start, inputs, linear = parts(model, scores)
    z = log_start * linear.slope + linear.bias + (0 if inputs is None else inputs @ linear.matrix)
    errors = weight[:, None] * (np.exp(log_softmax(z, axis=1)) - np.eye(k)[np.argsort(order)[y]])
    cost = (1.0 if inputs is None else 0.5) * (1 + 30 / weight.sum())
    of_bias = errors.sum(axis=0) + 2 * cost * linear.bias
    of_slope = (errors * log_start).sum(axis=0) + 2 * cost * (linear.slope - 1)
    np.testing.assert_allclose(of_bias, 0, atol=1e-3)  # of 500 rows
    np.testing.assert_allclose(of_slope, 0, atol=1e-3)
    if inputs is not None:
        np.testing.assert_allclose(inputs.T @ errors + 8 * cost * linear.matrix, 0, atol=1e-3)
    share = 0.15 / (weight.sum() + 1)
    said = ((1 - share) * np.exp(log_softmax(z, axis=1)) + share / k)[:, np.argsort(order)]
    np.testing.assert_allclose(model.predict_proba(scores), said, atol=1e-12)


def test_the_matrix_is_a_dirichlet_map_of_the_starts_probabilities():
    """Kull et al., equation 4: log odds of two classes are linear in the logarithms of all probabilities."""
    scores, y = three_ways_wrong(600, 3)
    model = MatrixCalibrator().fit(scores, y)
    order, log_start, _, _ = parts(model, scores)
    share = model.map_.share
    proba = (model.predict_proba(scores)[:, order] - share / 3) / (1 - share)
    log_odds = np.log(proba[:, :2] / proba[:, 2:])
    design = np.column_stack([log_start, np.ones(len(y))])
    found, *_ = np.linalg.lstsq(design, log_odds, rcond=None)
    np.testing.assert_allclose(design @ found, log_odds, atol=1e-8)


@pytest.mark.parametrize("kind", ["probability", "margin"])
def test_what_classes_do_for_themselves_is_found(kind):
    scores, y = three_ways_wrong(8000, 4, kind=kind)
    new, label = three_ways_wrong(20_000, 4, seed=1, kind=kind)
    loss = {
        each: log_loss_of(each(kind).fit(scores, y).predict_proba(new), label)
        for each in (TemperatureCalibrator, VectorCalibrator, MatrixCalibrator)
    }
    assert loss[VectorCalibrator] < loss[TemperatureCalibrator] - 0.01
    assert loss[MatrixCalibrator] < loss[VectorCalibrator] + 0.005


@pytest.mark.parametrize("method", [VectorCalibrator, MatrixCalibrator])
def test_with_few_rows_it_stays_near_the_temperature(method):
    """The penalty holds it there: of ten rows no class can be learned for itself."""
    new, label = three_ways_wrong(4000, 4, seed=9)
    behind = []
    for seed in range(10):
        scores, y = three_ways_wrong(10, 4, seed)
        said = log_loss_of(method().fit(scores, y).predict_proba(new), label)
        behind.append(said - log_loss_of(TemperatureCalibrator().fit(scores, y).predict_proba(new), label))
    assert np.mean(behind) < 0.03
    assert max(behind) < 0.25


@pytest.mark.parametrize("method", [VectorCalibrator, MatrixCalibrator])
@pytest.mark.parametrize("kind", ["probability", "margin"])
def test_a_single_score_is_two(method, kind):
    scores, y = three_ways_wrong(300, 2, kind=kind)
    if kind == "margin":
        single = scores[:, 1] - scores[:, 0]
        scores = np.column_stack([-single / 2, single / 2])
    else:
        single = scores[:, 1]
        scores = np.column_stack([1 - single, single])
    one, two = method(kind).fit(single, y), method(kind).fit(scores, y)
    np.testing.assert_array_equal(one.predict_proba(single), two.predict_proba(scores))


def test_many_classes_have_a_matrix_of_axes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 70, 3000)
    scores = rng.normal(size=(3000, 70)) + 3 * np.eye(70)[y]
    model = MatrixCalibrator("margin", classes=range(70)).fit(scores, y)
    (linear,) = model.map_.linear
    assert np.linalg.matrix_rank(linear.matrix) <= 32
    assert ((model.predict_proba(scores) > 0) & (model.predict_proba(scores) < 1)).all()
