"""What users call a parameter: by its name in Python, by an option in the command."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_OPTIONS: ContextVar[bool] = ContextVar("options", default=False)


def option(name: str) -> str:
    """Name a parameter in a message as whoever reads it has written it."""
    return f"--{name.replace('_', '-')}" if _OPTIONS.get() else name


@contextmanager
def speaking_of_options() -> Iterator[None]:
    """Call parameters options meanwhile."""
    token = _OPTIONS.set(True)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def are_options() -> bool:
    """Whether parameters are called options."""
    return _OPTIONS.get()
