"""From scores to probabilities to decisions."""

import pickle
import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from calibrant import CalibrantError
from calibrant.calibrators import (
    AccuracyTableCalibrator,
    CodeCalibrator,
    OneVsAllCalibrator,
    PAVCalibrator,
    RankedLogisticCalibrator,
    SigmoidCalibrator,
    top_candidates,
)
from calibrant.decisions import ExpectedCostRule, ParallelPartitionRule, decide, realised_cost
from calibrant.metrics import brier_score, error_rate, log_loss
from calibrant.models import ScoreModel, TrainingSummary, _plan as module
from models.cases import COST3, NAMES, class_scores, one_score, pair_scores, softmax


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [False, True], [-1.0, 1.0], ["z", "é"]])
def test_one_score_and_any_two_labels(labels):
    scores, y = one_score()
    model = ScoreModel("sigmoid").fit(scores, np.array(labels)[y.astype(int)])
    plain = SigmoidCalibrator().fit(scores, y)
    np.testing.assert_array_equal(model.predict_proba(scores), plain.predict_proba(scores))
    assert model.classes_.tolist() == model.calibrator_.classes_.tolist() == labels
    assert model.actions_.tolist() == labels
    assert model.decide([-9, 9]).tolist() == labels
    assert model.rule_ is None
    assert model.cost_ is None


def test_classes_name_the_positive_class():
    scores, y = one_score()
    names = np.where(y, "a", "b")
    model = ScoreModel("sigmoid", classes=["b", "a"]).fit(scores, names)
    turned = ScoreModel("sigmoid").fit(-scores, names)
    np.testing.assert_allclose(
        model.predict_proba(scores), turned.predict_proba(-scores)[:, ::-1], atol=1e-12
    )
    assert model.calibrator_.classes_.tolist() == ["b", "a"]


def test_a_column_of_scores_is_one_score():
    scores, y = one_score()
    flat, column = (ScoreModel().fit(given, y) for given in (scores, scores[:, None]))
    np.testing.assert_array_equal(
        flat.predict_proba(scores), column.predict_proba(pd.DataFrame({"s": scores}))
    )


@pytest.mark.parametrize("combine", ["normalize", "least_squares", "coupling"])
def test_a_two_class_calibrator_and_one_score_per_class_is_one_vs_all(combine):
    scores, y = class_scores()
    model = ScoreModel("pav", combine=combine).fit(scores, NAMES[y])
    wanted = OneVsAllCalibrator("pav", combine).fit(scores, NAMES[y])
    np.testing.assert_array_equal(model.predict_proba(scores), wanted.predict_proba(scores))


def test_a_score_per_column_of_a_code():
    scores, y = pair_scores()
    model = ScoreModel("sigmoid", code="all_pairs", combine="coupling").fit(scores, y)
    wanted = CodeCalibrator("all_pairs", "sigmoid", "coupling").fit(scores, y)
    np.testing.assert_array_equal(model.predict_proba(scores), wanted.predict_proba(scores))
    given = ScoreModel(CodeCalibrator("all_pairs", "sigmoid", "coupling")).fit(scores, y)
    np.testing.assert_array_equal(given.predict_proba(scores), wanted.predict_proba(scores))


def test_a_class_without_rows_keeps_its_column():
    scores, y = class_scores()
    model = ScoreModel("sigmoid", classes=range(3)).fit(scores[y < 2], y[y < 2])
    assert model.predict_proba(scores).shape == (len(y), 3)
    assert model.summary_.base_rates[2] == 0


