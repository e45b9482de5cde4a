"""Whole models in ONNX: what they say about themselves, the file, and what is refused."""

import json
import stat
import sys

import numpy as np
import onnx
import pytest
from hypothesis import given, settings, strategies as st
from onnx.reference import ReferenceEvaluator
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import calibrant
from calibrant import CalibrantError, OneVsAllCalibrator, PAVCalibrator, SigmoidCalibrator
from calibrant._core._errors import MissingExtraError
from calibrant._core._not_fitted import NotFittedError
from calibrant.decisions import random_costs
from calibrant.maps._onnx_messages import IR_VERSION, OPSET
from calibrant.models import ModelFileError, OnnxExportError, ScoreModel, load, save, save_onnx, to_onnx
from models.onnx_cases import run, scored_rows, session_of

CALIBRATORS = [
    "pav",
    "sigmoid",
    "binning",
    "accuracy_table",
    "ranked_logistic",
    PAVCalibrator("linear", clip=1e-3),
]


@pytest.fixture(scope="module")
def digits():
    """Class scores of a naive Bayes for the digits, out of fold, and the labels as text."""
    X, y = load_digits(return_X_y=True)
    scores = cross_val_predict(GaussianNB(var_smoothing=1e-2), X, y, cv=3, method="predict_log_proba")
    return scores, np.array([f"digit {label}" for label in y])


