"""Sheets of Excel workbooks, by openpyxl, which unlike faster readers tells errors from empty cells.

The first row that is not empty names the columns. Rows that are empty are no rows. Numbers are doubles, as
they are in Excel; a moment at midnight is a date; of a formula there is the value that Excel has kept; of
merged cells the first has the value, and the others are empty.
"""

import datetime as dt
import warnings
import weakref
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from calibrant._core._errors import CalibrantError, DataError, MissingExtraError, ParameterError
from calibrant.files._answer import CellSource
from calibrant.files._cells import text_of
from calibrant.files._plain import reason_of
from calibrant.files._source import shown

#: The suffixes of workbooks.
SUFFIXES = (".xlsx", ".xlsm")
#: Cells that are in memory as objects of Python.
MOST_CELLS = 1 << 18
#: Marks of cells.
ERROR, DATE = "e", "d"


class ExcelSource(CellSource):
    """A sheet of a workbook.

    Parameters
    ----------
    path : str
        The workbook.
    sheet : str, optional
        The name of the sheet; by default the first.
    """

    def __init__(self, path: str, sheet: str | None) -> None:
        try:
            import openpyxl  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("openpyxl", "excel") from error
        try:
            Path(path).open("rb").close()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise DataError(f"{path} must be a file that can be read; {why}; check its name") from error
        super().__init__(path, "a workbook of Excel")
        self._openpyxl: Any = openpyxl
        self._sheet = sheet
        self._title = ""
        self._rows: Iterator[tuple[int, dict[int, Any]]] = iter(())
        self._named: list[int] = []
        self._numbers = array("Q")
        self._first = 1

    def place(self, row: int) -> str:
        """Say where a row is, by its number in the sheet."""
        return f"row {self._numbers[row]} of the sheet {self._title!r}"

    def _names(self) -> list[str]:
        try:
            sheet = self._open()
            self._rows = _filled(sheet)
            with warnings.catch_warnings(action="ignore"):
                number, first = next(self._rows, (1, {}))
        except CalibrantError:
            raise
        except Exception as error:  # of many kinds, one for each part of a workbook
            raise self._broken(error) from error
        names = {place: str(text_of(self._value(cell))) for place, cell in first.items()}
        if not names:
            raise DataError(
                f"the sheet {self._title!r} of {self.name} must have a row that names the columns; it is "
                "empty; choose another sheet"
            )
        self._named, self._first = list(names), number
        return list(names.values())

    def _open(self) -> Any:
        """Open the sheet."""
        with warnings.catch_warnings(action="ignore"):  # of colours and the like, which nobody needs here
            book = self._openpyxl.load_workbook(self.name, read_only=True, data_only=True)
        weakref.finalize(self, book.close)
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if not sheets:
            raise DataError(f"{self.name} must have a sheet of cells; it has none; choose another workbook")
        if self._sheet is not None and self._sheet not in sheets:
            raise ParameterError(
                f"{self.name} must have a sheet {self._sheet!r}; it has {shown(list(sheets))}; choose one of "
                "them"
            )
        self._title = self._sheet or next(iter(sheets))
        sheet = sheets[self._title]
        sheet.reset_dimensions()  # which some programs write wrongly
        return sheet

    def _next(self) -> pa.RecordBatch | None:
        rows = []
        try:
            with warnings.catch_warnings(action="ignore"):
                for number, cells in islice(self._rows, max(1, MOST_CELLS // len(self._named))):
                    rows.append(self._row(number, cells))
        except CalibrantError:
            raise
        except Exception as error:
            raise self._broken(error) from error
        return self._batch(rows) if rows else None

    def _row(self, number: int, cells: dict[int, Any]) -> list[object]:
        row = [self._value(cells.pop(place, None)) for place in self._named]
        for cell in cells.values():
            raise DataError(
                f"every column of {self.name} with values must have a name, in row {self._first}; that of "
                f"{cell.coordinate} has none; name it, or empty it"
            )
        self._numbers.append(number)
        return row

    def _value(self, cell: Any) -> object:
        """What is in a cell, in the types that we know."""
        if cell is None:
            return None
        value = cell.value
        if cell.data_type == ERROR or (cell.data_type == DATE and isinstance(value, str)):
            raise DataError(
                f"the cells of {self.name} must hold values; {cell.coordinate} of the sheet {self._title!r} "
                f"holds the error {value}; correct it, or empty the cell"
            )
        if isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, dt.datetime) and value.time() == dt.time():
            return value.date()
        return value

    def _broken(self, error: Exception) -> DataError:
        return DataError(
            f"{self.name} must be whole and hold {self.holds}; it cannot be read: {reason_of(error)}; save "
            "it again, as .xlsx"
        )


def _filled(sheet: Any) -> Iterator[tuple[int, dict[int, Any]]]:
    """The rows that are not empty: the number of each, and by their columns its cells that are not empty."""
    for row in sheet.iter_rows():
        cells = {cell.column: cell for cell in row if cell.value is not None and cell.value != ""}
        if cells:
            yield next(iter(cells.values())).row, cells
