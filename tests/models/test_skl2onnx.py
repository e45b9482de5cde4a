"""Pipelines that end in a calibrated learner, converted by skl2onnx; `make skl2onnx` brings it."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier
from calibrant.calibrators import StackCalibrator
from calibrant.models import OnnxExportError, register_skl2onnx

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def rows(k, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, 300)
    return rng.normal(size=(300, 4)) + np.eye(k, 4)[y] * 1.5, y


def answers(model, X):
    """Labels and probabilities by the converted model."""
    register_skl2onnx()
    kind = skl2onnx.common.data_types.DoubleTensorType([None, X.shape[1]])
    graph = skl2onnx.to_onnx(model, initial_types=[("X", kind)], options={"zipmap": False}, target_opset=18)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X})


CASES = [
    *((LinearSVC(), {"calibrator": name}, 3) for name in ("pav", "sigmoid", "binning", "accuracy_table")),
    (LinearSVC(), {"calibrator": StackCalibrator(kind="margin")}, 3),
    (LinearSVC(), {"calibrator": "pav"}, 2),
    (LogisticRegression(), {"calibrator": "sigmoid"}, 2),
    (LogisticRegression(), {"calibrator": "temperature", "response_method": "predict_proba"}, 3),
    (LogisticRegression(), {"calibrator": "pav", "code": "all_pairs", "combine": "coupling"}, 4),
    (LogisticRegression(), {"calibrator": "sigmoid", "code": "exhaustive", "combine": "least_squares"}, 4),
    (GaussianNB(), {"calibrator": "beta"}, 3),
]


@pytest.mark.parametrize(("learner", "options", "k"), CASES, ids=str)
@pytest.mark.parametrize("labels", ["numbers", "texts"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_pipeline_says_what_it_says_here(learner, options, k, labels):
    X, y = rows(k)
    y = y if labels == "numbers" else np.array(["ant", "bee", "cat", "dog"])[y]
    model = make_pipeline(StandardScaler(), CalibratedClassifier(learner, cv=3, **options)).fit(X, y)
    label, proba = answers(model, X)
    said = model.predict_proba(X)
    far = np.abs(proba - said).max(axis=1) > 1e-9
    assert far.mean() < 0.02, "scores that differ by rounding can fall on the other side of a step"
    assert proba.dtype == np.float64
    assert (label[~far] == model.predict(X)[~far]).all()


def test_a_forest_in_single_precision():
    X, y = rows(3)
    X = X.astype(np.float32)
    model = CalibratedClassifier(RandomForestClassifier(20, random_state=0), "sigmoid", cv=3).fit(X, y)
    register_skl2onnx()
    graph = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}, target_opset=18)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    _, proba = session.run(None, {"X": X})
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=0, atol=1e-5)


def test_what_is_refused():
    X, y = rows(3)
    model = CalibratedClassifier(GaussianNB(), "pav", response_method="log_odds", cv=3).fit(X, y)
    with pytest.raises(OnnxExportError, match="got 'log_odds', which need logarithms"):
        answers(model, X)
