"""A fitted model over the rows of a file: probabilities and decisions, batch by batch."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import check_option
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._late import compute as pc
from calibrant._core._names import label_text
from calibrant._core._words import option
from calibrant.files._batch import BatchReader
from calibrant.files._columns import choose_columns
from calibrant.files._model_columns import find_scores, group_column
from calibrant.files._new_columns import floats_array, labels_array
from calibrant.files._open import open_source
from calibrant.files._plain import chosen_rows
from calibrant.files._source import Source, first_twice, how_far
from calibrant.models import ScoreModel, score_model_of

if TYPE_CHECKING:
    from calibrant.passes import Progress


def apply(
    model: Any,
    where: Any,
    *,
    scores: str | Sequence[str] | None = None,
    keep: str | Sequence[str] | None = None,
    top: int | None = None,
    decide: bool = False,
    prefix: str = "p_",
    handle_invalid: str = "error",
    batch_rows: int | None = None,
    progress: "Callable[[Progress], None] | None" = None,
) -> "Applied":
    """Give the probabilities of the rows of a file, a database or a frame, batch by batch.

    Parameters
    ----------
    model : ScoreModel, calibrator, str or path
        A fitted model, or the file that holds one.
    where : Source, str, path, or frame
        Where the rows are: whatever `open_source` opens.
    scores : str or sequence of str, optional
        The columns of the scores, by name or pattern. By default those that the model was fitted to; or, if
        there are none of these names, those named like the classes of the model, with the same text before
        and after each; for a single score the column "score", or the only one.
    keep : str or sequence of str, optional
        Columns to pass on as they are, by name or pattern; they come first. By default all that are no
        scores.
    top : int, optional
        Give the so many best classes of every row, with their probabilities, and not those of all.
    decide : bool, default=False
        Whether a column "decision" is added: what costs least, or without costs the most probable class.
    prefix : str, optional
        By default ``p_``. What the names of the probabilities begin with; the label of the class follows.
    handle_invalid : {"error", "skip", "keep"}, default="error"
        What happens to a row with a missing or infinite score: an error that names the row; the row is left
        out; or it is kept, with no probabilities.
    batch_rows : int, optional
        The greatest number of rows in a batch. By default there are fewer the more columns are read.
    progress : callable, optional
        Called after every batch with a `Progress`.

    Returns
    -------
    Applied
        An iterator of batches, `pyarrow.RecordBatch`, to be used once; it counts rows, and can give them as a
        table.

    See Also
    --------
    open_sink : Where to put them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant import ScoreModel
    >>> from calibrant.files import apply
    >>> model = ScoreModel().fit([-2, -1, 1, 2], ["no", "yes", "no", "yes"])
    >>> table = pa.table({"id": [7, 8], "score": [0.0, 3.0]})
    >>> found = apply(model, table).table()
    >>> found.column_names
    ['id', 'p_no', 'p_yes']
    >>> found["p_yes"].to_numpy().round(2)
    array([0.5 , 0.73])
    """
    chain = score_model_of(model)
    names = _new_columns(chain, top, decide, prefix)
    check_option("handle_invalid", handle_invalid, ("error", "skip", "keep"))
    # The rows may come but once, so that they are not touched before the rest is right.
    source = where if isinstance(where, Source) else open_source(where, once=True)
    columns = find_scores(source, chain, scores)
    kept = kept_columns(source, keep, columns)
    refuse_twice(kept, names, source)
    return Applied(chain, source, columns, kept, names, top, decide, handle_invalid, batch_rows, progress)


def kept_columns(source: Source, keep: str | Sequence[str] | None, scores: Sequence[str]) -> list[str]:
    """The columns of the input that go into the output."""
    if keep is None:
        used = set(scores)
        return [name for name in source.columns if name not in used]
    if isinstance(keep, str):
        return list(choose_columns(source, keep).columns) if keep.strip() else []
    source.check_columns(list(keep))
    return list(keep)


def refuse_twice(kept: Sequence[str], names: Sequence[str], source: Source) -> None:
    """Refuse to write two columns of one name."""
    twice = first_twice([*kept, *names])
    if twice is not None:
        raise DataError(
            f"a column of the output must have a name of its own; {twice!r} is in {source.name} already; "
            f"leave it out with {option('keep')}"
        )


def _new_columns(model: ScoreModel, top: int | None, decide: bool, prefix: str) -> list[str]:
    if top is None:
        names = [f"{prefix}{label_text(label)}" for label in model.classes_]
    else:
        if not isinstance(top, int) or not 1 <= top <= len(model.classes_):
            raise ParameterError(
                f"{option('top')} must be a whole number from 1 to the number of classes, "
                f"{len(model.classes_)}; got {top}"
            )
        names = [name for rank in range(1, top + 1) for name in (f"top_{rank}", f"top_{rank}_probability")]
    return [*names, "decision"] if decide else names


class Applied:
    """Batches of what a model says of rows, made by `apply`.

    Attributes
    ----------
    source : Source
        Where the rows come from.
    n_rows, n_invalid : int
        Rows that were read so far, and how many of them have no usable scores.
    """

    def __init__(
        self,
        model: ScoreModel,
        source: Source,
        columns: list[str],
        kept: list[str],
        names: list[str],
        top: int | None,
        decide: bool,
        handle_invalid: str,
        batch_rows: int | None,
        progress: "Callable[[Progress], None] | None",
    ) -> None:
        self.source, self.n_rows, self.n_invalid = source, 0, 0
        self._model, self._columns, self._kept, self._names = model, columns, kept, names
        self._top, self._decide, self._invalid = top, decide, handle_invalid
        self._batch_rows, self._progress = batch_rows, progress
        self._by = group_column(model)
        if self._by is not None:
            source.check_columns([self._by])

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Read, calibrate, and give; at least one batch, which may be empty."""
        self.n_rows = self.n_invalid = 0
        by = [] if self._by is None else [self._by]
        needed = list(dict.fromkeys([*self._kept, *self._columns, *by]))
        for batch in self.source.batches(needed, self._batch_rows):
            yield self._applied(batch)
            self.n_rows += batch.num_rows
            if self._progress is not None:
                self._progress(how_far(self.source, self.n_rows, "applying"))
        if self.n_rows == 0:
            yield self._nothing()

    def table(self) -> pa.Table:
        """Give all rows at once.

        Returns
        -------
        pyarrow.Table
            The rows.
        """
        return pa.Table.from_batches(list(self))

    def _applied(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        reader = BatchReader(batch, self.source, self.n_rows, self._invalid != "error")
        matrix = reader.scores(self._columns)
        usable = reader.usable
        if usable is not None:
            self.n_invalid += int((~usable).sum())
            if self._invalid == "skip":
                batch, matrix, usable = chosen_rows(batch, usable), matrix[usable], None
        by = None if self._by is None else BatchReader(batch, self.source, 0, True).names(self._by)
        new = self._new(matrix, by)
        if usable is not None:
            new = [pc.if_else(pa.array(usable), array, pa.scalar(None, array.type)) for array in new]
        return pa.RecordBatch.from_arrays(
            [*(batch.column(name) for name in self._kept), *new], names=[*self._kept, *self._names]
        )

    def _nothing(self) -> pa.RecordBatch:
        """The columns of an output without rows."""
        text = pa.string()
        types = [
            text if name == "decision" or self._is_top_label(name) else pa.float64() for name in self._names
        ]
        fields = [*((name, text) for name in self._kept), *zip(self._names, types, strict=True)]
        return pa.RecordBatch.from_pylist([], schema=pa.schema(fields))

    def _is_top_label(self, name: str) -> bool:
        return self._top is not None and not name.endswith("_probability")

    def _new(self, scores: Float64Array, by: Array | None) -> list[pa.Array]:
        proba = self._model.proba_of(scores, by)
        if self._top is None:
            new = [floats_array(column) for column in proba.T]
        else:
            best = self._model.top_candidates(scores, self._top, by)
            new = [
                array
                for rank in range(self._top)
                for array in (labels_array(best.label[:, rank]), floats_array(best.probability[:, rank]))
            ]
        if self._decide:
            new.append(labels_array(self._model.actions_[self._model.decide_positions(proba)]))
        return new
