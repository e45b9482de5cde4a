"""What a parameter or a fitted number may be: in Python, in a model file, and in its JSON Schema.

A field says all of it in one place, so that they cannot drift apart. `check` looks at what a user passed in;
`write` makes plain data of a value and trusts it, since every document is read once before it leaves the
house; `read` trusts nothing.
"""

import math
import re
from abc import ABC, abstractmethod
from datetime import datetime
from numbers import Real
from typing import Any

import numpy as np

from calibrant._core._checks import MOST, is_whole, shown
from calibrant._core._errors import ParameterError
from calibrant._core._hints import closest
from calibrant._core._place import Place

#: A fragment of JSON Schema.
Schema = dict[str, Any]

INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}
#: Whole numbers must fit into 64 bits, as they do in all languages that read the file.
MOST_WHOLE = (1 << 63) - 1


class Field(ABC):
    """One field. `what` completes the sentence "it must be ...", and `json_type` is what stands there."""

    what: str
    json_type: tuple[type, ...]
    #: The words that it may be.
    words: tuple[str, ...] = ()

    @property
    def must(self) -> str:
        """The same as `what` in the words of Python."""
        return self.what

    def allows(self, value: Any) -> bool:  # noqa: ARG002
        """Whether it may be the value of a parameter."""
        return True

    def check(self, name: str, value: Any) -> None:
        """Refuse what a parameter cannot be."""
        if not self.allows(value):
            hint = closest(value, self.words)
            raise ParameterError(f"{name} must be {self.must}; got {shown(value)}{hint}")

    def accepts(self, plain: object) -> bool:
        """Whether the JSON type is right; values are looked at by `read`."""
        return type(plain) in self.json_type

    def write(self, value: Any) -> Any:
        """Plain data: what JSON can hold."""
        return value.item() if isinstance(value, np.generic) else value

    def read(self, plain: Any, at: Place) -> Any:
        """The value, or an error that names the place."""
        if not self.accepts(plain):
            at.refuse(f"be {self.what}", plain)
        return self._read(plain, at)

    @abstractmethod
    def _read(self, plain: Any, at: Place) -> Any:
        """The value of plain data whose JSON type is right."""

    @abstractmethod
    def schema(self) -> Schema:
        """What a validator of JSON Schema can check."""


class Flag(Field):
    """True or false."""

    what, json_type = "true or false", (bool,)
    must = "True or False"

    def allows(self, value: Any) -> bool:
        """Also 0 and 1, and those of NumPy."""
        return isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1))

    def _read(self, plain: Any, at: Place) -> bool:  # noqa: ARG002
        return bool(plain)

    def schema(self) -> Schema:
        """A boolean."""
        return {"type": "boolean"}


class Choice(Field):
    """One of a few words.

    Parameters
    ----------
    *options : str
        The words.
    """

    json_type = (str,)

    def __init__(self, *options: str) -> None:
        self.options = self.words = options
        self.what = " or ".join(map(repr, options)) if len(options) < 3 else f"one of {', '.join(options)}"

    @property
    def must(self) -> str:
        """The words."""
        return f"{'one of ' * (len(self.options) > 1)}{', '.join(map(repr, self.options))}"

    def allows(self, value: Any) -> bool:
        """One of them."""
        return isinstance(value, str) and value in self.options

    def _read(self, plain: Any, at: Place) -> str:
        if plain not in self.options:
            at.refuse(f"be {self.what}", plain)
        return str(plain)

    def schema(self) -> Schema:
        """An enumeration."""
        return {"enum": list(self.options)}


class Text(Field):
    """Text of a form."""

    json_type = (str,)

    def __init__(self, what: str, pattern: str) -> None:
        self.what, self._pattern = what, pattern

    def _read(self, plain: Any, at: Place) -> str:
        if re.fullmatch(self._pattern, plain) is None:
            at.refuse(f"be {self.what}", plain)
        return str(plain)

    def schema(self) -> Schema:
        """A pattern."""
        return {"type": "string", "pattern": f"^({self._pattern})$"}


