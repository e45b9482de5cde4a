"""A log of forecasts and what came, watched in one pass."""

import json
import os
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import check_option
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import label_text
from calibrant._core._whole_files import write_whole
from calibrant._core._words import option
from calibrant.files._batch import BatchReader, as_proba
from calibrant.files._classes import ClassesOf, Numbered, choose_scores, sorted_texts, text_of
from calibrant.files._columns import label_codes, label_values, match_classes, texts_that_occur
from calibrant.files._cost_file import read_cost_file
from calibrant.files._labelled import SAMPLE_ROWS, _Gathered
from calibrant.files._log import UNKNOWN, LateLabels, LogColumns, LogReader, LogRows
from calibrant.files._model_columns import find_scores
from calibrant.files._open import open_source
from calibrant.files._source import FEW_ROWS, Source, how_far
from calibrant.models import ScoreModel, refuse_groups, score_model_of
from calibrant.monitor import Alarm, CalibrationMonitor
from calibrant.passes import Progress, Rows

#: Parameters of a monitor that a log is watched with; those of a state stay.
PARAMETERS = (
    "bound",
    "run_length",
    "alpha",
    "window",
    "n_windows",
    "group_alpha",
    "max_groups",
    "max_waiting",
)
#: Seconds between two times that the state of a log without end is saved.
PAUSE = 5.0


def monitor(
    where: Any,
    *,
    scores: str | Sequence[str] | None = None,
    label: str | None = None,
    time: str | None = None,
    by: str | Sequence[str] = (),
    key: str | None = None,
    weight: str | None = None,
    model: Any = None,
    classes: Sequence[object] | None = None,
    positive: object = None,
    state: str | os.PathLike[str] | CalibrationMonitor | None = None,
    grown: bool = False,
    reference: Any = None,
    costs: str | None = None,
    any_costs: bool = False,
    handle_invalid: str = "error",
    batch_rows: int | None = None,
    on_alarm: Callable[[CalibrationMonitor, Alarm], object] | None = None,
    progress: Callable[[Progress], None] | None = None,
    **parameters: Any,
) -> "Watched":
    """Watch whether the forecasts of a log stay calibrated, in one pass over its rows.

    Parameters
    ----------
    where : Source, str, path, or frame
        The log: whatever `open_source` opens, or what `follow` gives. Its rows are in time order.
    scores : str or sequence of str, optional
        The columns of the probabilities, one per class or that of the positive of two, by name or pattern;
        with a `model`, of its scores. It must be given unless there is a model.
    label : str, optional
        The column of what came; empty where that is not known (yet).
    time : str, optional
        The column of the times, dates or numbers, which must not fall. By default rows are counted.
    by : str or sequence of str, optional
        Columns of groups. Every value of each, and every pair of values of two, is watched for itself.
    key : str, optional
        A column of names of rows. A row without label then waits for it; a row with a key and a label and
        without scores is the label of the row with this key.
    weight : str, optional
        The column of weights, at most the greatest of the reference, or 1.
    model : ScoreModel, calibrator, str or path, optional
        What makes probabilities of the scores; or the file that it was saved in.
    classes, positive : optional
        The labels of the columns, and of a single one the label it is for, as in `labelled`.
    state : str, path or CalibrationMonitor, optional
        A file of what is known. If it is there, watching goes on with it; at the end it is written, whole or
        not at all. Or a monitor that watches on.
    grown : bool, default=False
        Whether the log is the one that the state has read last, with new rows at its end: those that were
        read are passed over.
    reference : Source, str, path, or frame, optional
        Rows of the time when all was well, with the same columns of scores, to tell drift of scores by. It is
        read when a state begins; of more than 200,000 rows a sample.
    costs : str, optional
        A file of costs: decisions down, truths across.
    any_costs : bool, default=False
        Whether costs may be such that a wrong decision is no dearer than the right one.
    handle_invalid : {"error", "skip"}, default="error"
        What happens to a row with a missing or infinite number, an unknown label, no time, or a label that no
        row waits for: an error that names it, or it is left out.
    batch_rows : int, optional
        The greatest number of rows in a batch.
    on_alarm : callable, optional
        Called with the monitor and every alarm, as it comes; if it gives True, the log is read no further.
    progress : callable, optional
        Called after every batch with a `Progress`.
    **parameters : object
        Parameters of `CalibrationMonitor`: `bound`, `run_length`, `alpha`, `window`, ... Those of a state
        stay, and must not be contradicted.

    Returns
    -------
    Watched
        The monitor, the alarms that these rows have raised, and how many rows there were.

    See Also
    --------
    calibrant.monitor.CalibrationMonitor : For arrays.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from calibrant.files import monitor
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 4, size=6000)
    >>> late = np.arange(6000) >= 3000
    >>> came = rng.random(6000) < np.where(late, 2 * p / (1 + p), p)
    >>> log = pa.table({"day": np.arange(6000) // 100, "p": p, "paid": np.where(came, "no", "yes")})
    >>> found = monitor(log, scores="p", positive="no", label="paid", time="day")
    >>> found.alarms[0].what
    'class no comes more often than forecast'
    """
    check_option("handle_invalid", handle_invalid, ("error", "skip"))
    given = {name: each for name, each in parameters.items() if each is not None}
    unknown = sorted(set(given) - set(PARAMETERS))
    if unknown:
        raise TypeError(f"monitor() got an unexpected keyword argument {unknown[0]!r}")
    source = where if isinstance(where, Source) else open_source(where)
    chain = None if model is None else score_model_of(model)
    columns = LogColumns((), label, time, key, weight, tuple([by] if isinstance(by, str) else by))
    known, read = (state, _Read()) if isinstance(state, CalibrationMonitor) else _read_state(state)
    if grown and known is None:
        grown = False
    watch = _Watch(
        source, columns, chain, scores, handle_invalid == "skip", text_of(positive), _texts(classes)
    )
    watch.remembered = read.scores
    if known is None:
        known = watch.begin(reference, costs, any_costs, given)
    else:
        watch.go_on(known, costs, any_costs, given)
    file = None if state is None or isinstance(state, CalibrationMonitor) else os.fspath(state)
    found = Watched(known, state=file)
    watch.run(found, read.n_rows if grown else 0, batch_rows, on_alarm, progress)
    return found


