"""Groups: what sets them apart is found, in the right amount, and nothing is found where there is nothing."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.linear_model import LogisticRegression

from calibrant import CalibratedClassifier, ScoreModel, load, save
from calibrant._core._errors import DataError, ParameterError
from calibrant.calibrators import Grouping, fit_group_effects
from calibrant.calibrators._group_fit import GroupedRows


def drawn(n, n_groups, k, spreads, seed=0):
    """Probabilities that are right for all rows together, and labels that follow those of their groups."""
    rng = np.random.default_rng(seed)
    logs = log_softmax(2 * rng.normal(size=(n, k)), axis=1)
    number = rng.integers(0, n_groups, n)
    intercepts = spreads[0] * rng.normal(size=(n_groups, k))
    slopes = spreads[1] * rng.normal(size=n_groups)
    truth = softmax((1 + slopes[number, None]) * logs + intercepts[number], axis=1)
    y = (truth.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    names = tuple(f"g{each}" for each in range(n_groups))
    return np.exp(logs), truth, y, Grouping(names, number), intercepts, slopes


def fitted(proba, y, grouping, weight=None):
    return fit_group_effects(proba, y, weight, grouping, np.arange(len(y)) % 5)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_effects_are_found_in_the_right_amount(k):
    proba, truth, y, grouping, intercepts, slopes = drawn(12_000, 40, k, (0.5, 0.3))
    effects, corrected = fitted(proba, y, grouping)
    assert effects.spreads == pytest.approx((0.5, 0.3), rel=0.3)
    centred = intercepts - intercepts.mean(axis=1, keepdims=True)
    assert np.corrcoef(effects.intercepts.ravel(), centred.ravel())[0, 1] > 0.85
    assert np.corrcoef(effects.slopes, slopes)[0, 1] > 0.8
    distances = [(truth * np.log(truth / each)).sum(axis=1).mean() for each in (proba, corrected)]
    assert distances[1] < 0.3 * distances[0]
    np.testing.assert_allclose(effects.intercepts.sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize(("spreads", "zero"), [((0.5, 0.0), 1), ((0.0, 0.4), 0)])
def test_of_what_does_not_differ_nothing_is_found(spreads, zero):
    proba, _, y, grouping, *_ = drawn(6000, 25, 3, spreads)
    assert fitted(proba, y, grouping)[0].spreads[zero] == 0.0


def test_groups_that_do_not_differ_are_left_alone_but_for_one_in_twenty_or_so():
    found = [any(fitted(*_calibrated(seed))[0].spreads) for seed in range(60)]
    assert np.mean(found) < 0.15
    proba, y, grouping = _calibrated(found.index(False))
    effects, corrected = fitted(proba, y, grouping)
    assert effects.spreads == (0.0, 0.0)
    np.testing.assert_array_equal(corrected, proba)
    assert effects.of_numbers(proba, grouping.number) is proba


def _calibrated(seed):
    proba, _, y, grouping, *_ = drawn(600, 12, 2, (0.0, 0.0), seed)
    return proba, y, grouping


def test_laplace_is_near_the_marginal_likelihood():
    proba, _, y, grouping, *_ = drawn(90, 2, 2, (0.8, 0.3), seed=1)
    spreads, log_odds = (0.5, 0.2), logit(proba[:, 1])
    total = 0.0
    for number in range(2):
        rows = grouping.number == number
        odds, sign = log_odds[rows], 2 * y[rows] - 1
        before = np.log(expit(sign * odds)).sum()

        def integrand(b, s, odds=odds, sign=sign, before=before):
            # An intercept on the contrast of two classes is one of the log-odds that is sqrt(2) as great.
            eta = (1 + spreads[1] * s) * odds + np.sqrt(2) * spreads[0] * b
            gain = np.log(expit(sign * eta)).sum() - before
            return np.exp(gain - (b * b + s * s) / 2) / (2 * np.pi)

        total += np.log(dblquad(integrand, -7, 7, -7, 7, epsabs=1e-8)[0])
    rows = GroupedRows(np.log(proba), y, None, grouping)
    assert rows.evidence(spreads) == pytest.approx(total, abs=0.02)


def test_weights_are_copies_and_order_does_not_matter():
    proba, _, y, grouping, *_ = drawn(1500, 10, 3, (0.6, 0.2))
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    by_weight, _ = fitted(proba, y, grouping, weight.astype(float))
    by_copies, _ = fitted(proba[copies], y[copies], grouping.take(copies))
    np.testing.assert_allclose(by_weight.intercepts, by_copies.intercepts, atol=1e-6)
    np.testing.assert_allclose(by_weight.slopes, by_copies.slopes, atol=1e-6)
    turned = np.arange(len(y))[::-1]
    back, _ = fitted(proba[turned], y[turned], grouping.take(turned))
    plain, _ = fitted(proba, y, grouping)
    np.testing.assert_allclose(back.intercepts, plain.intercepts, atol=1e-6)
    classes = np.array([2, 0, 1])  # and new names of the classes change nothing but their order
    renamed, _ = fitted(proba[:, classes], np.argsort(classes)[y], grouping)
    np.testing.assert_allclose(renamed.intercepts, plain.intercepts[:, classes], atol=1e-6)


def test_a_group_of_few_rows_borrows_from_all():
    proba, _, y, grouping, *_ = drawn(6000, 20, 2, (0.6, 0.0), seed=3)
    few = np.flatnonzero(grouping.number == 0)
    kept = np.setdiff1d(np.arange(len(y)), few[5:])
    part, _ = fitted(proba[kept], y[kept], grouping.take(kept))
    whole, _ = fitted(proba, y, grouping)
    assert abs(part.intercepts[0, 1]) < abs(whole.intercepts[0, 1])
    alone = logit(y[few[:5]].mean().clip(0.01, 0.99)) - logit(proba[few[:5], 1].mean())
    assert abs(2 * part.intercepts[0, 1]) < abs(alone)


@pytest.fixture(scope="module")
def credit():
    """Scores of a model that does not know the regions."""
    rng = np.random.default_rng(0)
    region = rng.integers(0, 9, 3000)
    scores = 1.5 * rng.normal(size=3000)
    y = np.where(rng.random(3000) < expit(scores + np.linspace(-1.2, 1.2, 9)[region]), "paid", "default")
    return scores, y, np.array([f"region {each}" for each in region])


def test_a_model_with_groups(credit, tmp_path):
    scores, y, region = credit
    cost = {"lend": {"default": 5, "paid": 0}, "refuse": {"default": 0, "paid": 1}}
    model = ScoreModel("sigmoid", cost).fit(scores, y, by=region, keep_predictions=True)
    common = ScoreModel("sigmoid").fit(scores, y)
    assert model.summary_.metrics.log_loss.high < common.summary_.metrics.log_loss.low
    np.testing.assert_array_equal(model.predict_proba(scores), common.predict_proba(scores))
    np.testing.assert_array_equal(
        model.predict_proba(scores[:2], by=["region 77", None]), common.predict_proba(scores[:2])
    )
    per_region = model.predict_proba(scores, by=region)
    for name in np.unique(region):
        rows = region == name
        assert abs(per_region[rows, 1].mean() - (y[rows] == "paid").mean()) < 0.04
    save(model, tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict_proba(scores, by=region), per_region)
    np.testing.assert_array_equal(loaded.decide(scores, by=region), model.decide(scores, by=region))
    assert (model.decide(scores, by=region) != model.decide(scores)).any()
    best = model.top_candidates(scores, 1, by=region)
    np.testing.assert_array_equal(best.probability[:, 0], per_region.max(axis=1))


def test_a_classifier_with_groups(credit):
    scores, y, region = credit
    X = np.column_stack([scores, np.random.default_rng(1).normal(size=len(y))])
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    classifier = CalibratedClassifier(LogisticRegression(), "sigmoid").fit(X, y, weight, by=region)
    inside = classifier.predict_proba(X, by=region)
    for name in np.unique(region):
        rows = region == name
        paid = np.average(y[rows] == "paid", weights=weight[rows])
        assert abs(np.average(inside[rows, 1], weights=weight[rows]) - paid) < 0.05
    saved = classifier.to_score_model()
    np.testing.assert_array_equal(saved.predict_proba(classifier.learner_scores(X), by=region), inside)


def test_what_is_refused(credit):
    scores, y, region = credit
    with pytest.raises(DataError, match=r"by must have one group per row, shape \(3000,\); got shape \(2,\)"):
        ScoreModel("sigmoid").fit(scores, y, by=["a", "b"])
    with pytest.raises(DataError, match="by must name the group of some rows; got none"):
        ScoreModel("sigmoid").fit(scores, y, by=[None] * len(y))
    with pytest.raises(ParameterError, match="by must be None: the model was fitted without groups"):
        ScoreModel("sigmoid").fit(scores, y).predict_proba(scores, by=region)


def test_labels_of_groups_are_known_by_their_text():
    for given in ([1, 2, 1], np.array([1, 2, 1]), ["1", "2", "1"], [1.0, 2.0, 1.0]):
        read = Grouping.read(given, 3)
        assert read.among(["2", "1"]).tolist() == [1, 0, 1]
    assert Grouping.read([np.nan, 1.0, 2.0], 3).among(["1"]).tolist() == [-1, 0, -1]
