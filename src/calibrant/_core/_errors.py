"""Every error of ours, under one root; and what we warn of.

CalibrantError (ValueError)
├── DataError           scores, labels, weights or probabilities that cannot be used
│   └── DataTypeError   they are of a type that scikit-learn refuses as such; also a TypeError
├── ParameterError      an option that does not exist or does not fit the others
├── NotFittedError      asked before `fit`; also scikit-learn's error of that name (see `_fitted.py`)
└── MissingExtraError   an optional package is not installed; also an ImportError

ScoreDirectionWarning (UserWarning)   scores that rank the classes the wrong way round

A message says what must hold, what came, and what to do, separated by semicolons.
"""


class CalibrantError(ValueError):
    """Root of all errors raised by calibrant."""


class DataError(CalibrantError):
    """The data given cannot be used as they are."""


class DataTypeError(DataError, TypeError):
    """The data given are of a type that cannot be used."""


class ParameterError(CalibrantError):
    """A parameter has a value that it cannot have."""


class MissingExtraError(CalibrantError, ImportError):
    """An optional dependency is needed and not installed.

    Parameters
    ----------
    package : str
        The package that could not be imported.
    extra : str
        The extra of calibrant that brings it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs the package {package}; it is not installed; run: pip install 'calibrant[{extra}]'"
        )


class ScoreDirectionWarning(UserWarning):
    """Scores rank the classes the wrong way round, and the map that was fitted cannot turn them."""


# Where users find them, and what a traceback then names.
for _each in (CalibrantError, DataError, ParameterError, MissingExtraError, ScoreDirectionWarning):
    _each.__module__ = "calibrant"
