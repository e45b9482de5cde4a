"""The base of calibrators, rules and models is an estimator to scikit-learn, whose class it is not."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from calibrant import CalibratedClassifier, OneVsAllCalibrator, PAVCalibrator, ScoreModel, SigmoidCalibrator
from calibrant._core._errors import CalibrantError
from calibrant._core._estimator import Estimator, clone as our_clone
from calibrant.decisions import ParallelPartitionRule
from models.cases import OURS

SCORES = np.linspace(-2, 2, 40)
Y = (SCORES + np.sin(np.arange(40) * 7) > 0).astype(int)


def twin_of(kind):
    """The same constructor on scikit-learn's own base."""
    return type(kind.__name__, (BaseEstimator,), {"__init__": kind.__init__})


KINDS = [*OURS.values(), OneVsAllCalibrator, ScoreModel, ParallelPartitionRule]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_parameters_are_those_of_scikit_learns_own_base(kind):
    ours, theirs = kind(), twin_of(kind)()
    assert ours.get_params() == theirs.get_params()
    assert list(ours.get_params()) == list(theirs.get_params())
    assert repr(ours) == repr(theirs)
    assert get_tags(ours) == get_tags(theirs)
    name = next(iter(ours.get_params()), None)
    if name is not None:
        changed = kind().set_params(**{name: "changed"})
        assert getattr(changed, name) == "changed"
        assert repr(changed) == repr(twin_of(kind)().set_params(**{name: "changed"}))


def test_parameters_of_parameters_are_set_by_two_underscores():
    model = OneVsAllCalibrator(SigmoidCalibrator(max_iter=7))
    assert model.get_params()["calibrator__max_iter"] == 7
    assert model.set_params(calibrator__max_iter=9, combine="coupling").calibrator.max_iter == 9
    assert repr(model) == "OneVsAllCalibrator(calibrator=SigmoidCalibrator(max_iter=9), combine='coupling')"
    with pytest.raises(
        CalibrantError, match="a parameter of SigmoidCalibrator must be one of .*; got 'steps'"
    ):
        model.set_params(calibrator__steps=1)


@pytest.mark.parametrize("copying", [clone, our_clone])
def test_a_clone_is_unfitted_and_shares_nothing(copying):
    inner = SigmoidCalibrator(max_iter=7).set_fit_request(sample_weight=True)
    model = ScoreModel(inner, cost=[[0, 1], [5, 0]]).fit(SCORES, Y)
    copied = copying(model)
    assert type(copied) is ScoreModel
    assert not hasattr(copied, "classes_")
    assert copied.calibrator is not inner
    assert copied.calibrator.max_iter == 7
    assert copied.cost is not model.cost
    assert copied.calibrator.get_metadata_routing().fit.requests == {"sample_weight": True}


def test_a_foreign_estimator_is_cloned_as_scikit_learn_does():
    learner = LinearSVC(C=3).fit(SCORES[:, None], Y)
    copied = our_clone(learner)
    assert copied.C == 3
    assert not hasattr(copied, "coef_")


def test_scikit_learn_knows_whether_it_is_fitted():
    with pytest.raises(NotFittedError) as found:
        PAVCalibrator().predict_proba([1.0])
    assert isinstance(found.value, CalibrantError)
    assert type(pickle.loads(pickle.dumps(found.value))) is type(found.value)
    with pytest.raises(NotFittedError):
        check_is_fitted(PAVCalibrator())
    check_is_fitted(PAVCalibrator().fit(SCORES, Y))
    assert not is_classifier(PAVCalibrator())


def test_it_is_searched_over_and_weights_are_routed():
    weights = np.where(Y == 1, 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = SigmoidCalibrator().set_fit_request(sample_weight=True)
        plain = get_scorer("neg_log_loss").set_score_request(sample_weight=False)
        search = GridSearchCV(asking, {"smooth": [True, False]}, scoring=plain, cv=2)
        search.fit(SCORES, Y, sample_weight=weights)
    want = clone(search.best_estimator_).fit(SCORES, Y, weights)
    np.testing.assert_array_equal(search.best_estimator_.predict_proba(SCORES), want.predict_proba(SCORES))


def test_it_stands_in_pipelines_and_in_the_pictures_of_notebooks():
    model = make_pipeline(StandardScaler(), CalibratedClassifier(LinearSVC(), PAVCalibrator(clip=0.125)))
    assert "clip=0.125" in repr(model)
    assert "PAVCalibrator" in model._repr_html_()
    assert "PAVCalibrator" in PAVCalibrator().fit(SCORES, Y)._repr_html_()
    assert "ScoreModel" in ScoreModel().fit(SCORES, Y)._repr_html_()
    model.fit(np.c_[SCORES, SCORES**2], Y)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        copied.predict_proba(np.c_[SCORES, SCORES**2]), model.predict_proba(np.c_[SCORES, SCORES**2])
    )


def test_a_class_without_a_constructor_has_no_parameters():
    class Nothing(Estimator):
        pass

    assert Nothing().get_params() == {}
    assert repr(Nothing()) == "Nothing()"
