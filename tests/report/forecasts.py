"""Forecasts that several tests of the report judge."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, softmax


def honest(n_rows, n_classes, seed=0):
    """Forecasts that are right, and truths drawn from them."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(n_classes), size=n_rows)
    truth = (rng.random(n_rows)[:, None] > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return truth, proba


def bold(n_rows, n_classes, seed=0, power=2.5):
    """The same, said with too much confidence."""
    truth, right = honest(n_rows, n_classes, seed)
    return truth, right**power / (right**power).sum(axis=1, keepdims=True)


TRIAGE = ("benign", "watch", "urgent")
TRIAGE_COST = np.array([[0.0, 4.0, 12.0], [1.0, 0.0, 5.0], [3.0, 1.0, 0.0]])


def triage(n_rows=600, seed=3):
    """Three classes by name."""
    truth, proba = bold(n_rows, 3, seed, power=1.6)
    return np.array(TRIAGE)[truth], proba


def unsure(seed, n_rows=1000, n_classes=30, sure=0.555, n_right=513):
    """Of many classes, so sure on average and right exactly so often: the odds of the first are too high."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_rows, n_classes))
    spread = brentq(lambda spread: softmax(spread * logits, axis=1).max(axis=1).mean() - sure, 0.5, 9)
    proba = softmax(spread * logits, axis=1)
    top, confidence = proba.argmax(axis=1), proba.max(axis=1)
    shift = brentq(lambda shift: expit(logit(confidence) - shift).mean() - n_right / n_rows, -3, 3)
    is_right = np.zeros(n_rows, dtype=bool)
    while is_right.sum() != n_right:
        is_right = rng.random(n_rows) < expit(logit(confidence) - shift)
    others = proba.copy()
    others[np.arange(n_rows), top] = 0
    others /= others.sum(axis=1, keepdims=True)
    other = (rng.random(n_rows)[:, None] > others.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return np.where(is_right, top, other), proba
