"""What every single row loses."""

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray

#: Rows that are looked at together: so few that what is computed of them stays in the cache.
BLOCK = 1 << 15


def row_losses(truth: IntArray, proba: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Log loss, Brier score and error of every row; the second of the positive of two classes."""
    return (
        log_losses(truth, proba)[1],
        squared_errors(truth, proba),
        (most_probable(proba)[0] != truth).astype(np.float64),
    )


def squared_errors(truth: IntArray, proba: Float64Array) -> Float64Array:
    """Squared error of the positive of two classes, or the sum over more."""
    if proba.shape[1] <= 2:
        return np.asarray((proba[:, -1] - (truth == 1)) ** 2)
    residuals = proba.copy()
    residuals[np.arange(len(truth)), truth] -= 1.0
    return np.asarray(np.einsum("ij,ij->i", residuals, residuals))


def most_probable(proba: Float64Array) -> tuple[IntArray, Float64Array]:
    """The most probable class of every row, of equals the first, and its probability."""
    if proba.shape[1] == 1:
        p = proba[:, 0]
        return (p > 0.5).astype(np.intp), np.maximum(p, 1.0 - p)
    called = np.argmax(proba, axis=1)
    return called, proba[np.arange(len(proba)), called]


def log_losses(truth: IntArray, proba: Float64Array) -> tuple[Float64Array, Float64Array]:
    """The probability of what happened, and its negative logarithm."""
    with np.errstate(divide="ignore"):
        if proba.shape[1] > 1:
            chance = np.take_along_axis(proba, truth[:, np.newaxis], axis=1)[:, 0]
            return chance, 0.0 - np.log(chance)
        p, positive = proba[:, 0], truth == 1
        loss = np.log1p(-p)
        loss[positive] = np.log(p[positive])
        return np.where(positive, p, 1.0 - p), 0.0 - loss
