"""`calibrant.files.monitor`: what the monitor says of arrays, of whatever a log is written in."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from calibrant import CalibrationMonitor, SigmoidCalibrator, save
from calibrant._core._errors import DataError, ParameterError
from calibrant.files import follow, monitor, open_source

NAMES = np.array(["high", "low", "mid"])
N = 4000


@pytest.fixture(scope="module")
def log():
    """A log whose first class comes too often from row 2,000 on."""
    rng = np.random.default_rng(7)
    proba = rng.dirichlet([1.0, 2.0, 1.0], N)
    true = proba.copy()
    true[2000:, 0] *= 2.5
    truth = (true.cumsum(axis=1) / true.sum(axis=1, keepdims=True) > rng.random((N, 1))).argmax(axis=1)
    when = np.datetime64("2026-01-01", "us") + np.arange(N) * np.timedelta64(1800, "s")
    return pa.table(
        {
            "id": np.arange(N),
            "when": when,
            "p_mid": proba[:, 2],  # columns stand in another order than the classes
            "p_high": proba[:, 0],
            "p_low": proba[:, 1],
            "y": NAMES[truth],
            "region": rng.choice(["north", "south"], N),
        }
    )


COLUMNS = {"scores": "p_*", "label": "y", "time": "when"}


def proba_of(log):
    return np.column_stack([log[f"p_{name}"].to_numpy() for name in ("mid", "high", "low")])


def by_arrays(log, **parameters):
    """What the library says of the same rows."""
    watching = CalibrationMonitor(classes=["mid", "high", "low"], **parameters)
    return watching.update(
        proba_of(log),
        log["y"].to_numpy(zero_copy_only=False),
        log["when"].to_numpy(),
        {"region": log["region"].to_numpy(zero_copy_only=False)},
    )


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "arrow", "jsonl"])
def test_the_state_is_that_of_the_arrays_in_every_format(log, tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    if suffix == "jsonl":
        rows = [row | {"when": row["when"].isoformat()} for row in log.to_pylist()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif suffix == "parquet":
        pq.write_table(log, path)
    elif suffix == "arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, log.schema) as writer:
            writer.write(log)
    else:
        stream = pa.output_stream(str(path), compression="gzip" if suffix.endswith("gz") else None)
        with stream:
            pa_csv.write_csv(log, stream)
    found = monitor(path, **COLUMNS, by="region", batch_rows=700)
    expected = by_arrays(log)
    assert found.monitor.to_json() == expected.to_json()
    assert found.alarms == list(expected.alarms)
    assert found.alarms[0].label == "high"
    assert found.n_rows == N


def test_a_state_goes_on_as_if_nothing_had_been(log, tmp_path):
    state = tmp_path / "state.json"
    first = monitor(log.slice(0, 2300), **COLUMNS, by="region", state=state)
    second = monitor(log.slice(2300), **COLUMNS, by="region", state=state)
    whole = monitor(log, **COLUMNS, by="region")
    assert second.monitor.to_json() == whole.monitor.to_json()
    assert [*first.alarms, *second.alarms] == whole.alarms
    assert CalibrationMonitor.from_json(state.read_text()).to_json() == whole.monitor.to_json()


def test_a_log_that_has_grown_is_read_from_its_new_rows_on(log, tmp_path):
    state = tmp_path / "state.json"
    monitor(log.slice(0, 2300), **COLUMNS, state=state, grown=True)
    with pytest.raises(DataError, match="times must not go back.*before the last row before this log.*grown"):
        monitor(log, **COLUMNS, state=state)
    grown = monitor(log, **COLUMNS, state=state, grown=True)
    assert grown.n_rows == N
    assert grown.monitor.to_json() == monitor(log, **COLUMNS).monitor.to_json()
    with pytest.raises(DataError, match="must have the 4,000 rows that the state has read"):
        monitor(log.slice(0, 100), **COLUMNS, state=state, grown=True)


def test_what_a_state_began_with_must_not_be_contradicted(log, tmp_path):
    state, costs = tmp_path / "state.json", tmp_path / "costs.csv"
    costs.write_text("decision,low,mid,high\nlow,0,1,5\nmid,1,0,2\nhigh,2,1,0\n")
    given = COLUMNS | {"state": state, "costs": str(costs), "bound": "ever", "window": "week"}
    monitor(log.slice(0, 500), **given)
    found = monitor(log.slice(500, 500), **given)
    assert found.monitor.bound == "ever"
    assert found.monitor.windows()[0].cost is not None
    for other in ({"bound": "run_length"}, {"window": 100}, {"alpha": 0.5}, {"classes": ["a", "b", "c"]}):
        with pytest.raises(ParameterError, match="must be th(at|ose) of the state"):
            monitor(log.slice(1000), **given | other)
    costs.write_text("decision,low,mid,high\nlow,0,1,6\nmid,1,0,2\nhigh,2,1,0\n")
    with pytest.raises(ParameterError, match="costs must be those that the state began with"):
        monitor(log.slice(1000), **given)
    assert CalibrationMonitor.from_json(state.read_text()).n_rows == 1000


def test_labels_that_come_late_take_their_place(log):
    rows, late, delay = log.to_pylist(), [], 500
    for number, row in enumerate(rows):
        late.append(row if number % 3 else row | {"y": None})
        before = number - delay
        if before >= 0 and before % 3 == 0:
            late.append({"id": before, "y": rows[before]["y"]})
    found = monitor(pa.Table.from_pylist(late, schema=log.schema), **COLUMNS, key="id")
    assert found.n_late == len(late) - N
    assert found.monitor.n_rows == N
    # All up to the first row that still waits are as if their labels had come at once.
    known = monitor(log.slice(0, N - delay + 1), **COLUMNS).monitor
    assert (known.alarms, known.value) == (found.monitor.alarms, found.monitor.value)
    assert found.monitor.n_waiting == N - known.n_rows


def test_a_label_that_nobody_waits_for_is_named_or_left_out(log):
    rows = [*log.slice(0, 10).to_pylist(), {"id": 99, "y": "low"}]
    table = pa.Table.from_pylist(rows, schema=log.schema)
    with pytest.raises(DataError, match=r"none waits under the key '99' in row 11 "):
        monitor(table, **COLUMNS, key="id")
    found = monitor(table, **COLUMNS, key="id", handle_invalid="skip")
    assert found.monitor.n_rows == 10


def test_scores_become_probabilities_by_a_model(tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=1000)
    y = np.where(rng.random(1000) < 1 / (1 + np.exp(-scores)), "yes", "no")
    model = SigmoidCalibrator().fit(scores, y)
    path = tmp_path / "model.json"
    save(model, path)
    table = pa.table({"score": scores, "y": y})
    expected = CalibrationMonitor(classes=model.classes_, reference=model.predict_proba(scores[:500]))
    expected.update(model.predict_proba(scores), y)
    for given in (model, path):
        found = monitor(table, model=given, label="y", reference=table.slice(0, 500))
        assert found.monitor.to_json() == expected.to_json()


def test_a_single_column_is_of_the_positive_class():
    table = pa.table({"p": [0.2, 0.9, 0.4], "y": ["a", None, "b"]})
    assert monitor(table, scores="p", label="y").monitor.classes.tolist() == ["a", "b"]
    assert monitor(table, scores="p", label="y", positive="a").monitor.classes.tolist() == ["b", "a"]
    assert monitor(table, scores="p").monitor.classes.tolist() == [0, 1]
    found = monitor(table, scores="p", label="y", classes=["b", "a"]).monitor
    assert (found.n_rows, found.n_labelled) == (3, 2)


BAD = {
    "a time that goes back": (
        lambda t: t.set_column(
            1, "when", t["when"].combine_chunks().take(pa.array([*range(1999), 10, *range(2000, N)]))
        ),
        r"times must not go back; the column 'when' of .* has 2026-01-01T05:00:00 in row 2000 .*sort the",
    ),
    "an unknown class": (
        lambda t: t.set_column(5, "y", pa.array([*t["y"].to_pylist()[:-1], "huge"])),
        r"must hold one of the classes mid, high, low, or nothing.*got 'huge' in row 4000 ",
    ),
    "a number that is none": (
        lambda t: t.set_column(2, "p_mid", pa.array([None, *t["p_mid"].to_pylist()[1:]])),
        r"the column 'p_mid' of .* must hold finite numbers; got an empty cell in row 1 ",
    ),
    "no probabilities": (
        lambda t: t.set_column(2, "p_mid", pa.array(np.full(N, 0.9))),
        r"the probabilities of a row of .* must sum to one; got .* in row 1 ",
    ),
    "a time that is missing": (
        lambda t: t.set_column(1, "when", pa.array([*t["when"].to_pylist()[:-1], None])),
        r"the column 'when' of .* must hold a time in every row; got none in row 4000 ",
    ),
    "a time that is none": (
        lambda t: t.set_column(1, "when", pa.array([*map(str, t["when"].to_pylist()[:-1]), "soon"])),
        r"must hold dates such as .*got 'soon' in row 4000 ",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_is_named_with_its_row_and_nothing_is_lost(log, tmp_path, what):
    state = tmp_path / "state.json"
    start = log.set_column(1, "when", pa.array(log["when"].to_numpy() - np.timedelta64(365, "D")))
    monitor(start, **COLUMNS, state=state)
    before = state.read_bytes()
    change, message = BAD[what]
    with pytest.raises(DataError, match=message):
        monitor(change(log), **COLUMNS, state=state, batch_rows=1500)
    assert state.read_bytes() == before
    if what not in ("a time that goes back", "a time that is none", "no probabilities"):
        found = monitor(change(log), **COLUMNS, state=state, handle_invalid="skip")
        assert found.n_skipped == 1
        assert found.monitor.n_rows == 2 * N - 1


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "calibrant-monitor"}'])
def test_a_state_that_is_none_is_refused(log, tmp_path, content):
    state = tmp_path / "state.json"
    state.write_text(content)
    with pytest.raises(DataError, match=r"state.json must be a state that calibrant monitor has written"):
        monitor(log, **COLUMNS, state=state)
    assert state.read_text() == content


def test_columns_and_parameters_are_checked_before_rows(log):
    with pytest.raises(DataError, match="must have a column 'whenn'.*did you mean 'when'"):
        monitor(log, scores="p_*", time="whenn")
    with pytest.raises(ParameterError, match="scores must name the columns"):
        monitor(log, label="y")
    with pytest.raises(ParameterError, match="one use; got 'y' for two"):
        monitor(log, scores="p_*", label="y", time="y")
    with pytest.raises(TypeError, match="unexpected keyword argument 'windows'"):
        monitor(log, scores="p_*", windows=3)


def test_numbers_and_texts_are_times_too(log):
    numbers = log.set_column(1, "when", pa.array(np.arange(N) / 7))
    texts = log.set_column(1, "when", pa.array([f"{each / 7:.6f}" for each in range(N)]))
    zoned = log.set_column(
        1, "when", pa.array([f"{each}Z" for each in log["when"].to_numpy().astype("M8[s]")])
    )
    assert monitor(numbers, **COLUMNS).monitor.last_time == pytest.approx((N - 1) / 7)
    assert monitor(texts, **COLUMNS).monitor.last_time == pytest.approx((N - 1) / 7, abs=1e-6)
    assert monitor(zoned, **COLUMNS).monitor.to_json() == monitor(log, **COLUMNS).monitor.to_json()


class TestFollow:
    """Rows as they are written; `-` is tried by the tests of the command."""

    def lines(self, log):
        return [json.dumps(row | {"when": row["when"].isoformat()}) + "\n" for row in log.to_pylist()]

    def test_rows_come_as_they_are_written_and_the_state_is_the_same(self, log, tmp_path):
        path, state, lines = tmp_path / "log.jsonl", tmp_path / "state.json", self.lines(log)
        path.write_text("".join(lines[:2500]))
        heard = []

        def on_alarm(watching, alarm):
            heard.append(alarm)
            if len(heard) == 1:  # the rest comes while we look, the last line in two halves
                with path.open("a") as file:
                    file.writelines(lines[2500:])
            return alarm.row > 3800

        found = monitor(follow(path), **COLUMNS, state=state, on_alarm=on_alarm)
        assert heard == found.alarms
        assert found.monitor.n_rows == N
        assert found.monitor.to_json() == monitor(log, **COLUMNS).monitor.to_json()
        assert json.loads(state.read_text())["log"] == {"n_rows": N, "scores": ["p_mid", "p_high", "p_low"]}

    def test_the_first_lines_after_a_rest_may_all_be_labels(self, log, tmp_path):
        state = tmp_path / "state.json"
        waiting = log.slice(0, 50).set_column(5, "y", pa.nulls(50, pa.string()))
        monitor(waiting, **COLUMNS, key="id", state=state)
        path = tmp_path / "labels.jsonl"
        rows = [{"id": str(each["id"]), "y": each["y"]} for each in log.slice(0, 50).to_pylist()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{]\n")
        with pytest.raises(DataError, match="must be one JSON object"):
            monitor(follow(path), **COLUMNS, key="id", state=state)
        known = CalibrationMonitor.from_json(state.read_text())
        assert (known.n_labelled, known.n_waiting) == (50, 0)

    def test_csv_with_quoted_line_ends(self, log, tmp_path):
        path = tmp_path / "log.csv"
        named = log.set_column(6, "region", pa.array(["a\nb", 'c"d'] * (N // 2)))
        pa_csv.write_csv(named, path)
        with pytest.raises(StopIteration):  # the only way out of a log without end
            monitor(follow(path), **COLUMNS, by="region", on_alarm=_enough)
        whole = monitor(named, **COLUMNS, by="region").monitor
        assert {each.name for each in whole.groups()} == {"region=a\nb", 'region=c"d'}

    def test_a_bad_line_ends_it_and_rows_before_it_are_kept(self, log, tmp_path):
        path, state, lines = tmp_path / "log.jsonl", tmp_path / "state.json", self.lines(log)
        path.write_text("".join(lines[:300]) + "{]\n")
        with pytest.raises(DataError, match=r"must be one JSON object; got '{\]' in line 301"):
            monitor(follow(path), **COLUMNS, state=state)
        assert CalibrationMonitor.from_json(state.read_text()).n_rows == 300

    def test_what_cannot_be_followed_is_refused(self, tmp_path):
        for name in ("log.parquet", "log.csv.gz"):
            with pytest.raises(ParameterError, match="must be JSON lines or CSV, and not compressed"):
                follow(tmp_path / name)
        with pytest.raises(DataError, match=r"log.csv must be a file that can be read"):
            follow(tmp_path / "log.csv")


def _enough(watching, alarm):
    raise StopIteration


def test_the_log_is_read_once_and_never_held_whole(log, monkeypatch):
    source = open_source(log)
    n_passes, held = [], []
    read = source.batches

    def counted(columns=None, rows=None):
        n_passes.append(columns)
        for batch in read(columns, rows):
            held.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(source, "batches", counted)
    monitor(source, **COLUMNS, classes=["mid", "high", "low"], batch_rows=256)
    looks = [each for each in n_passes if each == ["y"]]  # for the type of the labels, in the first rows
    assert len(n_passes) - len(looks) == 1
    assert max(held[len(looks) :]) <= 256