@pytest.mark.parametrize("rule", [None, "parallel", "lachiche_flach"])
@pytest.mark.parametrize("combine", ["normalize", "least_squares"])
def test_real_scores(digits, combine, rule):
    scores, y = digits
    model = ScoreModel("pav", random_costs(10, random_state=1), rule, combine=combine).fit(
        scores[::2], y[::2]
    )
    got = run(model, scores)
    np.testing.assert_allclose(got["probabilities"], model.predict_proba(scores), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(got["decision"], model.decide(scores))


@settings(max_examples=30)
@given(
    calibrator=st.sampled_from(CALIBRATORS),
    k=st.integers(2, 6),
    rule=st.sampled_from([None, "expected", "parallel", "lachiche_flach"]),
    seed=st.integers(0, 10**6),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_random_models(calibrator, k, rule, seed):
    scores, y = scored_rows(70, k, seed, levels=(None, 3)[seed % 2])
    cost = None if rule is None else random_costs(k, random_state=seed)
    model = ScoreModel(calibrator, cost, rule).fit(scores, y)
    query = np.concatenate([scores, scored_rows(40, k, seed + 1)[0] * 2])
    got = run(model, query)
    np.testing.assert_allclose(got["probabilities"], model.predict_proba(query), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(got["decision"], model.decide(query))


def test_one_score_for_two_classes():
    scores, y = scored_rows(200, 2)
    margin = scores[:, 1] - scores[:, 0]
    model = ScoreModel("pav", [[0, 3], [1, 0]], "parallel").fit(margin, y)
    got = run(model, margin)
    np.testing.assert_array_equal(got["probabilities"], model.predict_proba(margin))
    np.testing.assert_array_equal(got["decision"], model.decide(margin))


@pytest.mark.parametrize("calibrator", ["sigmoid", "accuracy_table", "ranked_logistic"])
def test_another_runtime_agrees(calibrator):
    """The plain interpreter of the package onnx, which has no search trees in double precision."""
    scores, y = scored_rows(150, 4)
    model = ScoreModel(calibrator, random_costs(4, random_state=0), combine="least_squares").fit(scores, y)
    proba, decision = ReferenceEvaluator(to_onnx(model)).run(None, {"scores": scores})
    np.testing.assert_allclose(proba, model.predict_proba(scores), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(decision, model.decide(scores))


def test_what_a_model_says_about_itself():
    scores, y = scored_rows(100, 3)
    model = ScoreModel("pav", random_costs(3, random_state=0), "parallel").fit(
        scores, np.array(list("abc"))[y]
    )
    proto = to_onnx(model)
    onnx.checker.check_model(proto, full_check=True)
    assert {each.domain: each.version for each in proto.opset_import}[""] == OPSET
    assert (proto.ir_version, proto.producer_name) == (IR_VERSION, "calibrant")
    assert proto.producer_version == calibrant.__version__
    properties = {each.key: each.value for each in proto.metadata_props}
    assert properties == {
        "calibrant_version": calibrant.__version__,
        "kind": "ScoreModel",
        "classes": '["a", "b", "c"]',
        "calibrator": "OneVsAllCalibrator",
        "actions": '["a", "b", "c"]',
        "rule": "ParallelPartitionRule",
    }
    session = session_of(model)
    (scores_in,) = session.get_inputs()
    assert (scores_in.name, scores_in.type, scores_in.shape) == ("scores", "tensor(double)", ["rows", 3])
    outputs = [(each.name, each.type, each.shape) for each in session.get_outputs()]
    assert outputs == [
        ("probabilities", "tensor(double)", ["rows", 3]),
        ("decision", "tensor(string)", ["rows"]),
    ]


def test_a_bare_calibrator_gives_probabilities_only():
    sigmoid = SigmoidCalibrator().fit([-2, -1, 1, 2], [0, 1, 0, 1])
    assert list(run(sigmoid, [0.5])) == ["probabilities"]
    properties = {each.key: each.value for each in to_onnx(sigmoid).metadata_props}
    assert properties["kind"] == "SigmoidCalibrator"
    assert json.loads(properties["classes"]) == [0, 1]


def test_scores_of_the_wrong_form_are_refused_by_the_runtime():
    sigmoid = SigmoidCalibrator().fit([-2, -1, 1, 2], [0, 1, 0, 1])
    with pytest.raises(Exception, match="Got: 2 Expected: 1"):
        run(sigmoid, np.zeros((3, 2)))


def test_the_same_model_gives_the_same_bytes_also_after_a_journey(tmp_path):
    scores, y = scored_rows(100, 3)
    for calibrator in ("pav", "accuracy_table", "ranked_logistic"):
        model = ScoreModel(calibrator, 1 - np.eye(3)).fit(scores, y)
        save(model, tmp_path / "model.json")
        first, second = to_onnx(model), to_onnx(load(tmp_path / "model.json"))
        assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)


def test_the_file(tmp_path):
    scores, y = scored_rows(100, 3)
    model = ScoreModel("pav").fit(scores, y)
    path = tmp_path / "model.onnx"
    save_onnx(model, path)
    assert onnx.load(path) == to_onnx(model)
    path.chmod(0o640)
    save_onnx(ScoreModel("sigmoid").fit(scores, y), str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    model = SigmoidCalibrator().fit([-2, -1, 1, 2], [0, 1, 0, 1])
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")

    def full_disk(number):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full_disk)
        with pytest.raises(
            ModelFileError, match="model.onnx must be a file that can be written; No space left"
        ):
            save_onnx(model, path)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]
    with pytest.raises(
        ModelFileError, match="nowhere/model.onnx must be a file that can be written; No such"
    ):
        save_onnx(model, tmp_path / "nowhere" / "model.onnx")


def test_a_model_that_cannot_be_exported_leaves_the_old_file(tmp_path):
    scores, y = scored_rows(60, 3)
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    with pytest.raises(OnnxExportError, match="got a function, which may do anything"):
        save_onnx(ScoreModel("sigmoid", combine=lambda code, answers, weights: answers).fit(scores, y), path)
    assert path.read_bytes() == b"old"


def test_without_the_package_onnx(monkeypatch):
    model = SigmoidCalibrator().fit([-2, -1, 1, 2], [0, 1, 0, 1])
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(
        MissingExtraError, match=r"needs the package onnx; .* pip install 'calibrant\[onnx\]'"
    ):
        to_onnx(model)


@pytest.mark.parametrize("model", [PAVCalibrator(), OneVsAllCalibrator(), ScoreModel()], ids=repr)
def test_a_model_that_is_not_fitted(model):
    with pytest.raises(NotFittedError, match=f"this {type(model).__name__} must be fitted"):
        to_onnx(model)


def test_models_of_others():
    class Mine(ScoreModel):
        pass

    with pytest.raises(OnnxExportError, match="got a LogisticRegression, whose map is not known"):
        to_onnx(LogisticRegression())
    with pytest.raises(OnnxExportError, match="got a Mine, whose map is not known"):
        to_onnx(Mine("sigmoid").fit(*scored_rows(50, 3)))

    class Own(PAVCalibrator):
        pass

    model = ScoreModel(Own()).fit([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1])
    with pytest.raises(CalibrantError, match="got a Own, whose map is not known; fit one of calibrant's"):
        to_onnx(model)


def test_many_rows_at_once():
    scores, y = scored_rows(100_000, 10)
    model = ScoreModel("pav", random_costs(10, random_state=0)).fit(scores[:5000], y[:5000])
    got = run(model, scores)
    np.testing.assert_allclose(got["probabilities"], model.predict_proba(scores), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(got["decision"], model.decide(scores))
