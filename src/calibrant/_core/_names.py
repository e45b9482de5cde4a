"""Columns of frames by name, so that their order never matters.

At the fit, columns that are named like the classes are taken by label, and others where they stand. In both
cases the names are remembered, and new frames must have the same ones, in any order. Names are compared as
text: the label 1, the integer column 1 of pandas and the column "1" of a file are the same.

Columns that pandas has merely counted (0, 1, 2, ...) have no names, like those of an array.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, as_array, open_frame
from calibrant._core._errors import DataError

#: More names than this are not all shown.
MOST_SHOWN = 8


def label_text(label: object) -> str | None:
    """A label as the text that names its class; None for what can be no label."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, float | Decimal):
        if not math.isfinite(label):
            return None
        return str(int(label)) if label == int(label) else str(label)
    return None if label is None or label == "" else str(label)


def column_names(values: object, name: str, *, counted: bool = False) -> tuple[object, ...] | None:
    """The names of the columns of a frame; None for arrays and series.

    None also for columns that are merely counted, unless those too are asked for.
    """
    if isinstance(values, np.ndarray | list | tuple) or hasattr(values, "toarray"):
        return None
    frame = open_frame(values, name)
    if not hasattr(frame, "columns"):
        return None
    names = tuple(frame.columns)
    if names == tuple(range(len(names))) and not counted:
        return None
    if len(set(_texts(names))) < len(names):
        raise DataError(f"every column of {name} must have a name of its own; got {_shown(_texts(names))}")
    return names


def names_by_label(names: Sequence[str], classes: Iterable[object], name: str) -> tuple[str, ...]:
    """Names of columns in the order of the classes, if they are those of the classes."""
    order = _order_by_label(names, classes, name)
    return tuple(names if order is None else (names[place] for place in order))


def by_label(values: object, matrix: Any, classes: Callable[[], Iterable[object]], name: str) -> Any:
    """A matrix with its columns in the order of the classes, if the frame that it came from names them."""
    names = column_names(values, name)
    order = None if names is None else _order_by_label(_texts(names), classes(), name)
    return matrix if order is None else matrix[:, order]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a fit.

    Attributes
    ----------
    names : tuple of str
        Their names as text, in the order of the model.
    counted : bool
        Whether some of these were no text, as the integers of pandas.
    moved : bool
        Whether they came in another order.
    """

    names: tuple[str, ...]
    counted: bool = False
    moved: bool = False


class NamedColumns:
    """What takes columns by name: matched by label at the fit, and by the same names ever after.

    Arrays have no names, and are taken in the order of the model. If the frame of the fit had another order,
    that is said by a warning.
    """

    _columns: Columns | None = None

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns in the order of the model, if it was fitted to a frame with names of text."""
        if self._columns is None or self._columns.counted:
            raise AttributeError(f"this {type(self).__name__} was not fitted to columns with names")
        return np.array(self._columns.names, dtype=object)

    def name_columns(self, names: Sequence[str]) -> None:
        """Remember the columns, where the fit was to their numbers alone.

        Parameters
        ----------
        names : sequence of str
            The names of the columns, in the order of the model.
        """
        self._columns = Columns(tuple(names))

    def order_of_columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """Put names of columns into the order of the model.

        Parameters
        ----------
        names : sequence of str
            The names of the columns that are to be taken.

        Returns
        -------
        tuple of str
            In the order of the fit, if it was to columns of these names; in that of the classes, if the names
            are theirs; or else as they are.
        """
        if self._columns is not None and set(names) == set(self._columns.names):
            return self._columns.names
        labels = self._column_labels()
        return tuple(names) if labels is None else names_by_label(names, labels, "scores")

    def _column_labels(self) -> Array | None:
        """The labels that name the columns, where every column is that of a class."""
        return getattr(self, "classes_", None)

    def _learn_columns(
        self, values: object, matrix: Any, classes: Sequence[object] | Array | None, name: str = "scores"
    ) -> Any:
        """Remember the names, and give the columns in the order of the classes, if that is what they name."""
        names = column_names(values, name)
        self._columns = None
        if names is None:
            return matrix
        texts = _texts(names)
        order = _order_by_label(texts, classes, name)
        if order is not None:
            matrix, texts = matrix[:, order], [texts[place] for place in order]
        counted = not all(isinstance(each, str) for each in names)
        self._columns = Columns(tuple(texts), counted, order is not None)
        return matrix

    def _in_order(
        self,
        values: object,
        classes: Sequence[object] | Array | None,
        n_columns: int,
        name: str = "scores",
    ) -> Any:
        """Whatever the user passed in, or an array with its columns in the order of the model."""
        known = self._columns
        names = column_names(values, name, counted=known is not None and known.counted)
        if names is None:
            if known is not None and known.moved:
                message = (
                    f"{name} have no column names, and are taken in the order {_shown(known.names)}; the "
                    f"frame that this {type(self).__name__} was fitted to had another; pass a frame"
                )
                warnings.warn(message, UserWarning, stacklevel=3)
            return values
        if known is not None:
            order = self._order_known(names, name)
        else:
            order = self._order_unknown(names, classes, n_columns, name)
        array = as_array(values, name)
        return array if order is None else array[:, order]

    def _order_known(self, names: Sequence[object], name: str) -> list[int] | None:
        """The places of the columns of the fit."""
        assert self._columns is not None
        wanted, there = self._columns.names, _texts(names)
        if tuple(there) == wanted:
            return None
        missing = [text for text in wanted if text not in set(there)]
        unknown = [text for text in there if text not in set(wanted)]
        if missing or unknown:
            faults = [
                f"{_shown(texts)} {'is' if len(texts) == 1 else 'are'} {fault}"
                for texts, fault in ((missing, "missing"), (unknown, "unknown"))
                if texts
            ]
            raise DataError(
                f"{name} must have the columns that this {type(self).__name__} was fitted to, "
                f"{_shown(wanted)}; {' and '.join(faults)}; choose or rename the columns"
            )
        places = {text: place for place, text in enumerate(there)}
        return [places[text] for text in wanted]

    def _order_unknown(
        self,
        names: tuple[object, ...],
        classes: Sequence[object] | Array | None,
        n_columns: int,
        name: str,
    ) -> list[int] | None:
        """The places of the columns for a fit without names: by number or label, or where they stand."""
        if set(names) == set(range(n_columns)):
            return [names.index(place) for place in range(n_columns)]
        texts = _texts(names)
        order = _order_by_label(texts, classes, name)
        if len(texts) == n_columns > 1 and not _names_every(texts, _places(classes, n_columns)):
            message = (
                f"{name} have the columns {_shown(texts)}, which are taken where they stand, as this "
                f"{type(self).__name__} was fitted without column names; fit it to a frame"
            )
            warnings.warn(message, UserWarning, stacklevel=4)
        return order


