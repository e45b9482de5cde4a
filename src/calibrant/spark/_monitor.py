"""Whether forecasts stay calibrated, on a cluster: every stream of rows in time order, in one task."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame

from calibrant._core._checks import check_option
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import label_text
from calibrant._core._whole_files import write_whole
from calibrant.files import monitor as watch_log
from calibrant.monitor import Alarm, CalibrationMonitor
from calibrant.spark._columns import check_columns, quoted, score_columns
from calibrant.spark._decider import classes_of

#: What the columns of scores are called on their way, before the label of the class.
SCORE = "score of "
#: What a task gives of every stream: its values, and the state.
STATES = "streams string, state string"


def monitor(
    frame: DataFrame,
    *,
    labelCol: str | None = "label",
    probabilityCol: str = "probability",
    timeCol: str | None = None,
    groupCols: Sequence[str] = (),
    keyCol: str | None = None,
    weightCol: str | None = None,
    by: str | Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    handleInvalid: str = "error",
    start: CalibrationMonitor | None = None,
    **parameters: Any,
) -> Any:
    """Watch whether the forecasts of a frame stay calibrated, in time order.

    Parameters
    ----------
    frame : DataFrame
        The frame.
    labelCol : str or None, default="label"
        The column of what came; missing where it is not known (yet). None if there are no labels.
    probabilityCol : str, default="probability"
        The column of the probabilities: vectors or arrays, or numbers that are those of the second of two
        classes.
    timeCol : str, optional
        The column of the times, by which rows are sorted; rows of the same time by `keyCol`, if there is one.
        Without it rows come as the frame gives them, which a cluster may do otherwise the next time.
    groupCols : sequence of str, optional
        Columns of groups that are watched within every stream.
    keyCol : str, optional
        The column of the names of rows, by which labels find them that come later.
    weightCol : str, optional
        The column of the weights.
    by : str or sequence of str, optional
        Columns that tell streams apart, such as the model that made the forecast: each has a monitor of its
        own, and streams are watched side by side.
    classes : sequence, optional
        The labels in the order of the probabilities; by default those that the column carries, or 0, 1, ...
    handleInvalid : {"error", "skip"}, default="error"
        What happens to rows that cannot be used.
    start : CalibrationMonitor, optional
        What is known of earlier rows; not with `by`.
    **parameters : object
        Parameters of `CalibrationMonitor`, if there is no `start`.

    Returns
    -------
    CalibrationMonitor, or dict of CalibrationMonitor
        The monitor; with `by` one for every stream, by its value, or by the tuple of its values.

    See Also
    --------
    calibrant.files.monitor : The same for a file.
    MonitorBatches : The same for a stream of Spark.

    Notes
    -----
    The state is that of the same rows in memory, bit by bit. A stream is sorted and watched by one task, of
    which only the state comes to the driver; it needs no more memory than a batch.

    Examples
    --------
    >>> from calibrant.spark import monitor
    >>> rows = [(t, 0.2, int(t % 5 == 0)) for t in range(500)]
    >>> frame = spark.createDataFrame(rows, ["when", "probability", "label"])
    >>> found = monitor(frame, timeCol="when")
    >>> found.n_labelled, found.n_alarms
    (500, 0)
    """
    check_option("handleInvalid", handleInvalid, ("error", "skip"))
    streams = [] if by is None else [by] if isinstance(by, str) else list(by)
    if start is not None and (streams or parameters):
        what = "by" if streams else next(iter(parameters))
        raise ParameterError(
            f"{what} must not come with start, which goes on as it began; leave one of them out"
        )
    if start is None:
        start = CalibrationMonitor(classes=classes_of(frame, probabilityCol, classes), **parameters)
    used = [labelCol, timeCol, keyCol, weightCol, *groupCols, *streams]
    check_columns(frame, used)
    chosen = frame.select(*_scores(frame, probabilityCol, start), *_named(used))
    ordered = [quoted(name) for name in (*streams, timeCol, keyCol) if name is not None]
    parted = chosen.repartition(*map(quoted, streams)) if streams else chosen.coalesce(1)
    sorted_rows = parted.sortWithinPartitions(*ordered) if ordered else parted
    watch = _watcher(
        start.to_json(),
        streams,
        {
            "scores": f"{SCORE}*",
            "label": labelCol,
            "time": timeCol,
            "key": keyCol,
            "weight": weightCol,
            "by": tuple(groupCols),
            "handle_invalid": handleInvalid,
        },
    )
    states = sorted_rows.mapInArrow(watch, STATES).collect()
    found = {tuple(json.loads(row[0])): CalibrationMonitor.from_json(row[1]) for row in states}
    if not streams:
        return found.get((), start)
    return {key[0] if len(streams) == 1 else key: each for key, each in sorted(found.items(), key=_order)}


def _order(item: tuple[tuple[Any, ...], Any]) -> list[tuple[bool, str]]:
    return [(value is None, str(value)) for value in item[0]]


def _scores(frame: DataFrame, name: str, start: CalibrationMonitor) -> list[Column]:
    """The probabilities of every class, each as a column of its own; or that of the second of two."""
    columns = score_columns(frame, name, None)
    texts = [str(label_text(each)) for each in start.classes]
    (values,) = columns.values(frame)
    if not columns.packed:
        return [values.alias(f"{SCORE}{texts[-1]}")]
    return [values.getItem(place).alias(f"{SCORE}{text}") for place, text in enumerate(texts)]


def _named(names: Sequence[str | None]) -> list[Column]:
    return [quoted(name) for name in dict.fromkeys(names) if name is not None]


def _watcher(
    start: str, streams: list[str], columns: dict[str, Any]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does: it watches one stream after the other, as their rows come."""

    def watch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pieces = (piece for batch in batches for piece in _pieces(batch, streams))
        for stream, rows in groupby(pieces, key=lambda piece: piece[0]):
            known = CalibrationMonitor.from_json(start)
            given = (piece for _, piece in rows)
            first = next(given)
            reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], given))
            watch_log(lambda reader=reader: reader, **columns, state=known)
            yield pa.RecordBatch.from_pydict({"streams": [stream], "state": [known.to_json()]})

    return watch


