"""A map that can only rise says so, once, where scores point the wrong way."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import LeaveOneOut
from sklearn.naive_bayes import GaussianNB

from calibrant import (
    BinningCalibrator,
    CalibratedClassifier,
    OneVsAllCalibrator,
    PAVCalibrator,
    ScoreDirectionWarning,
    ScoreModel,
    SigmoidCalibrator,
)
from calibrant.calibrators import CodeCalibrator
from calibrant.files import Rows, compare, fit
from calibrant.models import compare_methods


@pytest.fixture
def credit():
    """A credit score, of which high is good, and what became of the loans."""
    rng = np.random.default_rng(0)
    default = rng.random(400) < 0.2
    return 600 + 60 * rng.normal(size=400) - 60 * default, np.where(default, "default", "current")


@pytest.fixture
def distances():
    """Distances to three centres, the least of which is the nearest."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 600)
    centres = np.array([[0.0, 0], [2, 0], [0, 2]])
    point = centres[label] + rng.normal(size=(600, 2))
    return np.linalg.norm(point[:, None] - centres, axis=2), np.array(["ape", "bee", "cow"])[label]


def rows_of(scores, labels):
    classes, position = np.unique(labels, return_inverse=True)
    return {"rows": lambda: [Rows(scores[::2], position[::2]), Rows(scores[1::2], position[1::2])]} | {
        "classes": classes
    }


FITS = {
    "pav": lambda scores, y: PAVCalibrator().fit(scores, y),
    "model": lambda scores, y: ScoreModel("pav").fit(scores, y),
    "model in passes": lambda scores, y: fit(ScoreModel("pav"), **rows_of(scores, y)),
    "pav in passes": lambda scores, y: fit("pav", **rows_of(scores, y)),
    "compare": compare_methods,
    "compare in passes": lambda scores, y: compare(**rows_of(scores, y)),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_one_score_that_points_the_wrong_way_warns_once_and_names_the_remedy(fit, credit):
    scores, y = credit
    with pytest.warns(
        ScoreDirectionWarning, match="rank 'default' above 'current'.*increasing=False.*classes="
    ) as seen:
        fit(scores, y)
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(-scores, y)


def test_the_remedies_are_remedies(credit):
    scores, y = credit
    turned = ScoreModel("pav", classes=["default", "current"]).fit(scores, y)
    falling = ScoreModel(PAVCalibrator(increasing=False)).fit(scores, y)
    np.testing.assert_allclose(
        turned.predict_proba(scores)[:, 0], falling.predict_proba(scores)[:, 1], atol=1e-12
    )
    assert np.ptp(falling.predict_proba(scores)[:, 1]) > 0.3


@pytest.mark.parametrize(
    "calibrator", [SigmoidCalibrator(), BinningCalibrator(), PAVCalibrator(increasing=False)]
)
def test_a_map_that_can_fall_does_not_warn(calibrator, credit):
    scores, _ = credit
    for model in (calibrator, ScoreModel(calibrator)):
        assert np.ptp(model.fit(*credit).predict_proba(scores)[:, 1]) > 0.5


MANY = {
    "one-vs-all": lambda scores, y: OneVsAllCalibrator().fit(scores, y),
    "code": lambda scores, y: CodeCalibrator("one_vs_all").fit(scores, y),
    "model": lambda scores, y: ScoreModel("pav").fit(scores, y),
    "model in passes": lambda scores, y: fit(ScoreModel("pav"), **rows_of(scores, y)),
    "compare": compare_methods,
    "compare in passes": lambda scores, y: compare(**rows_of(scores, y)),
}


@pytest.mark.parametrize("fit", MANY.values(), ids=MANY)
def test_many_scores_warn_once_and_name_the_columns(fit, distances):
    scores, y = distances
    with pytest.warns(
        ScoreDirectionWarning, match="'ape', 'bee', 'cow'|column 0, column 1, column 2"
    ) as seen:
        fit(scores, y)
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(-scores, y)


def test_one_column_of_many_is_named_alone(distances):
    scores, y = -distances[0], distances[1]
    scores[:, 1] *= -1
    with pytest.warns(ScoreDirectionWarning, match="those of 'bee' rank"):
        OneVsAllCalibrator().fit(scores, y)


class Reversed(GaussianNB):
    """A learner whose author has mistaken the sign."""

    def predict_proba(self, X):
        return 1 - super().predict_proba(X)


@pytest.mark.parametrize(
    ("how", "named"),
    [({}, "'a', 'b', 'c'"), ({"code": "all_pairs", "combine": "coupling"}, "column 0, column 1")],
)
def test_a_learner_with_the_wrong_sign_warns_once(how, named):
    rng = np.random.default_rng(2)
    label = rng.integers(0, 3, 300)
    X, y = rng.normal(size=(300, 2)) + 2 * np.eye(3)[label][:, :2], np.array(["a", "b", "c"])[label]
    with pytest.warns(ScoreDirectionWarning, match=named) as seen:
        CalibratedClassifier(Reversed(), "pav", **how).fit(X, y)
    assert len(seen) == 1
    with pytest.warns(ScoreDirectionWarning, match="'rest' above 'a'"):
        CalibratedClassifier(Reversed(), "pav").fit(X, np.where(label == 0, "a", "rest"))


@pytest.mark.parametrize("learner", [RidgeClassifier(), GaussianNB()])
def test_noise_out_of_fold_raises_no_alarm(learner):
    """Learners trained on each other's rows are wrong together: taken for one, 4% of these would warn."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        CalibratedClassifier(learner, "pav", cv=10).fit(rng.normal(size=(100, 5)), np.arange(100) % 2)


def test_priors_of_one_row_left_out_raise_no_alarm():
    model = CalibratedClassifier(DummyClassifier(strategy="prior"), "pav", cv=LeaveOneOut())
    proba = model.fit(np.zeros((60, 1)), np.arange(60) % 2).predict_proba([[0.0]])
    np.testing.assert_allclose(proba, 0.5)


@pytest.mark.filterwarnings("ignore::calibrant.ScoreDirectionWarning")
def test_weights_in_passes_have_the_chance_of_memory():
    rng = np.random.default_rng(3)
    for weight in (rng.integers(1, 5, 300).astype(float), rng.exponential(size=300), None):
        position = (rng.random(300) < 0.5).astype(np.intp)
        scores = rng.normal(size=300) - 0.6 * position
        batches = [
            Rows(scores[part], position[part], None if weight is None else weight[part])
            for part in (slice(90), slice(90, None))
        ]
        passes = fit("pav", lambda batches=batches: batches, classes=["no", "yes"])
        memory = PAVCalibrator().fit(scores, position, weight)
        assert memory._direction.chance < 0.5
        assert passes._direction.chance == pytest.approx(memory._direction.chance, rel=0.2)
