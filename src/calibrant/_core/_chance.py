"""Where random numbers come from."""

from typing import TypeAlias

import numpy as np

from calibrant._core._errors import ParameterError

#: What users may pass as `random_state`; in quotes, as NumPy's random numbers take their time to load.
Seed: TypeAlias = "int | np.random.Generator | np.random.RandomState | None"


def generator(random_state: Seed) -> "np.random.Generator":
    """A source of randomness, also from scikit-learn's older kind."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if random_state is None or isinstance(random_state, np.random.Generator) or (whole and random_state >= 0):
        return np.random.default_rng(random_state)
    raise ParameterError(
        "random_state must be None, a whole number from 0, a Generator or a RandomState; got "
        f"{type(random_state).__name__} {random_state!r:.60}"
    )
