"""What comes in: any form that is meant, and a clear line for what is not."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calibrant import CalibrationMonitor
from calibrant._core._errors import CalibrantError, DataError, ParameterError
from monitor.streams import draw

PROBA, TRUTH = draw(40, 3)


def test_forms_of_the_same_rows():
    first = CalibrationMonitor().update(PROBA, TRUTH).to_json()
    frame = pl.DataFrame(PROBA, schema=["0", "1", "2"])
    assert CalibrationMonitor().update(frame, pl.Series(TRUTH)).to_json() == first
    assert CalibrationMonitor().update(PROBA.tolist(), pd.Series(TRUTH)).to_json() == first
    assert CalibrationMonitor().update(np.asfortranarray(PROBA), TRUTH.astype(float)).to_json() == first


def test_a_frame_is_taken_by_name():
    labels = np.array(["a", "b", "c"])
    frame = pd.DataFrame(PROBA[:, ::-1], columns=["c", "b", "a"])
    one = CalibrationMonitor(classes=labels).update(frame, labels[TRUTH])
    assert one.value == CalibrationMonitor(classes=labels).update(PROBA, labels[TRUTH]).value


def test_one_column_is_that_of_the_positive_class():
    p = PROBA[:, 0]
    one = CalibrationMonitor().update(p, TRUTH == 0)
    assert (
        one.value == CalibrationMonitor().update(np.column_stack([1 - p, p]), (TRUTH == 0).astype(int)).value
    )


def test_times_of_many_kinds():
    days = pd.date_range("2026-01-01", periods=40, freq="D")
    found = [
        CalibrationMonitor(window="month").update(PROBA, TRUTH, time=each).to_json()
        for each in (
            days,
            days.tz_localize("UTC"),
            days.to_pydatetime(),
            days.strftime("%Y-%m-%d").to_numpy(),
        )
    ]
    assert len(set(found)) == 1


def test_a_missing_group_is_a_group():
    groups = ["x", None] * 20
    names = {each.name for each in CalibrationMonitor().update(PROBA, TRUTH, group=groups).groups()}
    assert names == {"group=x", "group=missing"}
    numbers = np.where(np.arange(40) % 2, 1.0, np.nan)
    names = {each.name for each in CalibrationMonitor().update(PROBA, TRUTH, group={"a": numbers}).groups()}
    assert names == {"a=1", "a=missing"}


def test_nothing_is_nothing():
    monitor = CalibrationMonitor(classes=[0, 1, 2]).update(np.empty((0, 3)), [])
    assert (monitor.n_rows, monitor.alarms, monitor.windows(), monitor.groups()) == (0, (), (), ())
    assert monitor.value == 0
    with pytest.raises(DataError, match="advice must be asked after rows have come"):
        monitor.advice()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": [3] * 40}, "labels must be column numbers from 0 to 2; got 3"),
        ({"y": ["a"] * 40}, "labels must be column numbers where the monitor has no classes; got 'a'"),
        ({"y": [0] * 39}, "labels must have one value per row, 40 in all; got shape (39,)"),
        ({"proba": PROBA * 0.9}, "every row of proba must sum to 1; row 0 sums to 0.9"),
        ({"proba": PROBA * np.nan}, "proba must be finite"),
        ({"proba": PROBA - 0.5}, "proba must lie in [0, 1]"),
        (
            {"time": [2.0, 1.0, *[3.0] * 38]},
            "time must not go back; row 1 has 1 after 2; sort the rows by time",
        ),
        ({"time": [np.nan] * 40}, "time must not be missing; row 0 has none"),
        ({"time": ["yesterday"] * 40}, "time must be numbers or dates; got 'yesterday'"),
        ({"time": [1.0] * 39}, "time must have one value per row, 40 in all"),
        ({"group": [1] * 39}, "group group must have one value per row, 40 in all; got shape (39,)"),
        (
            {"sample_weight": [1.5] * 40},
            "must not exceed the greatest weight of the reference, 1; got 1.5 in row 0",
        ),
        ({"sample_weight": [-1.0] * 40}, "sample_weight must not be negative"),
    ],
)
def test_bad_rows_are_refused_and_change_nothing(given, message):
    monitor = CalibrationMonitor().update(PROBA, TRUTH)
    before = monitor.to_json()
    fresh = {name: each for name, each in given.items() if name in ("time", "group")}
    target = CalibrationMonitor() if fresh else monitor
    with pytest.raises(CalibrantError, match=re.escape(message)):
        target.update(**{"proba": PROBA, "y": TRUTH} | given)
    assert monitor.to_json() == before


def test_rows_must_stay_of_one_kind():
    monitor = CalibrationMonitor().update(PROBA, TRUTH, time=np.arange(40), group={"a": TRUTH})
    with pytest.raises(
        DataError, match="time must be given for all rows or for none; it was given before; got none"
    ):
        monitor.update(PROBA, TRUTH, group={"a": TRUTH})
    with pytest.raises(DataError, match="group must have the columns of the first rows, a; got none"):
        monitor.update(PROBA, TRUTH, time=np.arange(40, 80))
    with pytest.raises(DataError, match="time must be numbers as before; got dates"):
        monitor.update(PROBA, TRUTH, time=["2026-01-01"] * 40, group={"a": TRUTH})
    with pytest.raises(DataError, match="row 0 has 38 after 39"):
        monitor.update(PROBA, TRUTH, time=np.arange(38, 78), group={"a": TRUTH})
    with pytest.raises(DataError, match="one column per class, 3 in all; got 2 columns"):
        monitor.update(PROBA[:, 0], TRUTH)
    with pytest.raises(DataError, match="labels must be among the classes"):
        CalibrationMonitor(classes=["a", "b", "c"]).update(PROBA, ["d"] * 40)
    with pytest.raises(DataError, match="time must be given for windows of a day"):
        CalibrationMonitor(window="day").update(PROBA, TRUTH)
    with pytest.raises(DataError, match="groups and pairs of them must be at most 10"):
        CalibrationMonitor(max_groups=10).update(PROBA, TRUTH, group={"a": np.arange(40) % 8, "b": TRUTH})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bound": "never"}, "bound must be one of 'run_length', 'ever'; got 'never'"),
        ({"run_length": 1}, "run_length must be a number from 2; got 1"),
        ({"alpha": 1}, "alpha must be above 0 and below 1; got 1"),
        ({"group_alpha": "x"}, "group_alpha must be above 0 and below 1; got 'x'"),
        ({"window": "decade"}, "window must be a whole number of rows from 1"),
        ({"window": 0}, "window must be a whole number of rows from 1"),
        ({"n_windows": 0}, "n_windows must be a whole number from 1; got 0"),
        ({"max_waiting": 0.5}, "max_waiting must be a whole number from 1; got 0.5"),
        ({"classes": ["a"]}, "classes must be two or more distinct labels"),
        ({"reference_weight": [1.0]}, "reference_weight must come with a reference"),
        ({"reference": np.empty((0, 3))}, "reference must have at least one row"),
        ({"reference": PROBA, "classes": ["a", "b"]}, "one column per class, 2 in all; got 3"),
        ({"cost": [[1, 2], [3, 4]], "classes": [0, 1, 2]}, "one column per class, 3 in all"),
    ],
)
def test_parameters_that_cannot_be_are_refused(given, message):
    with pytest.raises(CalibrantError, match=re.escape(message)):
        CalibrationMonitor(**given)


def test_costs_of_other_classes_are_refused():
    with pytest.raises((ParameterError, DataError), match="one column per class, 2 in all; got 3"):
        CalibrationMonitor(cost=[[0, 1], [1, 0]]).update(PROBA, TRUTH)


def test_a_batch_with_too_many_groups_changes_nothing():
    monitor = CalibrationMonitor(max_groups=5).update(PROBA, TRUTH, group={"a": TRUTH})
    before = monitor.to_json()
    with pytest.raises(DataError, match="groups and pairs of them must be at most 5"):
        monitor.update(PROBA, TRUTH, group={"a": np.arange(40)})
    assert monitor.to_json() == before


def test_numbers_are_no_calendar():
    with pytest.raises(DataError, match="time must be dates for windows of a day; got numbers"):
        CalibrationMonitor(window="day").update(PROBA, TRUTH, time=np.arange(40))


def test_a_row_of_weight_zero_is_absent():
    weights = np.arange(40) % 2
    some = CalibrationMonitor().update(PROBA, TRUTH, sample_weight=weights)
    others = CalibrationMonitor().update(PROBA[1::2], TRUTH[1::2])
    assert some.to_json() == others.to_json()
    nothing = CalibrationMonitor().update(PROBA, TRUTH, sample_weight=np.zeros(40))
    assert (nothing.n_rows, nothing.alarms, nothing.windows()) == (0, (), ())


def test_very_many_classes():
    random = np.random.default_rng(0)
    proba = random.dirichlet(np.full(60, 0.3), 600)
    truth = (random.random(600)[:, np.newaxis] > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    monitor = CalibrationMonitor(reference=proba[:300], window=300).update(proba[300:], truth[300:])
    assert not monitor.alarms
    assert monitor.windows()[0].n_labelled == 300
    assert CalibrationMonitor.from_json(monitor.to_json()).to_json() == monitor.to_json()
