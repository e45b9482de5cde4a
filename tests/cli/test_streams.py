"""Standard streams that are closed, full or gone, and signals: one line, a status, and whole files."""

import itertools
import signal
import subprocess
import sys

import pytest

from calibrant import CalibrantError
from calibrant.models import load
from cli.calling import here, names_in, start

COMMAND = f"{sys.executable} -m calibrant"
FIT = "fit scores.csv --label label --scores 's_*' --method sigmoid --out new.json"


def shell(line, folder):
    return subprocess.run(
        ["sh", "-c", f"{COMMAND} {line}"], cwd=folder, capture_output=True, text=True, check=False
    )


STREAMS = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-"}


@pytest.mark.parametrize(
    "closed", [c for n in (1, 2, 3) for c in itertools.combinations(STREAMS, n)], ids="+".join
)
def test_streams_that_are_closed(tmp_path, closed):
    done = shell(f"completion bash {' '.join(STREAMS[name] for name in closed)}", tmp_path)
    assert done.returncode == ("stdout" in closed)
    if "stdout" in closed:
        said = "calibrant: standard output must be writable, with room on its disk; Bad file descriptor\n"
        assert done.stderr == ("" if "stderr" in closed else said)
    else:
        assert "_CALIBRANT_COMPLETE" in done.stdout
        assert done.stderr == ""


@pytest.mark.parametrize("line", ["--help > /dev/full", "completion zsh > /dev/full"])
def test_a_full_standard_output_is_one_line(tmp_path, line):
    for setting in ("", "PYTHONUNBUFFERED=1 ", "PYTHONUNBUFFERED= "):
        done = subprocess.run(
            ["sh", "-c", f"{setting}{COMMAND} {line}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        said = "calibrant: standard output must be writable, with room on its disk; No space left on device\n"
        assert done.stderr == said


@pytest.mark.parametrize("stderr", ["2> /dev/full", "2>&-"])
def test_an_error_that_cannot_be_told_has_its_status(tmp_path, stderr):
    done = shell(f"nonsense {stderr}", tmp_path)
    assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            f"{FIT} > /dev/full",
            "calibrant: standard output must be writable, with room on its disk; No space",
        ),
        (f"{FIT} >&- <&-", "calibrant: standard output must be writable, with room on its disk; Bad file"),
    ],
)
def test_a_summary_that_cannot_be_printed_leaves_a_whole_model(folder, line, said):
    done = shell(line, folder)
    assert done.returncode == 1
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    load(folder / "new.json")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("apply model.json new.csv --out - >&-", "calibrant: standard output must be writable"),
        ("apply model.json - --out out.csv <&-", "calibrant: standard input must be"),
        ("apply model.json new.csv --out - > /dev/full", "calibrant: standard output must be writable"),
    ],
)
def test_rows_from_and_to_streams_that_are_closed_or_full(folder, line, said):
    before = names_in(folder)
    done = shell(line, folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert names_in(folder) == before


def test_a_reader_that_goes_away_is_no_matter_for_words(tmp_path):
    run = start("completion", "bash", cwd=tmp_path, bufsize=0)
    run.stdout.close()
    assert run.wait(timeout=60) == 1
    assert run.stderr.read() == b""
    run.stderr.close()


def stop_while_writing(folder, number, **options):
    """Send a signal to a process that has begun to write; its status, what it said, and what it left."""
    run = start("apply", "model.json", "-", "--out", "out.csv", cwd=folder, stdin=subprocess.PIPE, **options)
    before = names_in(folder)
    rows = (folder / "new.csv").read_bytes()
    run.stdin.write(rows)
    while names_in(folder) == before:
        run.stdin.write(rows.split(b"\n", 1)[1] * 20)
        run.stdin.flush()
    run.send_signal(number)
    run.stdin = run.stdin.close()
    _, said = run.communicate(timeout=60)
    return run.returncode, said, set(names_in(folder)) - set(before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_file_and_ends_the_process(folder, number):
    said = b"calibrant: terminated; no file was written\n"
    assert stop_while_writing(folder, number) == (-number, said, set())


def test_a_signal_that_was_ignored_stays_so(folder):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    assert stop_while_writing(folder, signal.SIGHUP, preexec_fn=ignore) == (0, b"", {"out.csv"})


def test_a_report_that_cannot_be_written_leaves_no_model_and_the_other_way_round(folder):
    (folder / "taken").mkdir()
    before = names_in(folder)
    fit = ("fit", "scores.csv", "--label", "label", "--scores", "s_*", "--method", "sigmoid")
    for page, out in (("taken", "new.json"), ("new/page.html", "taken")):
        with pytest.raises(
            CalibrantError, match="^taken must be a file to be written; it is something else$"
        ):
            here(*fit, "--report", page, "--out", out, cwd=folder)
        assert names_in(folder) == before
