"""The command `calibrant`: parse, call, print."""

from calibrant.cli._main import main

__all__ = ["main"]
