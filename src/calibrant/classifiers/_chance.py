"""One source of chance for every part of a computation, whatever order the parts run in."""

from typing import Any

import numpy as np

from calibrant._core._chance import generator


def entropy_of(random_state: Any) -> tuple[int, ...]:
    """Numbers to seed with: the same for the same int, new ones for None, drawn from a generator."""
    if random_state is None:
        return tuple(np.random.SeedSequence().generate_state(4).tolist())
    if isinstance(random_state, np.random.RandomState):
        return tuple(random_state.randint(2**31, size=4).tolist())
    source = generator(random_state)
    if isinstance(random_state, int | np.integer):
        return (int(random_state),)
    return tuple(source.integers(2**31, size=4).tolist())
