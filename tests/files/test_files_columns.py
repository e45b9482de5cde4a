"""Columns by name and pattern; numbers and labels out of whatever a file holds."""

import decimal
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.files import choose_columns, open_source
from calibrant.files._columns import (
    label_values,
    match_classes,
    read_label_texts,
    read_numbers,
    read_scores,
)

SOURCE = open_source(
    pa.table({name: pa.array([], pa.float64()) for name in ["id", "s_a", "s_b", "y", "s_*", "p,q", "s_10"]})
)


@pytest.mark.parametrize(
    ("pattern", "columns", "classes"),
    [
        ("s_?", ["s_a", "s_b", "s_*"], ["a", "b", "*"]),
        ("s_*", ["s_*"], ["s_*"]),  # a name goes before a pattern
        ("s*", ["s_a", "s_b", "s_*", "s_10"], ["_a", "_b", "_*", "_10"]),
        ("*_1*", ["s_10"], ["s_10"]),  # two stars leave it open which one names the class
        ("s_b,s_a", ["s_a", "s_b"], ["s_a", "s_b"]),
        ("p,q", ["p,q"], ["p,q"]),
        ("y, s_a", ["s_a", "y"], ["s_a", "y"]),
    ],
)
def test_columns_by_name_or_pattern_in_the_order_of_the_file(pattern, columns, classes):
    chosen = choose_columns(SOURCE, pattern)
    assert (list(chosen.columns), list(chosen.classes)) == (columns, classes)


def test_a_pattern_passes_over_what_has_another_use():
    chosen = choose_columns(SOURCE, "*", without=["y", None, "id"])
    assert chosen.columns == ("s_a", "s_b", "s_*", "p,q", "s_10")
    with pytest.raises(DataError, match="a column must have one use; got 'y' of the table for two"):
        choose_columns(SOURCE, "y", without=["y"])


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "t_*",
            r"the pattern 't_\*' must match a column of the table; it has id, .*; give another pattern, or",
        ),
        ("s_a,s_c", "the table must have a column 's_c'; it has id, s_a, .*; did you mean"),
        ("s*,*0", "must name another class|"),
    ],
)
def test_columns_that_are_not_there(pattern, message):
    if message.endswith("|"):
        source = open_source(pa.table({"s_a": [1.0], "t_a": [1.0]}))
        with pytest.raises(DataError, match="must name another class; got 'a' twice from 's_.,t_.'"):
            choose_columns(source, "s_?,t_?")
        return
    with pytest.raises(DataError, match=message):
        choose_columns(SOURCE, pattern)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.5, -2.0]),
        pa.array([1.5, -2.0], pa.float32()),
        pa.array(["1.5", " -2 "]),
        pa.array(["1.5", "-2"]).dictionary_encode(),
        pa.array([decimal.Decimal("1.5"), decimal.Decimal(-2)]),
    ],
)
def test_numbers_of_any_type(column):
    np.testing.assert_array_equal(read_numbers(column, "s", SOURCE, 0), [1.5, -2.0])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["1", "high"]), r"'s' of the table must hold finite numbers; got 'high' in row 12 \(the"),
        (pa.array(["1", ""]), "got an empty cell in row 12"),
        (pa.array(["1", None]), "got an empty cell in row 12"),
        (pa.array([1.0, None]), "got an empty cell in row 12"),
        (pa.array([None, None]), "got an empty cell in row 11"),
        (pa.array(["1", "NaN"]), "got 'NaN' in row 12"),
        (pa.array([1.0, np.inf]), "got inf in row 12"),
        (pa.array(["1", "1e999"]), "got '1e999' in row 12"),
        (pa.array(["1", "0,5"]), "got '0,5' in row 12 .*write decimals with a point"),
        (pa.array([True, False]), "must hold numbers; it holds bool"),
        (pa.array([[1.0]]), "must hold numbers; it holds list"),
    ],
)
def test_what_is_no_number_is_named_with_its_row(column, message):
    with pytest.raises(DataError, match=message):
        read_numbers(column, "s", SOURCE, 10)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_written_by_python_are_read_to_the_last_bit(values):
    np.testing.assert_array_equal(
        read_numbers(pa.array([repr(value) for value in values]), "s", SOURCE, 0), values
    )


