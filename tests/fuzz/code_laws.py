"""Putting binary answers together: certificates of the optimum, and exact solutions where they are small."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from calibrant.codes import (
    all_pairs,
    coupling,
    exhaustive,
    least_squares,
    normalize,
    one_vs_all,
    ordinal,
    solve_coupling,
    solve_least_squares,
)
from fuzz.hostile import floats
from fuzz.laws import law, may_refuse

BUILDERS = {"one_vs_all": one_vs_all, "all_pairs": all_pairs, "exhaustive": exhaustive, "ordinal": ordinal}
ANSWERS = st.integers(0, 8).map(lambda i: i / 8) | floats(0, 1) | st.sampled_from([0.0, 1.0, 1e-12])

WEIGHTS = st.sampled_from([1.0, 2.0, 0.5])


@st.composite
def answered_codes(draw, answer=ANSWERS, weight=WEIGHTS):
    """A code, an answer of each of its columns, and perhaps weights of the columns."""
    name, k = draw(st.sampled_from(sorted(BUILDERS))), draw(st.integers(3, 4))
    n_columns = BUILDERS[name](k).shape[1]
    each = {"min_size": n_columns, "max_size": n_columns}
    return {
        "code": name,
        "k": k,
        "answers": draw(st.lists(answer, **each)),
        "weights": draw(st.none() | st.lists(weight, **each)),
    }


def solved(rows, right):
    """Solve a square system in fractions; None if it has not exactly one solution."""
    rows = [[*row, b] for row, b in zip(rows, right, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = next((r for r in range(i, n) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [each / rows[i][i] for each in rows[i]]
        for r in range(n):
            if r != i and rows[r][i]:
                factor = rows[r][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def system(given):
    """The rows (1 - r) on the positive side and -r on the negative one, and their weights, as fractions."""
    code = BUILDERS[given["code"]](given["k"])
    answers = [Fraction(r) for r in given["answers"]]
    rows = [
        [{1: 1 - r, -1: -r, 0: Fraction(0)}[int(sign)] for sign in code[:, b]] for b, r in enumerate(answers)
    ]
    return rows, [Fraction(w) for w in given["weights"] or [1] * len(answers)]


def objective(rows, mass, p):
    return sum(
        w * sum(a * q for a, q in zip(row, p, strict=True)) ** 2 for row, w in zip(rows, mass, strict=True)
    )


def exact_least_squares(rows, mass, k):
    """The best point of the simplex, by trying every set of classes; None if some set has many."""
    gram = [
        [sum(w * row[i] * row[j] for row, w in zip(rows, mass, strict=True)) for j in range(k)]
        for i in range(k)
    ]
    best = None
    for size in range(1, k + 1):
        for chosen in combinations(range(k), size):
            matrix = [[2 * gram[i][j] for j in chosen] + [Fraction(1)] for i in chosen]
            found = solved(
                [*matrix, [Fraction(1)] * size + [Fraction(0)]], [Fraction(0)] * size + [Fraction(1)]
            )
            if found is None:
                return None
            if min(found[:size]) >= 0:
                p = [Fraction(0)] * k
                for i, value in zip(chosen, found, strict=False):
                    p[i] = value
                cost = objective(rows, mass, p)
                best = min(best or (cost, p), (cost, p))
    return best[1]


def is_distribution(p):
    assert (p >= 0).all(), p
    np.testing.assert_allclose(p.sum(axis=-1), 1.0, rtol=0, atol=1e-9)


@law(
    "numbers",
    few=100,
    given=answered_codes(weight=st.sampled_from([1.0, 2.0, 1e10, 1e-10, 1e5])) | answered_codes(),
)
def least_squares_is_the_best_point_of_the_simplex(given):
    code = BUILDERS[given["code"]](given["k"])
    weights = given["weights"] or [1.0]
    with may_refuse(max(weights) > 1e4 * min(weights)):
        p = least_squares(code, [given["answers"]], given["weights"])
    is_distribution(p)
    rows, mass = system(given)
    wanted = exact_least_squares(rows, mass, given["k"])
    if wanted is not None:
        np.testing.assert_allclose(p[0], [float(each) for each in wanted], rtol=0, atol=1e-7)


@law("numbers", few=60, given=answered_codes(), sums=st.booleans())
def least_squares_cannot_be_improved(given, sums):
    """The slope towards every corner is not downhill: a certificate without a solver."""
    code = BUILDERS[given["code"]](given["k"])
    p = solve_least_squares(code, [given["answers"]], given["weights"]).proba[0]
    rows, mass = system(given)
    exact = [Fraction(float(each)) for each in p]
    slope = [
        2
        * sum(
            w * row[c] * sum(a * q for a, q in zip(row, exact, strict=True))
            for row, w in zip(rows, mass, strict=True)
        )
        for c in range(given["k"])
    ]
    level = sum(s * q for s, q in zip(slope, exact, strict=True))
    assert min(slope) >= level - Fraction(1, 10**9) * sum(mass)


def coupling_slope(code, answers, mass, p):
    """Derivative of the KL divergence by every class."""
    positive, negative = (code == 1).astype(float), (code == -1).astype(float)
    one, other = p @ positive, p @ negative
    by_column = mass * (1 / (one + other))
    return (
        (positive + negative) @ by_column
        - positive @ (mass * answers / one)
        - negative @ (mass * (1 - answers) / other)
    )


@law("numbers", few=60, given=answered_codes(answer=floats(0.01, 0.99)))
def coupling_stands_still_at_its_answer(given):
    code = BUILDERS[given["code"]](given["k"])
    found = solve_coupling(code, [given["answers"]], given["weights"], tol=1e-12, max_iter=100_000)
    p = found.proba[0]
    is_distribution(p)
    assert found.converged[0]
    mass = np.ones(code.shape[1]) if given["weights"] is None else np.array(given["weights"])
    slope = coupling_slope(code, np.array(given["answers"]), mass, np.maximum(p, 1e-300))
    assert np.abs(p * slope).max() <= 1e-6 * mass.sum()
    assert slope.min() >= -1e-4 * mass.sum()


@law(
    "numbers",
    few=60,
    k=st.integers(3, 4),
    code=st.sampled_from(sorted(BUILDERS)),
    p=st.lists(st.integers(1, 60), min_size=4, max_size=4),
)
def consistent_answers_are_solved_exactly(k, code, p):
    p = np.array(p[:k]) / sum(p[:k])
    matrix = BUILDERS[code](k)
    one, other = p @ (matrix == 1), p @ (matrix == -1)
    answers = [one / (one + other)]
    np.testing.assert_allclose(least_squares(matrix, answers)[0], p, rtol=0, atol=1e-7)
    got = coupling(matrix, answers, tol=1e-12, max_iter=100_000)[0]
    np.testing.assert_allclose(got, p, rtol=0, atol=1e-6)


@law(
    "numbers",
    few=40,
    rows=st.integers(2, 4).flatmap(
        lambda k: st.lists(st.lists(ANSWERS | st.just(5e-324), min_size=k, max_size=k), min_size=1)
    ),
)
def normalising_divides_by_the_sum(rows):
    got = normalize(rows)
    for row, said in zip(rows, got, strict=True):
        total = sum(map(Fraction, row))
        wanted = [float(Fraction(each) / total) if total else 1 / len(row) for each in row]
        np.testing.assert_allclose(said, wanted, rtol=1e-9, atol=1e-12)
