"""`calibrant reproduce` as a user sees it, on small experiments and on real data."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from calibrant import CalibrantError
from calibrant.cli import _reproduce
from calibrant.cli._reproduce_command import command
from calibrant.experiments._data_download import MissingDataError
from calibrant.experiments._datasets import find
from calibrant.experiments._experiment import Check, Experiment, Findings, Job, Row

COMMAND = Path(sys.executable).parent / "calibrant"


def number(value):
    if value < 0:
        raise MissingDataError("the negative numbers must be at hand; they are not; ask for them")
    return value


def collect(done):
    rows = tuple(Row(("value", str(each.arguments["value"])), (each.answer / 8,), (0.25,)) for each in done)
    return Findings(
        rows, (Check("it grows", True, "0.1 < 0.2"), Check("it shrinks", False, "no"), Check("it is", None))
    )


def experiment(name, values):
    return Experiment(
        name,
        "Some numbers",
        "As they are.",
        ("what", "which"),
        ("size",),
        jobs=lambda scale: [
            Job(number, {"value": value}) for value in values[: None if scale == "full" else 2]
        ],
        collect=collect,
    )


@pytest.fixture
def reproduce(monkeypatch, tmp_path):
    """The command with two papers of small experiments."""
    known = {
        each.name: each for each in (experiment("aa00-table1", [1, 2, 3]), experiment("bb00-table1", [4, -1]))
    }
    monkeypatch.setattr(_reproduce, "EXPERIMENTS", known)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *arguments: CliRunner().invoke(command, [*arguments, "--jobs", "1"])


def test_without_a_name_the_experiments_are_listed(reproduce):
    assert reproduce().output == "aa00-table1  Some numbers\nbb00-table1  Some numbers\n"
    assert json.loads(reproduce("--json").output)[0] == {"name": "aa00-table1", "title": "Some numbers"}


def test_ours_stand_beside_the_papers_with_the_difference(reproduce):
    lines = reproduce("aa00-table1").output.splitlines()
    assert lines[0] == "aa00-table1: Some numbers (quick)"
    assert lines[2].split() == ["what,", "which", "size", "paper", "difference"]
    assert lines[3].split() == ["value,", "1", "0.12500", "0.25000", "-0.12500"]
    assert lines[4].split() == ["value,", "2", "0.25000", "0.25000", "+0.00000"]
    assert lines[6:] == [
        "As they are.",
        "held: it grows [0.1 < 0.2]",
        "NOT HELD: it shrinks [no]",
        "not checked: it is",
    ]


def test_full_is_more_and_a_missing_set_is_one_line(reproduce):
    printed = reproduce("all", "--full").output
    assert "value, 3" in printed
    assert printed.endswith("skipped: the negative numbers must be at hand; they are not; ask for them\n")


def test_a_paper_is_all_its_experiments_and_nothing_is_run_twice(reproduce):
    printed = reproduce("bb00", "bb00-table1").output
    assert printed.count("bb00-table1:") == 1
    assert "aa00" not in printed


def test_json_is_one_object_or_a_list(reproduce):
    one, two = json.loads(reproduce("aa00", "--json").output), json.loads(reproduce("all", "--json").output)
    assert one == two[0]
    assert one["rows"][0] == {
        "labels": ["value", "1"],
        "ours": [0.125],
        "paper": [0.25],
        "spread": [],
        "error": [],
    }
    assert one["command"] == "calibrant reproduce aa00-table1 --quick"


def test_findings_are_written_where_asked(reproduce, tmp_path):
    done = reproduce("all", "--out", str(tmp_path / "findings"), "--json")
    written = sorted((tmp_path / "findings").iterdir())
    assert [path.name for path in written] == ["aa00-table1.json", "bb00-table1.json"]
    assert json.loads(written[0].read_text()) == json.loads(done.output)[0]


def test_an_unknown_name_is_bad_usage(reproduce):
    done = reproduce("cc99")
    assert done.exit_code == 2
    assert "NAME must be 'all', a paper (aa00, bb00) or an experiment; got 'cc99'" in done.output


def test_a_wide_table_is_printed_in_parts(reproduce):
    rows = [
        {"labels": ["a long name of a row"], "ours": [1.5, 2.5, 3.5], "paper": [1.0, 2.0, 3.0], "spread": []}
    ]
    document = {"labels": ["row"], "measures": ["first", "second", "third"], "rows": rows}
    whole = list(_reproduce.tables(document))
    assert len(whole) == 1
    parts = list(_reproduce.tables(document, width=80))
    assert [part.headings[1] for part in parts] == ["first", "third"]
    assert all(part.rows[0][0] == "a long name of a row" for part in parts)
    assert [cell for part in parts for cell in part.rows[0][1:]] == list(whole[0].rows[0][1:])


def needs(file):
    try:
        find(file)
    except CalibrantError as error:
        pytest.skip(str(error))


def wait_for(condition, process):
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_control_c_is_one_line_and_the_next_run_goes_on(tmp_path):
    needs("tic.train.csv.gz")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    arguments = [COMMAND, "reproduce", "ze02-table2", "--jobs", "1"]
    kept = lambda: list(tmp_path.glob("**/*.json"))  # noqa: E731
    with subprocess.Popen(
        arguments,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        wait_for(kept, process)
        os.killpg(process.pid, signal.SIGINT)
        printed, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (printed, said) == (
        "",
        "calibrant: interrupted; the same command goes on where this one stopped\n",
    )
    first = {path: path.stat().st_mtime_ns for path in kept()}
    assert 1 <= len(first) < 3
    done = subprocess.run(arguments, env=environment, check=True, capture_output=True, text=True)
    assert "NB, PAV" in done.stdout
    assert done.stderr == ""
    assert len(kept()) == 3
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in first.items())


def test_help_is_light():
    code = (
        "import sys; from click.testing import CliRunner; from calibrant.cli._main import cli; "
        "done = CliRunner().invoke(cli, ['reproduce', '--help']); "
        "print('NAME | PAPER | all' in done.output, {'numpy', 'sklearn', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "True set()\n"
