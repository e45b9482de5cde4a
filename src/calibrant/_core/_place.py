"""A place in a model file, for messages: `calibrator.fitted.blocks.value[3]`."""

import reprlib
from dataclasses import dataclass
from typing import NoReturn

from calibrant._core._errors import CalibrantError

#: Whole numbers beyond this are not printed: their digits can be thousands.
MOST_SHOWN = 1 << 64


class ModelFileError(CalibrantError):
    """A model file that cannot be read or written, or that does not hold what it must."""

    __module__ = "calibrant.models"  # where users find it


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a document a value stands, and the name of the document."""

    document: str
    path: str = ""

    def __truediv__(self, field: str) -> "Place":
        return Place(self.document, f"{self.path}.{field}" if self.path else field)

    def __getitem__(self, index: int) -> "Place":
        return Place(self.document, f"{self.path}[{index}]")

    def refuse(self, must: str, got: object, advice: str = "") -> NoReturn:
        """Raise the error that names this place."""
        self.fail(f"must {must}; got {shown(got)}", advice)

    def fail(self, words: str, advice: str = "") -> NoReturn:
        """Raise the error that names this place, in one's own words."""
        where = f"{self.document}: {self.path or 'the document'}"
        raise ModelFileError(f"{where} {words}" + (f"; {advice}" if advice else ""))


def shown(value: object) -> str:
    """A value of any size and kind in a few words."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) > MOST_SHOWN:
        return "a whole number beyond 64 bits"
    if isinstance(value, int | float | str):
        return reprlib.repr(value)
    if isinstance(value, dict):
        return f"an object of {len(value)} fields"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"a {type(value).__name__}"
