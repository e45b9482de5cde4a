"""A monitor as a document, and a document as a monitor."""

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core._checks import plain
from calibrant._core._errors import CalibrantError
from calibrant.monitor._advice import History
from calibrant.monitor._alarm import Alarm
from calibrant.monitor._detector import Detector
from calibrant.monitor._drift import MOST_BINS, Drift
from calibrant.monitor._groups import Groups
from calibrant.monitor._learning import Parabola, best
from calibrant.monitor._rows import Rows
from calibrant.monitor._state import (
    FORMAT,
    VERSION,
    damaged,
    entry,
    read_array,
    read_parts,
    read_record,
    read_window,
    write_array,
    write_parts,
    write_record,
    write_window,
)
from calibrant.monitor._streams import LabelledStream, ScoreStream, Stream
from calibrant.monitor._waiting import Waiting

if TYPE_CHECKING:
    from calibrant.monitor._monitor import CalibrationMonitor

PARAMETERS = (
    *("bound", "run_length", "alpha", "window", "n_windows", "group_alpha", "max_groups", "max_waiting"),
)
COUNTS = ("_n_rows", "_n_never", "_greatest", "_first", "_last", "_timed", "_dated")
ROWS = ("proba", "truth", "weights", "place", "groups")


def state_of(monitor: "CalibrationMonitor") -> dict[str, Any]:
    """All that a monitor knows."""
    found: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "parameters": {name: getattr(monitor, name) for name in PARAMETERS},
        "n_classes": monitor._n_classes,
        "classes": None if monitor._given is None else [plain(each) for each in monitor._given],
        "cost": None if monitor._cost is None else monitor._cost.tolist(),
        "counts": {name: getattr(monitor, name) for name in COUNTS},
        "group_columns": monitor._group_columns,
        "group_values": monitor._group_values,
        "started": monitor._labelled is not None,
        "closed": [write_window(each) for each in monitor._closed_windows()],
    }
    drift = monitor._drift
    if drift is not None:
        found["reference"] = {
            "n_bins": drift.counts.shape[1],
            "base_rates": write_array(monitor._rates(monitor._n_classes or 0)),
            "edges": write_array(drift.edges.astype(np.float32)),
            "counts": write_array(drift.reference),
        }
    if monitor._labelled is not None and monitor._scores is not None and monitor._waiting is not None:
        closed = monitor._horizon()
        found["labelled"] = _labelled_state(monitor._labelled, closed)
        found["scores"] = _scores_state(monitor._scores, closed)
        found["waiting"] = _rows_state(monitor._waiting.rows) | {
            "keys": monitor._waiting.keys,
            "n_given_up": monitor._waiting.n_given_up,
        }
    return found


def _rows_state(rows: Rows) -> dict[str, Any]:
    return write_parts(rows, ROWS)


def _stream_state(stream: Stream, closed: float) -> dict[str, Any]:
    return {
        "n_rows": stream.n_rows,
        "place": write_array(stream.place),
        "n_alarms": stream.n_alarms,
        "alarms": [write_record(each) for each in stream.alarms],
        "tail": _rows_state(stream.tail),
        "windows": {
            str(number): write_parts(sums, sums.NAMES)
            for number, sums in stream.windows.items()
            if number >= closed
        },
    }


def _labelled_state(stream: LabelledStream, closed: float) -> dict[str, Any]:
    found = _stream_state(stream, closed) | {
        "detector": write_parts(stream.detector, Detector.NAMES),
        "past": write_parts(stream.past, ("curvature", "linear")),
        "history": write_parts(stream.history, History.NAMES),
        "curve": write_array(stream.curve),
    }
    if stream.groups is not None:
        found["groups"] = write_parts(stream.groups, ("keys", "sums"))
    return found


def _scores_state(stream: ScoreStream, closed: float) -> dict[str, Any]:
    found = _stream_state(stream, closed)
    if stream.drift is not None:
        found["drift"] = write_parts(stream.drift, Drift.NAMES)
        found["detector"] = write_parts(stream.drift.detector, Detector.NAMES)
    return found


def read_state(cls: type["CalibrationMonitor"], state: object) -> "CalibrationMonitor":
    """The monitor of a document, which has been checked."""
    if entry(state, "format") != FORMAT or entry(state, "version") != VERSION:
        raise damaged("format")
    parameters = entry(state, "parameters", dict)
    try:
        monitor = cls(
            **{name: entry(parameters, name) for name in PARAMETERS},
            classes=entry(state, "classes"),
            cost=entry(state, "cost"),
        )
    except (CalibrantError, TypeError) as error:
        raise damaged("parameters") from error
    counts = entry(state, "counts", dict)
    for name in COUNTS:
        value = entry(counts, name, (int, float, bool, type(None)))
        setattr(monitor, name, value)
    monitor._n_classes = entry(state, "n_classes", (int, type(None)))
    monitor._closed = [read_window(each) for each in entry(state, "closed", list)]
    if isinstance(state, dict) and "reference" in state:
        _read_reference(monitor, state["reference"])
    if entry(state, "started", bool):
        _read_streams(monitor, state)
    return monitor


