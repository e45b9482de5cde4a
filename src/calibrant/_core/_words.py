"""What users call a parameter: by its name in Python, by an option in the command."""

from contextvars import ContextVar

#: Whether parameters are called options, in this context.
OPTIONS: ContextVar[bool] = ContextVar("OPTIONS", default=False)


def option(name: str) -> str:
    """Name a parameter in a message as whoever reads it has written it."""
    return f"--{name.replace('_', '-')}" if OPTIONS.get() else name
