"""The papers' data sets: where they are, and how their tables are read."""

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError

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


def read_numeric(name: str) -> Table:
    """Read a data set whose features are all numbers.

    Parameters
    ----------
    name : str
        Name of the file without its ending, such as "pendigits.train".

    Returns
    -------
    Table
        Features and labels in the order of the file.
    """
    with gzip.open(find(f"{name}.csv.gz"), "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    return Table(np.array([row[:-1] for row in rows], dtype=np.float64), np.array([row[-1] for row in rows]))


def find(file: str) -> Path:
    """Find a data file in the folder that CALIBRANT_DATA names, or beside the checkout.

    Parameters
    ----------
    file : str
        Name of the file.

    Returns
    -------
    Path
        Where it is.
    """
    folders = [Path(os.environ["CALIBRANT_DATA"])] if "CALIBRANT_DATA" in os.environ else []
    for folder in [*folders, BESIDE]:
        if (folder / file).exists():
            return folder / file
    raise DataError(
        f"the data set {file} must be in the folder that CALIBRANT_DATA names; it is not there, nor in "
        "../shared/data; set CALIBRANT_DATA to the folder that holds it"
    )
