"""The map side: a fitted model over batches of rows."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant._core._checks import check_option
from calibrant._core._names import NamedColumns, label_text
from calibrant.files._columns import lenient_numbers, read_scores
from calibrant.files._open import open_source
from calibrant.files._plain import chosen_rows
from calibrant.files._source import Source
from calibrant.models import ScoreModel


def apply_in_batches(
    model: Any,
    where: Any,
    *,
    scores: str | Sequence[str],
    keep: Sequence[str] = (),
    prefix: str = "p_",
    decision: str | None = None,
    handle_invalid: str = "error",
    batch_rows: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Give the probabilities of rows that are read in batches.

    Parameters
    ----------
    model : ScoreModel or calibrator
        A fitted model.
    where : Source, str, path, or frame
        Where the rows are: whatever `open_source` opens.
    scores : str or sequence of str
        The columns of the scores, in the order that the model takes them in; in any order, if they have the
        names of the fit or those of the classes.
    keep : sequence of str, default=()
        Columns to pass on as they are; they come first.
    prefix : str, optional
        By default ``p_``. What the names of the probabilities begin with; the label of the class follows.
    decision : str, optional
        Name of a column for the decisions of a `ScoreModel`; by default there is none.
    handle_invalid : {"error", "skip", "keep"}, default="error"
        What happens to a row with a missing or infinite score: an error that names the row; the row is left
        out; or it is kept, with no probabilities.
    batch_rows : int, optional
        The greatest number of rows in a batch. By default there are fewer the more columns are read.

    Yields
    ------
    pyarrow.RecordBatch
        One row for each row read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant import SigmoidCalibrator
    >>> from calibrant.files import apply_in_batches
    >>> model = SigmoidCalibrator().fit([-2, -1, 1, 2], ["no", "yes", "no", "yes"])
    >>> table = pa.table({"id": [7, 8], "score": [0.0, 3.0]})
    >>> [batch] = apply_in_batches(model, table, scores="score", keep=["id"])
    >>> batch.schema.names
    ['id', 'p_no', 'p_yes']
    >>> batch.column("p_yes").to_numpy().round(4)
    array([0.5   , 0.6472])
    """
    check_option("handle_invalid", handle_invalid, ("error", "skip", "keep"))
    source = where if isinstance(where, Source) else open_source(where)
    columns = (scores,) if isinstance(scores, str) else tuple(scores)
    if isinstance(model, NamedColumns):
        columns = model.order_of_columns(columns)
    names = [*keep, *(f"{prefix}{label_text(label)}" for label in model.classes_)]
    wanted = list(dict.fromkeys([*keep, *columns]))
    source.check_columns(wanted)
    first = 0
    for batch in source.batches(wanted, batch_rows):
        yield _applied(model, batch, columns, keep, names, decision, handle_invalid, source, first)
        first += batch.num_rows


def _applied(
    model: Any,
    batch: pa.RecordBatch,
    columns: Sequence[str],
    keep: Sequence[str],
    names: list[str],
    decision: str | None,
    handle_invalid: str,
    source: Source,
    first: int,
) -> pa.RecordBatch:
    missing = None
    if handle_invalid == "error":
        matrix = read_scores(batch, columns, source, first)
    else:
        matrix = np.stack([lenient_numbers(batch.column(name), name, source) for name in columns], axis=1)
        bad = np.asarray(~np.isfinite(matrix).all(axis=1))
        if bad.any() and handle_invalid == "skip":
            batch, matrix = chosen_rows(batch, ~bad), matrix[~bad]
        elif bad.any():
            matrix, missing = np.where(bad[:, None], 0.0, matrix), bad
    proba = model.predict_proba(matrix[:, 0] if len(columns) == 1 else matrix)
    arrays = [batch.column(name) for name in keep]
    arrays += [pa.array(np.ascontiguousarray(column), mask=missing) for column in proba.T]
    if decision is not None and isinstance(model, ScoreModel):
        names = [*names, decision]
        arrays.append(pa.array(model.actions_[model.decide_positions(proba)], mask=missing))
    return pa.RecordBatch.from_arrays(arrays, names=names)
