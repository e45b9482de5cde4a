"""Rows of sheets: what is in the cells, with all that people do to sheets."""

import datetime as dt
import sys

import numpy as np
import openpyxl
import openpyxl.chart
import pyarrow as pa
import pytest

from calibrant._core._errors import DataError, MissingExtraError, ParameterError
from calibrant.files import fit, labelled, open_source
from databases import rows_of_cells, to_excel


def whole(source, columns=None, rows=None):
    return pa.Table.from_batches(list(source.batches(columns, rows)))


@pytest.fixture
def sheet(tmp_path):
    """Write rows to a workbook, and open it."""

    def opened(*rows, **options):
        return open_source(to_excel(tmp_path / "book.xlsx", rows), **options)

    return opened


def column(source, name="x"):
    return whole(source, [name]).column(0)


def refusal(call, kind=DataError):
    with pytest.raises(kind) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_sheet_gives_the_rows_that_were_written_in_every_pass(tmp_path):
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "id": [f"{n:04}" for n in range(3000)],
            "label": ["é", "b", "c"] * 1000,
            "s ü": rng.normal(size=3000).round(9),
        }
    )
    source = open_source(to_excel(tmp_path / "book.XLSX", rows_of_cells(table)))
    assert source.columns == table.column_names
    assert source.n_rows == 3000
    for rows in (None, 7):
        assert whole(source, rows=rows).equals(table)
    assert whole(source, ["s ü", "id"]).equals(table.select(["s ü", "id"]))


