"""Which columns of a source are scores, labels and weights, and what they hold.

Classes are known by their text throughout: the part of a column's name that the star of a pattern stands for,
the cell of a label column, the label that a model has kept. So a label 3 of Parquet, a cell 3 of CSV and a
column "s_3" are the same class, and the order of the columns never matters.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._errors import DataError
from calibrant._core._late import compute as pc
from calibrant._core._names import label_text
from calibrant.files._plain import (
    cast,
    converting,
    entries,
    is_moment,
    is_text,
    may_be_labels,
    may_be_numbers,
    plain_type,
    plain_values,
)
from calibrant.files._source import Columns, Source, first_twice, shown

#: Text that Arrow takes for a finite number.
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
#: A fraction of a second that is none.
FRACTION = re.compile(r"\.0+(?!\d)")


@dataclass(frozen=True, slots=True)
class Chosen:
    """Columns that a pattern chose.

    Attributes
    ----------
    columns : tuple of str
        Their names, in the order of the source.
    classes : tuple of str
        For each the text that names its class: what the star stands for, or else the whole name.
    """

    columns: tuple[str, ...]
    classes: tuple[str, ...]


def choose_columns(source: Columns, pattern: str, *, without: Sequence[str | None] = ()) -> Chosen:
    """Choose columns by name or pattern.

    Parameters
    ----------
    source : Source
        Where the columns are.
    pattern : str
        A name; a pattern in which ``*`` stands for any text and ``?`` for one character; or several of them
        with commas between. A name that contains one of these characters is found first.
    without : sequence of str or None
        Columns that a pattern passes over, and that must not be named, such as that of the labels.

    Returns
    -------
    Chosen
        The columns in the order of the source, with the texts that name their classes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant.files import choose_columns, open_source
    >>> source = open_source(pa.table({"id": [7], "s_cat": [0.2], "s_dog": [0.8]}))
    >>> choose_columns(source, "s_*").classes
    ('cat', 'dog')
    """
    taken = {name for name in without if name is not None}
    there = set(source.columns)
    found: dict[str, str] = {}
    for item in [pattern] if pattern in there else [part.strip() for part in pattern.split(",")]:
        found |= _matches(source, item, there, taken)
    chosen = [name for name in source.columns if name in found]
    texts = [found[name] for name in chosen]
    twice = first_twice(texts)
    if twice is not None:
        raise DataError(
            f"every score column of {source.name} must name another class; got {twice!r} twice from "
            f"{pattern!r}; name the columns with commas between"
        )
    return Chosen(tuple(chosen), tuple(texts))


def _matches(source: Columns, item: str, there: set[str], taken: set[str]) -> dict[str, str]:
    """The columns that one name or pattern stands for, each with the text that names its class."""
    if item in there:
        if item in taken:
            raise DataError(
                f"a column must have one use; got {item!r} of {source.name} for two; choose another"
            )
        return {item: item}
    if not any(sign in item for sign in "*?"):
        source.check_columns([item])
    pieces = {"*": "(.*)", "?": "(.)"}
    expression = re.compile("".join(pieces.get(sign, re.escape(sign)) for sign in item), re.DOTALL)
    matched = {
        name: match for name in source.columns if name not in taken and (match := expression.fullmatch(name))
    }
    if not matched:
        blank = next((name for name in source.columns if expression.fullmatch(name.strip())), None)
        hint = source.hint_at_form() if blank is None else f"; {blank!r} has a blank at an end"
        raise DataError(
            f"the pattern {item!r} must match a column of {source.name}; it has {shown(source.columns)}"
            f"{hint or '; give another pattern, or the names with commas between'}"
        )
    return {name: match[1] if len(match.groups()) == 1 else name for name, match in matched.items()}


def read_numbers(column: pa.Array, name: str, source: Source, first: int) -> Float64Array:
    """A column of finite numbers."""
    values = lenient_numbers(column, name, source)
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argmin(finite))
        raise _no_number(name, source, column[row].as_py(), first + row)
    return values


def lenient_numbers(column: pa.Array, name: str, source: Source) -> Float64Array:
    """Numbers of a column, and NaN where there is none."""
    if not may_be_numbers(column.type):
        raise DataError(
            f"the column {name!r} of {source.name} must hold numbers; it holds {column.type}; choose or make "
            "a column of numbers"
        )
    with converting(column.type, name, source.name):
        values = plain_values(column)
        numbers = (
            _parsed(values, source.decimal) if is_text(values.type) else values.cast(pa.float64(), safe=False)
        )
    return np.asarray(entries(numbers), dtype=np.float64)


def _parsed(text: pa.Array, decimal: str) -> pa.Array:
    """Text as numbers, with spaces around them or without; nothing for what is no number."""
    if decimal == ",":  # a point is then no part of a number: 1.500 may mean either
        text = pc.replace_substring(pc.replace_substring(text, ".", "_"), ",", ".")
    try:
        return cast(text, pa.float64())
    except pa.ArrowInvalid:
        trimmed = pc.utf8_trim_whitespace(text)
        is_one = pc.match_substring_regex(trimmed, NUMBER)
        return pc.if_else(is_one, trimmed, pa.scalar(None, trimmed.type)).cast(pa.float64())


def _no_number(name: str, source: Source, value: object, row: int) -> DataError:
    if value is None or value == "":
        got = "an empty cell"
    else:
        got = repr(value) if isinstance(value, str) else f"{value}"
    comma = (
        "; write decimals with a point, or say that they have a comma"
        if isinstance(value, str) and re.fullmatch(r"-?\d+,\d+", value)
        else ""
    )
    return DataError(
        f"the column {name!r} of {source.name} must hold finite numbers; got {got} in {source.place(row)}"
        + (comma or "; correct it, or drop that row")
    )


def read_scores(batch: pa.RecordBatch, columns: Sequence[str], source: Source, first: int) -> Float64Array:
    """The score columns of a batch as one matrix of finite numbers, columns in the order given."""
    scores = np.empty((batch.num_rows, len(columns)))
    for place, name in enumerate(columns):
        scores[:, place] = read_numbers(batch.column(name), name, source, first)
    return scores


def label_codes(column: pa.Array, name: str, source: Columns) -> tuple[IntArray, list[str | None]]:
    """The labels of a batch by their numbers."""
    return _numbered(column, name, source.name)


def _numbered(column: pa.Array, name: str, where: str) -> tuple[IntArray, list[str | None]]:
    if not may_be_labels(column.type):
        raise DataError(
            f"the column {name!r} of {where} must hold text, numbers, truth values, dates or times; it "
            f"holds {column.type}; choose or make another column"
        )
    with converting(column.type, name, where):
        encoded = column if pa.types.is_dictionary(column.type) else plain_values(column).dictionary_encode()
        texts = _texts(plain_values(encoded.dictionary))
    indices = encoded.indices.cast(pa.int64())
    return entries(indices.fill_null(-1) if indices.null_count else indices).astype(np.intp), texts


def _texts(labels: pa.Array) -> list[str | None]:
    """The text of every label."""
    if is_moment(labels.type):
        # Python knows neither billionths of a second nor years beyond 9999.
        return [text and FRACTION.sub("", text) for text in labels.cast(pa.string()).to_pylist()]
    if is_text(labels.type):
        return [text or None for text in labels.to_pylist()]
    return [label_text(label) for label in labels.to_pylist()]


def read_label_texts(column: pa.Array, name: str, source: Source, first: int) -> tuple[IntArray, list[str]]:
    """The labels of a batch: for every row the number of its text, and the texts."""
    codes, texts = label_codes(column, name, source)
    unusable = [number for number, text in enumerate(texts) if text is None]
    empty = np.isin(codes, [-1, *unusable]) if unusable else codes < 0
    if empty.any():
        place = source.place(first + int(np.argmax(empty)))
        raise DataError(
            f"the column {name!r} of {source.name} must hold a label in every row; got none in {place}; drop "
            "that row"
        )
    return codes, [text or "" for text in texts]


def distinct_texts(column: pa.Array, name: str, where: str) -> list[str]:
    """The texts of labels, each once, in the order of their first rows; missing ones have none."""
    return texts_that_occur(*_numbered(column, name, where))


def texts_that_occur(codes: IntArray, texts: Sequence[str | None]) -> list[str]:
    """The labels that rows have, in the order of their first rows; a dictionary may hold others."""
    n_rows = len(codes)
    first_row = np.full(len(texts) + 1, n_rows)  # the last is for rows without a label
    first_row[codes[::-1]] = np.arange(n_rows)[::-1]
    order = np.argsort(first_row[:-1], kind="stable")
    found = (texts[code] for code in order if first_row[code] < n_rows)
    return list(dict.fromkeys(text for text in found if text is not None))


def label_values(texts: Sequence[str], column_type: pa.DataType, as_text: bool) -> Array:
    """The labels as values of the type that the source gives them."""
    column_type = plain_type(column_type)
    if pa.types.is_boolean(column_type) and set(texts) <= {"true", "false"}:
        return np.array([text == "true" for text in texts])
    counted = as_text or pa.types.is_integer(column_type) or pa.types.is_floating(column_type)
    if counted and all(re.fullmatch(r"0|-?[1-9]\d{0,17}", text) for text in texts):
        return np.array([int(text) for text in texts], dtype=np.int64)
    return np.array(list(texts), dtype=np.str_)


def match_classes(wanted: Sequence[str], there: Sequence[str], what: str, where: str) -> list[int]:
    """For every wanted class the place of its text among those that are there."""
    place_of = place_finder(there)
    found = []
    for text in wanted:
        place = place_of(text)
        if place < 0:
            close = get_close_matches(text, there, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise DataError(f"{what} {text!r} must be among {where}; those are {shown(there)}{hint}")
        found.append(place)
    return found


def place_finder(there: Sequence[str]) -> Callable[[str], int]:
    """Give what finds the place of a class among these texts; -1 for none."""
    places = {text: place for place, text in enumerate(there)}
    loose = {_truth(text): place for place, text in enumerate(there)}
    return lambda text: places.get(text, loose.get(_truth(text), -1))


def _truth(text: str) -> str:
    return text.lower() if text.lower() in ("true", "false") else text
