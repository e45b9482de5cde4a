"""Streams for tests: forecasts, and truths drawn from them or from something else."""

import numpy as np


def draw(n_rows, n_classes, seed=0, *, shift=0.0, slope=1.0, spread=1.5):
    """Forecasts and truths; the odds of class 0 and the slope of the truth may be off."""
    random = np.random.default_rng(seed)
    logits = spread * random.normal(size=(n_rows, n_classes)) + np.linspace(-1, 1, n_classes)
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    true = proba**slope
    true[:, 0] *= np.exp(shift)
    true /= true.sum(axis=1, keepdims=True)
    truth = (random.random(n_rows)[:, np.newaxis] > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return proba, truth


def changing(n_before, n_after, n_classes, seed=0, **change):
    """Calibrated rows, and then others."""
    before, after = draw(n_before, n_classes, seed), draw(n_after, n_classes, seed + 1, **change)
    return np.concatenate([before[0], after[0]]), np.concatenate([before[1], after[1]])


def cuts(n_rows, seed=0, longest=400):
    """Slices that cover all rows."""
    random = np.random.default_rng(seed)
    start = 0
    while start < n_rows:
        end = min(n_rows, start + int(random.integers(1, longest)))
        yield slice(start, end)
        start = end
