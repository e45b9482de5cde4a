"""The benchmarks that start processes of their own run: on few rows, and what they find is not looked at."""

import importlib
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="benchmarks are not installed")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_process_that_fits_in_passes(n_classes, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    passes = importlib.import_module("benchmarks.passes")
    monkeypatch.setattr(passes, "DATA", tmp_path)
    found = passes.in_passes(500, n_classes, repeats=1)
    assert found["rows"] == 500
    assert min(found["fit"], found["apply"], found["peak"]) > 0


def test_old_beside_new_is_timed_as_ours_beside_a_peer(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    beside, measure = (importlib.import_module(f"benchmarks.{name}") for name in ("beside", "measure"))
    wanted, found = (inspect.signature(each).parameters for each in (measure.in_turn, beside.on_demand))
    assert list(found) == list(wanted)
    assert [each.default for each in found.values()] == [each.default for each in wanted.values()]
