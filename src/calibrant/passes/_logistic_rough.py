"""The optimum of a logistic fit in single precision, as a start.

A fit takes about seven Newton steps, and most of the time of each goes to the exponential of every row,
which is several times faster in single precision.
"""

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray

#: Rows worked on at once: the working arrays of a block stay in the processor's cache.
BLOCK = 1 << 15
#: With more rows than the first number, the search starts from the solution for about the second number.
MANY_ROWS, FEW_ROWS = 100_000, 10_000
#: Greatest number of steps, and the length of a step after which they end.
ROUGH_STEPS, ROUGH = 15, 1e-3
#: A Hessian with an eigenvalue below this, scaled to a diagonal of ones, is not trusted in single precision.
SINGULAR = 1e-5


def rough_optimum(rows: "BlockedRows", start: Float64Array) -> tuple[Float64Array, Float64Array | None, int]:
    """The map where short steps led, the Hessian there if they settled, and how many steps it took.

    The search for very many rows starts from where that for a few of them led, if it settled.
    """
    rough = rows.in_single_precision()
    if rough.n_rows > MANY_ROWS:
        theta, hessian, _ = _search(rough.every(rough.n_rows // FEW_ROWS), start)
        start = start if hessian is None else theta
    return _search(rough, start)


def _search(rows: "BlockedRows", start: Float64Array) -> tuple[Float64Array, Float64Array | None, int]:
    """Newton steps until they are short: where they led, the Hessian there if they settled, how many."""
    theta = start.copy()
    for n_steps in range(1, ROUGH_STEPS + 1):
        gradient, hessian = rows.derivatives(theta)
        try:
            step = np.linalg.solve(hessian, gradient)
        except np.linalg.LinAlgError:
            return theta, None, n_steps
        theta -= step
        if not np.abs(theta).max() < 1e3:
            return theta, None, n_steps
        if np.abs(step).max() < ROUGH:
            return theta, hessian if _regular(hessian) else None, n_steps
    return theta, None, ROUGH_STEPS


def _regular(hessian: Float64Array) -> bool:
    """Whether single precision can tell that the optimum is a point: rows far out may have lost all say."""
    scale = np.sqrt(hessian.diagonal())
    return bool(scale.all()) and bool(np.linalg.eigvalsh(hessian / (scale * scale[:, None]))[0] > SINGULAR)


class BlockedRows:
    """Standardised scores as rows, wanted probabilities and weights, in blocks that fit into the cache."""

    def __init__(self, standard: FloatArray, target: FloatArray, weights: FloatArray | None) -> None:
        self._standard, self._target, self._weights = standard, target, weights
        self.n_rows = len(target)

    def in_single_precision(self) -> "BlockedRows":
        """The same, rounded."""
        weights = None if self._weights is None else self._weights.astype(np.float32)
        return BlockedRows(self._standard.astype(np.float32), self._target.astype(np.float32), weights)

    def every(self, stride: int) -> "BlockedRows":
        """One row in so many."""
        weights = None if self._weights is None else self._weights[::stride]
        return BlockedRows(self._standard[:, ::stride].copy(), self._target[::stride], weights)

    def flat_map(self) -> Float64Array:
        """No slopes, and the intercept that fits the mean target."""
        mean = np.average(self._target, weights=self._weights)
        return np.append(np.zeros(len(self._standard) - 1), np.log((1 - mean) / mean))

    def discriminant(self) -> Float64Array:
        """The map of Fisher's linear discriminant, which is the optimum for normal classes of one spread."""
        mass = np.ones_like(self._target) if self._weights is None else self._weights
        both, positive = ((self._standard @ each).astype(np.float64) for each in (mass, mass * self._target))
        share = positive[-1] / both[-1]
        right, wrong = positive[:-1] / positive[-1], (both - positive)[:-1] / (both - positive)[-1]
        within = moments(self._standard[:-1], mass) / both[-1]
        within -= share * np.outer(right, right) + (1 - share) * np.outer(wrong, wrong)
        try:
            slope = np.linalg.solve(within, wrong - right)
        except np.linalg.LinAlgError:  # the classes are a point each
            return self.flat_map()
        return np.append(slope, np.log((1 - share) / share) - slope @ (right + wrong) / 2)

    def derivatives(self, theta: Float64Array, *, hessian: bool = True) -> tuple[Float64Array, Float64Array]:
        """Gradient and Hessian of the cross entropy; zeros for the Hessian if it is not wanted."""
        slope, curve = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
        single = self._standard.dtype == np.float32
        parameters: FloatArray = theta.astype(np.float32) if single else theta
        for start in range(0, self.n_rows, BLOCK):
            some = slice(start, start + BLOCK)
            rows, mass = self._standard[:, some], None if self._weights is None else self._weights[some]
            proba = _proba(parameters, rows)
            if hessian:
                curvature = proba * (1 - proba)
                curve += moments(rows, curvature if mass is None else curvature * mass)
            excess = np.subtract(self._target[some], proba, out=proba)
            slope += rows @ (excess if mass is None else excess * mass)
        return slope, curve

    def are_told_apart(self, theta: Float64Array) -> bool:
        """Whether all targets of 1 have lower ``z`` than all targets of 0, which no finite optimum allows."""
        z = theta @ self._standard
        is_one, is_zero = self._target == 1, self._target == 0
        return bool((is_one | is_zero).all() and z[is_one].max() < z[is_zero].min())


def moments(rows: FloatArray, mass: FloatArray) -> Float64Array:
    """Weighted sums of the products of all rows; for a few long rows vector products are faster."""
    if len(rows) > 8:
        return np.asarray((rows * mass) @ rows.T, dtype=np.float64)
    return np.stack([rows @ (row * mass) for row in rows]).astype(np.float64)


def _proba(theta: FloatArray, rows: FloatArray) -> FloatArray:
    """The map ``1/(1 + exp(z))``; an exponential that overflows stands for probability 0."""
    proba = theta @ rows
    with np.errstate(over="ignore"):
        np.exp(proba, out=proba)
    proba += 1
    return np.reciprocal(proba, out=proba)
