"""The state: the same however rows are cut, saved and resumed, small, and merged in time order."""

import json

import numpy as np
import pytest

from calibrant import CalibrationMonitor
from calibrant._core._errors import DataError
from monitor.streams import changing, cuts, draw

REFERENCE, _ = draw(900, 3, 77)
COST = [[0, 2, 5], [1, 0, 1], [3, 1, 0]]
N = 2300


def everything(seed=0):
    """Rows with all that they may have, of which some wait for labels and some never get one."""
    random = np.random.default_rng(seed)
    proba, truth = changing(1200, N - 1200, 3, seed, shift=1.0)
    labels = truth.astype(float)
    labels[random.random(N) < 0.1] = np.nan
    return {
        "proba": proba,
        "y": labels,
        "time": np.datetime64("2026-01-01T00:00", "us") + np.cumsum(random.integers(0, 900, N)) * 10**6,
        "group": {"region": random.choice(["north", "south"], N), "age": random.integers(0, 3, N)},
        "sample_weight": random.choice([0.0, 0.5, 1.0, 2.0], N, p=[0.1, 0.2, 0.3, 0.4]),
    }


def part(rows, some):
    return {
        name: {each: values[some] for each, values in column.items()} if name == "group" else column[some]
        for name, column in rows.items()
    }


def new(**options):
    given = {"reference": REFERENCE, "reference_weight": np.full(900, 2.0), "cost": COST, "window": "day"}
    return CalibrationMonitor(run_length=1e4, **given | options)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bound", ["run_length", "ever"])
def test_any_cutting_gives_the_same_state(seed, bound):
    # The same operations on the same numbers, or sums that are exact: so all bits are equal.
    rows = everything(seed)
    whole = new(bound=bound).update(**rows)
    cut = new(bound=bound)
    for some in cuts(N, seed):
        cut.update(**part(rows, some))
        if seed == 1:
            assert cut.alarms is not None  # to look does not change anything
    assert cut.to_json() == whole.to_json()
    assert (cut.alarms, cut.windows(), cut.groups(), cut.advice()) == (
        *(whole.alarms, whole.windows(), whole.groups(), whole.advice()),
    )
    assert whole.alarms


def test_row_by_row_gives_the_same_state():
    rows = part(everything(), slice(1100, 1500))
    whole, single = new(window=100).update(**rows), new(window=100)
    for row in range(400):
        single.update(**part(rows, slice(row, row + 1)))
    assert single.to_json() == whole.to_json()


def test_a_resumed_monitor_goes_on_as_if_nothing_had_been():
    rows = everything(4)
    whole, resumed = new().update(**rows), new()
    for some in cuts(N, 5, 700):
        resumed = CalibrationMonitor.from_json(resumed.update(**part(rows, some)).to_json())
    assert resumed.to_json() == whole.to_json()
    assert resumed.windows() == whole.windows()
    assert resumed.groups() == whole.groups()
    assert resumed.alarms == whole.alarms


def test_a_monitor_without_rows_can_be_saved():
    for monitor in (new(), CalibrationMonitor(), CalibrationMonitor(classes=["a", "b"])):
        again = CalibrationMonitor.from_json(monitor.to_json())
        assert again.to_json() == monitor.to_json()
    assert again.update([0.5], ["b"]).n_labelled == 1


def test_the_state_is_small():
    proba, truth = draw(20_000, 10)
    random = np.random.default_rng(0)
    monitor = CalibrationMonitor(reference=proba[:5000], window=400)
    monitor.update(proba, truth, group=random.integers(0, 1000, 20_000))
    assert len(monitor.groups()) == 1000
    assert len(monitor.to_json()) < 1e6


def test_windows_that_are_closed_are_kept_as_numbers():
    proba, truth = draw(3000, 3)
    monitor = CalibrationMonitor(window=500, n_windows=4).update(proba, truth)
    windows = monitor.windows()
    assert [each.first_row for each in windows] == [1000, 1500, 2000, 2500]
    again = CalibrationMonitor.from_json(monitor.to_json())
    assert again.windows() == windows
    assert again.windows()[0].slope.low == windows[0].slope.low


