"""Probabilities and log-odds."""

from typing import Any

import numpy as np


def expit(x: Any) -> Any:
    """The probability of log-odds, however great."""
    with np.errstate(over="ignore"):  # one by infinity is the answer
        return 1.0 / (1.0 + np.exp(-x))


def logit(p: Any) -> Any:
    """The log-odds of probabilities strictly between 0 and 1."""
    return np.log(p / (1.0 - p))
