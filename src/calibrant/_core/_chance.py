"""Where random numbers come from."""

import numpy as np

#: What users may pass as `random_state`.
Seed = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: Seed) -> np.random.Generator:
    """A source of randomness, also from scikit-learn's older kind."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)
