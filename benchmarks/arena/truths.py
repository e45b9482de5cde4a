"""Scores whose true probabilities are known: how far from the truth is a method after so many rows?

Every set of scores is a one-to-one function of the true log-odds, so that a method could find the truth.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import expit, softmax

from benchmarks.arena.learners import Scores
from benchmarks.arena.measures import LEAST

SIZES = (40, 200, 1_000, 5_000, 20_000)
N_TEST = 20_000


def _pair(positive: np.ndarray) -> np.ndarray:
    return np.stack([1 - positive, positive], axis=1)


def _too_sure(n: int, random: np.random.Generator) -> tuple[Scores, np.ndarray]:
    z = 1.5 * random.normal(size=n)
    return Scores(_pair(expit(2.5 * z)), "probability"), _pair(expit(z))


def _one_sided(n: int, random: np.random.Generator) -> tuple[Scores, np.ndarray]:
    p = random.beta(0.7, 0.7, n).clip(1e-9, 1 - 1e-9)
    truth = expit(1.5 * np.log(p) - 0.3 * np.log1p(-p) + 0.2)
    return Scores(_pair(p), "probability"), _pair(truth)


def _bent(n: int, random: np.random.Generator) -> tuple[Scores, np.ndarray]:
    s = 1.5 * random.normal(size=n)
    return Scores(s, "margin"), _pair(expit(np.where(s > 0, 0.4 * s, 3 * s) + 0.5))


def _five_too_sure(n: int, random: np.random.Generator) -> tuple[Scores, np.ndarray]:
    z = 1.5 * random.normal(size=(n, 5))
    bias = np.array([0.0, 0.5, -0.5, 1.0, -1.0])
    return Scores(softmax(2.5 * z + bias, axis=1), "probability"), softmax(z, axis=1)


def _five_mixed(n: int, random: np.random.Generator) -> tuple[Scores, np.ndarray]:
    z = 1.5 * random.normal(size=(n, 5))
    leak = np.eye(5) + 0.5 * np.roll(np.eye(5), 1, axis=0)
    return Scores(z @ leak, "margin"), softmax(z, axis=1)


TRUTHS: dict[str, Callable[[int, np.random.Generator], tuple[Scores, np.ndarray]]] = {
    "two classes, too sure": _too_sure,
    "two classes, too sure on one side": _one_sided,
    "two classes, bent margins": _bent,
    "five classes, too sure": _five_too_sure,
    "five classes, mixed margins": _five_mixed,
}


def drawn(truth: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Classes by chance."""
    below = truth.cumsum(axis=1)[:, :-1]
    return (random.random((len(truth), 1)) > below).sum(axis=1)


def distance(truth: np.ndarray, proba: np.ndarray) -> float:
    """Mean Kullback-Leibler distance from the truth, in nats."""
    proba = np.maximum(proba / proba.sum(axis=1, keepdims=True), LEAST)
    return float((truth * np.log(truth / proba)).sum(axis=1).mean())
