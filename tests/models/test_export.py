"""One function for every target, and the file that it writes."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import calibrant
from calibrant import AccuracyTableCalibrator, ScoreModel
from calibrant._core._errors import ParameterError
from calibrant.models import ModelFileError, export, to_onnx, to_python, to_sql
from models.export_cases import exported_proba
from models.onnx_cases import proba_of, scored_rows

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "where-it-runs.md"


@pytest.fixture(scope="module")
def model():
    return ScoreModel("pav").fit(*scored_rows(60, 3))


def test_the_files_hold_what_the_functions_give(model, tmp_path):
    assert calibrant.export is export
    export(model, tmp_path / "m.onnx", to="onnx")
    export(model, tmp_path / "m.sql", to="sql", scores=list("abc"), dialect="sqlite", table="t", keep=["id"])
    export(model, tmp_path / "m.py", to="python")
    assert onnx.load(tmp_path / "m.onnx") == to_onnx(model)
    said = to_sql(model, "t", list("abc"), dialect="sqlite", keep=["id"])
    assert (tmp_path / "m.sql").read_text("utf-8") == said + "\n"
    assert (tmp_path / "m.py").read_text("utf-8") == to_python(model)


@pytest.mark.parametrize("target", ["onnx", "python", "duckdb", "sqlite"])
def test_a_sparse_table_of_four_scores(target):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(400, 5))
    y = (scores + rng.gumbel(size=scores.shape) / 2).argmax(axis=1)
    table = AccuracyTableCalibrator([1, 2, 3, 4], n_cells=3).fit(scores, y)
    few = scores[:40]
    found = proba_of(table, few) if target == "onnx" else exported_proba(table, few, target)
    np.testing.assert_allclose(found, table.predict_proba(few), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "pmml"}, "to must be one of 'onnx', 'sql', 'python'; got 'pmml'"),
        ({"to": "python", "table": "t"}, "table must be left out for to 'python'; got 't'; it is for 'sql'"),
        (
            {"to": "sql", "color": "t"},
            "color must be left out for to 'sql'; got 't'; there is no such",
        ),
    ],
)
def test_what_cannot_be_asked_leaves_the_old_file(model, options, message, tmp_path):
    (tmp_path / "m").write_bytes(b"old")
    with pytest.raises(ParameterError, match=message):
        export(model, tmp_path / "m", **options)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"old"]


#: What raises `ExportError`, in the words of the guide.
REFUSED = [
    "`LeastSquares(sum_constraint=False)`",
    '`combine="coupling"`; `"least_squares"` for other codes | yes | no | yes',
    '`combine="coupling"` for codes with zeros and several classes on a side | no | no | no',
    "calibrators, combinations and rules of one's own that are not registered | no | no | no",
    "labels that are neither texts nor numbers | no | no | no",
    "more than 2^24 steps in a model | no | yes | yes",
    "`RankedLogisticCalibrator` for some 40 classes or more",
    '`response_method="log_odds"` behind skl2onnx | no',
]


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of an installed package")
@pytest.mark.parametrize("line", REFUSED)
def test_the_guide_lists_what_is_refused(line):
    assert line in GUIDE.read_text("utf-8").split("## What is refused")[1]


def test_a_file_that_cannot_be_written(model, tmp_path):
    with pytest.raises(ModelFileError, match="nowhere/m.py must be a file that can be written; No such"):
        export(model, tmp_path / "nowhere" / "m.py", to="python")
