"""The update as published: where it is right, and where it is not."""

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.codes import (
    all_pairs,
    coupling,
    kl_objective,
    noniterative_coupling,
    one_vs_all,
    published_one_vs_all,
    solve_coupling,
)
from codes.cases import CODES, noisy_answers, some_weights
from golden import assert_golden, golden_cases


@pytest.mark.parametrize("case", golden_cases("coupling", "coupling"))
def test_golden(case):
    code, answers, weights = case["in"]["M"], [case["in"]["r"]], case["in"].get("n")
    proba = coupling(code, answers, weights, "published", eps=case["in"]["eps"], tol=1e-10, max_iter=20_000)
    assert_golden(proba[0].tolist(), case["out"]["zadrozny_fixed_point"], case["tol"])
    start = noniterative_coupling(code, answers, weights)
    assert_golden(start[0].tolist(), case["out"]["start_guess"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("coupling", "coupling_ova_closed_form"))
def test_golden_closed_form(case):
    assert_golden(published_one_vs_all([case["in"]["r"]])[0].tolist(), case["out"], case["tol"])


def plainly(code, r, weights, n_iter):
    """The published update as docs/methods/codes.md gives it."""
    p = np.full(len(code), 1 / len(code))
    sign = np.asarray(code)

    def side(x):
        return ((sign > 0) * weights * x + (sign < 0) * weights * (1 - x)).sum(axis=1)

    for _ in range(n_iter):
        ahead, behind = p @ (sign > 0), p @ (sign < 0)
        p = p * side(r) / side(ahead / (ahead + behind))
        p /= p.sum()
    return p


@pytest.mark.filterwarnings("ignore:coupling did not converge")
@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_every_iterate_as_published(code):
    answers, weights = noisy_answers(code, n=3), some_weights(code)
    for n_iter in (1, 2, 7):
        got = coupling(code, answers, weights, "published", max_iter=n_iter, tol=1e-300)
        want = [plainly(code, row, weights, n_iter) for row in answers]
        np.testing.assert_allclose(got, want, atol=1e-12)


def test_all_pairs_ends_at_the_minimiser():
    code = all_pairs(5)
    answers, weights = noisy_answers(code), some_weights(code)
    published = coupling(code, answers, weights, "published", tol=1e-11)
    np.testing.assert_allclose(published, coupling(code, answers, weights), atol=1e-8)


def test_one_vs_all_does_not():
    code = one_vs_all(4)
    answers = noisy_answers(code)
    published, minimiser = (
        coupling(code, answers, algorithm="published", max_iter=20_000),
        coupling(code, answers),
    )
    assert np.abs(published - minimiser).max() > 0.01
    assert (kl_objective(code, answers, published) > kl_objective(code, answers, minimiser) + 1e-4).all()


@pytest.mark.filterwarnings("ignore:coupling did not converge")
def test_the_objective_falls_then_rises():
    """The numbers of docs/methods/codes.md; the last is that of a run which stops at a change of 1e-14."""
    code, answers = one_vs_all(4), np.array([[0.34, 0.70, 0.08, 0.40]])
    values = [kl_objective(code, answers, np.full((1, 4), 0.25))[0]]
    for n_iter in (1, 5, 50, 5000):
        proba = coupling(code, answers, algorithm="published", max_iter=n_iter, tol=1e-14)
        values.append(kl_objective(code, answers, proba)[0])
    np.testing.assert_allclose(values, [0.617, 0.418, 0.207, 0.540, 2.293], atol=6e-4)
    assert kl_objective(code, answers, coupling(code, answers))[0] < min(values)


def test_the_closed_form_is_the_limit_where_it_is_inside():
    answers = np.random.default_rng(0).dirichlet(np.full(5, 3.0), 40) * 1.1
    closed = published_one_vs_all(answers)
    np.testing.assert_allclose(closed.sum(axis=1), 1)
    inside = closed.min(axis=1) > 0.02
    assert inside.sum() > 10
    limit = coupling(one_vs_all(5), answers[inside], algorithm="published", tol=1e-11, max_iter=100_000)
    np.testing.assert_allclose(limit, closed[inside], atol=1e-6)


def test_closed_form_needs_a_column_per_class():
    with pytest.raises(CalibrantError, match="with k >= 2; got shape \\(3,\\)"):
        published_one_vs_all([0.1, 0.2, 0.3])


def test_worked_example():
    """Appendix B of METHODS."""
    code, answers = one_vs_all(4), [[0.3, 0.0, 0.0, 0.1]]
    published = coupling(code, answers, algorithm="published")
    np.testing.assert_allclose(published, [[0.429, 0.161, 0.161, 0.250]], atol=5e-4)
    np.testing.assert_allclose(coupling(code, answers), [[0.560, 0.052, 0.052, 0.335]], atol=5e-4)


def test_classes_may_vanish():
    result = solve_coupling(one_vs_all(5), [[0.99, 0.99, 0.01, 0.01, 0.01]], algorithm="published", tol=1e-12)
    assert result.converged.all()
    assert result.proba[0, 2:].max() < 1e-9


def test_estimate_without_anything_to_go_by():
    np.testing.assert_array_equal(
        noniterative_coupling(all_pairs(3), [[0.2, 0.3, 0.4]], [0, 0, 0]), [[1 / 3] * 3]
    )
    np.testing.assert_allclose(noniterative_coupling([[1], [-1], [0]], [[0.2]]), [[0.2, 0.8, 0.0]])
