"""Which method to use: each judged on rows that it was not fitted to."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError
from calibrant._core._errors import ScoreDirectionWarning
from calibrant.calibrators import (
    AccuracyTableCalibrator,
    BinningCalibrator,
    OneVsAllCalibrator,
    PAVCalibrator,
    SigmoidCalibrator,
)
from calibrant.metrics import Estimate, brier_decomposition, brier_score, error_rate, log_loss
from calibrant.models import ScoreModel, compare_forecasts, compare_methods, named_method
from calibrant.models._advice import advise
from calibrant.models._plan import stratified_folds
from calibrant.models._ranking import MethodResult
from models.cases import OURS, class_scores, one_score, softmax, squashed


def out_of_fold(make, scores, y, k, cv=5):
    """The probabilities of every row, by a calibrator fitted to the other folds."""
    fold = stratified_folds(y, cv, 0)
    proba = np.empty((len(y), k))
    for number in range(cv):
        train = fold != number
        target = y[train] if k > 2 else y[train].astype(bool)
        proba[~train] = make(train.sum()).fit(scores[train], target).predict_proba(scores[~train])
    return proba


#: All scores of a row together, also where there is but one.
JOINT = {"temperature", "vector", "matrix", "stack"}


def names_for(kind, *takes):
    """The methods of the registry for such scores."""
    return {name for name, each in OURS.items() if each.takes in takes and kind in each.kinds}


def test_every_method_is_judged_out_of_fold():
    scores, y = one_score(200)
    found = compare_methods(scores, y)
    assert {result.name for result in found.results} == names_for("margin", "score") | JOINT
    assert (found.n_rows, found.n_folds, found.measure, found.limit) == (200, 5, "log loss", 1 / 400)
    make = {
        "pav": lambda n_rows: PAVCalibrator(clip=1 / (2 * n_rows)),
        "sigmoid": lambda n_rows: SigmoidCalibrator(),
        "binning": lambda n_rows: BinningCalibrator(smoothing="laplace"),
    }
    for result in found.results:
        if result.name not in make:
            continue
        proba = out_of_fold(make[result.name], scores, y.astype(int), 2)[:, 1]
        chance = np.maximum(np.where(y, proba, 1 - proba), 1 / 400)
        np.testing.assert_allclose(result.log_loss, -np.log(chance).mean())
        np.testing.assert_allclose(result.brier_score, brier_score(y, proba, convention="positive"))
        parts = brier_decomposition(y, proba, isotonic=True)
        np.testing.assert_allclose(
            [result.calibration, result.refinement], [parts.calibration, parts.refinement]
        )
        np.testing.assert_allclose(result.error_rate, error_rate(y, proba))
        assert result.certain_mistakes == 0


def pair_margins(n, seed=0):
    """Margins of the three pairs of three classes, in the order of the code."""
    scores, y = class_scores(n, seed=seed)
    return scores[:, [0, 0, 1]] - scores[:, [1, 2, 2]], y


@pytest.mark.parametrize("combine", [None, "least_squares"])
def test_the_columns_of_a_code_are_compared_as_a_model_of_that_code_is_fitted(combine):
    margins, y = pair_margins(240)
    found = compare_methods(margins, y, code="all_pairs", combine=combine)
    assert {result.name for result in found.results} == names_for("margin", "score") | JOINT
    for result in found.results:

        def model(n_rows, name=result.name):
            return ScoreModel(name, code="all_pairs", combine=combine)

        chance = np.maximum(out_of_fold(model, margins, y, 3)[np.arange(240), y], found.limit)
        np.testing.assert_allclose(result.log_loss, -np.log(chance).mean(), rtol=1e-9)


def test_three_pairs_are_three_classes_only_if_nothing_else_is_declared():
    margins, y = pair_margins(240)
    coded = compare_methods(margins, y, methods=["sigmoid"], code="all_pairs")
    with pytest.warns(ScoreDirectionWarning, match="those of 2 rank them below"):
        plain = compare_methods(margins, y, methods=["pav", "sigmoid"])
    by_name = {result.name: result for result in plain.results}
    assert coded.results[0].log_loss < by_name["sigmoid"].log_loss
    with pytest.raises(CalibrantError, match="one column per column of the code, 3 in all; got 2"):
        compare_methods(margins[:, :2], y, code="all_pairs")
    with pytest.raises(CalibrantError, match="code must be one_vs_all for combine='normalize'"):
        compare_methods(margins, y, code="all_pairs", combine="normalize")


def test_one_score_per_class():
    scores, y = class_scores(200)
    found = compare_methods(scores, y)
    assert {result.name for result in found.results} == names_for("margin", "score", "row")
    by_name = {result.name: result for result in found.results}
    proba = out_of_fold(lambda n_rows: OneVsAllCalibrator("sigmoid"), scores, y, 3)
    np.testing.assert_allclose(by_name["sigmoid"].log_loss, log_loss(y, proba))
    np.testing.assert_allclose(by_name["sigmoid"].brier_score, brier_score(y, proba))
    coupled = compare_methods(scores, y, methods=["sigmoid"], combine="coupling").results[0]
    proba = out_of_fold(lambda n_rows: OneVsAllCalibrator("sigmoid", "coupling"), scores, y, 3)
    np.testing.assert_allclose(coupled.log_loss, log_loss(y, proba))


def test_the_order_the_differences_and_their_errors():
    scores, y = class_scores(200)
    found = compare_methods(scores, y)
    losses = [result.log_loss for result in found.results]
    assert losses == sorted(losses)
    assert found.best == found.results[0].name
    assert (found.results[0].difference, found.results[0].difference.error) == (0, 0)
    for result in found.results[1:]:
        np.testing.assert_allclose(result.difference, result.log_loss - losses[0])
        assert result.difference.error > 0
        assert result.difference.low < result.difference < result.difference.high
    np.testing.assert_allclose(sum(result.share_best for result in found.results), 1)


def test_the_standard_error_is_that_of_the_mean_of_paired_differences():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    good, bad = np.where(y, 0.8, 0.2), np.clip(np.where(y, 0.7, 0.3) + 0.2 * rng.normal(size=500), 0.05, 0.95)
    found = compare_forecasts(y, {"bad": bad, "good": good})
    loss = {name: -np.log(np.where(y, p, 1 - p)) for name, p in (("good", good), ("bad", bad))}
    difference = loss["bad"] - loss["good"]
    assert [result.name for result in found.results] == ["good", "bad"]
    np.testing.assert_allclose(found.results[1].difference, difference.mean())
    np.testing.assert_allclose(found.results[1].difference.error, difference.std(ddof=1) / math.sqrt(500))
    assert found.n_folds == 0


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(0)
    y, weights = rng.integers(0, 3, 300), rng.integers(0, 4, 300)
    forecasts = {name: rng.dirichlet([9, 9, 9], 300) for name in "ab"}  # far from the limit of half a row
    weighted = compare_forecasts(y, forecasts, sample_weight=weights, classes=[0, 1, 2])
    copied = compare_forecasts(
        np.repeat(y, weights), {name: np.repeat(each, weights, axis=0) for name, each in forecasts.items()}
    )
    for one, other in zip(weighted.results, copied.results, strict=True):
        np.testing.assert_allclose(
            [one.brier_score, one.calibration, one.error_rate],
            [other.brier_score, other.calibration, other.error_rate],
        )
        np.testing.assert_allclose(one.log_loss, other.log_loss)


def test_the_share_of_resamples_is_that_of_a_plain_bootstrap():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    forecasts = {
        name: np.clip(np.where(y, 0.7, 0.3) + 0.2 * rng.normal(size=400), 0.05, 0.95) for name in "abc"
    }
    found = compare_forecasts(y, forecasts)
    losses = np.stack([-np.log(np.where(y, p, 1 - p)) for p in forecasts.values()], axis=1)
    drawn = rng.integers(0, 400, (4000, 400))
    first = losses[drawn].mean(axis=1).argmin(axis=1)
    shares = dict(zip(forecasts, np.bincount(first, minlength=3) / 4000, strict=True))
    for result in found.results:
        assert abs(result.share_best - shares[result.name]) < 0.06


def test_many_rows_are_resampled_in_groups():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 50_000)
    forecasts = {
        "a": np.where(y, 0.70, 0.30),
        "b": np.clip(np.where(y, 0.71, 0.3) + 0.01 * rng.normal(size=50_000), 0, 1),
    }
    found = compare_forecasts(y, forecasts)
    assert found.results[0].share_best > 0.99


def test_isotonic_regression_is_not_last_for_one_unlucky_row():
    rng = np.random.default_rng(0)
    scores = np.linspace(-3, 3, 2000)
    y = rng.random(2000) < np.where(scores < 0, 0.02, np.where(scores < 1, 0.5, 0.97))  # no sigmoid at all
    proba = out_of_fold(lambda n_rows: PAVCalibrator(clip=0), scores, y.astype(int), 2)[:, 1]
    assert log_loss(y, proba) == math.inf
    found = compare_methods(scores, y, methods=["pav", "sigmoid", "binning"])
    assert found.best == found.recommended == "pav"
    assert found.advice.startswith("Use pav: its log loss on 2000 rows is the least, ")
    raw = compare_methods(scores, y, methods={"raw": PAVCalibrator(clip=0), "sigmoid": "sigmoid"})
    by_name = {result.name: result for result in raw.results}
    assert by_name["raw"].certain_mistakes == (np.where(y, proba, 1 - proba) == 0).sum() > 0
    assert math.isfinite(by_name["raw"].log_loss)
    assert f"by raw for {by_name['raw'].certain_mistakes} of the rows" in raw.advice


def test_probabilities_are_tried_as_they_are():
    scores, y = one_score(200)
    proba = squashed(scores)
    found = compare_methods(proba, y, kind="probability")
    by_name = {result.name: result for result in found.results}
    assert set(by_name) == names_for("probability", "score") | JOINT
    np.testing.assert_allclose(by_name["identity"].log_loss, log_loss(y, proba))
    on_log_odds = out_of_fold(lambda n_rows: SigmoidCalibrator(transform="logit"), proba, y.astype(int), 2)[
        :, 1
    ]
    np.testing.assert_allclose(by_name["sigmoid"].log_loss, log_loss(y, on_log_odds))
    matrix, label = class_scores(200)
    found = compare_methods(softmax(matrix), label, kind="probability")
    by_name = {result.name: result for result in found.results}
    np.testing.assert_allclose(by_name["identity"].log_loss, log_loss(label, softmax(matrix)))


def test_it_is_the_same_every_time_and_depends_on_the_seed():
    scores, y = one_score(100)
    assert compare_methods(scores, y) == compare_methods(scores, y)
    assert compare_methods(scores, y) != compare_methods(scores, y, random_state=1)


@given(st.integers(0, 2**16), st.integers(2, 30), st.integers(2, 5))
@settings(max_examples=8)
def test_rare_classes_and_few_rows(seed, n_rows, k):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_rows) < 0.8, 0, rng.integers(0, k, n_rows))
    found = compare_methods(rng.normal(size=(n_rows, k)), y, classes=range(k))
    assert found.n_folds == min(5, n_rows)
    for result in found.results:
        assert math.isfinite(result.log_loss)
    compare_methods(rng.normal(size=n_rows), y > 0)


def test_any_labels_and_any_order_of_the_classes():
    scores, y = class_scores(150)
    names = np.array(["x", "y", "z"])
    plain = compare_methods(scores, names[y], methods=["sigmoid"])
    turned = compare_methods(scores[:, ::-1], names[y], methods=["sigmoid"], classes=["z", "y", "x"])
    assert abs(plain.results[0].log_loss - turned.results[0].log_loss) < 0.05
    binary = compare_forecasts(["b", "a", "b"], {"f": [0.9, 0.1, 0.8]})
    two_columns = compare_forecasts(["b", "a", "b"], {"f": [[0.1, 0.9], [0.9, 0.1], [0.2, 0.8]]})
    np.testing.assert_allclose(binary.results[0].log_loss, two_columns.results[0].log_loss)
    np.testing.assert_allclose(binary.results[0].brier_score, two_columns.results[0].brier_score)


def result(name, difference, error, *, share=0.5, certain=0):
    behind = Estimate(difference, difference - 2 * error, difference + 2 * error, error)
    return MethodResult(name, 0.3 + difference, 0.1, 0.0, 0.1, 0.1, behind, share, certain)


def test_advice_that_is_sure():
    name, words = advise([result("pav", 0, 0, share=0.998), result("sigmoid", 0.02, 0.005)], 1000)
    assert name == "pav"
    assert words == (
        "Use pav: its log loss on 1000 rows is the least, 0.3000. sigmoid comes next, 0.0200 behind "
        "(standard error 0.0050), which is more than chance would do; pav is first in 100% of resamples."
    )


def test_advice_takes_the_least_loss_and_being_simpler_breaks_equality_alone():
    results = [result("binning", 0, 0), result("pav", 0.001, 0.01), result("sigmoid", 0.003, 0.002)]
    name, words = advise(results, 500)
    assert name == "binning"
    assert words == (
        "Use binning: its log loss on 500 rows is the least, 0.3000. That is not sure: pav and sigmoid can "
        "be as good. pav is only 0.0010 behind (standard error 0.0100), which can be chance."
    )
    assert advise([result("binning", 0, 0), result("sigmoid", 0, 0)], 500)[0] == "sigmoid"
    assert advise([result("binning", 0, 0), result("mine", 0, 0)], 500)[0] == "binning"


def test_nothing_is_recommended_that_called_an_event_impossible():
    best = result("mine", 0, 0, certain=1)
    name, words = advise([best, result("pav", 0.001, 0.01), result("sigmoid", 0.003, 0.002)], 500)
    assert name == "pav"
    assert words.startswith(
        "Use pav: its log loss on 500 rows is 0.3010, the least of those that called nothing impossible that "
        "then happened. A probability of 0 was given to what then happened by mine for 1 of the rows"
    )
    name, words = advise([best, result("yours", 0.1, 0.01, certain=2)], 500)
    assert name is None
    assert words.startswith("None of these can be used as it is. A probability of 0 was given")
    assert advise([best], 500)[0] is None


@pytest.mark.parametrize("kind", ["margin", "probability"])
def test_what_is_recommended_is_fitted_as_it_was_ranked(kind):
    scores, y = one_score(150)
    scores = squashed(scores) if kind == "probability" else scores
    found = compare_methods(scores, y, kind=kind, cv=2)
    fold = stratified_folds(y.astype(int), 2, 0)
    proba = np.empty(len(y))
    for number in range(2):
        model = ScoreModel(found.recommended, kind=kind).fit(scores[fold != number], y[fold != number])
        proba[fold == number] = model.predict_proba(scores[fold == number])[:, 1]
    chosen = next(each for each in found.results if each.name == found.recommended)
    np.testing.assert_allclose(log_loss(y, proba), chosen.log_loss)


def test_advice_says_that_a_lead_is_not_sure():
    name, words = advise(
        [result("sigmoid", 0, 0), result("pav", 0.001, 0.01), result("binning", 0.02, 0.02)], 500
    )
    assert name == "sigmoid"
    assert "That is not sure: pav and binning can be as good. pav is only 0.0010 behind" in words


def test_advice_about_unknown_methods_and_certain_mistakes():
    name, words = advise([result("mine", 0, 0), result("sigmoid", 0.001, 0.01, certain=3)], 500)
    assert name == "mine"
    assert words.endswith(
        "A probability of 0 was given to what then happened by sigmoid for 3 of the rows; each counts as "
        "half a row here, and would make the log loss infinite elsewhere."
    )
    assert advise([result("pav", 0, 0)], 5)[1] == "pav is the only method; its log loss on 5 rows is 0.3000."


def test_printed_it_is_a_table():
    scores, y = one_score(100)
    found = compare_methods(scores, y)
    lines = str(found).splitlines()
    assert lines[0].split() == [
        "method",
        "log",
        "loss",
        "Brier",
        "calibr.",
        "refinem.",
        "error",
        "behind",
        "±",
        "first",
    ]
    assert lines[1].startswith(found.best)
    assert lines[-1] == found.advice


def test_methods_by_name():
    assert repr(named_method("binning")) == "BinningCalibrator(smoothing='laplace')"
    assert named_method("sigmoid", "probability").transform == "logit"
    with pytest.raises(CalibrantError, match="method must be one of 'auto', 'pav', .*; got 'magic'"):
        named_method("magic")
    with pytest.raises(CalibrantError, match="kind must be one of 'margin', 'probability'; got 'odds'"):
        named_method("pav", "odds")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["magic"]}, "method must be one of 'auto', 'pav', .*; got 'magic'"),
        ({"methods": "pav"}, "methods must be a sequence of names; got the text 'pav'; put it in a list"),
        ({"methods": []}, "methods must hold at least one method; got none"),
        ({"methods": ["accuracy_table"]}, "calibrator must take one score; got AccuracyTableCalibrator"),
        ({"kind": "odds"}, "kind must be one of 'margin', 'probability'; got 'odds'"),
        ({"kind": "probability"}, r"must lie in \[0, 1\]; got"),
        ({"cv": 1}, "cv must be a whole number from 2; got 1"),
        ({"cv": 2.5}, "cv must be a whole number from 2; got 2.5"),
        ({"sample_weight": [1]}, "sample_weight must have one weight per row, 120 in all"),
    ],
)
def test_what_it_refuses(options, message):
    with pytest.raises(CalibrantError, match=message):
        compare_methods(*one_score(), **options)


def test_rows_and_forecasts_that_it_refuses():
    with pytest.raises(CalibrantError, match="scores must have at least two rows to compare methods; got 1"):
        compare_methods([1.0], [1])
    with pytest.raises(CalibrantError, match="forecasts must hold at least one forecast; got none"):
        compare_forecasts([0, 1], {})
    with pytest.raises(
        CalibrantError, match=r"forecasts\['b'\]: proba must lie in \[0, 1\]; got 1.5 in row 0"
    ):
        compare_forecasts([0, 1], {"a": [0.5, 0.5], "b": [1.5, 0.5]})
    with pytest.raises(CalibrantError, match=r"forecasts\['b'\]: .*same number of rows; got 2 and 3"):
        compare_forecasts([0, 1], {"a": [0.5, 0.5], "b": [0.5, 0.5, 0.5]})
    with pytest.raises(
        CalibrantError, match=r"forecasts\['b'\]: proba must have the rows and classes of the fi"
    ):
        compare_forecasts([0, 1], {"a": np.full((2, 3), 1 / 3), "b": [0.5, 0.5]})
    scores, y = class_scores()
    table = AccuracyTableCalibrator(width=0.1, smoothing="none", fallback="nan")
    with pytest.raises(
        CalibrantError, match="every method must give a probability to every row; 'mine' gave none"
    ):
        compare_methods(scores, y, methods={"mine": table})
