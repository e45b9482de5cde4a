"""Fitted or not: the answer to a question asked before `fit`, and a fit that is done or undone."""

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from calibrant._core._errors import CalibrantError


class NotFittedError(CalibrantError, SklearnNotFittedError):
    """The object has not been fitted yet."""


def check_fitted(model: object, attribute: str) -> None:
    """Refuse a model that has not learned `attribute` yet."""
    if not hasattr(model, attribute):
        name = type(model).__name__
        raise NotFittedError(f"this {name} must be fitted before it is used; it is not; call fit first")


@contextmanager
def all_or_nothing(model: object) -> Iterator[None]:
    """Undo a fit that fails half-way: the model stays what it was, fitted or not."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise
