"""`calibrant monitor`: what the library finds, as text, as JSON, as an exit status, and as it comes."""

import json
import signal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from calibrant.cli._main import cli
from calibrant.files import monitor
from cli.calling import here, process, start

COLUMNS = ("--time", "when", "--label", "y", "--scores", "p_*")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A log that changes in its middle, in several formats, and its first half."""
    folder = tmp_path_factory.mktemp("logs")
    rng = np.random.default_rng(3)
    p = rng.beta(1, 3, size=4000)
    true = np.where(np.arange(4000) < 2000, p, 3 * p / (1 + 2 * p))
    table = pa.table(
        {
            "when": np.datetime64("2026-03-01", "us") + np.arange(4000) * np.timedelta64(600, "s"),
            "p_no": 1 - p,
            "p_yes": p,
            "y": np.where(rng.random(4000) < true, "yes", "no"),
            "region": rng.choice(["north", "south"], 4000),
        }
    )
    pq.write_table(table, folder / "log.parquet")
    pq.write_table(table.slice(0, 1500), folder / "calm.parquet")
    rows = [row | {"when": row["when"].isoformat()} for row in table.to_pylist()]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "costs.csv").write_text("decision,no,yes\nno,0,5\nyes,1,0\n")
    return folder


def test_the_table_says_what_the_library_found(logs):
    said = here(
        "monitor",
        "log.parquet",
        *COLUMNS,
        "--by",
        "region",
        "--window",
        "week",
        "--costs",
        "costs.csv",
        cwd=logs,
    ).stdout
    found = monitor(
        logs / "log.parquet", scores="p_*", label="y", time="when", by="region", window="week"
    ).monitor
    first = found.alarms[0]
    assert said.startswith(f"4,000 rows, 4,000 of them with labels: {found.n_alarms} alarms.\n")
    assert f"alarm at {found.shown_time(first.time)}, row {first.row:,}: {first.what}; began about" in said
    assert "more of the same" in said
    assert str(found.windows()[0].log_loss) in said
    assert "region=north" in said
    assert "off: class yes comes more often than forecast" in said
    assert "What to do: recalibrate with the last" in said


def test_json_has_all_of_it(logs):
    shown = json.loads(here("monitor", "log.parquet", *COLUMNS, "--by", "region", "--json", cwd=logs).stdout)
    found = monitor(logs / "log.parquet", scores="p_*", label="y", time="when", by="region").monitor
    assert shown["n_rows"] == shown["n_labelled"] == 4000
    assert [each["row"] for each in shown["alarms"]] == [each.row for each in found.alarms]
    assert shown["alarms"] == shown["new_alarms"]
    assert shown["alarms"][0]["began_time"] == found.shown_time(found.alarms[0].began_time)
    assert shown["value"] == found.value
    assert [each["name"] for each in shown["groups"]] == [each.name for each in found.groups()]
    assert shown["windows"][0]["log_loss"] == pytest.approx(found.windows()[0].log_loss)
    assert shown["advice"]["action"] == "refit"
    weights = [
        sum(each["weight"] for each in shown["reliability"][part]["cells"]) for part in ("before", "since")
    ]
    assert sum(weights) == 4000
    assert weights[0] == pytest.approx(2000, abs=300)


@pytest.mark.parametrize(("log", "status"), [("log.parquet", 3), ("calm.parquet", 0)])
def test_an_alarm_that_is_asked_for_is_status_3(logs, log, status):
    done = CliRunner().invoke(cli, ["monitor", str(logs / log), *COLUMNS, "--fail-on", "alarm"])
    assert done.exit_code == status


def test_only_alarms_of_these_rows_count(logs, tmp_path):
    call = [
        "monitor",
        str(logs / "log.parquet"),
        *COLUMNS,
        "--state",
        str(tmp_path / "state.json"),
        "--grown",
    ]
    call += ["--fail-on", "alarm"]
    assert CliRunner().invoke(cli, call).exit_code == 3
    again = CliRunner().invoke(cli, call)
    assert again.exit_code == 0
    assert "alarms, 0 new." in again.stdout


def test_alarms_come_as_lines_while_rows_do(logs):
    alarms = monitor(logs / "log.parquet", scores="p_*", label="y", time="when").alarms
    text = (logs / "log.jsonl").read_text()
    done = process("monitor", "-", *COLUMNS, "--follow", "--json", cwd=logs, input=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert [json.loads(line)["row"] for line in done.stdout.splitlines()] == [each.row for each in alarms]
    first = process("monitor", "-", *COLUMNS, "--follow", "--fail-on", "alarm", cwd=logs, input=text)
    assert first.returncode == 3
    assert first.stdout.splitlines()[0].startswith("alarm at 2026-03-1")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_file_is_followed_until_one_stops_it_and_the_state_is_whole(logs, tmp_path, number):
    lines = (logs / "log.jsonl").read_text().splitlines(keepends=True)
    log, state = tmp_path / "log.jsonl", tmp_path / "state.json"
    log.write_text("".join(lines[:100]))
    running = start("monitor", log, *COLUMNS, "--follow", "--state", state, cwd=tmp_path)
    with log.open("a") as file:
        file.writelines(lines[100:])
    assert running.stdout.readline().startswith(b"alarm at ")
    running.send_signal(number)
    _, said = running.communicate(timeout=30)
    assert said.decode().strip() in (
        "calibrant: interrupted",
        "calibrant: terminated",
        "calibrant: terminated; no file was written",
    )
    seen = json.loads(state.read_text())["log"]["n_rows"]
    assert seen > 2000
    # Whoever goes on sees no row twice.
    rest = here("monitor", log, *COLUMNS, "--state", state, "--grown", "--json", cwd=tmp_path)
    whole = here("monitor", log, *COLUMNS, "--json", cwd=tmp_path)
    assert json.loads(rest.stdout)["value"] == json.loads(whole.stdout)["value"]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("nothing.csv", *COLUMNS), 1, "the file must exist: nothing.csv"),
        (("log.parquet", "--scores", "q_*"), 1, "the pattern 'q_*' must match a column"),
        (("log.parquet", "--label", "y"), 2, "--scores must name the columns of the forecasts"),
        (("log.parquet", *COLUMNS, "--window", "fortnight"), 2, "neither a number of rows nor one of hour"),
        (("log.parquet", *COLUMNS, "--follow"), 2, "must be JSON lines or CSV"),
        (("log.parquet", *COLUMNS, "--state", "-"), 2, "--state must be a file"),
        (("log.parquet", *COLUMNS, "--state", "log.parquet"), 2, "--state must not be a file that is read"),
        (("log.parquet", *COLUMNS, "--state", "costs.csv"), 1, "costs.csv must be a state"),
        (("log.jsonl", *COLUMNS, "--follow", "--sheet", "a"), 2, "--sheet must not come with --follow"),
    ],
)
def test_what_is_wrong_is_one_line(logs, arguments, status, said):
    done = process("monitor", *arguments, cwd=logs)
    assert done.returncode == status
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_the_page_is_written_and_says_the_same(logs, tmp_path):
    page = tmp_path / "page.html"
    said = here("monitor", "log.parquet", *COLUMNS, "--report", page, cwd=logs).stdout
    assert said.endswith(f"The page is in {page}.\n")
    text = page.read_text()
    assert "Alarm: class yes comes more often than forecast" in text
    assert "Forecasts of log.parquet" in text
