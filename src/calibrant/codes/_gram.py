"""The k x k matrices of least squares and of Newton's method, for a block of rows at once."""

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.codes._matrices import CodeMatrix

#: Above this many multiplications OpenBLAS wakes its threads, which for matrices as thin as ours cost more
#: than they bring, and very much more on a machine that is busy.
_SINGLE_THREAD = 2**18


def product(left: Float64Array, right: Float64Array) -> Float64Array:
    """The matrix product of a small matrix and a long one, in slices of columns that one thread does."""
    n_columns = right.shape[1]
    width = max(32, _SINGLE_THREAD // max(1, left.size))
    if n_columns <= width:
        return left @ right
    result = np.empty((len(left), n_columns), right.dtype)
    for start in range(0, n_columns, width):
        part = slice(start, start + width)
        np.matmul(left, right[:, part], out=result[:, part])
    return result


def signed_gram(
    code: CodeMatrix, plus: Float64Array, minus: Float64Array, cross: Float64Array | None
) -> Float64Array:
    """Sum over the columns what two classes share there.

    Entry (c, d) of a row's matrix is the sum over the columns b of plus_b where both classes are
    positive, minus_b where both are negative, and cross_b where they are on opposite sides.
    """
    k, n_columns = code.shape
    if cross is not None and _all_pairs_differ(code):
        return _pairwise_gram(code, plus, minus, cross)
    gram = np.empty((k, k, plus.shape[1]))
    sides = np.concatenate([plus, minus])
    for c in range(k):
        used = np.flatnonzero(code[c])
        mine = code[c, used]
        theirs = code[c:, used]
        shares = product((theirs == mine).astype(np.float64), sides[used + n_columns * (mine < 0)])
        if cross is not None:
            shares += product((theirs == -mine).astype(np.float64), cross[used])
        gram[c:, c] = shares
        gram[c, c:] = shares
    return gram


def _all_pairs_differ(code: CodeMatrix) -> bool:
    """Whether every column has one positive and one negative class, and no two columns the same pair."""
    k = len(code)
    if not ((code > 0).sum(axis=0) == 1).all() or not ((code < 0).sum(axis=0) == 1).all():
        return False
    first, second = np.argmax(code, axis=0), np.argmin(code, axis=0)
    pairs = np.minimum(first, second) * k + np.maximum(first, second)
    return len(np.unique(pairs)) == len(pairs)


def _pairwise_gram(
    code: CodeMatrix, plus: Float64Array, minus: Float64Array, cross: Float64Array
) -> Float64Array:
    """The same for pairs of classes: every entry beside the diagonal belongs to one column."""
    k = len(code)
    first, second = np.argmax(code, axis=0), np.argmin(code, axis=0)
    gram = np.zeros((k, k, plus.shape[1]))
    gram[first, second] = cross
    gram[second, first] = cross
    own = product((code > 0).astype(np.float64), plus) + product((code < 0).astype(np.float64), minus)
    gram[np.arange(k), np.arange(k)] = own
    return gram
