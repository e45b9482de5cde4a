"""Very many weighted rows in memory: the screen finds the blocks that sorting finds."""

import numpy as np
import pytest

from calibrant import PAVCalibrator
from calibrant.passes import _screened
from calibrant.passes._pooling import isotonic_blocks
from calibrant.passes._runs import runs_of_labels

N_ROWS = 20_000


def scored(name, n_rows=N_ROWS, seed=0):
    """Scores and labels of a shape with a name."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_rows)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-scores))
    if name == "tied":
        scores = scores.round(1)
    elif name == "skewed":
        scores = np.exp(5 * scores - 20)
    elif name == "single precision":
        scores = scores.astype(np.float32)
    elif name == "backwards":
        scores = -scores
    elif name == "outliers":
        scores[[5, 77]] = 1e308, -1e308
    elif name == "telling nothing":
        y = rng.random(n_rows) < 0.3
    elif name == "separable":
        y = scores > 0.5
    elif name == "alternating":
        scores, y = np.arange(n_rows) / 7.0, np.arange(n_rows) % 2 == 0
    elif name == "in order":
        scores.sort()
    return scores, y


SHAPES = (
    "normal",
    "tied",
    "skewed",
    "single precision",
    "backwards",
    "outliers",
    "telling nothing",
    "separable",
    "alternating",
    "in order",
)


def both(scores, y, weights):
    """The blocks by the screen, and those by sorting."""
    found = _screened._screened_runs(scores, y, weights, scores[::3].astype(np.float64))
    return isotonic_blocks(found), isotonic_blocks(runs_of_labels(scores, y, weights))


@pytest.mark.parametrize("shape", SHAPES)
def test_whole_weights_give_the_same_blocks_to_the_bit(shape):
    """Sums of whole numbers are exact in any order, so nothing may differ."""
    scores, y = scored(shape)
    weights = np.random.default_rng(1).integers(1, 5, N_ROWS).astype(np.float64)
    screened, sorted_ = both(scores, y, weights)
    for name in ("lo", "hi", "value", "weight"):
        np.testing.assert_array_equal(getattr(screened, name), getattr(sorted_, name))


@pytest.mark.parametrize("shape", SHAPES)
def test_other_weights_give_the_same_blocks_but_for_rounding(shape):
    scores, y = scored(shape)
    weights = np.random.default_rng(1).gamma(0.5, size=N_ROWS) + 1e-9
    screened, sorted_ = both(scores, y, weights)
    np.testing.assert_array_equal(screened.lo, sorted_.lo)
    np.testing.assert_array_equal(screened.hi, sorted_.hi)
    np.testing.assert_allclose(screened.value, sorted_.value, rtol=1e-13)
    np.testing.assert_allclose(screened.weight, sorted_.weight, rtol=1e-13)


@pytest.mark.parametrize("shape", ["normal", "tied"])
def test_a_weight_is_so_many_copies_of_very_many_rows(shape):
    scores, y = scored(shape, _screened.MANY, seed=2)
    weights = np.random.default_rng(3).integers(1, 3, len(y))
    weighted = PAVCalibrator().fit(scores, y, weights).blocks_
    copied = PAVCalibrator().fit(np.repeat(scores, weights), np.repeat(y, weights)).blocks_
    for name in ("lo", "hi", "value", "weight"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(copied, name))
