"""Margins squeezed into [0, 1], so that they can be measured beside probabilities."""

from typing import Literal

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._checks import check_not_empty, check_option
from calibrant._core._extremes import halving
from calibrant.metrics._rows import one_column


def rescale_margin(
    scores: object, *, reference: object = None, mode: Literal["symmetric", "minmax"] = "symmetric"
) -> Float64Array:
    r"""Map scores of any range linearly into [0, 1].

    Parameters
    ----------
    scores : array-like of shape (n,)
        Margins, or any other finite numbers.
    reference : array-like of shape (m,), optional
        The scores that give the range, which should be those of the training data. The scores
        themselves unless given.
    mode : {"symmetric", "minmax"}, default "symmetric"
        The range is from minus to plus the largest absolute value, so that a margin of 0 becomes 0.5; or
        from the least to the largest value, which moves it.

    Returns
    -------
    ndarray of shape (n,)
        The scores in [0, 1]. Scores outside the range are at its ends. A range of no extent gives 0.5.

    Notes
    -----
    This is no calibration. Zadrozny and Elkan (2002) use it to give a raw support vector machine a
    squared error and a reliability diagram: :math:`s = (f + a) / (2a)` with :math:`a = \max |f|`. Slides
    on their paper take the least and the largest margin instead.

    Examples
    --------
    >>> from calibrant.metrics import rescale_margin
    >>> rescale_margin([-1.0, 0.0, 4.0])
    array([0.375, 0.5  , 1.   ])
    >>> rescale_margin([-1.0, 0.0, 4.0], mode="minmax")
    array([0. , 0.2, 1. ])
    >>> rescale_margin([-1.0, 0.0, 4.0], reference=[-2.0, 1.0])
    array([0.25, 0.5 , 1.  ])
    """
    check_option("mode", mode, ("symmetric", "minmax"))
    numbers = one_column(scores, "scores")
    name = "scores" if reference is None else "reference"
    known = numbers if reference is None else one_column(reference, name)
    check_not_empty(len(known), name)
    hi = np.abs(known).max() if mode == "symmetric" else known.max()
    lo = -hi if mode == "symmetric" else known.min()
    if lo == hi:
        return np.full(len(numbers), 0.5)
    half = halving(known)
    return np.asarray((np.clip(numbers, lo, hi) * half - lo * half) / (hi * half - lo * half))
