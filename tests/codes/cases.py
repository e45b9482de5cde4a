"""What the tests of this room share: codes, answers, and slow but plain ways to the same results."""

import numpy as np
from scipy.special import expit, logit

from calibrant.codes import (
    all_pairs,
    exhaustive,
    expected_answers,
    one_vs_all,
    ordinal,
    random_dense,
    random_sparse,
)

#: One code of every kind, small enough for brute force.
CODES = {
    "one_vs_all": one_vs_all(4),
    "all_pairs": all_pairs(5),
    "exhaustive": exhaustive(4),
    "ordinal": ordinal(5),
    "random_dense": random_dense(5, random_state=0, n_draws=100),
    "random_sparse": random_sparse(5, random_state=0, n_draws=100),
    "two_classes": one_vs_all(2),
    "some_pairs": np.array([[1, 0, 0, 0], [-1, 1, 1, 0], [0, -1, 0, -1], [0, 0, -1, 1]], dtype=np.int8),
}


def some_proba(k, n=6, seed=0):
    """Random distributions, none too close to the edge."""
    proba = np.random.default_rng(seed).dirichlet(np.ones(k), n) + 0.01
    return proba / proba.sum(axis=1, keepdims=True)


def noisy_answers(code, n=6, seed=0, noise=0.7):
    """Answers that no distribution fits."""
    exact = expected_answers(code, some_proba(len(code), n, seed))
    return expit(logit(exact) + noise * np.random.default_rng(seed + 1).standard_normal(exact.shape))


def some_weights(code, seed=0):
    """Column weights of different sizes."""
    return np.random.default_rng(seed + 2).uniform(0.2, 3.0, code.shape[1])


def plain_mm(code, answers, weights=None, tol=1e-10, eps=1e-6, max_iter=100_000):
    """The minimiser of docs/methods/codes.md, step by step, one row at a time."""
    positive, negative = (code > 0).astype(float), (code < 0).astype(float)
    weights = np.ones(code.shape[1]) if weights is None else weights
    result = []
    for r in np.clip(answers, eps, 1 - eps):
        p = np.full(len(code), 1 / len(code))
        for _ in range(max_iter):
            ahead, behind = p @ positive, p @ negative
            new = p * (positive @ (weights * r / ahead) + negative @ (weights * (1 - r) / behind))
            new /= (positive + negative) @ (weights / (ahead + behind))
            new /= new.sum()
            change, p = np.abs(new - p).max(), new
            if change < tol:
                break
        result.append(p)
    return np.array(result)


def squared_error(code, answers, proba, weights=1.0):
    """The objective of least squares (docs/methods/codes.md)."""
    ahead, behind = proba @ (code > 0), proba @ (code < 0)
    return (weights * ((1 - answers) * ahead - answers * behind) ** 2).sum(axis=-1)
