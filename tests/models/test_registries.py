"""MLflow and skops keep our models and give them back, with the real packages (`make mlflow`)."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier, ScoreModel
from registry_cases import PLAIN_CASES

skops = pytest.importorskip("skops.io")
X = np.random.default_rng(0).normal(size=(300, 3))
Y = (X[:, 0] + np.sin(np.arange(300) * 7) > 0).astype(int)


def fitted():
    """Every method, the chain with costs, and the classifier; each with rows to ask about."""
    for case in PLAIN_CASES:
        yield pytest.param(case.new().fit(*case.rows()), case.query(), id=str(case))
    yield pytest.param(ScoreModel("pav", [[0, 1], [5, 0]]).fit(X[:, 0], Y), X[:, 0], id="score_model")
    yield pytest.param(CalibratedClassifier(LinearSVC(), "sigmoid").fit(X, Y), X, id="classifier")


@pytest.mark.parametrize(("model", "asked"), list(fitted()))
def test_skops_trusts_our_types_alone_and_gives_the_same_numbers(model, asked):
    data = skops.dumps(model)
    types = skops.get_untrusted_types(data=data)
    assert all(name.startswith("calibrant.") for name in types)
    again = skops.loads(data, trusted=types)
    np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["cloudpickle", "skops"])
@pytest.mark.parametrize(
    ("model", "asked"), [each for each in fitted() if each.id in ("score_model", "classifier")]
)
def test_mlflow_gives_back_what_it_was_given(model, asked, form, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    trusted = skops.get_untrusted_types(data=skops.dumps(model)) if form == "skops" else None
    mlflow.sklearn.save_model(
        model,
        tmp_path / "saved",
        serialization_format=form,
        skops_trusted_types=trusted,
        pyfunc_predict_fn="predict_proba",
        pip_requirements=["calibrant"],
    )
    again = mlflow.sklearn.load_model(str(tmp_path / "saved"))
    np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))
