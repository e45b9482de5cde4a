"""Finding and reading the data sets."""

import gzip

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.experiments import _datasets


def test_the_named_folder_comes_first(tmp_path, monkeypatch):
    with gzip.open(tmp_path / "tiny.csv.gz", "wt") as file:
        file.write("a,b,class\n1,2.5,x\n3,-4,y\n")
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    table = _datasets.read_numeric("tiny")
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, -4]])
    assert table.y.tolist() == ["x", "y"]


def test_a_missing_set_is_named_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    monkeypatch.setattr(_datasets, "BESIDE", tmp_path)
    with pytest.raises(CalibrantError, match=r"data set nowhere\.csv\.gz must be in.*set CALIBRANT_DATA"):
        _datasets.read_numeric("nowhere")
