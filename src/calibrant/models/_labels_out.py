"""Labels as other languages can hold them."""

import math
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant.maps import ExportError


def plain_labels(labels: Array, name: str, error: type[ExportError] = ExportError) -> list[Any]:
    """Texts, numbers and truth values, to be written as something of this name; all else is refused."""
    values: list[Any] = np.asarray(labels).tolist()
    if not all(isinstance(value, str | int | float) and _is_finite(value) for value in values):
        raise error(
            f"labels must be texts or numbers to be written as {name}; got {values!r}; fit with other labels"
        )
    return values


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def labels_of_one_type(labels: Array, name: str, error: type[ExportError] = ExportError) -> list[Any]:
    """The same, all whole numbers of 64 bits, all floats, or else all texts, which must differ."""
    values = plain_labels(labels, name, error)
    least, greatest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    if all(isinstance(value, int) and least < value <= greatest for value in values):
        return [int(value) for value in values]
    if all(isinstance(value, float) for value in values):
        return values
    texts = [str(value) for value in values]
    if len(set(texts)) < len(texts):
        raise error(
            f"labels must be texts or numbers that differ as texts to be written as {name}; got {values!r}; "
            "fit with other labels"
        )
    return texts
