"""The benchmarks that start processes of their own run: on few rows, and what they find is not looked at."""

import importlib
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
