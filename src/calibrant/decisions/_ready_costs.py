"""Ready-made costs: the rarer the class, the dearer its loss; or drawn at random."""

from typing import Literal

import numpy as np

from calibrant._core._arrays import Float64Array, as_floats
from calibrant._core._chance import Seed, generator
from calibrant._core._checks import (
    check_finite,
    check_option,
    is_whole,
    shown,
)
from calibrant._core._errors import DataError, ParameterError

#: The formulas by name.
FORMULAS = ("ratio", "inverse")


def rarity_costs(counts: object, rule: Literal["ratio", "inverse"] = "inverse") -> Float64Array:
    r"""Make mistakes about rare classes dear.

    Parameters
    ----------
    counts : array-like of shape (k,)
        Number of training rows of every class, or their weight; all positive.
    rule : {"ratio", "inverse"}, default="inverse"
        The formula of the cost of deciding i when the truth is j: the number of rows of class i over that of
        class j, :math:`N_i/N_j`; or the number of all rows over that of class j, :math:`N/N_j`.

    Returns
    -------
    ndarray of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j; the diagonal is zero.

    Notes
    -----
    The formula of O'Brien, Gupta and Gray (2008) is lost; the text mentions the class sizes only. "ratio" may
    be theirs: it is the mean of the random costs of Domingos (1999), and with it learned partitions save 8%
    on average of 27 problems, nearly the 11% that the paper reports, while under "inverse" they lose 6%. On a
    28th, whose rarest classes have some ten rows of 58,000, "ratio" loses more than all others save
    (`calibrant reproduce ogg-table1`). Under "inverse" every class contributes the same to the cost of
    deciding at random, and what a mistake costs depends on the truth alone.

    Examples
    --------
    >>> from calibrant.decisions import rarity_costs
    >>> rarity_costs([60, 30, 10])
    array([[ 0.        ,  3.33333333, 10.        ],
           [ 1.66666667,  0.        , 10.        ],
           [ 1.66666667,  3.33333333,  0.        ]])
    >>> rarity_costs([60, 30, 10], rule="ratio").round(2)
    array([[0.  , 2.  , 6.  ],
           [0.5 , 0.  , 3.  ],
           [0.17, 0.33, 0.  ]])
    """
    check_option("rule", rule, FORMULAS)
    numbers = np.asarray(as_floats(counts, "counts"), dtype=np.float64)
    if numbers.ndim != 1 or not len(numbers):
        raise DataError(f"counts must be one number per class; got shape {numbers.shape}")
    check_finite(numbers, "counts")
    if numbers.min() <= 0:
        absent = int(np.argmin(numbers))
        raise DataError(
            f"counts must be positive; got {numbers[absent]:g} for class {absent}; a class without rows has "
            "no finite cost, leave it out"
        )
    of_decision = numbers[:, None] if rule == "ratio" else numbers.sum()
    cost = np.asarray(of_decision / np.broadcast_to(numbers, (len(numbers), len(numbers))))
    np.fill_diagonal(cost, 0.0)
    return cost


def random_costs(k: int, random_state: Seed = None) -> Float64Array:
    """Draw the costs of all mistakes uniformly between 1 and 10.

    Parameters
    ----------
    k : int
        Number of classes.
    random_state : int, Generator, RandomState or None, default=None
        The source of randomness; the same whole number gives the same costs.

    Returns
    -------
    ndarray of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j; the diagonal is zero.

    Notes
    -----
    The random costs of O'Brien, Gupta and Gray (2008).

    Examples
    --------
    >>> from calibrant.decisions import random_costs
    >>> random_costs(3, random_state=0).round(1)
    array([[0. , 3.4, 1.4],
           [1.1, 0. , 9.2],
           [6.5, 7.6, 0. ]])
    """
    if not is_whole(k, 1, 100_000):
        raise ParameterError(f"k must be a whole number of classes, at least 1; got {shown(k)}")
    cost = generator(random_state).uniform(1.0, 10.0, size=(k, k))
    np.fill_diagonal(cost, 0.0)
    return cost
