"""What a body may hold: rows of scores, outcomes; as JSON, rows also as an Arrow stream."""

import struct
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Float64Array
from calibrant._core._checks import shown
from calibrant._core._errors import DataError, MissingExtraError
from calibrant._core._names import label_text
from calibrant.models import ScoreModel

try:
    import orjson
except ImportError as error:
    raise MissingExtraError("orjson", "serve") from error

#: The media type of Arrow's streams.
ARROW = "application/vnd.apache.arrow.stream"
#: The column of an Arrow stream that holds the keys of rows.
KEY = "key"


@dataclass(frozen=True, slots=True)
class Asked:
    """Rows that a client asks about.

    Attributes
    ----------
    scores : ndarray of shape (n,) or (n, l)
        The scores, not yet checked by the model.
    keys : list or None
        Names of the rows, by which outcomes find them later.
    """

    scores: Float64Array
    keys: list[str | int] | None


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What came of rows."""

    keys: list[str | int]
    labels: list[Any]


def score_names(model: ScoreModel) -> list[str] | None:
    """The names of the scores of a row, in the order of the model; None where they have none."""
    if hasattr(model, "feature_names_in_"):
        return [str(name) for name in model.feature_names_in_]
    columns = None if model.summary_ is None else model.summary_.score_columns
    if columns is not None:
        return list(columns)
    labels = model._column_labels()
    if labels is None or _n_scores(model) != len(labels):
        return None
    return [str(label_text(label)) for label in labels]


def read_rows(body: bytes, model: ScoreModel) -> Asked:
    """The rows of a JSON body."""
    plain = _parsed(body)
    keys = None
    if isinstance(plain, dict):
        _check_fields(plain, ("rows",), ("keys",))
        keys = plain.get("keys")
        plain = plain["rows"]
    if not isinstance(plain, list):
        raise DataError(f"rows must be a list; got {shown(plain)}")
    scores = _scores(plain, model)
    return Asked(scores, None if keys is None else _keys(keys, len(plain)))


def read_outcomes(body: bytes, model: ScoreModel) -> Outcomes:
    """The keys and labels of a JSON body; labels are known by their text."""
    plain = _parsed(body)
    if not isinstance(plain, dict):
        raise DataError(f"outcomes must be an object with keys and labels; got {shown(plain)}")
    _check_fields(plain, ("keys", "labels"), ())
    labels = plain["labels"]
    if not isinstance(labels, list):
        raise DataError(f"labels must be a list; got {shown(labels)}")
    known = {label_text(label): label for label in model.classes_.tolist()}
    found = [known.get(_text_of(label)) for label in labels]
    if None in found:
        row = found.index(None)
        names = ", ".join(map(repr, known))
        raise DataError(f"a label must be one of {names}; got {shown(labels[row])} in row {row}")
    return Outcomes(_keys(plain["keys"], len(labels)), found)


def read_stream(body: bytes) -> tuple[pa.Table, list[str | int] | None]:
    """The rows of an Arrow stream, and their keys."""
    try:
        _refuse_compressed(body)
        with pa.ipc.open_stream(body) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, struct.error, TypeError, ValueError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        reason = " ".join(str(error).split())
        raise DataError(f"the body must be a stream of Arrow; {reason:.200}") from error
    if KEY not in table.column_names:
        return table, None
    return table.drop_columns([KEY]), _keys(table[KEY].to_pylist(), table.num_rows)


def columns_of(table: pa.Table, model: ScoreModel) -> list[str]:
    """The columns of the scores: by name; where they have none, or there is only one, all."""
    wanted, there = score_names(model), list(table.column_names)
    if wanted is not None and set(wanted) <= set(there):
        return wanted
    if len(there) == _n_scores(model) and (wanted is None or len(wanted) == 1):
        return there
    needed = f"{_n_scores(model)} columns" if wanted is None else f"the columns {', '.join(wanted)}"
    raise DataError(f"the stream must have {needed}; it has {', '.join(map(repr, there)) or 'none':.200}")


def written(content: object) -> bytes:
    """JSON of plain data and arrays; what is no number is null."""
    return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise DataError(f"the body must be JSON; {error}") from error


def _check_fields(plain: dict[str, Any], needed: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for name in needed:
        if name not in plain:
            raise DataError(f"the body must have the field {name!r}; it is missing")
    other = next((name for name in plain if name not in needed + allowed), None)
    if other is not None:
        names = ", ".join(map(repr, needed + allowed))
        raise DataError(f"the fields of the body must be among {names}; got {shown(other)}")


def _keys(plain: object, n_rows: int) -> list[str | int]:
    if not isinstance(plain, list) or not set(map(type, plain)) <= {str, int}:
        raise DataError(f"keys must be a list of texts or whole numbers; got {shown(plain)}")
    if len(plain) != n_rows:
        raise DataError(f"there must be one key per row, {n_rows} in all; got {len(plain)}")
    return plain


def _n_scores(model: ScoreModel) -> int:
    return int(getattr(model.calibrator_, "n_scores", len(model.classes_)))


def _scores(rows: list[Any], model: ScoreModel) -> Float64Array:
    """Numbers alone, or lists of them, or objects that name them, as an array of the model's form."""
    n_scores = _n_scores(model)
    kinds = set(map(type, rows))
    if kinds == {dict}:
        rows = _by_name(rows, model)
    elif n_scores == 1 and kinds <= {int, float}:
        rows = [[score] for score in rows]
    elif not kinds <= {list}:
        odd = next(row for row, each in enumerate(rows) if type(each) is not list)
        raise DataError(f"a row must be {_form(n_scores)}; got {shown(rows[odd])} in row {odd}")
    lengths = set(map(len, rows))
    if not lengths <= {n_scores}:
        odd = next(row for row, each in enumerate(rows) if len(each) != n_scores)
        raise DataError(f"a row must be {_form(n_scores)}; got {len(rows[odd])} entries in row {odd}")
    flat = list(chain.from_iterable(rows))  # which NumPy reads much faster than rows
    if not set(map(type, flat)) <= {int, float}:
        row, score = next(
            (row, score) for row, each in enumerate(rows) for score in each if type(score) not in (int, float)
        )
        raise DataError(f"scores must be numbers; got {shown(score)} in row {row}")
    scores = np.array(flat, dtype=np.float64).reshape(len(rows), n_scores)
    return scores[:, 0] if getattr(model.calibrator_, "takes", "score") == "score" else scores


