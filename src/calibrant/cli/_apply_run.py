"""Turn scores into probabilities, batch by batch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import label_text
from calibrant.cli._progress import watched
from calibrant.cli._show import count
from calibrant.files import (
    BatchReader,
    Source,
    choose_columns,
    chosen_rows,
    first_twice,
    open_sink,
    open_source,
)

if TYPE_CHECKING:
    from calibrant.models import ScoreModel

#: What stands before the class in the name of a column of probabilities.
PREFIX = "p_"


def run(
    *,
    model: str,
    scores_file: str,
    scores: str | None,
    top: int | None,
    with_decision: bool,
    keep: str | None,
    out: str,
    form: dict[str, Any],
    out_format: str | None,
    invalid: str,
) -> None:
    """Read, calibrate, write."""
    source = open_source(scores_file, **form, once=True)
    source.check_columns([])  # scikit-learn takes its time to load; a bad file is known before
    from calibrant.cli._score_columns import find_scores

    chain = load_chain(model)
    columns = find_scores(source, chain, scores, model)
    kept = kept_columns(source, keep, columns)
    names = _new_columns(chain, top, with_decision)
    refuse_twice(kept, names, source)
    work = _Work(chain, columns, kept, names, top, with_decision, source, invalid)
    with open_sink(out, format=out_format) as sink:
        first = 0
        needed = list(dict.fromkeys([*kept, *columns]))
        for batch in watched(source.batches(needed), source, "applying"):
            sink.write(work.output(batch, first))
            first += batch.num_rows
        if first == 0:
            sink.write(work.nothing())
    if work.n_invalid:
        what = "left out" if invalid == "skip" else "given no probabilities"
        some = f"{count(work.n_invalid)} of {count(first)} rows"
        click.echo(f"calibrant: warning: {some} were {what}", err=True)


def load_chain(path: str) -> "ScoreModel":
    """Load a model, or a calibrator alone as a model; refuse what gives no probabilities."""
    from calibrant.models import ScoreModel, load

    model = load(path)
    if isinstance(model, ScoreModel):
        return model
    if hasattr(model, "predict_proba"):
        return ScoreModel.from_fitted(model)
    raise DataError(
        f"{path} must hold a model that turns scores into probabilities; it holds a {type(model).__name__}; "
        "make one with calibrant fit"
    )


def kept_columns(source: Source, keep: str | None, scores: Sequence[str]) -> list[str]:
    """The columns of the input that go into the output."""
    if keep is None:
        used = set(scores)
        return [name for name in source.columns if name not in used]
    return list(choose_columns(source, keep).columns) if keep.strip() else []


def refuse_twice(kept: Sequence[str], names: Sequence[str], source: Source) -> None:
    """Refuse to write two columns of one name."""
    twice = first_twice([*kept, *names])
    if twice is not None:
        raise DataError(
            f"a column of the output must have a name of its own; {twice!r} is in {source.name} already; "
            "leave it out with --keep"
        )


def _new_columns(model: "ScoreModel", top: int | None, with_decision: bool) -> list[str]:
    if top is None:
        names = [f"{PREFIX}{label_text(label)}" for label in model.classes_]
    else:
        if top > len(model.classes_):
            raise ParameterError(
                f"--top must be at most the number of classes, {len(model.classes_)}; got {top}"
            )
        names = [name for rank in range(1, top + 1) for name in (f"top_{rank}", f"top_{rank}_probability")]
    return [*names, "decision"] if with_decision else names


class _Work:
    """What is done with every batch."""

    def __init__(
        self,
        model: "ScoreModel",
        columns: list[str],
        kept: list[str],
        names: list[str],
        top: int | None,
        with_decision: bool,
        source: Source,
        invalid: str,
    ) -> None:
        from calibrant.models import form_of_scores

        self._model = model
        self._columns = columns
        self._kept = kept
        self._names = names
        self._top = top
        self._with_decision = with_decision
        self._source = source
        self._invalid = invalid
        self.n_invalid = 0
        self._alone = form_of_scores(model.calibrator_) == "one_per_row"

    def output(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """The rows of the output."""
        reader = BatchReader(batch, self._source, first, self._invalid != "error")
        matrix = reader.scores(self._columns)
        usable = reader.usable
        if usable is not None:
            self.n_invalid += int((~usable).sum())
            if self._invalid == "skip":
                batch, matrix, usable = chosen_rows(batch, usable), matrix[usable], None
        new = self._new(matrix[:, 0] if self._alone else matrix)
        if usable is not None:
            new = [pc.if_else(pa.array(usable), array, pa.scalar(None, array.type)) for array in new]
        return pa.RecordBatch.from_arrays(
            [*(batch.column(name) for name in self._kept), *new], names=[*self._kept, *self._names]
        )

    def nothing(self) -> pa.Table:
        """The columns of an output without rows."""
        text = pa.string()
        types = [
            text if name == "decision" or _is_top_label(name, self._top) else pa.float64()
            for name in self._names
        ]
        fields = [*((name, text) for name in self._kept), *zip(self._names, types, strict=True)]
        return pa.schema(fields).empty_table()

    def _new(self, scores: Float64Array) -> list[pa.Array]:
        proba = np.asarray(self._model.predict_proba(scores))
        if self._top is None:
            new = [pa.array(np.ascontiguousarray(column)) for column in proba.T]
        else:
            best = self._model.top_candidates(scores, self._top)
            new = [
                array
                for rank in range(self._top)
                for array in (labels_array(best.label[:, rank]), pa.array(best.probability[:, rank]))
            ]
        if self._with_decision:
            new.append(labels_array(self._model.actions_[self._model.decide_positions(proba)]))
        return new


def _is_top_label(name: str, top: int | None) -> bool:
    return top is not None and not name.endswith("_probability")


def labels_array(labels: Array) -> pa.Array:
    """Labels as a column: of their own type, or as text where they have several."""
    if labels.dtype.kind == "O":
        texts: list[Any] = [label_text(label) for label in labels.tolist()]
        return pa.array(texts, pa.string())
    return pa.array(labels.tolist() if labels.dtype.kind == "U" else labels)
