"""A model fitted to files by a Spark cluster."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.pandas.types import to_arrow_type

from calibrant._core._arrays import Array
from calibrant._core._checks import ROUNDING
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.cli._direction import ScoreCheck
from calibrant.cli._fitting import Fitted, NewModel, checked_plan, with_columns
from calibrant.cli._reading import SUM_ROUNDING, in_order
from calibrant.cli._wanted import Wanted, choose_scores, texts_of_classes
from calibrant.files import Chosen, Columns, label_values, layout_of
from calibrant.spark import MOST_LABELS, FrameRows, quoted


def fit_spark(path: str, file_format: str | None, wanted: Wanted, master: str, new: NewModel) -> Fitted:
    """Let a cluster read the files and fit a model to them."""
    # Executors must run the Python that has calibrant; a cluster of other machines sets its own.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("calibrant fit").config("spark.ui.showConsoleProgress", "false")
    try:
        session = builder.master(master).config("spark.log.level", "OFF").getOrCreate()
    except Exception as error:  # whatever a gateway, a virtual machine or a network may raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"--master must be a Spark master that answers; {master} does not: {reason}"
        ) from error
    try:
        return _fit(_Frame(session, path, file_format), wanted, new)
    except (PySparkException, Py4JError) as error:
        reason = _reason(error)
        if "cancellation of all jobs" in reason:  # what Spark makes of an interruption
            raise KeyboardInterrupt from error
        raise DataError(f"{path} must be readable by Spark, and hold what is wanted; {reason}") from error
    finally:
        session.stop()


def _reason(error: Exception) -> str:
    """What a cluster says went wrong, in one line; its own messages begin with a name in brackets."""
    told = error.getMessage() if isinstance(error, PySparkException) else None
    text = told or str(error)
    named = re.search(r"\[[A-Z][A-Z_.]+\].*", text)
    return " ".join((named.group() if named else text.splitlines()[0]).split())


class _Frame(Columns):
    """The columns of files that a cluster reads."""

    def __init__(self, session: SparkSession, path: str, file_format: str | None) -> None:
        is_folder = "." not in Path(path).name
        found = file_format or ("parquet" if is_folder else layout_of(path).format)
        super().__init__(path, found)
        self.as_text = found in ("csv", "tsv")
        self.frame = _read(session, path, found)

    def _names(self) -> list[str]:
        return list(self.frame.columns)


def _read(session: SparkSession, path: str, found: str) -> DataFrame:
    if found == "parquet":
        return session.read.parquet(path)
    if found == "jsonl":
        return session.read.json(path)
    if found in ("csv", "tsv"):
        return session.read.csv(
            path, header=True, sep="\t" if found == "tsv" else ",", multiLine=True, escape='"'
        )
    raise DataError(f"Spark must read Parquet, CSV, TSV or JSON lines; got {path}, which holds {found}")


def _fit(source: _Frame, wanted: Wanted, new: NewModel) -> Fitted:
    assert wanted.label is not None
    chosen = choose_scores(source, wanted)
    classes = _classes(source, chosen, wanted)
    frame = _numbers(source, [*chosen.columns, *([] if wanted.weight is None else [wanted.weight])])
    if wanted.proba:
        _check_proba(frame, chosen.columns, source.name, sums=not wanted.coded)
    rows = FrameRows.of(
        frame,
        labelCol=wanted.label,
        scoresCols=list(chosen.columns),
        weightCol=wanted.weight,
        classes=classes.tolist(),
        coded=wanted.coded,
        skip=wanted.skips,
    )
    model = new(rows.classes)
    options = rows.options(rows.n_scores)
    check = ScoreCheck(source.name, chosen.columns, rows.classes, wanted)
    fitted = rows.run(checked_plan(model, rows.classes, options, rows.n_rows, check))
    n_skipped: int | None = 0
    if wanted.skips:  # rows of weight zero are not counted among those that are used
        n_skipped = frame.count() - rows.n_rows if wanted.weight is None else None
    return Fitted(
        fitted, with_columns(fitted, chosen.columns), chosen.columns, True, n_skipped, fitted.predictions_
    )


def _numbers(source: _Frame, names: list[str]) -> DataFrame:
    """The frame with numbers in these columns; the cells of CSV are text, and nothing where they are none."""
    if not source.as_text:
        return source.frame
    return source.frame.withColumns({name: quoted(name).try_cast("double") for name in names})


def _classes(source: _Frame, chosen: Chosen, wanted: Wanted) -> Array:
    """The classes in order: as columns or options name them, or else by the labels of the files."""
    label = str(wanted.label)
    kind = to_arrow_type(source.frame.schema[label].dataType)
    found: list[str] = []
    if wanted.classes is None and (wanted.coded or len(chosen.columns) == 1):
        rows = source.frame.select(quoted(label)).distinct().limit(MOST_LABELS + 1).collect()
        if len(rows) > MOST_LABELS:
            raise DataError(
                f"the column {label!r} of {source.name} must hold labels; it holds too many values"
            )
        found = [text for row in rows if (text := label_text(row[0])) is not None]
        if not found:
            raise DataError(f"the column {label!r} of {source.name} must hold labels; it holds none")
    texts = texts_of_classes(in_order(found, kind, source), chosen, wanted)
    return label_values(texts, kind, source.as_text)


def _check_proba(frame: DataFrame, columns: tuple[str, ...], name: str, *, sums: bool) -> None:
    """Refuse numbers that are no probabilities; a cluster does not number its rows."""
    total: Any = sum((quoted(column) for column in columns), functions.lit(0.0))
    bounds = [bound(quoted(column)) for column in columns for bound in (functions.min, functions.max)]
    row = frame.agg(*bounds, functions.min(total), functions.max(total)).first()
    values = np.array([np.nan if value is None else float(value) for value in row or ()])
    low, high = values[:-2:2], values[1:-2:2]
    wrong = (low < -ROUNDING) | (high > 1 + ROUNDING)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise DataError(
            f"the column {columns[place]!r} of {name} must hold probabilities, from 0 to 1; got numbers from "
            f"{low[place]:g} to {high[place]:g}"
        )
    if sums and len(columns) > 1 and np.abs(values[-2:] - 1.0).max() > SUM_ROUNDING:
        raise DataError(
            f"the probabilities of a row of {name} must sum to one; got sums from {values[-2]:g} to "
            f"{values[-1]:g}; does --scores name the columns of all classes?"
        )
