"""Normalisation: divide the answers of one-vs-all columns by their sum (docs/methods/codes.md)."""

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray, as_floats
from calibrant._core._checks import check_option, check_probabilities
from calibrant._core._errors import DataError, ParameterError
from calibrant.codes._answers import check_answers, row_blocks


def normalize(answers: object, *, fallback: str = "uniform", prior: object = None) -> Float64Array:
    """Divide one-vs-all answers by their sum.

    Parameters
    ----------
    answers : array-like of shape (n, k)
        For every row and class the probability of the class against all others.
    fallback : {"uniform", "prior"}, default="uniform"
        What a row gets whose answers are all zero, which isotonic regression makes frequent.
    prior : array-like of shape (k,), optional
        The probabilities of the classes for `fallback="prior"`.

    Returns
    -------
    ndarray of shape (n, k)
        Probabilities p = r / sum(r); each row sums to one.

    Notes
    -----
    ZE02 recommends this for one-vs-all. Other codes need `least_squares` or `coupling`.

    Examples
    --------
    >>> from calibrant.codes import normalize
    >>> normalize([[0.3, 0.0, 0.0, 0.1], [0.0, 0.0, 0.0, 0.0]])
    array([[0.75, 0.  , 0.  , 0.25],
           [0.25, 0.25, 0.25, 0.25]])
    """
    raw = as_floats(answers, "answers")
    if raw.ndim != 2 or raw.shape[1] < 2:
        raise DataError(
            f"answers must have one column per class, of shape (n, k) with k >= 2; got shape {raw.shape}"
        )
    check_fallback(fallback, prior)
    return divide_by_sum(check_answers(raw, raw.shape[1]), prior)


def check_fallback(fallback: object, prior: object) -> None:
    """Refuse a fallback that is none, and one that lacks its prior or has no use for it."""
    check_option("fallback", fallback, ("uniform", "prior"))
    if (fallback == "prior") != (prior is not None):
        came = "no prior" if prior is None else "a prior"
        raise ParameterError(
            f'prior must be given with fallback="prior" and only then; got {came} with fallback={fallback!r}'
        )


def divide_by_sum(answers: FloatArray, prior: object) -> Float64Array:
    """Normalise checked answers, block by block; nothing of their size is made but the result."""
    n_rows, k = answers.shape
    instead = _instead(prior, k)
    proba = np.empty((n_rows, k))
    for rows in row_blocks(n_rows, k):
        block = answers[rows]
        total = block.sum(axis=1, dtype=np.float64, keepdims=True)
        nothing = total[:, 0] == 0
        total[nothing] = 1.0
        np.divide(block, total, out=proba[rows])
        proba[rows][nothing] = instead
    return proba


def _instead(prior: object, k: int) -> Float64Array:
    """What a row without any answer gets: the prior, or the same of every class."""
    if prior is None:
        return np.full(k, 1.0 / k)
    array = check_probabilities(prior, "prior")
    if array.shape != (k,):
        raise DataError(f"prior must have one probability per class, {k} in all; got shape {array.shape}")
    if abs(array.sum() - 1) > 1e-6:
        raise DataError(f"prior must sum to one; got a sum of {array.sum():.6g}")
    return np.asarray(array / array.sum())
