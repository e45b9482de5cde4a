"""The solvers behind coupling: every step goes down, and rows that need the safeguards get there."""

import numpy as np
import pytest

from calibrant.codes import (
    all_pairs,
    exhaustive,
    expected_answers,
    kl_objective,
    one_vs_all,
    random_dense,
    random_sparse,
)
from calibrant.codes._coupling_newton import NewtonCoupling
from calibrant.codes._coupling_one_vs_all import OneVsAllCoupling
from calibrant.codes._coupling_pairwise import PairwiseCoupling, _Steps
from calibrant.codes._coupling_parts import KLMinimiser
from codes.cases import CODES, noisy_answers, plain_mm, some_weights


def losses(solver, code, answers, weights, upto):
    """The objective after 1, 2, ... iterations, one row of the result for each."""
    return np.array(
        [
            kl_objective(code, answers.T, solver.solve(answers, 1e-300, n).proba.T, weights)
            for n in range(1, upto + 1)
        ]
    )


@pytest.mark.parametrize("noise", [0.5, 2.0, 6.0])
@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (PairwiseCoupling, all_pairs(5)),
        (NewtonCoupling, all_pairs(4)),
        (NewtonCoupling, exhaustive(4)),
        (NewtonCoupling, random_dense(6, 0, n_draws=20)),
        (NewtonCoupling, random_sparse(6, 0, n_draws=20)),
    ],
)
def test_no_step_goes_up(kind, code, noise):
    weights = some_weights(code)
    answers = np.clip(noisy_answers(code, n=30, noise=noise).T, 1e-6, 1 - 1e-6)
    path = losses(kind(code, weights), code, answers, weights, 12)
    assert (np.diff(path, axis=0) <= 1e-12 * (1 + path[:-1])).all()


def test_pairwise_steps_go_down_from_anywhere():
    rng = np.random.default_rng(0)
    code = all_pairs(5)
    solver = PairwiseCoupling(code, np.ones(10))
    answers = rng.uniform(1e-6, 1 - 1e-6, (10, 200))
    proba = np.exp(rng.uniform(-30, 0, (5, 200)))
    proba /= proba.sum(axis=0)
    before = kl_objective(code, answers.T, proba.T)
    after, reach = _Steps.of(solver, answers).step(proba)
    assert (reach > 2).any()
    assert (kl_objective(code, answers.T, after.T) <= before + 1e-12).all()


@pytest.mark.parametrize("k", [3, 10, 26])
@pytest.mark.parametrize("eps", [1e-15, 1e-6, 0.2])
def test_what_single_precision_cannot_hold_is_lost_on_no_row(k, eps):
    """Certain, contradictory and fair answers, one beside the other: the gradient of every row vanishes."""
    rng, code = np.random.default_rng(k), all_pairs(k)
    certain = expected_answers(code, rng.dirichlet(np.full(k, 0.02), 40) + 1e-300).T
    answers = np.hstack([certain, rng.integers(0, 2, certain.shape), rng.random(certain.shape)])
    answers = np.clip(answers, eps, 1 - eps)
    found = PairwiseCoupling(code, np.ones(code.shape[1])).solve(answers, 1e-10, 1000)
    assert found.converged.all()
    slopes = code @ (answers - expected_answers(code, found.proba.T).T)
    np.testing.assert_allclose(slopes, 0, atol=1e-6)


@pytest.mark.parametrize(
    "code",
    [
        one_vs_all(4),
        all_pairs(5),
        all_pairs(5)[:, ::-1] * [1, -1, -1, 1, -1, 1, 1, -1, 1, -1],  # in another order, and turned round
        all_pairs(5)[:, [3, 0, 8, 5, 9, 6]],  # some pairs have no column
    ],
    ids=["one-vs-all", "pairs", "turned pairs", "some pairs"],
)
def test_special_solvers_agree_with_the_general_one(code):
    weights = some_weights(code)
    answers = np.clip(noisy_answers(code, n=50, noise=2.0).T, 1e-6, 1 - 1e-6)
    special = OneVsAllCoupling(weights) if code.all() else PairwiseCoupling(code, weights)
    general = NewtonCoupling(code, weights).solve(answers, 1e-10, 1000)
    found = special.solve(answers, 1e-10, 1000)
    assert found.converged.all()
    assert general.converged.all()
    np.testing.assert_allclose(found.proba, general.proba, atol=1e-8)


@pytest.mark.parametrize("least", [1e-300, 1e-20, 1e-10])
def test_weights_that_are_very_unlike(least):
    """What a pair of next to no weight says counts between classes that nothing else links."""
    code = all_pairs(4)[:, [0, 1, 5]]  # 0-1, 0-2, 2-3
    answers = np.clip(noisy_answers(code, n=30, noise=2.0).T, 1e-6, 1 - 1e-6)
    found = PairwiseCoupling(code, np.array([1.0, least, 1.0])).solve(answers, 1e-10, 1000)
    assert np.isfinite(found.proba).all()
    heavy = [0, 2]
    np.testing.assert_allclose(expected_answers(code, found.proba.T).T[heavy], answers[heavy], atol=1e-6)


