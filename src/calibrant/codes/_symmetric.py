"""Many small symmetric positive definite systems at once.

Everything here is laid out with the rows of data last: a batch of n matrices is an array (k, k, n). One step
of the elimination is then one NumPy operation on long contiguous runs, which for k up to a few dozen is
faster than a loop of LAPACK calls over the batch, and leaves the pivots open to inspection.
"""

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import BoolArray, Float64Array

#: Matrices of more rows than this are left to LAPACK.
_LARGE = 64


def solve_symmetric(
    matrices: Float64Array, right: Float64Array, floor: float
) -> tuple[Float64Array, BoolArray]:
    """Solve H x = h for a batch, by the factorisation H = L D L'.

    Only the lower triangles are read. A pivot below `floor` times its diagonal entry is lifted to the size
    of that entry: the answer is then that of a matrix H + E, E positive semidefinite, so that a Newton step
    stays finite and downhill.
    """
    k, n_rows = right.shape
    work = np.empty((k + 1, k, n_rows))  # the last row of the work space is h': eliminated with the rest
    work[:k] = matrices
    work[k] = right
    return eliminate(work, floor)


def solve_free(
    matrices: Float64Array, right: Float64Array, free: BoolArray, floor: float
) -> tuple[Float64Array, BoolArray]:
    """Solve the systems of the free coordinates only; the others are held at zero.

    As `solve_symmetric`, but the solution may be anything where the matrix is not sound.
    """
    k, n_rows = right.shape
    if k > _LARGE:
        return _free_one_by_one(matrices, right, free, floor)
    mask = free.astype(np.float64)
    work = np.empty((k + 1, k, n_rows))
    np.multiply(matrices, mask[:, None], out=work[:k])
    work[:k] *= mask[None]
    np.multiply(right, mask, out=work[k])
    diagonal = np.arange(k)
    work[diagonal, diagonal] += 1.0 - mask
    return _all_at_once(work, floor)


def _free_one_by_one(
    matrices: Float64Array, right: Float64Array, free: BoolArray, floor: float
) -> tuple[Float64Array, BoolArray]:
    k, n_rows = right.shape
    solution = np.zeros((k, n_rows))
    sound = np.ones(n_rows, dtype=bool)
    for row in range(n_rows):
        own = np.flatnonzero(free[:, row])
        if len(own):
            found = _by_lapack(matrices[own[:, None], own, row], right[own, row], floor)
            sound[row] = found is not None
            solution[own, row] = 0.0 if found is None else found
    return solution, sound


def _by_lapack(matrix: Float64Array, right: Float64Array, floor: float) -> Float64Array | None:
    """Solve one system from its lower triangle; None where a pivot cannot be trusted."""
    transposed = matrix.T  # what Fortran sees without a copy
    factor, failed = late.lapack.dpotrf(transposed, lower=0)
    if failed or not (factor.diagonal() ** 2 > floor * matrix.diagonal()).all():
        return None
    return np.asarray(late.lapack.dpotrs(factor, right, lower=0)[0])


def eliminate(work: Float64Array, floor: float) -> tuple[Float64Array, BoolArray]:
    """Factorise and substitute in place, see `solve_symmetric`."""
    return (_one_by_one if work.shape[1] > _LARGE else _all_at_once)(work, floor)


def _all_at_once(work: Float64Array, floor: float) -> tuple[Float64Array, BoolArray]:
    k, n_rows = work.shape[1:]
    inverse, scaled = np.empty((2, k, n_rows), work.dtype)
    sound = np.ones(n_rows, dtype=bool)
    entries = np.abs(work[np.arange(k), np.arange(k)])
    least = floor * entries
    for j in range(k):
        if j:
            # below the diagonal, columns left of j hold L D; dividing row j by D gives its row of L
            np.multiply(work[j, :j], inverse[:j], out=scaled[:j])
            work[j:, j] -= np.einsum("imn,mn->in", work[j:, :j], scaled[:j])
        pivot = work[j, j]
        trusted = pivot > least[j]
        if not trusted.all():
            sound &= trusted
            lifted = np.maximum(entries[j], np.abs(pivot))
            pivot[:] = np.where(trusted, pivot, np.where(lifted > 0, lifted, 1.0))
        np.divide(1.0, pivot, out=inverse[j])
    solution = work[k]
    solution *= inverse
    for j in range(k - 2, -1, -1):
        solution[j] -= np.einsum("mn,mn->n", work[j + 1 : k, j], solution[j + 1 :]) * inverse[j]
    return solution, sound


def _one_by_one(work: Float64Array, floor: float) -> tuple[Float64Array, BoolArray]:
    """The same by LAPACK, for matrices so large that a batch of them leaves the cache."""
    k, n_rows = work.shape[1:]
    solution = np.empty((k, n_rows))
    sound = np.ones(n_rows, dtype=bool)
    for row, system in enumerate(np.ascontiguousarray(work.transpose(2, 0, 1))):
        found = _by_lapack(system[:k], system[k], floor)
        sound[row] = found is not None
        solution[:, row] = 0.0 if found is None else found
    if not sound.all():
        solution[:, ~sound] = _all_at_once(work[:, :, ~sound], floor)[0]
    return solution, sound