@dataclass
class Watched:
    """What was found in a log.

    Attributes
    ----------
    monitor : CalibrationMonitor
        The monitor, with all that it knows.
    alarms : list of Alarm
        The alarms that these rows have raised.
    n_rows : int
        Rows of the log that were read, with those passed over.
    n_skipped : int
        How many of them were left out, as they cannot be used.
    n_late : int
        How many of them were labels of earlier rows.
    state : str or None
        The file that the state is in.
    scores : tuple of str
        The columns of the scores, in the order of the classes.
    """

    monitor: CalibrationMonitor
    alarms: list[Alarm] = field(default_factory=list)
    n_rows: int = 0
    n_skipped: int = 0
    n_late: int = 0
    state: str | None = None
    scores: tuple[str, ...] = ()

    def save(self) -> None:
        """Write the state, whole or not at all, if there is a file for it."""
        if self.state is not None:
            content = self.monitor.state | {"log": {"n_rows": self.n_rows, "scores": self.scores}}
            text = json.dumps(content, allow_nan=False, separators=(",", ":"))
            write_whole(self.state, text.encode())


class _Watch:
    """A log, and who reads it."""

    def __init__(
        self,
        source: Source,
        columns: LogColumns,
        chain: ScoreModel | None,
        scores: str | Sequence[str] | None,
        skips: bool,
        positive: str | None,
        given: list[str] | None,
    ) -> None:
        if scores is None and chain is None:
            raise ParameterError(f"{option('scores')} must name the columns of the forecasts; got none")
        self.source, self.chain, self.scores, self.skips = source, chain, scores, skips
        others = [columns.label, columns.time, columns.key, columns.weight, *columns.by]
        named = [name for name in others if name is not None]
        if columns.label is not None and columns.label in (columns.time, columns.key, columns.weight):
            raise ParameterError(f"a column must have one use; got {columns.label!r} for two; choose another")
        self._others, self._given, self._positive = others, given, positive
        source.check_columns(named)
        self._columns = columns
        self.texts: list[str] = []
        #: The columns of the scores of the log before.
        self.remembered: tuple[str, ...] = ()
        self._label_type: pa.DataType = pa.string()

    def begin(
        self, reference: Any, costs: str | None, any_costs: bool, given: dict[str, Any]
    ) -> CalibrationMonitor:
        """Make a monitor that knows nothing yet."""
        if self.chain is not None:
            labels: Array = np.asarray(self.chain.classes_)
            self.texts = [str(label_text(each)) for each in labels]
        else:
            self.texts = self._find_texts()
            unlabelled = self._columns.label is None
            labels = label_values(self.texts, self._label_type, self.source.as_text or unlabelled)
        self._place_scores(self.source)
        if reference is not None:
            proba, weights = self._reference(reference)
            given |= {"reference": proba, "reference_weight": weights}
        return CalibrationMonitor(classes=labels, cost=self._cost(costs, any_costs), **given)

    def go_on(
        self, known: CalibrationMonitor, costs: str | None, any_costs: bool, given: dict[str, Any]
    ) -> None:
        """Go on with what is known, which must not be contradicted."""
        self.texts = [str(label_text(each)) for each in known.classes]
        if self._given is not None and sorted(self._given) != sorted(self.texts):
            raise ParameterError(
                f"{option('classes')} must be those of the state, {', '.join(self.texts)}; got "
                f"{', '.join(self._given)}; leave it out, or begin another state"
            )
        for name, value in given.items():
            if value != getattr(known, name):
                raise ParameterError(
                    f"{option(name)} must be that of the state, {getattr(known, name)}; got {value}; leave "
                    f"it out, or begin another state"
                )
        cost = self._cost(costs, any_costs)
        if cost is not None and (known.cost is None or not np.array_equal(cost, known.cost)):
            raise ParameterError(
                f"{option('costs')} must be those that the state began with; {costs} has others; begin "
                f"another state"
            )
        self._place_scores(self.source)

    def _find_texts(self) -> list[str]:
        """The classes as columns name them or the user says; of a single column as the first labels tell."""
        chosen = choose_scores(self.source, self.scores or "", self._others)
        said = ClassesOf(chosen, self._positive, self._given).checked()
        label = self._columns.label
        if said.known is not None:
            if label is not None and not self.source.as_text:
                self._label_type = self._first_labels(0)[1]
            return said.known
        if label is None:
            return said.two(["0", "1"]) if said.positive in (None, "0", "1") else ["0", str(said.positive)]
        found, kind = self._first_labels(2)
        self._label_type = kind
        if not found:
            raise DataError(
                f"the column {label!r} of {self.source.name} must hold a label in some row, so that the two "
                f"classes are known; it holds none; name them with {option('classes')}, the positive one "
                "second"
            )
        return said.two(sorted_texts(found, kind, self.source.as_text))

    def _first_labels(self, needed: int) -> tuple[list[str], pa.DataType]:
        """The first labels that differ, as many as are needed, and the type of their column."""
        label = self._columns.label
        assert label is not None
        found: dict[str, None] = {}
        kind = pa.string()
        for batch in self.source.batches([label], FEW_ROWS):
            kind = batch.column(0).type
            found |= dict.fromkeys(
                filter(None, texts_that_occur(*label_codes(batch.column(0), label, self.source)))
            )
            if len(found) >= needed or self.source.endless:  # whose rows come once
                break
        return list(found), kind

    def _place_scores(self, source: Source) -> tuple[str, ...]:
        """The score columns of a source in the order of the classes."""
        if source.endless and self.remembered and not set(self.remembered) & set(source.columns):
            names = self.remembered  # the first lines that come may all be labels
        elif self.chain is not None:
            names = tuple(find_scores(source, self.chain, self.scores))
        else:
            others = [each for each in self._others if each in source.columns]
            chosen = choose_scores(source, self.scores or "", others)
            if len(chosen.columns) == 1 and len(self.texts) == 2:
                names = chosen.columns
            else:
                texts = chosen.classes if self._given is None else self._texts_by_name(chosen)
                places = match_classes(
                    self.texts, texts, "the class", f"those of the score columns of {source.name}"
                )
                if len(places) < len(texts):
                    extra = next(each for each in texts if each not in self.texts)
                    raise DataError(
                        f"every score column of {source.name} must be that of a class, "
                        f"{', '.join(self.texts)}; got that of {extra!r}; name the columns in "
                        f"{option('scores')}"
                    )
                names = tuple(chosen.columns[place] for place in places)
        if source is self.source:
            self._columns = LogColumns(
                names,
                self._columns.label,
                self._columns.time,
                self._columns.key,
                self._columns.weight,
                self._columns.by,
            )
        return names

    def _texts_by_name(self, chosen: Any) -> tuple[str, ...]:
        """The classes of the columns as the user gave them, in the order of the columns that were chosen."""
        said = ClassesOf(chosen, None, self._given).checked().chosen
        return tuple(said.classes[said.columns.index(name)] for name in chosen.columns)

    def _predict(self) -> Callable[[Float64Array], Any] | None:
        if self.chain is None:
            return None
        refuse_groups(self.chain, "watched", "watch the probabilities that calibrant apply gives")
        return self.chain.predict_proba

    def _reference(self, reference: Any) -> tuple[Array, Array | None]:
        """Forecasts of the reference, and their weights if they have some."""
        source = reference if isinstance(reference, Source) else open_source(reference)
        names, predict = self._place_scores(source), self._predict()
        weight = self._columns.weight if self._columns.weight in source.columns else None
        gathered, first = _Gathered(SAMPLE_ROWS), 0
        for batch in source.batches([*names, *([] if weight is None else [weight])]):
            reader = BatchReader(batch, source, first, self.skips)
            scores = reader.probabilities(names) if predict is None else reader.scores(names)
            weights = None if weight is None else reader.weights(weight)
            rows = Rows(scores, np.zeros(len(scores), dtype=np.intp), weights)
            gathered.add(rows if reader.usable is None else rows.take(reader.usable))
            first += batch.num_rows
        if not gathered.n_rows:
            raise DataError(f"{source.name} must have at least one row, as a reference; it has none")
        rows = gathered.rows()
        return as_proba(rows.scores) if predict is None else np.asarray(predict(rows.scores)), rows.weight

    def _cost(self, costs: str | None, any_costs: bool) -> Float64Array | None:
        if costs is None:
            return None
        file = read_cost_file(costs)
        if not any_costs:
            file.check_reasonable()
        return file.in_order_of(self.texts)[1]

    def run(
        self,
        found: Watched,
        n_passed: int,
        batch_rows: int | None,
        on_alarm: Callable[[CalibrationMonitor, Alarm], object] | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        """Read the log, and save the state; of a log without end whenever some time has gone."""
        monitor, endless = found.monitor, self.source.endless
        found.scores = self._columns.scores
        reader = LogReader(
            self.source, self._columns, Numbered(self.texts), self._predict(), self.skips, monitor.last_time
        )
        labels = monitor.classes.astype(object)
        heard, saved = set(monitor.alarms), clock.monotonic()
        try:
            for batch in self.source.batches(self._columns.names(), batch_rows):
                n_old = max(0, min(n_passed - found.n_rows, batch.num_rows))
                found.n_rows += n_old
                first = found.n_rows
                for part, n_taken in reader.parts(batch.slice(n_old), first):
                    self._take(part, found, labels)
                    found.n_rows = first + n_taken
                found.n_skipped = reader.n_skipped
                new = [alarm for alarm in monitor.alarms if alarm not in heard]
                heard.update(new)
                found.alarms += new
                if any([on_alarm(monitor, alarm) for alarm in new] if on_alarm is not None else []):
                    break
                if progress is not None:
                    progress(how_far(self.source, found.n_rows, "watching"))
                if endless and clock.monotonic() - saved > PAUSE:
                    found.save()
                    saved = clock.monotonic()
        except BaseException:
            if endless:  # what was taken before is not lost
                found.save()
            raise
        if found.n_rows < n_passed:
            raise DataError(
                f"{self.source.name} must have the {n_passed:,} rows that the state has read, and perhaps "
                f"more; it has {found.n_rows:,}; leave out {option('grown')} if it is another log"
            )
        found.save()

    def _take(self, part: LogRows | LateLabels, found: Watched, labels: Array) -> None:
        monitor = found.monitor
        if isinstance(part, LateLabels):
            found.n_late += len(part.keys)
            waiting = monitor.waiting_keys
            lost = np.array([key not in waiting for key in part.keys], dtype=np.bool_)
            if lost.any() and not self.skips:
                row = int(np.argmax(lost))
                raise DataError(
                    f"a label that comes late must be for a row that waits for it; none waits under the key "
                    f"{part.keys[row]!r} in {self.source.place(int(part.rows[row]))} of {self.source.name}: "
                    f"it has had its label, was given up, or never came; leave such rows out with "
                    f"{option('handle_invalid')} skip"
                )
            keys = [key for key, gone in zip(part.keys, lost, strict=True) if not gone]
            if keys:
                monitor.add_labels(np.array(keys, dtype=object), labels[part.truth[~lost]])
            return
        if not len(part.truth):
            return
        missing = part.truth == UNKNOWN
        y = (labels if missing.any() else monitor.classes)[part.truth]
        if missing.any():
            y[missing] = None
        with _naming(self.source):
            monitor.update(
                part.proba,
                None if self._columns.label is None else y,
                part.time,
                part.groups,
                part.weight,
                key=part.keys,
            )


@contextmanager
def _naming(source: Source) -> Iterator[None]:
    """Name the source in what the monitor says of its rows."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from error


def _texts(classes: Sequence[object] | None) -> list[str] | None:
    return None if classes is None else [str(label_text(each)) for each in classes]


@dataclass(frozen=True)
class _Read:
    """What a state knows of the log that it has read last."""

    n_rows: int = 0
    scores: tuple[str, ...] = ()


def _read_state(path: str | os.PathLike[str] | None) -> tuple[CalibrationMonitor | None, _Read]:
    """What a file knows, of the rows and of the last log; nothing if there is none yet."""
    if path is None or not Path(path).exists():
        return None, _Read()
    try:
        text = Path(path).read_text("utf-8")
        known, log = CalibrationMonitor.from_json(text), json.loads(text).get("log", {})
        read = _Read(int(log.get("n_rows", 0)), tuple(map(str, log.get("scores", ()))))
    except (OSError, TypeError, ValueError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(
            f"{os.fspath(path)} must be a state that calibrant monitor has written; {reason}"
        ) from error
    return known, read
