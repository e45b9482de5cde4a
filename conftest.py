"""What all tests and doctests share."""

import signal
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

# The same examples in every run, however busy the machine is.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

# Shells ignore Ctrl-C for what they run in the background, nohup hangups; so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _floating_point_errors_raise(request: pytest.FixtureRequest) -> Iterator[None]:
    """No division by zero, overflow or invalid operation passes unseen, be its warning caught or not.

    Underflow is left alone: a number that is too small for a double is rightly rounded to the nearest one,
    and scikit-learn and SciPy rely on it. So are the checks of scikit-learn, which take logarithms of zero.
    """
    others = getattr(request.node, "originalname", "") == "test_scikit_learn_contract"
    with np.errstate(**{} if others else {"all": "raise", "under": "ignore"}):
        yield
