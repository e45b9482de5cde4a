"""Many small symmetric positive definite systems at once.

Everything here is laid out with the rows of data last: a batch of n matrices is an array (k, k, n). One step
of the elimination is then one NumPy operation on long contiguous runs, which for k up to a few dozen is
faster than a loop of LAPACK calls over the batch, and leaves the pivots open to inspection.
"""

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array


def solve_symmetric(
    matrices: Float64Array, right: Float64Array, floor: float
) -> tuple[Float64Array, BoolArray]:
    """Solve H x = h for a batch, by the factorisation H = L D L'.

    Only the lower triangles are read. A pivot below `floor` times its diagonal entry is lifted to the size
    of that entry: the answer is then that of a matrix H + E, E positive semidefinite, so that a Newton step
    stays finite and downhill.

    Parameters
    ----------
    matrices : ndarray of shape (k, k, n)
        The matrices H.
    right : ndarray of shape (k, n)
        The right-hand sides h.
    floor : float
        The smallest trusted ratio of a pivot to its diagonal entry.

    Returns
    -------
    solution : ndarray of shape (k, n)
        The vectors x.
    sound : ndarray of shape (n,)
        Whether no pivot had to be lifted, so that H is positive definite beyond rounding.
    """
    k, n_rows = right.shape
    work = np.empty((k + 1, k, n_rows))  # the last row of the work space is h': eliminated with the rest
    work[:k] = matrices
    work[k] = right
    return eliminate(work, floor)


def solve_free(
    matrices: Float64Array, right: Float64Array, free: BoolArray, floor: float
) -> tuple[Float64Array, BoolArray]:
    """Solve the systems of the free coordinates only; the others are held at zero."""
    k, n_rows = right.shape
    mask = free.astype(np.float64)
    work = np.empty((k + 1, k, n_rows))
    np.multiply(matrices, mask[:, None], out=work[:k])
    work[:k] *= mask[None]
    np.multiply(right, mask, out=work[k])
    diagonal = np.arange(k)
    work[diagonal, diagonal] += 1.0 - mask
    return eliminate(work, floor)


def eliminate(work: Float64Array, floor: float) -> tuple[Float64Array, BoolArray]:
    """Factorise and substitute in place, see `solve_symmetric`.

    Parameters
    ----------
    work : ndarray of shape (k + 1, k, n)
        The lower triangle of H, and h' as the last row; overwritten.
    floor : float
        The smallest trusted ratio of a pivot to its diagonal entry.

    Returns
    -------
    solution : ndarray of shape (k, n)
        The vectors x.
    sound : ndarray of shape (n,)
        Whether no pivot had to be lifted.
    """
    k, n_rows = work.shape[1:]
    inverse = np.empty((k, n_rows))
    scaled = np.empty((k, n_rows))
    sound = np.ones(n_rows, dtype=bool)
    for j in range(k):
        entry = np.abs(work[j, j])
        if j:
            # below the diagonal, columns left of j hold L D; dividing row j by D gives its row of L
            np.multiply(work[j, :j], inverse[:j], out=scaled[:j])
            work[j:, j] -= np.einsum("imn,mn->in", work[j:, :j], scaled[:j])
        trusted = work[j, j] > floor * entry
        if not trusted.all():
            sound &= trusted
            lifted = np.maximum(entry, np.abs(work[j, j]))
            work[j, j] = np.where(trusted, work[j, j], np.where(lifted > 0, lifted, 1.0))
        np.divide(1.0, work[j, j], out=inverse[j])
    solution = work[k]
    solution *= inverse
    for j in range(k - 2, -1, -1):
        solution[j] -= np.einsum("mn,mn->n", work[j + 1 : k, j], solution[j + 1 :]) * inverse[j]
    return solution, sound
