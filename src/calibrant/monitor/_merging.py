"""Two monitors of rows one after the other, as one."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._errors import DataError
from calibrant.monitor._alarm import Alarm
from calibrant.monitor._detector import BLOCK, Detector
from calibrant.monitor._learning import FADING
from calibrant.monitor._rows import Rows, number_values
from calibrant.monitor._saving import PARAMETERS
from calibrant.monitor._streams import MOST_ALARMS, LabelledStream, ScoreStream, Stream

if TYPE_CHECKING:
    from calibrant.monitor._monitor import CalibrationMonitor


def merged(monitor: "CalibrationMonitor", later: "CalibrationMonitor") -> None:
    """Let a monitor know what another one knows of later rows."""
    _check(monitor, later)
    if later._labelled is None:
        return
    later = type(later).from_json(later.to_json())  # which shares nothing with it
    assert later._labelled is not None
    assert later._scores is not None
    assert later._waiting is not None
    if monitor._labelled is None:
        monitor.__dict__.update(later.__dict__)
        return
    assert monitor._scores is not None
    assert monitor._waiting is not None
    for each in (monitor, later):
        for stream in (each._labelled, each._scores):
            assert stream is not None
            stream.settle()
    shift = np.array([monitor._n_rows, 0.0 if monitor._timed else monitor._n_rows])
    _append_windows(monitor, later, shift)
    renumbered = _renumber_groups(monitor, later)
    _merge_labelled(monitor._labelled, later._labelled, shift, renumbered)
    _merge_scores(monitor._scores, later._scores, shift)
    rows = later._waiting.rows
    moved = Rows(rows.proba, rows.truth, rows.weights, rows.place + shift, _recoded(rows.groups, renumbered))
    monitor._waiting.rows, monitor._waiting.keys = moved, later._waiting.keys
    monitor._waiting.n_given_up += later._waiting.n_given_up
    monitor._n_rows += later._n_rows
    monitor._n_never += later._n_never
    monitor._last = later._last


def _check(monitor: "CalibrationMonitor", later: "CalibrationMonitor") -> None:
    for name in (*PARAMETERS, "_greatest"):
        if getattr(monitor, name) != getattr(later, name):
            raise DataError(f"monitors must have the same parameters to be merged; {name.strip('_')} differs")
    if _reference(monitor) != _reference(later):
        raise DataError("monitors must have the same reference to be merged; it differs")
    if monitor._labelled is None or later._labelled is None:
        return
    for name in ("classes", "_cost", "_group_columns", "_timed", "_dated"):
        if not np.array_equal(getattr(monitor, name), getattr(later, name)):
            what = name.strip("_").replace("timed", "time").replace("dated", "kind of time")
            raise DataError(f"monitors must be of the same kind of rows to be merged; {what} differs")
    if monitor._timed and (later._first or 0.0) < (monitor._last or 0.0):
        raise DataError(
            "rows of the second monitor must be later; its first is at "
            f"{later.shown_time(later._first or 0.0)}, and the last of the first one at "
            f"{monitor.shown_time(monitor._last or 0.0)}; merge them the other way round"
        )
    if monitor.n_waiting:
        raise DataError(
            f"no rows may wait for labels before later rows are merged; {monitor.n_waiting:,} do; give them "
            "labels first"
        )


def _reference(monitor: "CalibrationMonitor") -> object:
    """What the scores are compared with."""
    drift = monitor._drift
    return None if drift is None else (drift.edges.tolist(), drift.reference.tolist())


def _append_windows(monitor: "CalibrationMonitor", later: "CalibrationMonitor", shift: Float64Array) -> None:
    """The windows of both, all of them closed."""
    by_row, by_time = int(shift[0]), float(shift[1])
    moved = [
        replace(
            each,
            first_row=each.first_row + by_row,
            last_row=each.last_row + by_row,
            began=each.began + by_time,
            ended=each.ended + by_time,
        )
        for each in later.windows()
    ]
    monitor._closed = [*monitor.windows(), *moved][-monitor.n_windows :]
    for stream in (monitor._labelled, monitor._scores):
        assert stream is not None
        stream.windows.clear()


def _renumber_groups(monitor: "CalibrationMonitor", later: "CalibrationMonitor") -> list[list[int]]:
    """For every column the numbers here of the values there."""
    pairs = zip(monitor._group_values, later._group_values, strict=True)
    return [number_values(others, known).tolist() for known, others in pairs]


def _recoded(codes: IntArray, renumbered: list[list[int]]) -> IntArray:
    columns = [np.asarray(numbers, dtype=np.intp)[codes[:, c]] for c, numbers in enumerate(renumbered)]
    return np.stack(columns, axis=1) if columns and len(codes) else codes


def _merge_labelled(
    stream: LabelledStream, later: LabelledStream, shift: Float64Array, renumbered: list[list[int]]
) -> None:
    _move(later.detector, shift)
    restarted = any(each.kind != "impossible" for each in later.alarms)
    stream.detector.follow(later.detector, restarted=restarted)
    faded = FADING ** -(-later.n_rows // BLOCK)
    stream.past = faded * stream.past + later.past
    stream.theta = later.theta
    parts = (getattr(later.history, name) for name in later.history.NAMES)
    for began, curvature, linear, cells in zip(*parts, strict=True):
        stream.history.add(began[0] + shift[0], began[1], type(stream.past)(curvature, linear), cells)
    for point in later.curve:
        stream.draw((point + np.append(shift, 0.0))[np.newaxis])
    if stream.groups is not None and later.groups is not None:
        stream.groups.merge(later.groups, renumbered)
    _merge_counts(stream, later, shift)
    crossing = stream.detector.overdue()
    if crossing is not None:
        stream.sound([(stream.alarm(crossing, _last(later, shift)), crossing.against)])


def _merge_scores(stream: ScoreStream, later: ScoreStream, shift: Float64Array) -> None:
    _merge_counts(stream, later, shift)
    if stream.drift is None or later.drift is None:
        return
    _move(later.drift.detector, shift)
    stream.drift.follow(later.drift, restarted=bool(later.alarms))
    crossing = stream.drift.detector.overdue()
    if crossing is not None:
        stream.sound([(stream.alarm(crossing, _last(later, shift)), crossing.against)])


def _merge_counts(stream: Stream, later: Stream, shift: Float64Array) -> None:
    stream.n_rows += later.n_rows
    stream.n_alarms += later.n_alarms
    stream.alarms = [*stream.alarms, *(_moved(each, shift) for each in later.alarms)][-MOST_ALARMS:]
    stream.place = later.place + shift if later.n_rows else stream.place


def _move(detector: Detector, shift: Float64Array) -> None:
    """Count rows from those of an earlier monitor on."""
    detector.cusum_began = detector.cusum_began + shift
    detector.bin_began = detector.bin_began + shift


def _moved(alarm: Alarm, shift: Float64Array) -> Alarm:
    rows = {
        name: getattr(alarm, name) + int(shift[0]) for name in ("row", "began", "began_low", "began_high")
    }
    times = ("time", "began_time", "began_low_time", "began_high_time")
    return replace(alarm, **rows, **{name: getattr(alarm, name) + float(shift[1]) for name in times})


def _last(later: Stream, shift: Float64Array) -> tuple[int, float]:
    row, time = later.place + shift
    return int(row), float(time)