def test_a_matrix_has_the_columns_in_the_order_asked_for():
    batch = pa.record_batch({"a": [1.0, 2.0], "b": ["3", "4"]})
    np.testing.assert_array_equal(read_scores(batch, ["b", "a"], SOURCE, 0), [[3, 1], [4, 2]])


@pytest.mark.parametrize(
    ("column", "texts", "values"),
    [
        (pa.array(["01", "NA", "true"]), ["01", "NA", "true"], np.array(["01", "NA", "true"])),
        (pa.array([3, 0, 3], pa.int8()), ["3", "0"], np.array([3, 0])),
        (pa.array([1 << 40, -2]), [str(1 << 40), "-2"], np.array([1 << 40, -2])),
        (pa.array([1.0, 0.0]), ["1", "0"], np.array([1, 0])),
        (pa.array([True, False]), ["true", "false"], np.array([True, False])),
        (pa.array(["1", "0"]), ["1", "0"], np.array(["1", "0"])),
        (pa.array(["b", "a"]).dictionary_encode(), ["b", "a"], np.array(["b", "a"])),
    ],
)
def test_labels_keep_text_and_type(column, texts, values):
    codes, found = read_label_texts(column, "y", SOURCE, 0)
    assert found == texts
    assert [found[code] for code in codes] == [label_text(value) for value in column.to_pylist()]
    back = label_values(found, column.type, as_text=False)
    assert back.dtype.kind == values.dtype.kind
    np.testing.assert_array_equal(back, values)
    assert [label_text(value) for value in back] == texts


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["0", "1"], "i"),
        (["-1", "1"], "i"),
        (["01", "1"], "U"),
        (["1.0", "0.0"], "U"),
        (["NA", "1"], "U"),
        (["-0", "1"], "U"),
        (["99999999999999999999", "1"], "U"),
    ],
)
def test_labels_of_csv_are_whole_numbers_only_if_all_are_written_so(texts, kind):
    values = label_values(texts, pa.string(), as_text=True)
    assert values.dtype.kind == kind
    assert [label_text(value) for value in values] == texts


@pytest.mark.parametrize(
    "column", [pa.array(["a", ""]), pa.array(["a", None]), pa.array([1.0, float("nan")])]
)
def test_a_missing_label_is_named_with_its_row(column):
    message = r"'y' of the table must hold a label in every row; got none in row 7 \("
    with pytest.raises(DataError, match=message):
        read_label_texts(column, "y", SOURCE, 5)


def test_classes_are_matched_by_text():
    assert match_classes(["b", "a"], ["a", "c", "b"], "the class", "the columns") == [2, 0]
    assert match_classes(["True", "false"], ["false", "true"], "the class", "the columns") == [1, 0]
    message = "the class 'sapm' must be among the columns; those are ham, spam; did you mean 'spam'"
    with pytest.raises(DataError, match=message):
        match_classes(["sapm"], ["ham", "spam"], "the class", "the columns")


def test_whole_numbers_of_any_type_are_one_class():
    labels = [3, 3.0, np.float32(3), np.int8(3), Decimal("3.00"), "3"]
    assert {label_text(label) for label in labels} == {"3"}
    assert label_text(Decimal("0.50")) == "0.50"
    assert label_text(Decimal("NaN")) is label_text(float("inf")) is None


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("y, s_a, s_b", "it has y, ' s_a', ' s_b'; ' s_a' has a blank at an end"),
        ("y:s_a:s_b", "it has y:s_a:s_b; if another character separates its cells, name that by delimiter"),
        ("1,2,3", "the first line must name the columns, and here it holds numbers"),
    ],
)
def test_what_is_wrong_with_a_first_line_is_said(tmp_path, header, message):
    (tmp_path / "x.csv").write_text(f"{header}\n1,2,3\n")
    with pytest.raises(DataError, match=re.escape(message)):
        choose_columns(open_source(tmp_path / "x.csv"), "s_*")