def _read_reference(monitor: "CalibrationMonitor", state: object) -> None:
    k = monitor._n_classes or 0
    columns, n_bins = 1 if k == 2 else k, entry(state, "n_bins", int)
    monitor._base_rates = read_array(entry(state, "base_rates"), np.zeros(k), "base_rates")
    if not 1 <= n_bins <= MOST_BINS:
        raise damaged("n_bins")
    counts = read_array(entry(state, "counts"), np.zeros((columns, n_bins), dtype=np.int64), "counts")
    edges = read_array(entry(state, "edges"), np.zeros((columns, n_bins - 1), dtype=np.float32), "edges")
    monitor._drift = Drift(edges.astype(np.float64), counts, monitor._promise())


def _read_streams(monitor: "CalibrationMonitor", state: object) -> None:
    columns, values = entry(state, "group_columns", list), entry(state, "group_values", list)
    if len(columns) != len(values) or monitor._n_classes is None:
        raise damaged("group_columns")
    monitor._group_columns = [str(name) for name in columns]
    monitor._group_values = [list(each) for each in values]
    k = monitor._n_classes
    groups = Groups(monitor._group_columns, monitor._rates(k), monitor.max_groups) if columns else None
    monitor._make_streams(k, groups)
    assert monitor._labelled is not None
    assert monitor._scores is not None
    assert monitor._waiting is not None
    _read_labelled(monitor._labelled, entry(state, "labelled"))
    _read_scores(monitor._scores, entry(state, "scores"))
    _read_waiting(monitor._waiting, entry(state, "waiting"))
    limits = [len(each) for each in monitor._group_values]
    for rows in (monitor._labelled.tail, monitor._waiting.rows):
        if len(rows) and limits and not (rows.groups < limits).all():
            raise damaged("groups")


def _read_rows(state: object, like: Rows) -> Rows:
    found = Rows(*(read_array(entry(state, name), getattr(like, name)[:0], name) for name in ROWS))
    n, k = len(found.truth), found.proba.shape[1]
    alike = all(len(each) == n for each in found.arrays())
    if not alike or (n and not (-1 <= found.truth.min() <= found.truth.max() < k)):
        raise damaged("rows")
    return found


def _read_stream(stream: Stream, state: object) -> None:
    stream.n_rows, stream.n_alarms = (entry(state, name, int) for name in ("n_rows", "n_alarms"))
    stream.place = read_array(entry(state, "place"), stream.place, "place")
    stream.alarms = [read_record(each, Alarm) for each in entry(state, "alarms", list)]
    stream.tail = _read_rows(entry(state, "tail"), stream.tail)
    for number, sums in entry(state, "windows", dict).items():
        new = stream._new_sums()
        read_parts(new, sums, new.NAMES)
        if not number.lstrip("-").isdigit():
            raise damaged("windows")
        stream.windows[int(number)] = new


def _read_labelled(stream: LabelledStream, state: object) -> None:
    _read_stream(stream, state)
    read_parts(stream.detector, entry(state, "detector"), Detector.NAMES)
    past = entry(state, "past")
    stream.past = Parabola(
        *(read_array(entry(past, name), getattr(stream.past, name), name) for name in ("curvature", "linear"))
    )
    stream.theta = best(stream.past, stream.penalty)
    read_parts(stream.history, entry(state, "history"), History.NAMES)
    stream.curve = read_array(entry(state, "curve"), stream.curve, "curve")
    if stream.groups is not None:
        read_parts(stream.groups, entry(state, "groups"), ("keys", "sums"))


def _read_scores(stream: ScoreStream, state: object) -> None:
    _read_stream(stream, state)
    if stream.drift is not None:
        read_parts(stream.drift, entry(state, "drift"), Drift.NAMES)
        read_parts(stream.drift.detector, entry(state, "detector"), Detector.NAMES)


def _read_waiting(waiting: Waiting, state: object) -> None:
    waiting.rows = _read_rows(state, waiting.rows)
    waiting.keys = list(entry(state, "keys", list))
    waiting.n_given_up = entry(state, "n_given_up", int)
    if len(waiting.keys) != len(waiting.rows):
        raise damaged("keys")
