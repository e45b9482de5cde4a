"""The progress bar: on a terminal only, and only if the work takes a while."""

import os
import pty
import sys

import pyarrow as pa
import pytest

from calibrant.cli import _progress
from calibrant.cli._show import Table, show_table
from calibrant.files import Progress, labelled
from cli.calling import start

TABLE = pa.table({"x": [1, 2, 3] * 4, "y": [0, 1, 1] * 4})


class Terminal:
    """A stream that says it is a terminal, and keeps what it gets."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_off_a_terminal_nothing_is_shown(capsys):
    assert labelled(TABLE, scores="x", label="y", progress=None).read() is not None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("patience", [-1.0, 60.0])
def test_on_a_terminal_only_long_work_is_shown(monkeypatch, patience):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_progress, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    with _progress.showing() as progress:
        labelled(TABLE, scores="x", label="y", progress=progress).read()
    shown = (
        "reading: 12 of 12 rows" in terminal.text and "100%" in terminal.text and "rows/s" in terminal.text
    )
    assert shown == (patience < 0)


@pytest.mark.parametrize("patience", [-1.0, 60.0])
def test_every_pass_is_shown(monkeypatch, patience):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_progress, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    with _progress.showing() as progress:
        rows = labelled(TABLE, scores="x", label="y", progress=progress)
        for number, n_rows in [(1, 3), (2, 3), (2, 12)]:
            rows.progress(Progress(number, n_rows))
    shown = "pass 2: 12 of 12 rows" in terminal.text and "100%" in terminal.text and "rows/s" in terminal.text
    assert shown == (patience < 0)


def test_off_a_terminal_no_pass_is_shown(capsys):
    with _progress.showing() as progress:
        assert progress is None
    assert capsys.readouterr() == ("", "")


def test_a_table_on_a_terminal_has_bold_lines(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    show_table(Table(("method", "loss"), [("pav", "0.1"), ("sigmoid", "0.2")], frozenset([0])))
    bold, plain = "\x1b[1m", "\x1b[0m"
    assert terminal.text == f"{bold}method   loss{plain}\n{bold}pav       0.1{plain}\nsigmoid   0.2\n"


def test_a_table_elsewhere_has_none(capsys):
    show_table(Table(("method", "loss"), [("pav", "0.1")], frozenset([0])))
    assert capsys.readouterr().out == "method  loss\npav      0.1\n"


def test_a_real_terminal_gets_a_table_and_no_traceback(made):
    """The whole command with a terminal as its standard output."""
    leader, follower = pty.openpty()
    run = start("inspect", "model.json", cwd=made, stdout=follower, stderr=follower, stdin=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    assert run.wait(timeout=60) == 0
    assert b"score_model" in shown
