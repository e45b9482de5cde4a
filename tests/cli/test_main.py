"""The command as a whole: help, version, exit statuses, and what happens when it is stopped."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from calibrant import ScoreModel, save
from calibrant._core._errors import DataError, ParameterError
from calibrant.cli import _main
from cli.calling import here, names_in, process, start

COMMAND = Path(sys.executable).parent / "calibrant"
UNEXPECTED = (
    "unexpected ZeroDivisionError: 1 / 0; this is a fault of calibrant; set CALIBRANT_DEBUG=1 to see where"
)


def test_the_installed_command_shows_its_version():
    done = subprocess.run([COMMAND, "--version"], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == f"calibrant {version('calibrant')}"


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_every_command_with_a_whole_sentence(flag, tmp_path):
    shown = here(flag, cwd=tmp_path).stdout
    assert "Turn classifier scores into calibrated probabilities" in shown
    for name in _main.COMMANDS:
        line = re.search(rf"^  {name} +(.*)$", shown, re.MULTILINE)
        assert line, name
        assert re.search(r"(?<!\.\.)[.?]$", line[1]), line[1]


def test_called_alone_it_shows_its_help_and_no_error(tmp_path):
    done = process(cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.rstrip() == process("--help", cwd=tmp_path).stdout.rstrip()


def test_rows_are_fitted_judged_and_decided_without_scikit_learn_and_pandas(tmp_path):
    rows = "\n".join(f"{'no' if n % 3 else 'yes'},{n % 7 - n % 3},{1 + n / 4}" for n in range(40))
    (tmp_path / "scores.csv").write_text(f"label,score,weight\n{rows}\n")
    (tmp_path / "costs.csv").write_text("decision,no,yes\nno,0,5\nyes,1,0\n")
    scores = ["scores.csv", "--label", "label", "--scores", "score", "--positive", "yes"]
    runs = [
        ["fit", *scores, "--method", "pav", "--out", "model.json"],
        ["apply", "model.json", "scores.csv", "--decide", "--out", "p.parquet"],
        ["evaluate", "p.parquet", "--label", "label", "--scores", "p_*", "--weight", "weight"],
        ["decide", "p.parquet", "--scores", "p_*", "--costs", "costs.csv", "--keep", "p_*", "--out", "d.csv"],
        ["fit", "p.parquet", *scores[1:3], "--scores", "p_*", "--method", "pav", "--out", "again.json"],
    ]
    code = (
        "import json, sys; from click.testing import CliRunner; from calibrant.cli._main import cli; "
        "done = [CliRunner().invoke(cli, run) for run in json.loads(sys.argv[1])]; "
        "assert all(each.exit_code == 0 for each in done), [each.output for each in done]; "
        "print({'sklearn', 'pandas'} & set(sys.modules))"
    )
    command = [sys.executable, "-W", "error", "-c", code, json.dumps(runs)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout == "set()\n"


def test_a_model_is_applied_to_csv_without_the_wrappers_of_arrow(tmp_path):
    save(ScoreModel("sigmoid").fit([-2.0, -1.0, 1.0, 2.0], [0, 1, 0, 1]), tmp_path / "model.json")
    (tmp_path / "scores.csv").write_text('id,score\na,1.5\n"b,c",-0.5\n')
    code = (
        "import sys; from click.testing import CliRunner; from calibrant.cli._main import cli; "
        "done = CliRunner().invoke(cli, ['apply', 'model.json', 'scores.csv', '--out', 'p.csv']); "
        "assert done.exit_code == 0, done.output; "
        "print({'pyarrow.compute', 'pandas', 'scipy', 'sklearn'} & set(sys.modules))"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (found.stdout, (tmp_path / "p.csv").read_text().count("\n")) == ("set()\n", 3)


def test_help_imports_nothing_heavy():
    code = (
        "import sys, calibrant.cli; from click.testing import CliRunner; "
        "run = CliRunner().invoke; cli = calibrant.cli._main.cli; "
        "names = ([], ['fit'], ['apply'], ['decide']); "
        "assert all(run(cli, [*name, '--help']).exit_code == 0 for name in names); "
        "heavy = {'numpy', 'scipy', 'sklearn', 'matplotlib', 'rich', 'pyarrow'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["calibrate"], "calibrant: there is no command 'calibrate'; see calibrant --help"),
        (["fitt"], "calibrant: there is no command 'fitt'; did you mean 'fit'?; see calibrant --help"),
        (
            ["fit", "scores.csv", "--label", "label", "--out", "m.json"],
            "calibrant: Missing option '--scores'",
        ),
        (["apply", "model.json", "--out", "p.csv"], "calibrant: Missing argument 'SCORES'"),
        (
            ["evaluate", "p.csv", "--lable", "y"],
            "calibrant: there is no option --lable; did you mean '--label'?",
        ),
        (
            ["reproduce", "ze02-tabel4"],
            "calibrant: NAME must be 'all', a paper (lz05, ogg, tto, ze02) or an experiment; got 'ze02",
        ),
        (
            ["code", "ovoo", "--classes", "a,b", "--out", "-"],
            "calibrant: Invalid value for 'CODE': 'ovoo' is",
        ),
        (
            ["code", "ovo", "--classes", "a", "--out", "-"],
            "calibrant: --classes must be two labels or more; got a",
        ),
    ],
)
def test_bad_usage_is_one_line_and_exit_status_two(arguments, said, tmp_path):
    done = process(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (DataError("scores must be finite; got nan in row 3"), 1, "scores must be finite; got nan in row 3"),
        (ParameterError("--top must be 1 or more"), 2, "--top must be 1 or more"),
        (KeyboardInterrupt(), 130, "interrupted; no file was written"),
        (
            MemoryError(),
            1,
            "there must be more memory for this; pass --in-passes, or use a sample of the rows",
        ),
        (OSError(28, "No space left on device", "x.csv"), 1, "x.csv: No space left on device"),
        (
            ZeroDivisionError("1\n/ 0"),
            1,
            UNEXPECTED,
        ),
    ],
)
def test_whatever_goes_wrong_is_one_line(error, status, said, monkeypatch, capsys):
    def fail(**_):
        raise error

    monkeypatch.setattr(_main.cli, "main", fail)
    monkeypatch.setattr(_main, "n_in_place", lambda: 0)  # of other tests
    monkeypatch.setattr("warnings.showwarning", None)
    with pytest.raises(SystemExit) as stop:
        _main.run()
    assert stop.value.code == status
    assert capsys.readouterr().err == f"calibrant: {said}\n"


def test_a_fault_of_ours_can_be_seen(monkeypatch):
    def fail(**_):
        raise ZeroDivisionError

    monkeypatch.setattr(_main.cli, "main", fail)
    monkeypatch.setattr("warnings.showwarning", None)
    monkeypatch.setenv("CALIBRANT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        _main.run()


def test_a_warning_is_one_line(capsys):
    _main._warn(UserWarning("it did not\nconverge"), UserWarning, "file.py", 3)
    assert capsys.readouterr().err == "calibrant: warning: it did not converge\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell, tmp_path):
    script = here("completion", shell, cwd=tmp_path).stdout
    assert "_CALIBRANT_COMPLETE" in script


def test_completion_knows_commands_and_options(tmp_path):
    def complete(words):
        environment = os.environ | {
            "_CALIBRANT_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        }
        done = subprocess.run([COMMAND], env=environment, capture_output=True, text=True, check=False)
        return {line.split(",")[1] for line in done.stdout.split()}

    assert {"compare", "completion"} <= complete("calibrant comp")
    assert complete("calibrant fit --me") == {"--method"}


@pytest.fixture
def endless(folder):
    """The arguments of an apply whose input never ends."""
    return ["apply", "model.json", "-", "--out", "out.csv"], folder


def feed(run, folder, until):
    """Send rows until something happens."""
    rows = (folder / "new.csv").read_bytes().split(b"\n", 1)
    run.stdin.write(rows[0] + b"\n")
    deadline = time.monotonic() + 60
    while not until() and time.monotonic() < deadline:
        run.stdin.write(rows[1] * 20)
    run.stdin.flush()


def test_ctrl_c_is_one_line_and_leaves_the_old_file(endless):
    arguments, folder = endless
    (folder / "out.csv").write_text("what was there")
    run = start(*arguments, cwd=folder, stdin=subprocess.PIPE)
    feed(run, folder, until=lambda: any(name.endswith(".part") for name in names_in(folder)))
    run.send_signal(signal.SIGINT)
    run.stdin.close()
    run.stdin = None
    _, said = run.communicate(timeout=60)
    assert (run.returncode, said.decode()) == (130, "calibrant: interrupted; no file was written\n")
    assert (folder / "out.csv").read_text() == "what was there"
    assert not [name for name in names_in(folder) if name.endswith(".part")]


STOPPED = """
import os, signal, sys, time
from calibrant.cli._process import Terminated, unwind_when_told
signal.signal(signal.SIGINT, signal.default_int_handler)
unwind_when_told()
number = int(sys.argv[1])
try:
    try:
        os.kill(os.getpid(), number)
        time.sleep(5)
    except BaseException:
        pass  # as compiled code of others may do it
    try:
        time.sleep(60)
        print("nothing came")
    finally:
        time.sleep(2.5)
        print("cleaned up")
