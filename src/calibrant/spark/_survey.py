"""What must be known of a frame before the first pass: labels, rows, scores, partitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import Column, DataFrame, functions as F
from pyspark.sql.types import DataType, DecimalType, FractionalType, NumericType

from calibrant._core._arrays import Array, as_array
from calibrant._core._checks import check_binary_labels
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.files import MOST_GROUPS, distinct_texts, shown
from calibrant.spark._columns import ScoreColumns, quoted

if TYPE_CHECKING:
    import pyarrow as pa

#: More labels than this are none: somebody has named the wrong column.
MOST_LABELS = 10_000


@dataclass(frozen=True)
class Survey:
    """What a frame holds.

    Attributes
    ----------
    labels : dict of object to int
        Number of rows of every label, as it is in the frame; None stands for a missing one.
    width : int
        How many scores a row has.
    n_partitions : int
        How many partitions the frame has, about.
    kind : {"float", "int", "other"}
        Whether labels are numbers, and of which kind.
    """

    labels: dict[Any, int]
    width: int
    n_partitions: int
    kind: str

    @property
    def known(self) -> dict[str, int]:
        """Number of rows by the texts of their labels, without those that have none."""
        rows: dict[str, int] = {}
        for label, count in self.labels.items():
            text = label_text(label)
            if text is not None:
                rows[text] = rows.get(text, 0) + count
        return rows


def survey(frame: DataFrame, columns: ScoreColumns, label: str, weight: Column | None) -> Survey:
    """Look at a frame once, without any work in Python."""
    counted = F.lit(1) if weight is None else F.when(weight == 0, 0).otherwise(1)
    seen = frame.select(
        quoted(label).alias("label"),
        counted.alias("counted"),
        columns.width(frame).alias("width"),
        F.spark_partition_id().alias("part"),
    )
    groups = (
        seen.groupBy("label")
        .agg(F.sum("counted"), F.min("width"), F.max("width"), F.max("part"))
        .limit(MOST_LABELS + 1)
        .collect()
    )
    if len(groups) > MOST_LABELS:
        raise DataError(
            f"the column {label!r} must hold at most {MOST_LABELS} different labels; it holds more; is it "
            "the column of the labels?"
        )
    if not groups:
        raise DataError("the frame must have at least one row; it has none")
    widths = {width for group in groups for width in group[2:4] if width is not None}
    if len(widths) > 1:
        raise DataError(
            f"the column {columns.names[0]!r} must hold vectors of one length; got lengths from "
            f"{min(widths)} to {max(widths)}"
        )
    return Survey(
        labels={group[0]: int(group[1]) for group in groups},
        width=widths.pop() if widths else 1,
        n_partitions=1 + max(int(group[4]) for group in groups),
        kind=_kind_of(frame.schema[label].dataType),
    )


def _kind_of(label: DataType) -> str:
    if isinstance(label, FractionalType):
        return "int" if isinstance(label, DecimalType) else "float"
    return "int" if isinstance(label, NumericType) else "other"


def find_classes(
    seen: Survey, given: Sequence[object] | None, n_scores: int | None, label: str, *, packed: bool
) -> Array:
    """The classes in order."""
    if given is not None:
        return as_array(given, "classes")
    found = [value for value in seen.labels if label_text(value) is not None]
    if not found:
        raise DataError(f"the column {label!r} must hold labels; all rows have none")
    values = _in_order(found, seen.kind)
    if n_scores is None or n_scores == 1:
        return check_binary_labels(values)[0]
    is_counted = values.dtype.kind in "if" and (values == np.floor(values)).all()
    if packed and is_counted and values[0] >= 0 and values[-1] < n_scores:
        return np.arange(n_scores, dtype=values.dtype)
    return values


def _in_order(found: list[Any], kind: str) -> Array:
    """Labels as an array, sorted: numbers of the kind that their column has, truth values, or text."""
    if kind == "float":
        return np.unique(np.array(found, dtype=np.float64))
    if kind == "int" and all(value == int(value) and abs(value) < 2**63 for value in found):
        return np.unique(np.array([int(value) for value in found], dtype=np.int64))
    if all(isinstance(value, bool) for value in found):
        return np.unique(np.array(found))
    return np.unique(np.array([label_text(value) for value in found], dtype=np.str_))


def group_names(frame: DataFrame, group: str) -> tuple[str, ...]:
    """The names of the groups, sorted; missing values name none."""
    table: pa.Table = frame.select(quoted(group).alias("c0")).distinct().limit(MOST_GROUPS + 1).toArrow()
    if len(table) > MOST_GROUPS:
        raise DataError(
            f"the column {group!r} must have at most {MOST_GROUPS:,} groups for a fit; it has more; choose "
            "one of fewer"
        )
    names = distinct_texts(table.column(0).combine_chunks(), group, "the frame")
    if not names:
        raise DataError(f"the column {group!r} must name a group; got none")
    return tuple(sorted(names))


def check_known(seen: Survey, classes: Array, label: str) -> None:
    """Refuse a frame with labels that are none, or are not among the classes."""
    missing = sum(count for value, count in seen.labels.items() if label_text(value) is None)
    advice = "; set handleInvalid to 'skip' to leave such rows out"
    if missing:
        raise DataError(
            f"the column {label!r} must hold a label in every row; {missing} rows have none{advice}"
        )
    texts = {label_text(value) for value in classes}
    unknown = {text: count for text, count in seen.known.items() if text not in texts}
    if unknown:
        raise DataError(
            f"the column {label!r} must hold one of the classes {shown(classes.tolist())}; got "
            f"{shown([repr(text) for text in unknown])} in {sum(unknown.values())} rows{advice}"
        )
