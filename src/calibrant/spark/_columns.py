"""Where a frame has its scores: one numeric column, several, or one column of vectors or arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from operator import and_
from typing import Any

from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame, functions as F
from pyspark.sql.types import ArrayType, NumericType

from calibrant._core._errors import DataError
from calibrant.files import shown


@dataclass(frozen=True)
class ScoreColumns:
    """The columns of the scores.

    Parameters
    ----------
    names : tuple of str
        The column of vectors or arrays, or the numeric columns in order.
    packed : bool
        Whether it is one column of vectors or arrays.
    beside : tuple of str
        Numeric columns whose numbers follow those of the vector or array.
    """

    names: tuple[str, ...]
    packed: bool
    beside: tuple[str, ...] = ()

    @property
    def all_names(self) -> tuple[str, ...]:
        """What the numbers are called in messages: columns, or all that make one array."""
        return (", ".join((*self.names, *self.beside)),) if self.beside else self.names

    def values(self, frame: DataFrame) -> list[Column]:
        """The scores as numbers of double precision, or as arrays of such."""
        if not self.packed:
            return [quoted(name).cast("double") for name in self.names]
        column = quoted(self.names[0])
        if isinstance(frame.schema[self.names[0]].dataType, VectorUDT):
            # The function of MLlib fails on a missing vector.
            array = F.when(column.isNotNull(), vector_to_array(column))
        else:
            array = column.cast("array<double>")
        if not self.beside:
            return [array]
        return [F.concat(array, F.array(*(quoted(name).cast("double") for name in self.beside)))]

    def width(self, frame: DataFrame) -> Column:
        """How many scores a row has; nothing where the vector is missing."""
        if not self.packed:
            return F.lit(len(self.names))
        array = self.values(frame)[0]
        return F.when(array.isNotNull(), F.size(array))

    def usable(self, frame: DataFrame) -> Column:
        """Whether all scores of a row are finite numbers."""
        values = self.values(frame)
        if self.packed:
            return values[0].isNotNull() & F.forall(values[0], is_finite)
        return reduce(and_, map(is_finite, values))


def score_columns(frame: DataFrame, name: str, names: Sequence[str] | None) -> ScoreColumns:
    """Find the columns of the scores."""
    chosen = (name,) if names is None else tuple(names)
    check_columns(frame, chosen)
    if len(set(chosen)) < len(chosen):
        raise DataError(f"scoresCols must name every column once; got {', '.join(chosen)}")
    packed = names is None and _is_packed(frame.schema[name].dataType)
    for each in chosen:
        kind = frame.schema[each].dataType
        if not packed and not isinstance(kind, NumericType):
            wanted = "numbers, vectors or arrays of numbers" if names is None else "numbers"
            raise DataError(f"the column {each!r} must hold {wanted}; it holds {kind.simpleString()}")
    return ScoreColumns(chosen, packed)


def check_columns(frame: DataFrame, names: Sequence[str | None]) -> None:
    """Refuse names that no column has."""
    for name in names:
        if name is not None and name not in frame.columns:
            close = get_close_matches(name, frame.columns, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise DataError(f"the frame must have a column {name!r}; it has {shown(frame.columns)}{hint}")


def quoted(name: str) -> Column:
    """The column of this name, whatever signs are in it."""
    return F.col("`" + name.replace("`", "``") + "`")


def usable_weight(name: str) -> Column:
    """Whether a weight is a finite number that is not negative."""
    weight = quoted(name).cast("double")
    return is_finite(weight) & (weight >= 0)


def _is_packed(kind: Any) -> bool:
    return isinstance(kind, VectorUDT) or (
        isinstance(kind, ArrayType) and isinstance(kind.elementType, NumericType)
    )


def is_finite(number: Column) -> Column:
    """Whether it is a number, and a finite one."""
    return number.isNotNull() & ~F.isnan(number) & (F.abs(number) != float("inf"))
