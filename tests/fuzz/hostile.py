"""Numbers that make trouble: ties, gaps of one bit, all magnitudes, wide ratios; and arrays of odd layout."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

#: Numbers at which something changes.
EDGES = (0.0, -0.0, 0.5, 1.0, -1.0, 5e-324, -5e-324, 2.2e-308, 1e-310, 1e-8, 1e8, 1.5e308, -1.7e308)
#: How an array may lie in memory, or what else may stand for it.
LAYOUTS = st.sampled_from(["plain", "list", "float32", "read_only", "strided", "reversed", "fortran"])


def laid_out(values: Any, layout: str) -> Any:
    """The same numbers as another kind of array; float32 rounds them."""
    array = np.array(values, dtype=float)
    if layout == "list":
        return array.tolist()
    if layout == "float32":
        with np.errstate(over="ignore", under="ignore"):
            return np.clip(array.astype(np.float32), np.finfo("f4").min, np.finfo("f4").max)
    if layout == "read_only":
        array.flags.writeable = False
    elif layout == "strided":
        array = np.repeat(array, 2, axis=0)[::2]
    elif layout == "reversed":
        array = array[::-1].copy()[::-1]
    elif layout == "fortran":
        array = np.asfortranarray(array)
    return array


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    """Floats between bounds."""
    return st.floats(low, high, allow_nan=False)


@st.composite
def alphabets(draw: Any, extreme: bool = True) -> list[float]:
    """A few scores to choose from, so that there are ties: of one scale, one bit apart, or anything."""
    kinds = ["whole", "unit", "near", "scaled", *(["any", "edges"] if extreme else [])]
    kind = draw(st.sampled_from(kinds))
    small = st.integers(-4, 4)
    if kind == "whole":
        return draw(st.lists(small.map(float), min_size=1, max_size=5))
    if kind == "unit":
        return draw(st.lists(floats(0, 1), min_size=1, max_size=6))
    if kind == "near":
        base = draw(st.sampled_from([1.0, -1.0, 0.1, 3.0, 1e8]))
        return [base + step * float(np.spacing(base)) for step in draw(st.lists(small, min_size=1))]
    if kind == "scaled":
        scale = 10.0 ** draw(st.integers(-300, 300) if extreme else st.integers(-9, 9))
        shift = draw(st.sampled_from([0.0, 1.0, -7.0]))
        return [scale * (step + shift) for step in draw(st.lists(small, min_size=1, max_size=6))]
    if kind == "any":
        return draw(st.lists(floats(-1.7e308, 1.7e308), min_size=1, max_size=6))
    return draw(st.lists(st.sampled_from(EDGES), min_size=1, max_size=6))


def weights(wide: bool = True) -> st.SearchStrategy[float]:
    """Weights of rows: absent, one, copies, and of wide ratio."""
    some = st.sampled_from([1.0, 2.0, 3.0, 0.0, 0.5])
    return some | st.sampled_from([1e17, 1e-17, 1e9, 1e-9, 0.1, 1e100]) if wide else some


@st.composite
def labelled_scores(draw: Any, extreme: bool = True, most: int = 12, wide: bool = True) -> dict[str, Any]:
    """Rows of one score, a label of two, and perhaps a weight."""
    letters = draw(alphabets(extreme))
    row = st.tuples(st.sampled_from(letters), st.integers(0, 1), weights(wide))
    rows = draw(st.lists(row, min_size=1, max_size=most))
    scores, y, weight = map(list, zip(*rows, strict=True))
    if not any(weight):
        weight[0] = 1.0
    return {"scores": scores, "y": y, "weight": weight if draw(st.booleans()) else None}


def simplex(n_classes: int, grain: int = 16) -> st.SearchStrategy[list[float]]:
    """Probabilities of some classes, exact in binary if the grain is a power of two."""
    cuts = st.lists(st.integers(0, grain), min_size=n_classes - 1, max_size=n_classes - 1).map(sorted)
    return cuts.map(lambda ends: [(b - a) / grain for a, b in zip([0, *ends], [*ends, grain], strict=True)])
