"""Labels of classes and of decisions, with their type."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._field_groups import check_keys, object_schema
from calibrant._core._fields import MOST_WHOLE, Choice, Field, Number, Schema
from calibrant._core._place import Place

#: Bounds that no honest file meets, and that keep a dishonest one from filling the memory.
MOST_LABELS, LONGEST_LABEL = 100_000, 1_000

_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "mixed": (str, int, float, bool),
}
_SCHEMAS: dict[str, Schema] = {
    "str": {"type": "string", "maxLength": LONGEST_LABEL},
    "int": {"type": "integer", "minimum": -MOST_WHOLE - 1, "maximum": MOST_WHOLE},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
}
_SCHEMAS["mixed"] = {"anyOf": list(_SCHEMAS.values())}


class Labels(Field):
    """Distinct labels in order: ``{"type": "str", "values": ["no", "yes"]}``."""

    json_type = (dict,)
    what = "an object of type and values"

    def __init__(self, least: int, *types: str) -> None:
        self.least = least
        self.type = Choice(*types)

    def write(self, value: Any) -> Any:
        """The labels as Python's own objects, and the type that they share."""
        values = [label.item() if isinstance(label, np.generic) else label for label in np.asarray(value)]
        kinds = {type(label) for label in values}
        shared = kinds.pop().__name__ if len(kinds) == 1 else "mixed"
        return {"type": shared, "values": values}

    def _read(self, plain: Any, at: Place) -> Array:
        check_keys(plain, ("type", "values"), at)
        name = self.type.read(plain["type"], at / "type")
        values, place = plain["values"], at / "values"
        if type(values) is not list or not self.least <= len(values) <= MOST_LABELS:
            place.refuse(f"be a list of {self.least} to {MOST_LABELS} labels", values)
        seen = set()
        for number, label in enumerate(values):
            _check_label(label, name, place, number)
            if label in seen:
                place[number].refuse("differ from all labels before it", label)
            seen.add(label)
        if name == "mixed":
            array = np.empty(len(values), dtype=object)
            array[:] = values
            return array
        return np.array(
            values, dtype={"str": np.str_, "int": np.int64, "float": np.float64, "bool": bool}[name]
        )

    def schema(self) -> Schema:
        """One variant for every type of labels."""
        return {"oneOf": [self._variant(name) for name in self.type.options]}

    def _variant(self, name: str) -> Schema:
        values = {
            "type": "array",
            "items": _SCHEMAS[name],
            "minItems": self.least,
            "maxItems": MOST_LABELS,
            "uniqueItems": True,
        }
        return object_schema({"type": {"const": name}, "values": values})


def _check_label(label: object, name: str, at: Place, number: int) -> None:
    if type(label) not in _TYPES[name]:
        at[number].refuse(f"be a label of type {name}", label)
    if isinstance(label, str):
        if len(label) > LONGEST_LABEL or label.endswith("\0") or not _is_text(label):
            at[number].refuse(f"be text of at most {LONGEST_LABEL} characters, the last not null", label)
    elif isinstance(label, float) or name == "float":
        Number().read(label, at[number])
    elif isinstance(label, int) and not -MOST_WHOLE - 1 <= label <= MOST_WHOLE:
        at[number].refuse("fit into 64 bits", label)


def _is_text(label: str) -> bool:
    """Whether a file can hold it: half a surrogate pair is a character in Python alone."""
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True
