"""Fits to parts of the rows, which need not say what the fit to all of them says too."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from calibrant._core import _late as late


@contextmanager
def without_convergence_warnings() -> Iterator[None]:
    """Keep back warnings of fits that did not converge; of scikit-learn's class, which only they import."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for said in caught:
        if not issubclass(said.category, late.exceptions.ConvergenceWarning):
            warnings.warn_explicit(said.message, said.category, said.filename, said.lineno)