def test_weights_are_copies_and_zero_is_absent():
    scores, y = class_scores()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = ScoreModel("pav").fit(scores, y, weights)
    copied = ScoreModel("pav").fit(np.repeat(scores, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(scores), copied.predict_proba(scores), atol=1e-12)
    np.testing.assert_allclose(weighted.summary_.base_rates, copied.summary_.base_rates)
    assert (weighted.summary_.n_rows, weighted.summary_.weight) == ((weights > 0).sum(), weights.sum())


def test_costs_by_position_by_mapping_and_by_frame_are_the_same():
    scores, y = class_scores()
    order = [2, 0, 1]
    mapping = {NAMES[i]: {NAMES[j]: COST3[i, j] for j in order} for i in order}
    pandas = pd.DataFrame(COST3[np.ix_(order, order)], index=NAMES[order], columns=NAMES[order])
    polars = pl.DataFrame({"decide": NAMES[order]} | {NAMES[j]: COST3[order, j] for j in order})
    wanted = NAMES[decide(OneVsAllCalibrator().fit(scores, y).predict_proba(scores), COST3)]
    for cost in (COST3, mapping, pandas, polars):
        model = ScoreModel("pav", cost).fit(scores, NAMES[y])
        np.testing.assert_array_equal(model.cost_, COST3)
        assert model.decide(scores).tolist() == wanted.tolist()


def test_names_of_a_frame_are_those_of_number_classes():
    scores, y = class_scores()
    frame = pd.DataFrame(COST3, index=["0", "1", "2"], columns=["0", "1", "2"])
    model = ScoreModel("pav", frame).fit(scores, y)
    assert model.decide(scores).dtype.kind == "i"
    np.testing.assert_array_equal(model.cost_, COST3)


def test_other_decisions_than_the_classes():
    scores, y = one_score()
    cost = {"call": {True: 0, False: 5}, "mail": {True: 3, False: 1}, "nothing": {True: 8, False: 0}}
    model = ScoreModel("sigmoid", cost).fit(scores, y)
    proba = model.predict_proba(scores)
    risk = proba @ np.array([[5, 0], [1, 3], [0, 8]]).T
    wanted = np.array(["call", "mail", "nothing"])[risk.argmin(axis=1)]
    assert model.decide(scores).tolist() == wanted.tolist()
    assert set(wanted) == set(cost)
    extra = {False: {False: 0, True: 8}, True: {False: 5, True: 0}, "ask": {False: 1, True: 1}}
    asking = ScoreModel("sigmoid", extra, "expected").fit(scores, y)
    assert asking.actions_.tolist() == [False, True, "ask"]
    assert set(asking.decide(scores).tolist()) == {False, True, "ask"}
    by_number = ScoreModel("sigmoid", [[0, 8], [5, 0], [1, 1]]).fit(scores, y)
    assert by_number.decide(scores).tolist() == [
        [False, True, "ask"].index(action) for action in asking.decide(scores).tolist()
    ]


def test_two_other_decisions_need_not_be_reasonable():
    scores, y = one_score()
    model = ScoreModel("sigmoid", {"send": {True: 0, False: 5}, "keep": {True: 9, False: 0}}).fit(scores, y)
    assert set(model.decide(scores)) == {"send", "keep"}


@pytest.mark.parametrize("rule", ["expected", "parallel", "lachiche_flach", "mossman"])
def test_rules_are_learned_on_rows_that_the_calibrator_has_not_seen(rule):
    scores, y = class_scores(300)
    model = ScoreModel("pav", COST3, rule).fit(scores, y)
    fold = module.stratified_folds(y, 5, 0)
    proba = np.empty((len(y), 3))
    for number in range(5):
        inside = fold != number
        proba[~inside] = OneVsAllCalibrator().fit(scores[inside], y[inside]).predict_proba(scores[~inside])
    wanted = clone(model.rule_).fit(proba, y, COST3)
    np.testing.assert_array_equal(model.rule_.matrix_, wanted.matrix_)
    assert model.decide(scores).tolist() == wanted.decide(model.predict_proba(scores)).tolist()
    metrics = model.summary_.metrics
    assert metrics.log_loss == log_loss(y, proba)
    assert metrics.brier_score == brier_score(y, proba)
    assert metrics.error_rate == error_rate(y, proba)
    np.testing.assert_allclose(metrics.calibration + metrics.refinement, metrics.brier_score)
    if rule == "expected":
        assert metrics.mean_cost == realised_cost(y, decide(proba, COST3), COST3).mean
        assert metrics.mean_cost_plain is None
    else:
        assert metrics.mean_cost_plain == realised_cost(y, decide(proba, COST3), COST3).mean
        assert metrics.mean_cost * len(y) >= model.rule_.cost_after_ - 1e-9


@pytest.mark.parametrize("rule", [None, ParallelPartitionRule()])
def test_every_measure_of_a_fit_has_an_interval_around_it(rule):
    scores, y = class_scores()
    metrics = ScoreModel("pav", COST3, rule).fit(scores, y).summary_.metrics
    known = {each.name: getattr(metrics, each.name) for each in fields(metrics)}
    assert [name for name, each in known.items() if each is None] == ([] if rule else ["mean_cost_plain"])
    for each in known.values():
        assert each is None or each.low <= each <= each.high


def test_out_of_fold_is_worse_than_what_the_calibrator_thinks_of_itself():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=200), rng.random(200) < 0.5
    model = ScoreModel("pav").fit(scores, y)
    assert model.summary_.metrics.brier_score > brier_score(
        y, model.predict_proba(scores)[:, 1], convention="positive"
    )


