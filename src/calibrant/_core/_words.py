"""What users call a parameter: by its name in Python, by an option in the command."""

from contextvars import ContextVar

_OPTIONS: ContextVar[bool] = ContextVar("options", default=False)


def option(name: str) -> str:
    """Name a parameter in a message as whoever reads it has written it."""
    return f"--{name.replace('_', '-')}" if _OPTIONS.get() else name


def speak_of_options() -> None:
    """Call parameters options from now on, in this context."""
    _OPTIONS.set(True)


def are_options() -> bool:
    """Whether parameters are called options."""
    return _OPTIONS.get()
