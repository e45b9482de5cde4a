"""Learners and Probing's points against plain rewrites of their definitions."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from calibrant.classifiers import CrossEntropy, SquaredError
from calibrant.learners import (
    BoostedNaiveBayes,
    CategoricalNaiveBayes,
    EqualWidthQuantizer,
    RegularizedQDA,
)
from fuzz.hostile import alphabets, floats
from fuzz.laws import law

FEW = st.integers(2, 3)
#: How near an edge a number may be taken for one beyond it.
NEAR = Fraction(1, 10**8)


@st.composite
def categories(draw, n_classes=FEW, most=12):
    """Rows of categories with a label; every class occurs."""
    k, n_features = draw(n_classes), draw(st.integers(1, 3))
    row = st.tuples(
        st.lists(st.integers(0, 2), min_size=n_features, max_size=n_features), st.integers(0, k - 1)
    )
    X, y = map(list, zip(*draw(st.lists(row, min_size=k, max_size=most)), strict=True))
    y[:k] = range(k)
    return {"k": k, "X": X, "y": y}


def naive_bayes(X, y, mass, k, asked, alpha=1):
    """Posteriors by Bayes' rule in fractions; a value never seen is skipped."""
    total = sum(mass)
    answers = []
    for row in asked:
        joint = []
        for c in range(k):
            of_class = sum(m for m, label in zip(mass, y, strict=True) if label == c)
            chance = of_class / total
            for f, value in enumerate(row):
                seen = {other[f] for other in X}
                if value in seen:
                    hits = sum(
                        m
                        for m, label, other in zip(mass, y, X, strict=True)
                        if label == c and other[f] == value
                    )
                    chance *= (hits + alpha) / (of_class + alpha * len(seen))
            joint.append(chance)
        answers.append([each / sum(joint) for each in joint])
    return answers


@law(
    "numbers",
    few=60,
    data=categories(),
    weight=st.lists(st.sampled_from([1, 2, 5]), min_size=12, max_size=12),
)
def naive_bayes_is_bayes_rule(data, weight):
    X, y = data["X"], data["y"]
    weight = weight[: len(y)]
    asked = [*X, [0] * len(X[0]), [9] * len(X[0])]
    model = CategoricalNaiveBayes().fit(np.array(X), y, sample_weight=weight)
    wanted = naive_bayes(X, y, list(map(Fraction, weight)), data["k"], asked)
    np.testing.assert_allclose(model.predict_proba(np.array(asked)), np.array(wanted, dtype=float), rtol=1e-9)


@law("numbers", few=40, data=categories(st.just(2)), rounds=st.integers(1, 4))
def boosted_naive_bayes_is_adaboost(data, rounds):
    X, y = np.array(data["X"]), np.array(data["y"])
    mass = np.full(len(y), 1 / len(y))
    votes, strengths = [], []
    for _ in range(rounds):
        posterior = np.array(
            naive_bayes(data["X"], data["y"], [Fraction(m * len(y)) for m in mass], 2, data["X"]), dtype=float
        )[:, 1]
        wrong = np.abs(posterior - y)
        error = mass @ wrong
        if error >= 0.5 - 1e-12:
            break
        beta = max(error / (1 - error), 1e-10)
        votes.append(posterior)
        strengths.append(-np.log(beta))
        mass = mass * beta ** (1 - wrong)
        mass /= mass.sum()
    got = BoostedNaiveBayes(n_rounds=rounds).fit(X, y).predict_proba(X)[:, 1]
    if not votes:
        np.testing.assert_allclose(got, y.mean(), rtol=1e-9)
        return
    ratio = np.array(strengths) @ np.array(votes) / sum(strengths)
    wanted = 1 / (1 + np.exp(-sum(strengths) * (2 * ratio - 1)))
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-9)


@law("numbers", few=60, column=alphabets(), asked=alphabets(), levels=st.sampled_from([1, 2, 21]))
def levels_are_of_equal_width(column, asked, levels):
    model = EqualWidthQuantizer(levels).fit([[each] for each in column])
    got = model.transform([[each] for each in asked])[:, 0]
    low, high = Fraction(min(column)), Fraction(max(column))
    for each, level in zip(asked, got, strict=True):
        if low == high:
            assert level == 0
            continue
        place = (Fraction(each) - low) / (high - low) * levels
        allowed = {min(max(int((place + slack) // 1), 0), levels - 1) for slack in (-NEAR, 0, NEAR)}
        assert level in allowed, f"{each} is at {float(place)} and was put into {level}"


@law(
    "numbers",
    few=40,
    rows=st.lists(st.tuples(floats(-3, 3), floats(-3, 3), st.integers(0, 1)), min_size=4, max_size=12),
)
def regularized_qda_is_a_ratio_of_gaussians(rows):
    X, y = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows])
    y[:2], y[2:4] = 0, 1
    own = [np.cov(X[y == c].T, bias=True) for c in (0, 1)]
    share = np.bincount(y) / len(y)
    pooled = share[0] * own[0] + share[1] * own[1]
    if np.linalg.cond(pooled) > 1e5 or max(np.trace(each) for each in own) < 1e-3:
        return
    schedule = [0, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, *(t / 10 for t in range(1, 11))]
    joint = []
    for c in (0, 1):
        for t in schedule:
            mixed = (1 - t) * own[c] + t * pooled
            sigma = (1 - t) * mixed + t * np.trace(mixed) / 2 * np.eye(2)
            condition = np.linalg.cond(sigma) if sigma.any() else np.inf
            if condition < 1e6:
                break
        if 0.9e6 < condition < 1.1e6:
            return
        joint.append(np.log(share[c]) + multivariate_normal(X[y == c].mean(axis=0), sigma).logpdf(X))
    wanted = 1 / (1 + np.exp(np.clip(joint[0] - joint[1], -700, 700)))
    got = RegularizedQDA().fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-7)


def divergence(p, q):
    """KL(p || q) of two coins."""
    terms = [(p, q), (1 - p, 1 - q)]
    return sum(a * (a / b).ln() for a, b in terms if a)


@law(
    "numbers",
    few=100,
    ends=st.lists(floats(0, 1) | st.sampled_from([0.0, 1.0, 1e-12, 5e-324, 0.5]), min_size=2, max_size=2),
)
def the_safest_forecast_is_equally_bad_at_both_ends(ends):
    low, high = sorted(ends)
    if high - low < 1e-300 or not float(np.nextafter(low, 1)) < high:
        return
    ends = np.array([low]), np.array([high])
    q = float(CrossEntropy().points(*ends)[0])
    assert low <= q <= high
    assert SquaredError().points(*ends)[0] == (low + high) / 2
    if not low < q < high or q < 1e-300 or 1 - q < 1e-15 or high - low < 1e-9:
        return
    with localcontext(prec=60):
        a, b, m = Decimal(low), Decimal(high), Decimal(q)
        below, above = divergence(a, m), divergence(b, m)
        step = min(m - a, b - m) / 10**7  # how far off it may be
        told = f"{q} is not between; the ends regret it by {below} and {above}"
        assert divergence(a, m - step) <= divergence(b, m - step), told
        assert divergence(a, m + step) >= divergence(b, m + step), told
        regret = float(CrossEntropy().regrets(*ends)[0])
        assert abs(regret - float(above)) <= 1e-6 * float(above) + 1e-300