def test_classes_rarer_than_the_folds_and_very_few_rows():
    scores, y = class_scores(20)
    y[:] = 0
    y[:2] = [1, 2]
    model = ScoreModel("sigmoid", COST3, "parallel").fit(scores, y)
    assert model.summary_.n_folds == 5
    assert ScoreModel("pav").fit([1.0, 2.0], [0, 1]).summary_.n_folds == 2
    alone = ScoreModel("sigmoid", [[0, 1], [1, 0]], "parallel").fit([1.0], [1])
    assert (alone.summary_.n_folds, alone.summary_.n_measured) == (0, 1)
    assert alone.predict_proba([5.0]).shape == (1, 2)


def test_many_scores_are_measured_on_a_part(monkeypatch):
    monkeypatch.setattr(module, "MANY_SCORES", 100)
    monkeypatch.setattr(module, "MOST_HELD_OUT", 10)
    scores, y = one_score(200)
    model = ScoreModel("sigmoid", [[0, 2], [1, 0]], "parallel").fit(scores, y)
    assert (model.summary_.n_folds, model.summary_.n_measured, model.summary_.n_rows) == (1, 10, 200)
    fold = module.stratified_folds(y.astype(int), 20, 0)
    held_out, learned = fold == 0, (fold >= 1) & (fold <= 4)
    judge = SigmoidCalibrator().fit(scores[learned], y[learned]).predict_proba(scores[held_out])[:, 1]
    assert model.summary_.metrics.log_loss == log_loss(y[held_out], judge)


def test_rows_without_a_number_are_left_out():
    scores, y = class_scores(200)
    table = AccuracyTableCalibrator(width=0.2, smoothing="none", fallback="nan")
    model = ScoreModel(table, COST3, "parallel").fit(scores, y)
    assert 0 < model.summary_.n_measured < 200
    assert np.isfinite(model.summary_.metrics.brier_score)


def test_nothing_is_measured_where_no_row_has_a_number():
    scores = np.array([[0.0, 1.0], [5.0, 9.0], [20.0, 30.0], [70.0, 50.0]])
    table = AccuracyTableCalibrator(width=0.5, smoothing="none", fallback="nan")
    model = ScoreModel(table).fit(scores, [0, 1, 0, 1])
    assert model.summary_.n_measured == 0
    assert model.summary_.metrics.log_loss is None


def test_very_many_numbers_are_not_decomposed(monkeypatch):
    monkeypatch.setattr("calibrant.models._summary.MOST_FOR_DECOMPOSITION", 10)
    metrics = ScoreModel().fit(*one_score()).summary_.metrics
    assert metrics.calibration is None
    assert metrics.brier_score > 0


def test_folds_are_even():
    y = np.array([0] * 23 + [1] * 9 + [2] * 3 + [3])
    fold = module.stratified_folds(y, 5, 0)
    assert np.ptp(np.bincount(fold)) <= 1
    for label in range(4):
        assert np.ptp(np.bincount(fold[y == label], minlength=5)) <= 1
    np.testing.assert_array_equal(fold, module.stratified_folds(y, 5, 0))
    assert (fold != module.stratified_folds(y, 5, 1)).any()


