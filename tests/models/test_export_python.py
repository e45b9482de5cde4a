"""The module without dependencies: what it says, what it imports, and what its text can hold."""

import ast
import subprocess
import sys

import numpy as np
import pytest

from calibrant import ScoreModel, SigmoidCalibrator
from calibrant.decisions import random_costs
from calibrant.models import ExportError, export, to_python
from models.export_cases import module_of
from models.onnx_cases import scored_rows

HOSTILE = ["'", '"""', "\n", "\\", "__import__('os').abort()", "{0}", "é\u2028\ud800", "a\0b"]


@pytest.mark.parametrize("rule", [None, "expected", "parallel", "lachiche_flach", "mossman"])
@pytest.mark.parametrize("calibrator", ["pav", "sigmoid", "ranked_logistic", "accuracy_table"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_decisions(calibrator, rule):
    scores, y = scored_rows(150, 3, levels=3)
    cost = None if rule is None else random_costs(3, random_state=1)
    model = ScoreModel(calibrator, cost, rule).fit(scores, np.array(["a", "b", "c"])[y])
    module = module_of(model)
    np.testing.assert_allclose(
        module["probabilities"](scores), model.predict_proba(scores), rtol=0, atol=1e-12
    )
    assert module["decide"](scores) == model.decide(scores).tolist()


@pytest.mark.parametrize("rule", [None, "parallel"])
def test_decisions_that_are_no_classes(rule):
    cost = {0: {0: 0, 1: 9}, 1: {0: 5, 1: 0}, "ask a person": {0: 1, 1: 1}}
    scores = np.linspace(-3, 3, 40)
    model = ScoreModel("sigmoid", cost, rule).fit(scores, (scores + np.sin(5 * scores) > 0).astype(int))
    assert module_of(model)["decide"](scores) == model.decide(scores).tolist()
    assert set(model.decide(scores).tolist()) == {0, 1, "ask a person"}


def test_labels_are_never_code():
    scores, y = scored_rows(200, len(HOSTILE))
    model = ScoreModel("sigmoid", classes=HOSTILE).fit(scores, np.array(HOSTILE, dtype=object)[y])
    text = to_python(model)
    assert text.isascii()
    tree = ast.parse(text)
    module = module_of(model)
    assert list(module["CLASSES"]) == HOSTILE
    assert module["decide"](scores[:20]) == model.decide(scores[:20]).tolist()
    called = {
        node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and hasattr(node.func, "id")
    }
    assert called <= {
        *("_row", "_checked", "_exp", "_log", "exp", "log", "max", "min", "zip", "len", "tuple", "enumerate"),
        *("ValueError", "hasattr", "bisect_left", "floor", "abs"),
    }


def test_it_needs_the_standard_library_alone(tmp_path):
    scores, y = scored_rows(100, 3)
    model = ScoreModel("pav", random_costs(3, random_state=0)).fit(scores, y)
    export(model, tmp_path / "model.py", "python")
    imported = [
        node.module for node in ast.walk(ast.parse(to_python(model))) if isinstance(node, ast.ImportFrom)
    ]
    assert imported == ["bisect", "math"]
    asked = f"import model; print(model.decide({scores[:5].tolist()}))"
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {asked}"
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == str(model.decide(scores[:5]).tolist())


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_bad_scores_are_refused_with_their_row(bad):
    module = module_of(SigmoidCalibrator().fit([-2, -1, 1, 2], [0, 1, 0, 1]))
    with pytest.raises(ValueError, match=f"got {bad} in row 2"):
        module["probabilities"]([0.0, [1.0], bad])
    with pytest.raises(ValueError, match="must have 1 scores; row 0 has 2"):
        module["probabilities"]([[0.0, 1.0]])
    assert module["probabilities"]([]) == []


def test_one_flat_row_is_refused_as_rows_of_one_score():
    scores, y = scored_rows(60, 3)
    module = module_of(ScoreModel("pav").fit(scores, y))
    with pytest.raises(ValueError, match="must have 3 scores; row 0 has 1"):
        module["probabilities"]([0.1, 0.2, 0.3])


def test_what_is_refused():
    scores, y = scored_rows(60, 3)
    model = ScoreModel("sigmoid").fit(scores, y)
    model.classes_ = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")
    with pytest.raises(ExportError, match="labels must be texts or numbers to be written as Python"):
        to_python(model)
