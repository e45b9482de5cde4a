"""What every document of a model begins with, whatever its kind."""

from collections.abc import Iterable
from typing import Any

from calibrant._core._field_groups import check_keys
from calibrant._core._fields import Date, Field, Maybe, Text
from calibrant._core._label_field import Labels
from calibrant._core._place import Place

FORMAT, VERSION = "calibrant", 1
HEADER = ("format", "version", "kind", "library_version", "date", "checksum", "classes", "training")
CLASSES = Labels(2, "str", "int", "float", "bool")
DATE = Maybe(Date())
#: Where a model comes from.
ORIGIN: dict[str, Field] = {
    "library_version": Text("a version such as '1.2.3'", r"[0-9A-Za-z.+!-]{1,64}"),
    "date": DATE,
    "checksum": Maybe(Text("'sha256:' and 64 hexadecimal digits", r"sha256:[0-9a-f]{64}")),
}


def check_head(document: dict[str, Any], own: Iterable[str], optional: Iterable[str], at: Place) -> None:
    """Refuse other fields than those of all documents and of this kind, and a wrong origin."""
    there = [name for name in optional if name in document]
    check_keys(document, (*HEADER, *own, *there), at)
    for name, field in ORIGIN.items():
        field.read(document[name], at / name)