def test_top_candidates():
    scores, y = one_score()
    model = ScoreModel("sigmoid").fit(scores, np.where(y, "yes", "no"))
    best = model.top_candidates([5.0, -5.0])
    assert best.label.tolist() == [["yes", "no"], ["no", "yes"]]
    np.testing.assert_array_equal(best.probability, -np.sort(-model.predict_proba([5.0, -5.0]), axis=1))
    matrix, label = class_scores()
    ranked = ScoreModel("accuracy_table").fit(matrix, label)
    wanted = top_candidates(ranked.calibrator_, matrix, 2)
    np.testing.assert_array_equal(ranked.top_candidates(matrix, 2).label, wanted.label)
    pairs, _ = pair_scores()
    coded = ScoreModel("sigmoid", code="all_pairs", combine="coupling").fit(pairs, label)
    assert coded.top_candidates(pairs, 1).label.ravel().tolist() == coded.decide(pairs).tolist()
    with pytest.raises(
        CalibrantError, match="n must be a whole number from 1 to 3, the number of classes; got 0"
    ):
        coded.top_candidates(pairs, 0)


def test_from_fitted():
    scores, y = one_score()
    pav = PAVCalibrator().fit(scores, y)
    proba = pav.predict_proba(scores)
    rule = ParallelPartitionRule().fit(proba, y.astype(int), [[0, 3], [1, 0]])
    summary = TrainingSummary(n_rows=120, weight=120.0, base_rates=np.array([0.6, 0.4]))
    model = ScoreModel.from_fitted(pav, classes=["n", "y"], cost=[[0, 3], [1, 0]], rule=rule, summary=summary)
    assert model.decide(scores).tolist() == np.array(["n", "y"])[rule.decide(proba)].tolist()
    assert model.summary_ is summary
    matrix, label = class_scores()
    numbered = OneVsAllCalibrator().fit(matrix, label)
    named = ScoreModel.from_fitted(numbered, classes=NAMES)
    assert named.top_candidates(matrix, 1).label.ravel().tolist() == named.decide(matrix).tolist()
    assert numbered.classes_.tolist() == [0, 1, 2]
    with pytest.raises(
        CalibrantError, match="classes must have one label per class of the calibrator, 2 in all; got "
    ):
        ScoreModel.from_fitted(pav, classes="abc")
    with pytest.raises(CalibrantError, match="cost must be given with a rule; got none"):
        ScoreModel.from_fitted(pav, rule=rule)
    with pytest.raises(CalibrantError, match="this PAVCalibrator must be fitted before it is used"):
        ScoreModel.from_fitted(PAVCalibrator())


def test_warnings_come_once_and_not_from_the_folds():
    _, y = class_scores()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ScoreModel(RankedLogisticCalibrator()).fit(np.eye(3)[y], y)
    assert len(caught) == 1


def test_it_is_a_scikit_learn_object():
    model = ScoreModel(PAVCalibrator("linear"), cost=COST3, rule="parallel")
    assert clone(model).get_params()["calibrator__between"] == "linear"
    scores, y = class_scores()
    assert clone(model).fit(scores, y).classes_.tolist() == [0, 1, 2]
    assert not hasattr(model, "classes_")
    assert not hasattr(model.calibrator, "classes_")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ScoreModel("plait"), "calibrator must be one of 'auto', 'pav', .*got 'plait'"),
        (ScoreModel(rule="parallel"), "cost must be given with a rule; got none with rule='parallel'"),
        (ScoreModel(cost=COST3[:, :2]), r"one column per class, 3 in all; got shape \(3, 2\)"),
        (ScoreModel(cost=COST3.T[::-1]), "every class must be the cheapest decision when it is the truth"),
        (
            ScoreModel(cost=np.zeros((5, 3, 3))),
            r"cost must be one matrix for all rows; got shape \(5, 3, 3\)",
        ),
        (ScoreModel(cost=COST3, rule="wizard"), "rule must be one of 'expected', .*got 'wizard'"),
        (
            ScoreModel(cost=[[0, 1, 1], [1, 0, 1]], rule="lachiche_flach"),
            "None, 'expected' or 'parallel' where there are other decisions than the classes; got Lachiche",
        ),
        (ScoreModel(cost={0: {0: 0}}), "got none for deciding 0 when the truth is 1; add it"),
        (ScoreModel(combine="average"), "combine must be one of .*got 'average'"),
        (ScoreModel(classes=[0, 1]), "classes must be 3 distinct labels, one per column; got"),
        (
            ScoreModel("pav", code="all_pairs", combine="normalize"),
            "code must be one_vs_all for combine='normalize'; got another one",
        ),
        (ScoreModel(kind="odds"), "kind must be one of 'margin', 'probability'; got 'odds'"),
        (
            ScoreModel("beta", kind="margin"),
            "scores of 'beta' must be probabilities, and declared so; got kind='margin'; pass kind='probab",
        ),
        (ScoreModel("pav", kind="probability"), r"scores with kind='probability' must lie in \[0, 1\]; got"),
        (
            ScoreModel("accuracy_table", code="all_pairs", combine="coupling"),
            "calibrator must take one score for the columns of a code; got AccuracyTable.*; use it without",
        ),
        (
            ScoreModel(code="random_dense", combine="coupling"),
            "code must be the matrix that the scores were made by; got the name 'random_dense'",
        ),
    ],
)
def test_what_it_refuses(model, message):
    scores, y = class_scores()
    with pytest.raises(CalibrantError, match=message):
        model.fit(scores, y)