class Date(Text):
    """A date, with or without a time."""

    def __init__(self) -> None:
        what = "a date such as '2026-03-31', with or without a time"
        super().__init__(what, r"\d{4}-\d\d-\d\d([T ][0-9:.,+Z-]+)?")

    def _read(self, plain: Any, at: Place) -> str:
        text = super()._read(plain, at)
        try:
            datetime.fromisoformat(text)
        except ValueError:
            at.refuse("be a date that there is", text)
        return text


class Number(Field):
    """A finite number within bounds.

    Parameters
    ----------
    least, most : float, optional
        Bounds that it may have.
    above, below : float, optional
        Bounds that it may not have.
    infinite : bool, default=False
        Whether it may be infinite, in a file as the text "Infinity" or "-Infinity".
    """

    def __init__(
        self,
        least: float = -math.inf,
        most: float = math.inf,
        *,
        above: float = -math.inf,
        below: float = math.inf,
        infinite: bool = False,
    ) -> None:
        self.least, self.most, self.above, self.below = least, most, above, below
        self.infinite = infinite
        self.json_type = (int, float, str) if infinite else (int, float)
        self.what = _bounds_in_words("a number", least, most, above, below)

    def holds(self, values: Any) -> Any:
        """Whether numbers, one or an array, are finite and within the bounds."""
        inside = (
            (values >= self.least) & (values <= self.most) & (values > self.above) & (values < self.below)
        )
        return inside & np.isfinite(values)

    @property
    def must(self) -> str:
        """A number, with its bounds."""
        if min(self.most, self.below) < math.inf:
            low = f"[{self.least:g}" if self.above == -math.inf else f"({self.above:g}"
            high = f"{self.most:g}]" if self.below == math.inf else f"{self.below:g})"
            return f"a number in {low}, {high}"
        if self.above > -math.inf:
            return f"a number above {self.above:g}"
        return f"a number from {self.least:g}" if self.least > -math.inf else "a number"

    def allows(self, value: Any) -> bool:
        """A real number, also one of NumPy's."""
        if not isinstance(value, Real) or isinstance(value, np.timedelta64):
            return False
        number = as_float(value)  # type: ignore[arg-type]
        return number is not None and bool(self.holds(number))

    def write(self, value: Any) -> Any:
        """A float, also where the value is a whole number."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
            return value
        number = float(value)
        if self.infinite and math.isinf(number):
            return "Infinity" if number > 0 else "-Infinity"
        return number

    def _read(self, plain: Any, at: Place) -> float:
        if isinstance(plain, str):
            if plain not in INFINITIES:
                at.refuse(f"be {self.what}, 'Infinity' or '-Infinity'", plain)
            return INFINITIES[plain]
        number = as_float(plain)
        if number is None or not self.holds(number):
            at.refuse(f"be {self.what}", plain)
        return number

    def schema(self) -> Schema:
        """A number with its bounds."""
        number = {"type": "number"} | _bounds_in_schema(self.least, self.most, self.above, self.below)
        return {"anyOf": [number, {"enum": list(INFINITIES)}]} if self.infinite else number


class Whole(Field):
    """A whole number within bounds.

    Parameters
    ----------
    least, most : int, optional
        Bounds that it may have.
    """

    json_type = (int,)

    def __init__(self, least: int = -MOST_WHOLE - 1, most: int = MOST_WHOLE) -> None:
        self.least, self.most = least, most
        low, high = (-math.inf if least < -MOST_WHOLE else least), (math.inf if most == MOST_WHOLE else most)
        self.what = _bounds_in_words("a whole number", low, high)

    @property
    def must(self) -> str:
        """A whole number, with its bounds."""
        low = f" from {self.least}" if self.least >= -MOST_WHOLE else ""
        return f"a whole number{low}" + (f" to {self.most}" if self.most < MOST_WHOLE else "")

    def allows(self, value: Any) -> bool:
        """A whole number that is not a truth value."""
        return is_whole(value, self.least, min(self.most, MOST))

    def write(self, value: Any) -> Any:
        """An integer, also where the value is a float without a fraction."""
        plain = super().write(value)
        return int(plain) if isinstance(plain, float) and plain.is_integer() else plain

    def _read(self, plain: Any, at: Place) -> int:
        if not self.least <= plain <= self.most:
            at.refuse(f"be {self.what}", plain)
        return int(plain)

    def schema(self) -> Schema:
        """An integer with its bounds."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


