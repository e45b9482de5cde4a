"""Settings by name: of a method, a combination or a rule, each checked by the field that declares it."""

import json
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from inspect import signature
from typing import Any, TypeVar

from calibrant._core._errors import ParameterError
from calibrant._core._hints import closest
from calibrant._core._kinds import Saved

Kept = TypeVar("Kept", bound=Saved)
#: What has an option of its own: what the scores are, and the code behind them.
ELSEWHERE = ("kind", "code")
#: Words that JSON writes otherwise.
WORDS: dict[str, object] = {"none": None, "true": True, "false": False}


def settings_of(kind: type[Saved]) -> dict[str, tuple[str, object]]:
    """For every setting of a class what it may be, in words, and its default."""
    defaults = signature(kind).parameters
    return {
        name: (field.must, defaults[name].default)
        for name, field in kind.parameters.fields.items()
        if name not in ELSEWHERE
    }


def with_settings(new: Kept, written: Mapping[str, str]) -> Kept:
    """A copy with other settings, each as a user has written it."""
    known = settings_of(type(new))
    changed = copy(new)
    for name, text in written.items():
        if name not in known:
            there = ", ".join(known) or "none"
            raise ParameterError(
                f"the settings of {new.name} must be among: {there}; got {name!r}{closest(name, known)}"
            )
        field = new.parameters.fields[name]
        value = text if text in field.words else _value_of(text)
        field.check(f"{name} of {new.name}", value)
        object.__setattr__(changed, name, value)  # combinations are frozen
    return changed


def read_setting(text: str) -> tuple[str, str]:
    """The name and the value of a setting that was written as name=value."""
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise ParameterError(f"a setting must be NAME=VALUE; got {text!r}")
    return name.strip(), value.strip()


def _value_of(text: str) -> Any:
    """Numbers and lists as in JSON, a list also without its brackets; words without quotes."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for written in (text, f"[{text}]") if "," in text else (text,):
        with suppress(json.JSONDecodeError):
            return json.loads(written)
    return text
