"""The error of an object that has not been fitted yet: ours, and scikit-learn's."""

from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from calibrant._core._errors import CalibrantError


class NotFittedError(CalibrantError, SklearnNotFittedError):
    """The object has not been fitted yet."""