class Later(Field):
    """What is read when something beside it is known: here only its JSON type is looked at."""

    def _read(self, plain: Any, at: Place) -> Any:  # noqa: ARG002
        return plain


class Maybe(Field):
    """Nothing, in a file null, or what another field holds.

    Parameters
    ----------
    field : Field
        The other field.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.words = field.words
        self.json_type = (type(None), *field.json_type)
        self.what = f"null or {field.what}"

    def accepts(self, plain: object) -> bool:
        """Whether it is null, or of a type that the other field takes."""
        return plain is None or self.field.accepts(plain)

    @property
    def must(self) -> str:
        """None, or what the other must be."""
        return f"None or {self.field.must}"

    def allows(self, value: Any) -> bool:
        """None, or what the other allows."""
        return value is None or self.field.allows(value)

    def write(self, value: Any) -> Any:
        """Null for None."""
        return None if value is None else self.field.write(value)

    def _read(self, plain: Any, at: Place) -> Any:
        return None if plain is None else self.field.read(plain, at)

    def schema(self) -> Schema:
        """Null, or the schema of the other."""
        return {"anyOf": [{"type": "null"}, self.field.schema()]}


class Either(Field):
    """What one of several fields holds, told apart by their JSON types."""

    def __init__(self, *fields: Field) -> None:
        self.fields = fields
        self.words = tuple(word for field in fields for word in field.words)
        self.json_type = tuple(kind for field in fields for kind in field.json_type)
        self.what = " or ".join(field.what for field in fields)

    def accepts(self, plain: object) -> bool:
        """Whether one of them does."""
        return any(field.accepts(plain) for field in self.fields)

    @property
    def must(self) -> str:
        """What any of them must be."""
        return ", or ".join(field.must for field in self.fields)

    def allows(self, value: Any) -> bool:
        """What one of them allows."""
        return any(field.allows(value) for field in self.fields)

    def write(self, value: Any) -> Any:
        """As the first does that would read it back."""
        for field in self.fields:
            plain = field.write(value)
            if field.accepts(plain):
                return plain
        return value

    def _read(self, plain: Any, at: Place) -> Any:
        return next(field for field in self.fields if field.accepts(plain)).read(plain, at)

    def schema(self) -> Schema:
        """Any of theirs."""
        return {"anyOf": [field.schema() for field in self.fields]}


class Seed(Maybe):
    """Where chance begins: a whole number or nothing; in Python also a generator, which no file can hold."""

    def __init__(self) -> None:
        super().__init__(Whole(0, (1 << 32) - 1))

    def allows(self, value: Any) -> bool:  # noqa: ARG002
        """Whatever NumPy or scikit-learn makes of it."""
        return True


def as_float(number: float) -> float | None:
    """A number as a float; None for a whole number that is beyond all floats."""
    try:
        return float(number)
    except OverflowError:
        return None


def _bounds_in_words(
    noun: str, least: float, most: float, above: float = -math.inf, below: float = math.inf
) -> str:
    words = []
    if least > -math.inf:
        words.append(f"at least {least:g}")
    if above > -math.inf:
        words.append(f"above {above:g}")
    if most < math.inf:
        words.append(f"at most {most:g}")
    if below < math.inf:
        words.append(f"below {below:g}")
    return noun + (", " + " and ".join(words) if words else "")


def _bounds_in_schema(least: float, most: float, above: float, below: float) -> Schema:
    names = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    bounds = zip(names, (least, most, above, below), strict=True)
    return {name: bound for name, bound in bounds if math.isfinite(bound)}


#: A number from 0 to 1.
PROBABILITY = Number(0.0, 1.0)