@pytest.mark.parametrize(
    ("scores", "y", "message"),
    [
        ([1.0, np.nan], [0, 1], "scores must be finite; got nan in row 1"),
        ([], [], "scores must have at least one row; got none"),
        ([1.0, 2.0], [0, 1, 1], "scores and labels must have the same number of rows; got 2 and 3"),
        ([1.0, 2.0, 3.0], ["a", "b", "c"], "labels must have two values; got 3: 'a', 'b', 'c'"),
        ([0.1, 0.9], [0.2, 0.9], "labels must be class labels; got the number 0.2"),
        (np.ones((2, 2, 2)), [0, 1], r"scores must have shape \(n,\) or \(n, k\); got shape \(2, 2, 2\)"),
        (["a", "b"], [0, 1], "scores must be numbers"),
        (np.ones((3, 4)), [0, 1, 2], "one value per column of scores, 4 in all; got 3; pass classes="),
    ],
)
def test_rows_that_it_refuses(scores, y, message):
    with pytest.raises(CalibrantError, match=message):
        ScoreModel().fit(scores, y)


def test_a_ranked_calibrator_needs_a_score_per_class():
    scores, y = one_score()
    with pytest.raises(
        CalibrantError, match="calibrator must take one score; got AccuracyTableCalibrator.*; pass a"
    ):
        ScoreModel("accuracy_table").fit(scores, y)


def test_asked_before_fit():
    for ask in ("predict_proba", "decide", "top_candidates"):
        with pytest.raises(CalibrantError, match="this ScoreModel must be fitted before it is used"):
            getattr(ScoreModel(), ask)([1.0])


def test_probabilities_are_used_as_they_are():
    scores, y = class_scores()
    proba = softmax(scores)
    model = ScoreModel("identity", COST3, ExpectedCostRule(), kind="probability").fit(proba, y)
    np.testing.assert_allclose(model.predict_proba(proba), proba, atol=1e-15)


def test_a_fit_that_fails_leaves_the_one_before():
    scores, y = class_scores()
    model = ScoreModel("pav", COST3).fit(pd.DataFrame(scores).add_prefix("s_"), y)
    kept = pickle.dumps(model)
    with pytest.raises(CalibrantError):
        model.set_params(calibrator="identity").fit(pd.DataFrame(scores).add_prefix("t_"), y)
    assert pickle.dumps(model.set_params(calibrator="pav")) == kept


def test_predictions_are_kept_for_those_who_ask():
    scores, y = [0.1, 0.4, 0.2, 0.9, 0.5, 0.7, 0.3, 0.8, 0.6, 0.0], [0, 0, 1, 1, 0, 1, 0, 1, 1, 0]
    model = ScoreModel("sigmoid").fit(scores, y, keep_predictions=True)
    kept = model.predictions_
    for number in range(kept.n_folds):
        inside = kept.fold == number
        other = SigmoidCalibrator().fit(np.array(scores)[~inside], np.array(y)[~inside])
        np.testing.assert_array_equal(kept.proba[inside], other.predict_proba(np.array(scores)[inside]))
    assert kept.rows.truth.tolist() == y
    assert log_loss(y, kept.proba[:, 1]) == pytest.approx(model.summary_.metrics.log_loss)
    assert not hasattr(model.fit(scores, y), "predictions_")
    assert not hasattr(clone(model), "predictions_")
    with pytest.raises(CalibrantError, match="keep_predictions must be True or False; got 'yes'"):
        model.fit(scores, y, keep_predictions="yes")