except (KeyboardInterrupt, Terminated) as error:
    time.sleep(1.5)
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGTERM, "Terminated")]
)
def test_a_signal_that_others_drop_comes_again_but_disturbs_no_cleaning_up(number, name):
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, str(int(number))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"cleaned up\n{name}\n", "")


def test_a_pipe_that_is_closed_early_is_no_matter_for_words(folder):
    rows = (folder / "new.csv").read_bytes().split(b"\n", 1)
    (folder / "many.csv").write_bytes(rows[0] + b"\n" + rows[1] * 200)
    run = start("apply", "model.json", "many.csv", "--out", "-", cwd=folder)
    assert run.stdout.readline() == b"id,source,label,p_cat,p_dog,p_fox\n"
    run.stdout.close()
    assert run.wait(timeout=60) == 1
    assert run.stderr.read() == b""
    run.stderr.close()


def limited():
    """Let no file grow: what a full disk looks like from inside."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 13, 1 << 13))


def test_a_full_disk_is_one_line_and_leaves_no_file(folder):
    before = names_in(folder)
    done = process("apply", "model.json", "new.csv", "--out", "out.csv", cwd=folder, preexec_fn=limited)
    assert done.returncode == 1
    assert done.stderr == "calibrant: out.csv must be writable, with room on its disk; File too large\n"
    assert names_in(folder) == before
    done = process("apply", "model.json", "new.csv", "--out", "/dev/full", cwd=folder)
    assert (
        done.stderr
        == "calibrant: /dev/full must be writable, with room on its disk; No space left on device\n"
    )


def test_standard_output_that_is_full_is_one_line(folder):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "calibrant", "inspect", "model.json"],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
