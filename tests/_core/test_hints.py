"""What a mistake is answered by: the closest name, or the way that users of other libraries look for."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from calibrant import (
    BinningCalibrator,
    CalibrantError,
    CalibratedClassifier,
    CodeCalibrator,
    CostSensitiveClassifier,
    OneVsAllCalibrator,
    PAVCalibrator,
    ScoreModel,
    SigmoidCalibrator,
    TemperatureCalibrator,
    load,
    save,
)
from calibrant._core._checks import check_option
from calibrant._core._hints import closest
from calibrant.calibrators import METHODS, named_method, new_calibrator
from calibrant.codes import all_pairs, check_code, check_combiner, one_vs_all
from calibrant.decisions import new_rule
from calibrant.models import compare_methods

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=120)
LABELS = RNG.random(120) < 1 / (1 + np.exp(-SCORES))
MARGINS = np.eye(3)[Y] + RNG.normal(size=(150, 3))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sigmiod", "sigmoid"),
        ("Sigmoid", "sigmoid"),
        ("platt_scaling", "platt"),
        ("isotonic regression", "isotonic"),
        ("venn-abers", "venn_abers"),
        ("tempreature", "temperature"),
    ],
)
def test_the_closest_method_is_offered(written, meant):
    for ask in (new_calibrator, named_method, lambda name: ScoreModel(name).fit(SCORES, LABELS)):
        with pytest.raises(CalibrantError, match=f"must be one of .*; did you mean '{meant}'\\?$"):
            ask(written)


@pytest.mark.parametrize(
    ("ask", "meant"),
    [
        (lambda: check_code("one against all", 3), "one_vs_all"),
        (lambda: ScoreModel("atuo").fit(SCORES, LABELS), "auto"),
        (lambda: CalibratedClassifier(GaussianNB(), "atuo").fit(X, Y), "auto"),
        (lambda: check_code("allpairs", 3), "all_pairs"),
        (lambda: check_combiner("normalise"), "normalize"),
        (lambda: new_rule("lachiche-flach"), "lachiche_flach"),
        (lambda: check_option("kind", "probabilities", ("margin", "probability")), "probability"),
        (lambda: BinningCalibrator(smoothing="laplas").fit(SCORES, LABELS), "laplace"),
        (lambda: PAVCalibrator(between="linaer").fit(SCORES, LABELS), "linear"),
    ],
)
def test_every_choice_offers_the_closest(ask, meant):
    with pytest.raises(CalibrantError, match=f"; did you mean '{meant}'\\?$"):
        ask()


def test_nothing_is_offered_where_nothing_is_close():
    assert closest("wizard", METHODS) == closest(3, METHODS) == closest(None, ["none"]) == ""
    with pytest.raises(CalibrantError, match="got 'wizard'$"):
        check_option("kind", "wizard", ("margin", "probability"))


@pytest.mark.parametrize(("alias", "name"), [("isotonic", "pav"), ("platt", "sigmoid")])
def test_methods_are_found_by_the_names_of_elsewhere(alias, name):
    assert METHODS[alias] is METHODS[name]
    assert alias not in list(METHODS)  # and are listed once
    for model in (OneVsAllCalibrator, ScoreModel):
        left, right = (model(each).fit(MARGINS, Y).predict_proba(MARGINS) for each in (alias, name))
        np.testing.assert_array_equal(left, right)
    left, right = (
        CalibratedClassifier(LinearSVC(), each).fit(X, Y).predict_proba(X) for each in (alias, name)
    )
    np.testing.assert_array_equal(left, right)
    assert compare_methods(MARGINS, Y, methods=[alias]).results[0].log_loss == (
        compare_methods(MARGINS, Y, methods=[name]).results[0].log_loss
    )


def test_codes_are_found_by_the_names_of_elsewhere(tmp_path):
    np.testing.assert_array_equal(check_code("ovr", 4), one_vs_all(4))
    np.testing.assert_array_equal(check_code("ovo", 4), all_pairs(4))
    np.testing.assert_array_equal(check_code("one_vs_rest", 4), one_vs_all(4))
    np.testing.assert_array_equal(check_code("one_vs_one", 4), all_pairs(4))
    for alias, name in (("ovr", "one_vs_all"), ("ovo", "all_pairs")):
        left, right = (
            CalibratedClassifier(LinearSVC(), "platt", code=each).fit(X, Y) for each in (alias, name)
        )
        np.testing.assert_array_equal(left.predict_proba(X), right.predict_proba(X))
        for make in (
            lambda code: ScoreModel("platt", code=code),
            lambda code: CodeCalibrator(code, "platt"),
            lambda code: TemperatureCalibrator(kind="margin", code=code),
        ):
            model, usual = make(alias).fit(MARGINS, Y), make(name).fit(MARGINS, Y)
            np.testing.assert_array_equal(model.predict_proba(MARGINS), usual.predict_proba(MARGINS))
            save(model, tmp_path / "alias.json")
            save(usual, tmp_path / "usual.json")
            assert (tmp_path / "alias.json").read_bytes() == (tmp_path / "usual.json").read_bytes()
            np.testing.assert_array_equal(
                load(tmp_path / "alias.json").predict_proba(MARGINS), usual.predict_proba(MARGINS)
            )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: CalibratedClassifier(LinearSVC(), method="sigmoid"), "is calibrator=, by the same names"),
        (lambda: CalibratedClassifier(base_estimator=LinearSVC()), "the learner is estimator="),
        (lambda: CalibratedClassifier(LinearSVC(), ensemble=False), "leave it out: there is one learner"),
        (lambda: ScoreModel(method="sigmoid"), "is calibrator=, by the same names"),
        (lambda: ScoreModel(costs=[[0, 1], [1, 0]]), "the costs are cost="),
        (lambda: CostSensitiveClassifier(GaussianNB(), costs=np.eye(3)), "the costs are cost="),
        (lambda: CalibratedClassifier(LinearSVC(), calibratr="pav"), "did you mean 'calibrator'"),
    ],
)
def test_an_argument_of_another_library_is_told_the_way_in_one_line(make, said):
    for error in (CalibrantError, TypeError):
        with pytest.raises(error, match=re.escape(said)) as caught:
            make()
        assert "\n" not in str(caught.value)


def test_arguments_that_exist_are_taken_by_place_and_by_name_and_cloned():
    model = clone(CalibratedClassifier(LinearSVC(), "pav", cv=3))
    assert model.get_params(deep=False)["calibrator"] == "pav"
    assert model.set_params(cv=4).cv == 4


def test_prefit_is_told_of_frozen_estimators():
    fitted = GaussianNB().fit(X, Y)
    with pytest.raises(CalibrantError, match=r"got 'prefit'; .* FrozenEstimator\(learner\), of sklearn"):
        CalibratedClassifier(fitted, cv="prefit").fit(X, Y)
    CalibratedClassifier(FrozenEstimator(fitted), cv="prefit").fit(X, Y)  # which needs no folds


@pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")
def test_probabilities_of_a_support_vector_machine_are_said_to_be_of_no_use():
    asked = CalibratedClassifier(
        make_pipeline(StandardScaler(), SVC(probability=True, random_state=0)), "platt"
    )
    with pytest.warns(UserWarning, match=r"SVC\(probability=True\) .*leave it out: SVC\(\) gives the same"):
        proba = asked.fit(X, Y).predict_proba(X)
    plain = CalibratedClassifier(make_pipeline(StandardScaler(), SVC()), "platt").fit(X, Y)
    np.testing.assert_array_equal(proba, plain.predict_proba(X))  # it has said the truth
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        asked.set_params(response_method="predict_proba").fit(X, Y)


def test_both_halves_of_the_aliases_are_the_same_in_the_command():
    from calibrant.cli._options import CODE_ALIASES
    from calibrant.codes._names import ALIASES

    assert CODE_ALIASES == ALIASES


def test_margins_where_probabilities_are_taken_are_told_how_to_be_declared():
    for ask in (
        lambda: TemperatureCalibrator().fit(MARGINS, Y),
        lambda: ScoreModel(kind="probability").fit(MARGINS, Y),
    ):
        with pytest.raises(CalibrantError, match=r"must lie in \[0, 1\]; .*; .*pass kind='margin' where"):
            ask()


def test_sigmoid_is_platts():
    assert isinstance(new_calibrator("platt"), SigmoidCalibrator)
