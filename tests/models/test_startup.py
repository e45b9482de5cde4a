"""A saved model loads and answers with NumPy alone, where SciPy and scikit-learn cannot be had."""

import json
import subprocess
import sys

import numpy as np
import pytest

from calibrant import AccuracyTableCalibrator, ScoreModel, save
from models.cases import class_scores
from registry_cases import PLAIN_CASES

#: Answers that LAPACK finds, and why: systems of equations row by row, for which NumPy has no factor to keep.
NEED_SCIPY: dict[str, str] = {}
COMBINATIONS = ["normalize", "least_squares", "coupling"]

PROGRAM = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("scipy", "sklearn", "joblib", "pandas", "polars", "narwhals"):
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Absent())
import json
import numpy as np
import calibrant
model = calibrant.load(sys.argv[1])
scores = np.array(json.load(sys.stdin))
proba = model.predict_proba(scores)
decided = model.decide(scores) if hasattr(model, "decide") else []
print(json.dumps([proba.tolist(), list(map(str, decided))]))
"""


def answers_alone(path, scores):
    """What a fresh process says that has NumPy only."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(path)],
        input=json.dumps(scores.tolist()),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", PLAIN_CASES, ids=str)
def test_every_method_answers_with_numpy_alone(case, tmp_path):
    scores, y = case.rows()
    model = case.new().fit(scores, y)
    save(model, tmp_path / "m.json")
    proba, _ = answers_alone(tmp_path / "m.json", case.query())
    np.testing.assert_array_equal(proba, model.predict_proba(case.query()))


def test_a_table_of_many_scores_answers_with_numpy_alone(tmp_path):
    scores, y = class_scores(60, 5, 0)
    model = AccuracyTableCalibrator("B", n_cells=4, max_rank=None).fit(scores, y)
    save(model, tmp_path / "m.json")
    query = scores + 0.3
    proba, _ = answers_alone(tmp_path / "m.json", query)
    np.testing.assert_array_equal(proba, model.predict_proba(query))
    of_four = model.map_.own[3]  # asked for cells that are not kept
    ranked = -np.sort(-query, axis=1)
    assert not np.isin(of_four.grid.keys(list(ranked[:, :4].T)), of_four.smoothed.key).all()


@pytest.mark.parametrize("rule", [None, "expected", "parallel", "lachiche_flach", "mossman"])
@pytest.mark.parametrize("combine", COMBINATIONS)
def test_every_combination_and_rule_answers_with_numpy_alone(combine, rule, tmp_path):
    scores, y = class_scores(90, 3, 0)
    cost = 1.0 - np.eye(3) + np.arange(3)[:, None] * (1 - np.eye(3))
    model = ScoreModel("sigmoid", cost, rule, combine=combine).fit(scores, y)
    save(model, tmp_path / "m.json")
    proba, decided = answers_alone(tmp_path / "m.json", scores[:20])
    np.testing.assert_array_equal(proba, model.predict_proba(scores[:20]))
    assert decided == list(map(str, model.decide(scores[:20])))
