"""Many logistic fits of moderate size: found in single precision, finished in double.

A fit takes about seven Newton steps, and most of the time of each goes to the exponential of every row,
which is several times faster in single precision. So the way to the optimum is gone there, and only the
last step or two, for which the Hessian of the rough optimum is good enough, in double precision. The
answer is the same to rounding. Whatever is not bounded is left to the safeguarded solver.
"""

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray
from calibrant.passes._logistic import LogisticFit, fit_logistic, vary

#: Rows worked on at once: the working arrays of a block stay in the processor's cache.
BLOCK = 1 << 15
#: With more rows than the first number, the fit starts from the solution for about the second number.
MANY_ROWS, FEW_ROWS = 100_000, 10_000
#: Newton steps after which a fit counts as diverging. One that exists takes about seven, seldom thirty;
#: one that does not goes on for ever, by steps of about one in units of the log-odds, or longer ones.
MAX_STEPS = 40
#: Steps for targets strictly between 0 and 1: these have an optimum, far out where weights differ widely.
MOST_FOR_SURE = 400
#: Greatest numbers of rough and of last steps, and the length of a step after which each kind ends.
ROUGH_STEPS, ROUGH = 15, 1e-3
LAST_STEPS, FINE = 4, 1e-9
#: A Hessian with an eigenvalue below this, scaled to a diagonal of ones, is not trusted in single precision.
SINGULAR = 1e-5
#: Standardised scores that vary less than this in some direction depend on each other.
ROUNDING = 1e-12


def fit_fast(scores: Float64Array, target: Float64Array, weights: Float64Array | None) -> LogisticFit:
    """Fit ``1/(1 + exp(A f + B))`` to targets in [0, 1] whose mean is neither 0 nor 1."""
    weights = None if weights is None else weights / weights.mean()
    standard, shift, unit = _standardise(scores, weights)
    varying = _varying_directions(standard[:-1], weights)
    if varying.shape[1] == 0:
        mean = np.average(target, weights=weights)
        return LogisticFit(np.zeros(len(scores)), float(np.log((1 - mean) / mean)), 0, True)
    if varying.shape[1] < len(scores):
        standard = np.concatenate([varying.T @ standard[:-1], standard[-1:]])
    else:
        varying = np.eye(len(scores))
    fit = _fit_standard(standard, target, weights)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        slope = varying @ fit.slope / unit
    return LogisticFit.about(shift, slope, fit.intercept, fit.n_iter, fit.converged).checked()


def _standardise(
    scores: Float64Array, weights: Float64Array | None
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Centred and scaled scores, with a row of ones for the intercept; the centres and the scales."""
    low, high = scores.min(axis=1), scores.max(axis=1)
    size = np.maximum(np.abs(low), np.abs(high))
    size[size == 0] = 1.0
    standard = np.ones((len(scores) + 1, scores.shape[1]))
    scaled = np.divide(scores, size[:, None], out=standard[:-1])  # so that squares cannot overflow
    shift = _mean(scaled, weights)
    scaled -= shift[:, None]
    spread = np.sqrt(_mean(scaled * scaled, weights))
    spread[~vary(low, high)] = np.inf  # so that a score that does not vary becomes 0
    scaled /= spread[:, None]
    return standard, shift * size, spread * size


def _mean(rows: Float64Array, weights: Float64Array | None) -> Float64Array:
    return np.asarray(rows.mean(axis=1) if weights is None else rows @ weights / weights.sum())


def _varying_directions(scaled: Float64Array, weights: Float64Array | None) -> Float64Array:
    """Orthogonal directions in which the scores vary, of shape (r, number of them)."""
    mass = np.ones(scaled.shape[1]) if weights is None else weights
    values, directions = np.linalg.eigh(_moments(scaled, mass) / mass.sum())
    return np.asarray(directions[:, values > ROUNDING])


def _fit_standard(standard: Float64Array, target: Float64Array, weights: Float64Array | None) -> LogisticFit:
    """Fit to standardised scores that depend on each other in no way, the last row being ones."""
    rows = _Rows(standard, target, weights)
    rough = rows.in_single_precision()
    theta, hessian, n_rough = _search(rough, _start(rough, rows.flat_map()))
    n_last = None if hessian is None else _finish(rows, theta, hessian)
    if n_last is not None or rows.are_told_apart(theta):
        return LogisticFit(theta[:-1], float(theta[-1]), n_rough + (n_last or 0), n_last is not None)
    has_optimum = bool(((target > 0) & (target < 1)).all())
    most = MOST_FOR_SURE if has_optimum else MAX_STEPS
    return fit_logistic(standard[:-1].T, target, weights, max_iter=most)


def _start(rows: "_Rows", flat: Float64Array) -> Float64Array:
    """The flat map; with many rows, the solution for a few of them if that is found."""
    if rows.n_rows <= MANY_ROWS:
        return flat
    theta, hessian, _ = _search(rows.every(rows.n_rows // FEW_ROWS), flat)
    return flat if hessian is None else theta


def _search(rows: "_Rows", start: Float64Array) -> tuple[Float64Array, Float64Array | None, int]:
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


def _finish(rows: "_Rows", theta: Float64Array, hessian: Float64Array) -> int | None:
    """The last steps, in place: how many, or None if they do not settle."""
    for n_steps in range(1, LAST_STEPS + 1):
        step = np.linalg.solve(hessian, rows.derivatives(theta, hessian=False)[0])
        theta -= step
        if np.abs(step).max() < FINE * max(1.0, np.abs(theta).max()):
            return n_steps
    return None


class _Rows:
    """Standardised scores as rows, wanted probabilities and weights, in blocks that fit into the cache."""

    def __init__(self, standard: FloatArray, target: FloatArray, weights: FloatArray | None) -> None:
        self._standard, self._target, self._weights = standard, target, weights
        self.n_rows = len(target)

    def in_single_precision(self) -> "_Rows":
        """The same, rounded."""
        weights = None if self._weights is None else self._weights.astype(np.float32)
        return _Rows(self._standard.astype(np.float32), self._target.astype(np.float32), weights)

    def every(self, stride: int) -> "_Rows":
        """One row in so many."""
        weights = None if self._weights is None else self._weights[::stride]
        return _Rows(self._standard[:, ::stride].copy(), self._target[::stride], weights)

    def flat_map(self) -> Float64Array:
        """No slopes, and the intercept that fits the mean target."""
        mean = np.average(self._target, weights=self._weights)
        return np.append(np.zeros(len(self._standard) - 1), np.log((1 - mean) / mean))

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
                curve += _moments(rows, curvature if mass is None else curvature * mass)
            excess = np.subtract(self._target[some], proba, out=proba)
            slope += rows @ (excess if mass is None else excess * mass)
        return slope, curve

    def are_told_apart(self, theta: Float64Array) -> bool:
        """Whether all targets of 1 have lower ``z`` than all targets of 0, which no finite optimum allows."""
        z = theta @ self._standard
        is_one, is_zero = self._target == 1, self._target == 0
        return bool((is_one | is_zero).all() and z[is_one].max() < z[is_zero].min())


def _moments(rows: FloatArray, mass: FloatArray) -> Float64Array:
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
