"""The answers "this class or not" of several classes as one distribution (Langford and Zadrozny 2005).

Of k classes k - 1 are probed, and the last gets what the others leave. That can be less than nothing, as
every answer is an estimate of its own; the paper does not say what to do then.
"""

from collections.abc import Callable

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.codes import normalize, project_on_simplex


def raw(answers: Float64Array, left_out: int) -> Float64Array:
    """The left-out class gets 1 - sum of the others, also if that is negative."""
    return np.insert(answers, left_out, 1 - answers.sum(axis=1), axis=1)


def clip_renormalise(answers: Float64Array, left_out: int) -> Float64Array:
    """The left-out class gets no less than 0, and the row is divided by its sum."""
    proba = np.maximum(raw(answers, left_out), 0.0)
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def project(answers: Float64Array, left_out: int) -> Float64Array:
    """The distribution nearest to the raw row."""
    return project_on_simplex(raw(answers, left_out))


RESTS: dict[str, Callable[[Float64Array, int], Float64Array]] = {
    "raw": raw,
    "clip_renormalise": clip_renormalise,
    "project": project,
}
MULTICLASS = (*RESTS, "symmetric")
LEFT_OUT = ("last", "most_frequent")


def probed_classes(multiclass: str, left_out: str, totals: Float64Array) -> IntArray:
    """The numbers of the classes that are probed, given the total weight of every class."""
    everyone = np.arange(len(totals))
    if multiclass == "symmetric":
        return everyone
    without = len(totals) - 1 if left_out == "last" else int(totals.argmax())
    return np.delete(everyone, without)


def combine(multiclass: str, answers: Float64Array, probed: IntArray) -> Float64Array:
    """Probabilities of all classes from the answers for those that were probed."""
    if multiclass == "symmetric":
        return normalize(answers)
    k = len(probed) + 1
    left_out = k * (k - 1) // 2 - int(probed.sum())
    return RESTS[multiclass](answers, left_out)
