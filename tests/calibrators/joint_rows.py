"""Rows for the methods that take all scores of a row."""

import numpy as np
from scipy.special import log_softmax


def three_ways_wrong(n_rows=400, k=4, seed=0, kind="probability"):
    """Scores that are too sure, by class in different ways, and the labels that belong to better ones."""
    rng = np.random.default_rng(seed)
    z = 3 * rng.normal(size=(n_rows, k))
    truth = z * np.linspace(0.3, 0.8, k) + np.linspace(-0.5, 0.5, k)
    chance = np.exp(log_softmax(truth, axis=1))
    y = (rng.random((n_rows, 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)
    y[:k] = np.arange(k)
    return (np.exp(log_softmax(z, axis=1)) if kind == "probability" else z), y


def log_loss_of(proba, y):
    """Mean log loss."""
    return -np.log(proba[np.arange(len(y)), y]).mean()
