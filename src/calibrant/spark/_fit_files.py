"""A model fitted to files by a Spark cluster."""

import os
import re
import sys
from collections.abc import Callable
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
from calibrant._core._words import option
from calibrant.files import (
    SUM_ROUNDING,
    ClassesOf,
    Columns,
    ScoreCheck,
    choose_scores,
    code_of,
    label_values,
    layout_of,
    sorted_texts,
)
from calibrant.models import ScoreModel
from calibrant.passes import surveyed
from calibrant.spark._columns import quoted
from calibrant.spark._engine import FrameRows
from calibrant.spark._survey import MOST_LABELS


def fit_files(
    path: str,
    master: str,
    new: Callable[[Array], ScoreModel],
    *,
    format: str | None = None,  # noqa: A002  (what users call it)
    scores: str,
    label: str,
    weight: str | None = None,
    by: str | None = None,
    positive: str | None = None,
    classes: list[str] | None = None,
    coded: bool = False,
    kind: str = "margin",
    handle_invalid: str = "error",
) -> tuple[ScoreModel, int | None]:
    """Let a cluster read files and fit a model to them.

    Parameters
    ----------
    path : str
        The files, on the file systems of the cluster.
    master : str
        The master of the cluster.
    new : callable
        Makes the unfitted model for the classes.
    format : {"parquet", "csv", "tsv", "jsonl"}, optional
        The format, where the suffix does not tell it.
    scores, label, weight, by, positive, classes, coded, kind, handle_invalid : object
        The columns, see `calibrant.files.labelled`.

    Returns
    -------
    model : ScoreModel
        The fitted model, with its `predictions_`.
    n_skipped : int or None
        Rows that were left out because they cannot be used; None if they were not counted.
    """
    # Executors must run the Python that has calibrant; a cluster of other machines sets its own.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("calibrant fit").config("spark.ui.showConsoleProgress", "false")
    try:
        session = builder.master(master).config("spark.log.level", "OFF").getOrCreate()
    except Exception as error:  # whatever a gateway, a virtual machine or a network may raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"{option('master')} must be a Spark master that answers; {master} does not: {reason}"
        ) from error
    try:
        source = _Frame(session, path, format)
        said = ClassesOf(
            choose_scores(source, scores, [label, weight, by]), positive, classes, coded
        ).checked()
        return _fit(source, said, label, weight, by, kind, handle_invalid == "skip", new)
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


def _fit(
    source: _Frame,
    said: ClassesOf,
    label: str,
    weight: str | None,
    by: str | None,
    kind: str,
    skips: bool,
    new: Callable[[Array], ScoreModel],
) -> tuple[ScoreModel, int | None]:
    columns = said.chosen.columns
    frame = _numbers(source, [*columns, *([] if weight is None else [weight])])
    if kind == "probability":
        _check_proba(frame, columns, source.name, sums=not said.coded)
    rows = FrameRows.of(
        frame,
        labelCol=label,
        scoresCols=list(columns),
        weightCol=weight,
        groupCol=by,
        classes=_classes(source, said, label).tolist(),
        coded=said.coded,
        skip=skips,
    )
    model = new(rows.classes)
    options = rows.options(rows.n_scores)
    plan = model.plan(rows.classes, options, rows.n_rows, by=rows.groups, keep_predictions=True)
    check, code = ScoreCheck(source.name, said, rows.classes), code_of(model, len(rows.classes), len(columns))
    fitted = rows.run(surveyed(plan, len(rows.classes), check.survey, code))
    fitted.name_columns(columns)
    if by is not None:
        fitted.name_group_column(by)
    n_skipped: int | None = 0
    if skips:  # rows of weight zero are not counted among those that are used
        n_skipped = frame.count() - rows.n_rows if weight is None else None
    return fitted, n_skipped


def _numbers(source: _Frame, names: list[str]) -> DataFrame:
    """The frame with numbers in these columns; the cells of CSV are text, and nothing where they are none."""
    if not source.as_text:
        return source.frame
    return source.frame.withColumns({name: quoted(name).try_cast("double") for name in names})


def _classes(source: _Frame, said: ClassesOf, label: str) -> Array:
    """The classes in order: as columns or options name them, or else by the labels of the files."""
    kind = to_arrow_type(source.frame.schema[label].dataType)
    texts = said.known
    if texts is None:
        rows = source.frame.select(quoted(label)).distinct().limit(MOST_LABELS + 1).collect()
        if len(rows) > MOST_LABELS:
            raise DataError(
                f"the column {label!r} of {source.name} must hold labels; it holds too many values"
            )
        found = [text for row in rows if (text := label_text(row[0])) is not None]
        if not found:
            raise DataError(f"the column {label!r} of {source.name} must hold labels; it holds none")
        texts = said.in_order(sorted_texts(found, kind, source.as_text))
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
            f"{values[-1]:g}; does {option('scores')} name the columns of all classes?"
        )
