"""The examples of the guide: what the guide says of them is what they print."""

import io
import runpy
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib as mpl
import pytest

from calibrant import CalibrantError

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="examples are not part of an installed package")


def output_of(name):
    mpl.use("agg")
    printed = io.StringIO()
    with redirect_stdout(printed):
        found = runpy.run_path(str(EXAMPLES / name))
    return printed.getvalue(), found["monitor"]


def test_the_year_of_the_credit_book():
    printed, monitor = output_of("plot_monitor_credit.py")
    assert "alarm on 2026-07-12: class 1 comes more often than forecast" in printed
    assert "scores have drifted: False" in printed
    assert monitor.groups()[0].name == "region=west"
    assert (monitor.n_waiting, monitor.advice().action) == (0, "refit")


def test_the_other_writers_are_found():
    try:
        printed, monitor = output_of("monitor_pendigits.py")
    except CalibrantError as error:
        pytest.skip(str(error))
    first = monitor.alarms[0]
    assert "2,794 digits of people that the model knows" in printed
    assert 2794 < first.row < 3600
    assert first.began_low <= 2794 <= first.began_high + 100
    assert monitor.advice().action == "refit"
