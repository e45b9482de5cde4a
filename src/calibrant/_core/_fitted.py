"""The answer to a question asked before `fit`."""

from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from calibrant._core._errors import CalibrantError


class NotFittedError(CalibrantError, SklearnNotFittedError):
    """The object has not been fitted yet."""


def check_fitted(model: object, attribute: str) -> None:
    """Refuse a model that has not learned `attribute` yet."""
    if not hasattr(model, attribute):
        name = type(model).__name__
        raise NotFittedError(f"this {name} must be fitted before it is used; it is not; call fit first")