def test_monitors_merge_in_time_order():
    rows = everything(2)
    rows["y"] = np.where(np.isnan(rows["y"]), 0, rows["y"])
    for change in (500, 1400):  # before and after the change
        early, late = new().update(**part(rows, slice(change))), new().update(**part(rows, slice(change, N)))
        merged = CalibrationMonitor.from_json(early.to_json()).merge(late)
        whole = new().update(**rows)
        assert (merged.n_rows, merged.n_labelled) == (whole.n_rows, whole.n_labelled)
        # Sums of groups are exact, so that their e-values are too.
        assert {each.name: (each.n_rows, each.e_value) for each in merged.groups()} == {
            each.name: (each.n_rows, each.e_value) for each in whole.groups()
        }
        assert sum(each.n_rows for each in merged.windows()) == sum(each.n_rows for each in whole.windows())
        assert merged.alarms[0].row == pytest.approx(whole.alarms[0].row, abs=200)
        assert merged.alarms[0].what == whole.alarms[0].what
        merged.update(
            proba=[[0.2, 0.3, 0.5]], y=[0], time=rows["time"][-1:], group={"region": ["north"], "age": [1]}
        )
        assert merged.n_rows == whole.n_rows + 1


def test_evidence_of_both_is_put_together():
    proba, truth = draw(1000, 3, 3, shift=0.2)
    whole = CalibrationMonitor().update(proba, truth)
    early, late = (
        CalibrationMonitor().update(proba[some], truth[some]) for some in (slice(512), slice(512, 1000))
    )
    both = early.merge(late)
    # Fixed alternatives are exact; the learned one has forgotten what came before.
    fixed = whole._labelled.now().detector.values[:-1]
    np.testing.assert_allclose(both._labelled.now().detector.values[:-1], fixed, rtol=1e-9)


def test_an_alarm_of_both_together_is_raised():
    proba, truth = draw(4000, 3, 3, shift=0.5)
    pieces = [
        CalibrationMonitor().update(proba[i : i + 150], truth[i : i + 150]) for i in range(0, 1500, 150)
    ]
    assert not any(each.alarms for each in pieces)
    merged = pieces[0]
    for piece in pieces[1:]:
        merged.merge(piece)
    assert merged.alarms
    assert merged.alarms[0].row % 150 == 149


def test_a_merge_leaves_the_later_monitor_as_it_was():
    rows = everything(3)
    later = new().update(**part(rows, slice(1000, 1400)))
    before = later.to_json()
    empty = new().merge(later)
    assert empty.to_json() == before
    empty.update(**part(rows, slice(1400, 1500)))
    new().update(**part(rows, slice(900, 1000))).merge(later).update(**part(rows, slice(1400, 1500)))
    assert later.to_json() == before


def test_what_cannot_be_merged_is_refused():
    proba, truth = draw(50, 3)
    one = CalibrationMonitor().update(proba, truth, time=np.arange(50))
    with pytest.raises(DataError, match="run_length differs"):
        one.merge(CalibrationMonitor(run_length=5.0))
    with pytest.raises(DataError, match="its first is at 0, and the last of the first one at 49"):
        one.merge(CalibrationMonitor().update(proba, truth, time=np.arange(50)))
    with pytest.raises(DataError, match="time differs"):
        one.merge(CalibrationMonitor().update(proba, truth))
    with pytest.raises(DataError, match="must be a CalibrationMonitor; got 5"):
        one.merge(5)
    waiting = CalibrationMonitor().update(proba, None, key=range(50))
    with pytest.raises(DataError, match="50 do"):
        waiting.merge(CalibrationMonitor().update(proba, truth))


def damages(state):
    """States that nobody has saved, with the name of what is wrong."""
    yield "format", {**state, "format": "other"}
    yield "parameters", {**state, "parameters": {**state["parameters"], "alpha": 7}}
    yield "parameters", {name: each for name, each in state.items() if name != "parameters"}
    yield "n_rows", {**state, "labelled": 5}
    labelled = state["labelled"]
    yield "values", {**state, "labelled": {**labelled, "detector": {**labelled["detector"], "values": {}}}}
    other = {**labelled["detector"], "values": labelled["curve"]}
    yield "values", {**state, "labelled": {**labelled, "detector": other}}
    yield "windows", {**state, "closed": [{"numbers": {"shape": [0], "f8": "eJwDAAAAAAE="}, "n_rows": 1}]}
    yield "alarm", {**state, "labelled": {**labelled, "alarms": [{}]}}


def test_a_damaged_state_is_refused():
    state = json.loads(new().update(**everything()).to_json())
    for name, damaged in damages(state):
        with pytest.raises(
            DataError, match=f"the state of a monitor must be what to_json gave; {name} is not"
        ):
            CalibrationMonitor.from_json(json.dumps(damaged))
    for text in ("", "nonsense", "[1]", "null", "{}"):
        with pytest.raises(DataError, match="the state of a monitor must be"):
            CalibrationMonitor.from_json(text)