@pytest.mark.parametrize("total", [1e-5, 0.5, 1.0, 3.0, 5.999])
def test_one_vs_all_whatever_the_answers_sum_to(total):
    answers = np.random.default_rng(0).dirichlet(np.ones(6), 40).T * total
    answers = np.clip(answers, 1e-6, 1 - 1e-6)
    found = OneVsAllCoupling(np.ones(6)).solve(answers, 1e-8, 100)
    assert found.converged.all()
    general = NewtonCoupling(one_vs_all(6), np.ones(6)).solve(answers, 1e-10, 1000)
    np.testing.assert_allclose(found.proba, general.proba, atol=1e-8)


def test_one_vs_all_for_many_classes():
    answers = np.random.default_rng(0).random((1000, 20))
    found = OneVsAllCoupling(np.ones(1000)).solve(answers, 1e-8, 100)
    assert found.converged.all()
    assert found.n_iter.max() < 30
    np.testing.assert_allclose(found.proba.sum(axis=0), 1, atol=1e-12)


def test_where_the_second_derivative_is_indefinite():
    code = random_sparse(6, 1, n_draws=20)
    solver = NewtonCoupling(code, np.ones(code.shape[1]))
    answers = np.clip(np.random.default_rng(0).integers(0, 2, (code.shape[1], 100)), 1e-3, 1 - 1e-3).astype(
        float
    )
    rows = solver._start(answers)
    at = solver._columns(rows.proba, rows.pull, rows.push)
    assert (np.linalg.eigvalsh(solver._second_derivative(at).transpose(2, 0, 1)) < -1e-6).any()
    convex = np.linalg.eigvalsh(solver._convex_part(at).transpose(2, 0, 1))
    assert (convex[:, 0] > -1e-9 * convex[:, -1]).all()
    found = solver.solve(answers, 1e-8, 300)
    assert found.converged.all()
    reached = kl_objective(code, answers.T, found.proba.T)
    long = kl_objective(code, answers.T[:10], plain_mm(code, answers.T[:10], max_iter=3000))
    assert (reached[:10] <= long + 1e-6).mean() > 0.8  # there may be several local minima


@pytest.mark.parametrize("pairs", [0, 3])
def test_classes_at_zero_would_not_rather_be_above(pairs):
    code = np.c_[random_dense(8, 0, n_draws=20), all_pairs(8)[:, :pairs]]
    weights = some_weights(code)
    answers = np.clip(noisy_answers(code, n=300, noise=2.0).T, 1e-6, 1 - 1e-6)
    found = NewtonCoupling(code, weights).solve(answers, 1e-9, 1000)
    assert found.converged.all()
    zero = found.proba == 0
    assert zero.any()
    positive, negative = (code > 0).astype(float), (code < 0).astype(float)
    ahead, behind = positive.T @ found.proba, negative.T @ found.proba
    up, down = weights[:, None] * answers / ahead, weights[:, None] * (1 - answers) / behind
    rate = weights[:, None] / (ahead + behind)
    slope = positive @ (rate - up) + negative @ (rate - down)
    np.testing.assert_allclose(found.proba * slope, 0, atol=1e-6)
    assert slope[zero].min() > -1e-6


@pytest.mark.parametrize(
    ("bound", "value"),
    [("_FLOOR", 2.0), ("_ROUNDING", -1.0)],  # no pivot is good enough; no loss is low enough
)
def test_mm_takes_over_when_newton_fails(monkeypatch, bound, value):
    code = CODES["exhaustive"]
    answers = np.clip(noisy_answers(code).T, 1e-6, 1 - 1e-6)
    want = NewtonCoupling(code, np.ones(7)).solve(answers, 1e-8, 1000).proba
    monkeypatch.setattr(f"calibrant.codes._coupling_newton.{bound}", value)
    found = NewtonCoupling(code, np.ones(7)).solve(answers, 1e-9, 5000)
    assert found.converged.all()
    assert found.n_iter.min() > 20
    np.testing.assert_allclose(found.proba, want, atol=1e-6)


def test_directions_that_nothing_determines():
    # two dense columns for four classes: a line of solutions, of which one is found
    code = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=np.int8)
    answers = np.array([[0.6], [0.3]])
    found = NewtonCoupling(code, np.ones(2)).solve(answers, 1e-8, 1000)
    assert found.converged.all()
    np.testing.assert_allclose(kl_objective(code, answers.T, found.proba.T), 0, atol=1e-12)


def test_parts_choose_their_solvers():
    def solvers(code, weights=None):
        weights = np.ones(code.shape[1]) if weights is None else np.array(weights)
        return [type(part.solver) for part in KLMinimiser(code, weights).parts]

    assert solvers(one_vs_all(5)) == [OneVsAllCoupling]
    assert solvers(one_vs_all(2)) == [PairwiseCoupling]
    assert solvers(all_pairs(5)) == [PairwiseCoupling]
    assert solvers(np.c_[all_pairs(5), -all_pairs(5)]) == [PairwiseCoupling]
    assert solvers(exhaustive(5)) == [NewtonCoupling]
    assert solvers(one_vs_all(4), [1, 1, 1, 0]) == [NewtonCoupling]
    assert solvers(np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])) == [PairwiseCoupling] * 2
    assert solvers(np.array([[1], [-1], [0]])) == [PairwiseCoupling, type(None)]