def _by_name(rows: list[dict[str, Any]], model: ScoreModel) -> list[list[Any]]:
    names = score_names(model)
    if names is None:
        raise DataError("rows must be lists; the columns of this model have no names")
    try:
        return [[row[name] for name in names] for row in rows]
    except KeyError:
        row, name = next((n, name) for n, each in enumerate(rows) for name in names if name not in each)
        raise DataError(f"a row must have the scores {', '.join(names)}; row {row} lacks {name!r}") from None


def _form(n_scores: int) -> str:
    return "one score" if n_scores == 1 else f"a list of {n_scores} scores"


def _text_of(label: object) -> str | None:
    return label_text(label) if isinstance(label, str | int | float | bool) else None


def _refuse_compressed(body: bytes) -> None:
    """A small body must not become a huge table: what is compressed says of itself how much it will be.

    The flag is the fourth field of the record batch in the head of a message, see Arrow's format.
    """
    for message in pa.ipc.MessageReader.open_stream(body):
        head = message.metadata.to_pybytes()
        (root,) = struct.unpack_from("<I", head)
        kind = _field(head, root, 1)
        if kind is None or head[kind] not in (2, 3):  # a dictionary, whose batch is its second field; a batch
            continue
        batch = _table(head, root, 2)
        if batch is not None and head[kind] == 2:
            batch = _table(head, batch, 1)
        if batch is not None and _field(head, batch, 3) is not None:
            raise DataError("the buffers of the stream must not be compressed; they are; write it plain")


def _field(head: bytes, table: int, number: int) -> int | None:
    """Where a field of a table of FlatBuffers stands; None if it is absent."""
    (back,) = struct.unpack_from("<i", head, table)
    entry = table - back + 4 + 2 * number
    (length,) = struct.unpack_from("<H", head, table - back)
    if 4 + 2 * number >= length:
        return None
    (offset,) = struct.unpack_from("<H", head, entry)
    return table + offset if offset else None


def _table(head: bytes, table: int, number: int) -> int | None:
    place = _field(head, table, number)
    return None if place is None else place + int(struct.unpack_from("<I", head, place)[0])
