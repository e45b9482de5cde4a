"""The command as a real process."""

import subprocess
import sys
from pathlib import Path

import pytest

from calibrant._core._errors import DataError
from calibrant.cli import _main

COMMAND = Path(sys.executable).parent / "calibrant"


def run(*arguments, **options):
    return subprocess.run([COMMAND, *arguments], check=False, capture_output=True, text=True, **options)


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(flag):
    done = run(flag)
    assert done.returncode == 0
    assert "Turn classifier scores into probabilities that can be believed" in done.stdout
    assert "demo" in done.stdout


def test_version():
    from importlib.metadata import version

    assert run("--version").stdout.strip() == f"calibrant {version('calibrant')}"


def test_help_imports_nothing_heavy():
    code = (
        "import sys, calibrant.cli; from click.testing import CliRunner; "
        "CliRunner().invoke(calibrant.cli._main.cli, ['--help']); "
        "heavy = {'numpy', 'scipy', 'sklearn', 'matplotlib', 'rich'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_bad_usage_is_exit_status_two():
    done = run("calibrate")
    assert done.returncode == 2
    assert "No such command 'calibrate'" in done.stderr


def test_an_error_of_ours_is_one_line_and_exit_status_one(monkeypatch, capsys):
    def fail():
        raise DataError("scores must be finite; got nan in row 3")

    monkeypatch.setattr(_main, "cli", fail)
    with pytest.raises(SystemExit) as stop:
        _main.main()
    assert stop.value.code == 1
    assert capsys.readouterr().err == "calibrant: scores must be finite; got nan in row 3\n"