KINDS = {
    "numbers": ([1, 2.5, None], "double", [1.0, 2.5, None]),
    "whole numbers": ([7, 8], "double", [7.0, 8.0]),
    "text": (["a", " 01 ", None], "string", ["a", " 01 ", None]),
    "numbers as text": (["0.5", "1e-3"], "string", ["0.5", "1e-3"]),
    "truth": ([True, None, False], "bool", [True, None, False]),
    "dates": ([dt.date(2026, 3, 31), None], "date32[day]", [dt.date(2026, 3, 31), None]),
    "moments": (
        [dt.date(2026, 3, 31), dt.datetime(2026, 3, 31, 1, 2)],
        "timestamp[us]",
        [dt.datetime(2026, 3, 31), dt.datetime(2026, 3, 31, 1, 2)],
    ),
    "times": ([dt.time(1, 2, 3)], "time64[us]", [dt.time(1, 2, 3)]),
    "numbers and text": (
        [7, 0.5, "n/a", "01", 3e15],
        "string",
        ["7", "0.5", "n/a", "01", "3000000000000000"],
    ),
    "truth and numbers": ([True, 1], "string", ["true", "1"]),
    "dates and text": ([dt.date(2026, 3, 31), "later"], "string", ["2026-03-31", "later"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_has_the_type_of_its_cells(sheet, kind):
    cells, said, values = KINDS[kind]
    found = column(sheet(["row", "x"], *([n, cell] for n, cell in enumerate(cells))))
    assert (str(found.type), found.to_pylist()) == (said, values)


@pytest.mark.parametrize("late", ["x", True, dt.date(2026, 1, 1)])
def test_a_mixture_that_shows_late_is_one_from_the_first_row_on(late, monkeypatch, sheet):
    monkeypatch.setattr("calibrant.files._excel.MOST_CELLS", 10)
    found = column(sheet(["x"], *([n / 2] for n in range(40)), [late])).to_pylist()
    assert found[:4] == ["0", "0.5", "1", "1.5"]
    assert isinstance(found[-1], str)


def test_numbers_stored_as_text_are_scores_too(sheet):
    source = sheet(["label", "x"], ["no", 1], ["yes", "2.5"], ["no", " 0.5"], ["yes", 3])
    model = fit("pav", labelled(source, scores="x", label="label"))
    np.testing.assert_array_equal(model.predict_proba([0.5, 1, 2.5, 3])[:, 1].round(), [0, 0, 1, 1])


def test_labels_that_are_whole_numbers_are_whole(sheet):
    rows = labelled(sheet(["label", "x"], [0, 1], [1, 2]), scores="x", label="label")
    assert rows.classes.tolist() == [0, 1]
    assert rows.classes.dtype == np.int64


def test_empty_rows_and_columns_are_none(sheet):
    source = sheet(
        [None], [None, "x", None, "y"], [], [None, 1, None, 2], [None], [None, 3, None, ""], [""], []
    )
    assert source.columns == ["x", "y"]
    assert whole(source).to_pydict() == {"x": [1.0, 3.0], "y": [2.0, None]}


def test_formats_without_values_are_no_rows(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["x"])
    book.active.append([1])
    book.active.cell(row=900, column=5).number_format = "0.00"
    book.save(tmp_path / "book.xlsx")
    assert column(open_source(tmp_path / "book.xlsx")).to_pylist() == [1.0]


def test_rows_are_named_as_in_the_sheet(sheet):
    source = sheet([], ["label", "x"], ["a", 1], [], ["b", None])
    with pytest.raises(DataError, match=r"got an empty cell in row 5 of the sheet 'Scores'"):
        fit("pav", labelled(source, scores="x", label="label"))


def test_errors_are_refused_by_place(sheet):
    for error in ("#N/A", "#DIV/0!", "#REF!"):
        source = sheet(["label", "x"], ["a", 1], ["b", error])
        said = refusal(lambda source=source: whole(source))
        assert f"B3 of the sheet 'Scores' holds the error {error}; correct it, or empty the cell" in said
        assert "A1 of the sheet" in refusal(lambda error=error: sheet([error]).columns)


def test_a_formula_has_the_value_that_was_kept(tmp_path):
    """Excel keeps values beside formulas; openpyxl does not, so the file is changed by hand."""
    import zipfile

    to_excel(tmp_path / "plain.xlsx", [["x", "y"], [1, "=A2*2"], [3, "=A3*2"]])
    with (
        zipfile.ZipFile(tmp_path / "plain.xlsx") as plain,
        zipfile.ZipFile(tmp_path / "kept.xlsx", "w") as kept,
    ):
        for name in plain.namelist():
            part = plain.read(name)
            if name.endswith("sheet1.xml"):
                assert b"<f>A2*2</f>" in part
                part = part.replace(b"<f>A2*2</f><v></v>", b"<f>A2*2</f><v>2</v>")
                part = part.replace(b"<f>A2*2</f><v />", b"<f>A2*2</f><v>2</v>")
            kept.writestr(name, part)
    assert column(open_source(tmp_path / "kept.xlsx"), "y").to_pylist() == [2.0, None]  # the other has none


def test_merged_cells_count_once(tmp_path):
    book = openpyxl.Workbook()
    for row in (["label", "x"], ["a", 1], ["a", 2]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.save(tmp_path / "book.xlsx")
    assert column(open_source(tmp_path / "book.xlsx"), "label").to_pylist() == ["a", None]


def test_names_of_columns(sheet):
    assert sheet([1, 2.5, True, dt.date(2026, 3, 31)], [1]).columns == ["1", "2.5", "true", "2026-03-31"]
    assert "got 'x' more than once" in refusal(lambda: sheet(["x", "y", "x"]).columns)
    said = refusal(lambda: whole(sheet(["x", None, "y"], [1, None, 2], [1, 5, 2])))
    assert "with values must have a name, in row 1; that of B3 has none; name it, or empty it" in said
    said = refusal(lambda: whole(sheet(["x"], [1, 2])))
    assert "that of B2 has none" in said


def test_a_sheet_is_chosen_by_name(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["x"])
    book.create_sheet("zwei ü").append(["y"])
    book.create_chartsheet("picture").add_chart(openpyxl.chart.BarChart())
    book.save(tmp_path / "book.xlsx")
    assert open_source(tmp_path / "book.xlsx").columns == ["x"]
    source = open_source(tmp_path / "book.xlsx", sheet="zwei ü")
    assert source.columns == ["y"]
    assert list(source.batches()) == []
    missing = open_source(tmp_path / "book.xlsx", sheet="Zwei")
    said = refusal(lambda: missing.columns, ParameterError)
    assert "must have a sheet 'Zwei'; it has Sheet, zwei ü; choose one of them" in said
    book.active.delete_rows(1)
    book.save(tmp_path / "book.xlsx")
    assert "must have a row that names the columns; it is empty" in refusal(
        lambda: open_source(tmp_path / "book.xlsx").columns
    )


def test_dimensions_that_are_wrong_hide_nothing(tmp_path):
    import zipfile

    to_excel(tmp_path / "true.xlsx", [["x", "y"], [1, 2], [3, 4]])
    with (
        zipfile.ZipFile(tmp_path / "true.xlsx") as true,
        zipfile.ZipFile(tmp_path / "false.xlsx", "w") as false,
    ):
        for name in true.namelist():
            part = true.read(name)
            assert name != "xl/worksheets/sheet1.xml" or b"A1:B3" in part
            false.writestr(name, part.replace(b"A1:B3", b"A1:A1"))
    assert whole(open_source(tmp_path / "false.xlsx")).to_pydict() == {"x": [1.0, 3.0], "y": [2.0, 4.0]}


def test_what_is_no_workbook(tmp_path):
    (tmp_path / "a.xlsx").write_text("a,b\n1,2\n")
    said = refusal(lambda: open_source(tmp_path / "a.xlsx").columns)
    assert "must be whole and hold a workbook of Excel; it cannot be read: File is not a zip file" in said
    to_excel(tmp_path / "b.xlsx", [["x"], *([n] for n in range(2000))])
    content = (tmp_path / "b.xlsx").read_bytes()
    for size in (100, len(content) // 2, len(content) - 10):
        (tmp_path / "c.xlsx").write_bytes(content[:size])
        assert "cannot be read" in refusal(lambda: whole(open_source(tmp_path / "c.xlsx")))
    assert "No such file" in refusal(lambda: open_source(tmp_path / "nowhere.xlsx"))
    for given in ({"delimiter": ";"}, {"sheet": "x", "format": "csv"}):
        with pytest.raises(ParameterError, match="got a workbook"):
            open_source(tmp_path / "b.xlsx", **given)


def test_what_is_not_installed_is_named(tmp_path, monkeypatch):
    to_excel(tmp_path / "a.xlsx", [["x"]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"needs the package openpyxl; .*'calibrant\[excel\]'"):
        open_source(tmp_path / "a.xlsx")
