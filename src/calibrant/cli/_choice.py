"""Options that are one of a few words: by the names of elsewhere too, and with the closest for a mistake."""

from collections.abc import Iterable, Mapping
from typing import Any

import click

from calibrant._core._hints import closest


class Choice(click.Choice[str]):
    """One of a few words.

    Parameters
    ----------
    words : iterable of str
        The words.
    aliases : mapping of str to str, optional
        Other names of some of them.
    """

    def __init__(self, words: Iterable[str], aliases: Mapping[str, str] | None = None) -> None:
        super().__init__(tuple(words))
        self.aliases = aliases or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the word that was meant."""
        return super().convert(self.aliases.get(value, value), param, ctx)

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Name all words, and offer the closest."""
        hint = closest(value, [*self.choices, *self.aliases])
        return super().get_invalid_choice_message(value, ctx).rstrip(".") + hint
