"""The papers' data sets: where they are, and how their tables are read.

`read_table(name)` gives all rows of a set, `read_split(name, seed)` a training and a test part.
`_data_preparation.py` makes of such a table what naive Bayes, linear models and trees take.
"""

import csv
import gzip
import io
import lzma
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._checks import check_option
from calibrant._core._errors import DataError
from calibrant.experiments._data_columns import CONTENTS, Contents
from calibrant.experiments._data_download import MissingDataError, download_cache, fetch

__all__ = ["MissingDataError", "Mixed", "Split", "Table", "find", "read_numeric", "read_split", "read_table"]

#: The folder beside a checkout of this project.
BESIDE = Path(__file__).parents[4] / "shared" / "data"


@dataclass(frozen=True, slots=True)
class Table:
    """A data set of numeric features.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The features.
    y : ndarray of shape (n,)
        The labels, as text.
    """

    X: Float64Array
    y: Array


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """A data set of names and numbers.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The features as numbers: for a column of names the place of the name in `values`. NaN where a value is
        missing.
    y : ndarray of shape (n,)
        The labels, as text.
    columns : tuple of str
        Headings of the features.
    nominal : ndarray of bool of shape (d,)
        Which features are names.
    values : tuple of tuple of str
        For every feature the names that it can have, sorted; empty for numbers.
    positive : str or None
        The positive class of a set with two classes.
    block : ndarray of shape (n,) or None
        What rows belong to that must not be torn apart.
    """

    X: Float64Array
    y: Array
    columns: tuple[str, ...]
    nominal: BoolArray
    values: tuple[tuple[str, ...], ...]
    positive: str | None = None
    block: Array | None = None

    @property
    def is_positive(self) -> BoolArray:
        """Which rows are of the positive class."""
        return np.asarray(self.y == self.positive)

    def take(self, rows: IntArray | BoolArray) -> "Mixed":
        """Some of the rows."""
        block = None if self.block is None else self.block[rows]
        return Mixed(
            self.X[rows], self.y[rows], self.columns, self.nominal, self.values, self.positive, block
        )


@dataclass(frozen=True, slots=True)
class Split:
    """A training and a test part."""

    train: Mixed
    test: Mixed


def read_table(name: str) -> Mixed:
    """Read all rows of a data set; those of its test file come after those of its training file."""
    return _read(name)[0]


def read_split(name: str, seed: int = 0, *, by_block: bool = True) -> Split:
    """Read a data set in two parts: by its files where it has a test file, else two thirds and one third.

    Blocks of rows stay together, unless they are to be torn.
    """
    table, n_train = _read(name)
    if not by_block:
        table = replace(table, block=None)
    if n_train < len(table.y):
        places = np.arange(len(table.y))
        return Split(table.take(places[:n_train]), table.take(places[n_train:]))
    in_train = _random_two_thirds(table, np.random.default_rng(seed))
    return Split(table.take(in_train), table.take(~in_train))


def _random_two_thirds(table: Mixed, random: np.random.Generator) -> BoolArray:
    if table.block is not None:
        blocks = random.permutation(np.unique(table.block))
        return np.isin(table.block, blocks[: round(len(blocks) * 2 / 3)])
    in_train = np.zeros(len(table.y), dtype=bool)
    for label in np.unique(table.y):
        rows = random.permutation(np.flatnonzero(table.y == label))
        in_train[rows[: round(len(rows) * 2 / 3)]] = True
    return in_train


def _read(name: str) -> tuple[Mixed, int]:
    """The whole set, and how many of its rows are those of the training file."""
    check_option("name", name, tuple(CONTENTS))
    contents = CONTENTS[name]
    parts = (".train", ".test") if contents.has_test_file else ("",)
    files = [_read_columns(find(f"{name}{part}{contents.ending}"), contents) for part in parts]
    # Adult's test labels end in a full stop.
    y = np.char.rstrip(np.concatenate([file["class"] for file in files]), ".")
    block = None if contents.block is None else np.concatenate([file[contents.block] for file in files])
    # The two files of a set may have their columns in different places.
    features = {
        column: np.concatenate([file[column] for file in files])
        for column in files[0]
        if column not in (*contents.dropped, "class")
    }
    nominal = np.array([contents.is_nominal(column) for column in features])
    values = tuple(
        tuple(np.unique(cells[cells != ""]).tolist()) if contents.is_nominal(column) else ()
        for column, cells in features.items()
    )
    X = np.column_stack([_numbers(*each) for each in zip(features.values(), values, strict=True)])
    table = Mixed(X, y, tuple(features), nominal, values, contents.positive, block)
    kept = y != ""
    return table if kept.all() else table.take(kept), int(kept[: len(files[0]["class"])].sum())


def _numbers(cells: Array, names: tuple[str, ...]) -> Float64Array:
    """A column of numbers as it is; of names, the place of each, NaN where it is missing."""
    if not names:
        return cells
    return np.where(cells == "", np.nan, np.searchsorted(names, cells))


def _read_columns(path: Path, contents: Contents) -> dict[str, Array]:
    """The columns of a file: text for names and for what is no feature, numbers for the others."""
    from pyarrow import (  # noqa: PLC0415
        csv as arrow_csv,
        float64,
        string,
    )

    with open_text(path) as lines:
        columns = next(csv.reader(lines))
    as_text = {*contents.dropped, "class", *filter(contents.is_nominal, columns)}
    options = arrow_csv.ConvertOptions(
        column_types={column: string() if column in as_text else float64() for column in columns},
        null_values=[""],
    )
    with _open_bytes(path) as file:
        table = arrow_csv.read_csv(file, convert_options=options)
    return {
        column: np.array(table[column].to_pylist()) if column in as_text else table[column].to_numpy()
        for column in columns
    }


def read_numeric(name: str) -> Table:
    """Read a file whose features are all numbers."""
    _, rows = _read_records(f"{name}.csv.gz")
    return Table(np.array([row[:-1] for row in rows], dtype=np.float64), np.array([row[-1] for row in rows]))


def _read_records(file: str) -> tuple[list[str], list[list[str]]]:
    """The headings and the rows of a file."""
    with open_text(find(file)) as lines:
        reader = csv.reader(lines)
        return next(reader), list(reader)


def open_text(path: Path) -> IO[str]:
    """Open a compressed file of text."""
    return io.TextIOWrapper(_open_bytes(path), encoding="utf-8", newline="")


def _open_bytes(path: Path) -> gzip.GzipFile | lzma.LZMAFile:
    return lzma.open(path) if path.suffix == ".xz" else gzip.open(path)


def find(file: str) -> Path:
    """Find a data file: in the folder that CALIBRANT_DATA names, beside the checkout, among the downloads."""
    for folder in (*_own_folder(), BESIDE, download_cache()):
        if (folder / file).is_file():
            return folder / file
    return fetch(file)


def _own_folder() -> tuple[Path, ...]:
    folder = os.environ.get("CALIBRANT_DATA")
    if not folder:
        return ()
    if not Path(folder).is_dir():
        raise DataError(
            f"CALIBRANT_DATA must name a folder; {folder!r} is none; correct it or unset CALIBRANT_DATA"
        )
    return (Path(folder),)
