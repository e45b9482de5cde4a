"""Forecasts that several tests of the report judge."""

import numpy as np


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