def without_names(model: Any) -> Any:
    """A model for arrays that are in its order already, so that it neither moves their columns nor warns."""
    if getattr(model, "_columns", None) is None:
        return model
    blind = copy(model)
    blind._columns = None
    return blind


def take_names(model: NamedColumns, other: object) -> None:
    """Let a model remember the columns of another, if that takes them by name."""
    model._columns = getattr(other, "_columns", None)


def _order_by_label(texts: Sequence[str], classes: Iterable[object] | None, name: str) -> list[int] | None:
    """The places of the classes; None if the columns are to be taken where they stand.

    Columns of which some are named like classes, and not in their places, are neither.
    """
    places = _places(classes, len(texts))
    if _names_every(texts, places):
        order = np.argsort([places[text] for text in texts]).tolist()
        return None if order == sorted(order) else list(order)
    wrong = [text for place, text in enumerate(texts) if places.get(text, place) != place]
    if wrong:
        others = [text for text in texts if text not in places]
        raise DataError(
            f"the columns of {name} must be named like the classes, or else stand in the order of the "
            f"classes; got {wrong[0]!r} in the place of another class"
            + (f", and {others[0]!r}, which is no class" if others else "")
            + "; rename the columns"
        )
    return None


def _places(classes: Iterable[object] | None, n_columns: int) -> dict[str, int]:
    """Where the column of every class stands: a single column is that of the last of two classes."""
    labels = [] if classes is None else list(classes)
    before = len(labels) - 1 if n_columns == 1 else 0
    return {
        text: place - before
        for place, label in enumerate(labels)
        for text in (str(label), label_text(label))
        if text is not None
    }


def _names_every(texts: Sequence[str], places: dict[str, int]) -> bool:
    found = [places.get(text, -1) for text in texts]
    return sorted(found) == sorted({place for place in places.values() if place >= 0})


def _texts(names: Iterable[object]) -> list[str]:
    return [each if isinstance(each, str) else label_text(each) or str(each) for each in names]


def _shown(texts: Sequence[str]) -> str:
    shown = [repr(text) for text in texts]
    return ", ".join(shown if len(shown) <= MOST_SHOWN else [*shown[: MOST_SHOWN - 2], "...", shown[-1]])