def _pieces(batch: pa.RecordBatch, streams: list[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Rows of one stream, and its values as JSON; rows of a batch are sorted by stream."""
    if not streams:
        if batch.num_rows:
            yield "[]", batch
        return
    values = [batch.column(name).to_pylist() for name in streams]
    start = 0
    for key, run in groupby(zip(*values, strict=True)):
        length = sum(1 for _ in run)
        yield json.dumps(key, default=str), batch.slice(start, length)
        start += length


class MonitorBatches:
    """Watch the forecasts of a stream of Spark: what `foreachBatch` calls with every batch.

    The state is in a file of the driver, the one that ``calibrant monitor --state`` reads and writes, too. It
    is written whole after every batch, with the number of the batch: a batch that Spark gives again after a
    failure is not counted twice.

    Parameters
    ----------
    state : str or path
        The file of the state.
    on_alarm : callable, optional
        Called with the monitor and every new alarm.
    **options : object
        As in `monitor`; not `by` and `start`. Parameters of `CalibrationMonitor` count when the state begins.

    See Also
    --------
    monitor : The same for a frame.

    Notes
    -----
    Within a batch rows are sorted by time; a batch must not hold rows that are earlier than those of the
    batch before. With ``handleInvalid="skip"`` such rows are left out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant.spark import MonitorBatches
    >>> file = Path(tempfile.mkdtemp()) / "state.json"
    >>> watch = MonitorBatches(file, timeCol="when")
    >>> frame = spark.createDataFrame([(1, 0.2, 0), (2, 0.7, 1)], ["when", "probability", "label"])
    >>> watch(frame, 0)  # as frame.writeStream.foreachBatch(watch).start() does
    >>> watch.monitor.n_rows
    2
    """

    def __init__(
        self,
        state: str | os.PathLike[str],
        *,
        on_alarm: Callable[[CalibrationMonitor, Alarm], object] | None = None,
        **options: Any,
    ) -> None:
        for name in ("by", "start"):
            if name in options:
                raise ParameterError(f"{name} is for monitor(); got it for batches of a stream; leave it out")
        self.state, self.on_alarm, self.options = os.fspath(state), on_alarm, options
        self.monitor, self._last = self._read()

    def _read(self) -> tuple[CalibrationMonitor | None, int]:
        if not Path(self.state).exists():
            return None, -1
        text = Path(self.state).read_text("utf-8")
        try:
            known = CalibrationMonitor.from_json(text)
        except DataError as error:
            raise DataError(f"{self.state} must be the state of a monitor; {error}") from error
        return known, int(json.loads(text).get("batch", -1))

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Watch the rows of a batch, and save the state.

        Parameters
        ----------
        frame : DataFrame
            The rows.
        batch : int
            The number of the batch.
        """
        if batch <= self._last:
            return
        options: dict[str, Any] = self.options
        before: tuple[Alarm, ...] = ()
        if self.monitor is not None:
            before = self.monitor.alarms
            of_frames = monitor.__kwdefaults__ or {}
            options = {name: each for name, each in options.items() if name in of_frames}
            options["start"] = self.monitor
        found = monitor(self._in_time(frame), **options)
        content = json.dumps(found.state | {"batch": batch}, allow_nan=False, separators=(",", ":"))
        write_whole(self.state, content.encode())
        self.monitor, self._last = found, batch
        for alarm in found.alarms:
            if alarm not in before and self.on_alarm is not None:
                self.on_alarm(found, alarm)

    def _in_time(self, frame: DataFrame) -> DataFrame:
        """The rows that are not earlier than those before, if others are to be left out."""
        name, known = self.options.get("timeCol"), self.monitor
        last = None if known is None else known.last_time
        if known is None or last is None or name is None or self.options.get("handleInvalid") != "skip":
            return frame
        time = quoted(name)
        if known.dated:  # whose microseconds Spark gives with a rounding error
            time, last = time.cast("timestamp").cast("double") * 1e6, last - 0.5
        return frame.filter(time.isNull() | (time >= last))
