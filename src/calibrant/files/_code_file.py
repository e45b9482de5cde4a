"""Code matrices from a table and into one: classes down, columns of scores across."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.codes import CodeMatrix, validate_code
from calibrant.files._columns import match_classes
from calibrant.files._cost_file import named_rows

FORM = "the first column names the classes, the header the columns of scores, and entries are 1, -1 and 0"


@dataclass(frozen=True)
class CodeFile:
    """A code matrix by name, as it stands in the file.

    Attributes
    ----------
    name : str
        The file.
    classes, columns : list of str
        The names of its rows and columns.
    matrix : ndarray of shape (k, l)
        The entries.
    """

    name: str
    classes: list[str]
    columns: list[str]
    matrix: Float64Array

    def matrix_for(self, classes: Array, columns: Sequence[str]) -> CodeMatrix:
        """The matrix with its rows and columns in the order of the model."""
        if len(self.columns) != len(columns):
            raise DataError(
                f"the header of {self.name} must name the columns of scores, {len(columns)} in all; it names "
                f"{len(self.columns)}; {FORM}"
            )
        texts = [str(label_text(label)) for label in classes.tolist()]
        rows = match_classes(texts, self.classes, "the class", f"the first column of {self.name}")
        places = match_classes(
            list(columns), self.columns, "the column of scores", f"the header of {self.name}"
        )
        return validate_code(self.matrix[rows][:, places].astype(np.int8))


def read_code_file(path: str) -> CodeFile:
    """Read a code matrix whose first column names the classes."""
    classes, columns, matrix = named_rows(path, "class", FORM)
    if not np.isin(matrix, (-1, 0, 1)).all():
        row, column = np.argwhere(~np.isin(matrix, (-1, 0, 1)))[0]
        raise DataError(
            f"the entries of {path} must be 1, -1 or 0; got {matrix[row, column]:g} for the class "
            f"{classes[row]!r} in the column {columns[column]!r}; {FORM}"
        )
    return CodeFile(path, classes, columns, matrix)


def code_table(code: CodeMatrix, classes: Sequence[str]) -> pa.Table:
    """A code matrix as the table that `read_code_file` reads."""
    columns = {f"s_{number}": code[:, number - 1].tolist() for number in range(1, code.shape[1] + 1)}
    return pa.table({"class": list(classes), **columns})
