"""The verdict: what is said of forecasts that are right, wrong, nearly right, or too few."""

import numpy as np
import pytest
from scipy.special import softmax

from calibrant.report import summarize
from calibrant.report._words import points
from report.forecasts import bold, honest, unsure


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("seed", range(4))
def test_right_forecasts_are_believed(n_classes, seed):
    verdict = summarize(*honest(4000, n_classes, seed)).verdict
    assert verdict.level == "believable"
    assert verdict.headline == "These probabilities can be believed."
    assert verdict.p_value >= 0.01
    assert verdict.advice == ("Use them as they are, as long as the data stay like these rows.",)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_bold_forecasts_are_not(n_classes):
    verdict = summarize(*bold(4000, n_classes)).verdict
    assert verdict.level == "not"
    assert verdict.headline == "Do not believe these probabilities as they are."
    assert verdict.p_value < 0.01
    assert verdict.gap > 0.05
    assert any(finding.startswith("They are too sure of themselves") for finding in verdict.findings)
    assert verdict.advice[0].startswith("Calibrate before anybody acts on the numbers")


def test_timid_forecasts_are_not_sure_enough():
    truth, right = honest(4000, 3)
    timid = right**0.4 / (right**0.4).sum(axis=1, keepdims=True)
    verdict = summarize(truth, timid).verdict
    assert verdict.level == "not"
    assert any(finding.startswith("They are not sure enough") for finding in verdict.findings)
    entropy = -(timid * np.log(timid)).sum(axis=1).mean()
    less = entropy - summarize(truth, timid).measures.log_loss
    assert f"Their log loss is {less:.4f} less than they promise." in verdict.findings


def test_what_the_log_loss_is_above_its_promise_agrees_with_the_log_loss():
    truth, proba = bold(2000, 3)
    summary = summarize(truth, proba)
    more = summary.measures.log_loss + (proba * np.log(proba)).sum(axis=1).mean()
    assert f"Their log loss is {more:.4f} more than they promise." in summary.verdict.findings
    proba[:3], weight = np.eye(3)[(truth[:3] + 1) % 3], np.ones(2000)
    found = summarize(truth, proba).verdict.findings
    assert "Their log loss is infinite: in 3 rows they called impossible what then came." in found
    weight[:3] = 0  # as if those rows were not there
    finite = summarize(truth, proba, sample_weight=weight)
    assert any(finding.startswith("Their log loss is 0") for finding in finite.verdict.findings)


def test_the_size_of_the_error_is_said_in_numbers_that_can_be_checked():
    y = np.repeat([1, 0, 1, 0], [720, 280, 100, 900])
    said = np.repeat([0.9, 0.9, 0.1, 0.1], [720, 280, 100, 900])
    verdict = summarize(y, said).verdict
    assert verdict.findings[0] == "Forecasts of about 90% for “1” came true 72% of the time (1,000 rows)."
    # Half of the rows are off by 18 points, the others by none.
    assert verdict.gap == pytest.approx(0.18 / np.sqrt(2), abs=0.005)


def test_small_but_sure_differences_are_nearly_right():
    rng = np.random.default_rng(0)
    right = rng.random(40_000)
    said = np.clip(right + 0.025, 0, 1)
    verdict = summarize(rng.random(40_000) < right, said).verdict
    assert verdict.level == "nearly"
    assert verdict.gap == pytest.approx(0.025, abs=0.006)
    assert "calibrate them where the last 2." in verdict.advice[-1]


def test_differences_that_do_not_matter_are_believed_however_sure_they_are():
    rng = np.random.default_rng(0)
    right = rng.random(400_000)
    verdict = summarize(rng.random(400_000) < right, np.clip(right + 0.008, 0, 1)).verdict
    assert verdict.p_value < 0.01
    assert verdict.level == "believable"


def test_rare_events_are_judged_by_what_is_lost_of_what_is_known():
    rng = np.random.default_rng(0)
    right = rng.beta(1, 200, 60_000)
    verdict = summarize(rng.random(60_000) < right, 4 * right.clip(max=0.25)).verdict
    assert verdict.gap < 0.05
    assert verdict.lost > 1
    assert verdict.level == "not"
    assert any("worse than giving every row the base rates" in finding for finding in verdict.findings)


@pytest.mark.parametrize("n_rows", [2, 10, 25])
def test_too_few_rows_to_tell(n_rows):
    verdict = summarize(*honest(n_rows, 3)).verdict
    assert verdict.level == "unknown"
    assert verdict.headline.startswith("There are too few rows to tell")
    assert any(f"With {n_rows} rows" in finding for finding in verdict.findings)
    assert verdict.advice[0].startswith("Collect more rows with known outcomes: about ")


@pytest.mark.parametrize("seed", range(8))
def test_the_mean_confidence_is_not_drowned_by_thirty_classes(seed):
    """55.5% sure and 51.3% right, z = -3."""
    truth, proba = unsure(seed)
    summary = summarize(truth, proba, classes=range(30))
    assert summary.measures.confidence == pytest.approx(0.555)
    assert summary.measures.error_rate == pytest.approx(0.487)
    assert summary.verdict.level in ("nearly", "not")
    assert summary.confidence.p_value < 0.01
    assert any(finding.startswith("They are too sure") for finding in summary.verdict.findings)


@pytest.mark.parametrize("n_right", [480, 500, 520])
@pytest.mark.parametrize("n_classes", [3, 30, 200])
def test_green_is_not_said_of_a_mean_confidence_that_may_be_5_points_off(n_right, n_classes):
    verdict = summarize(*unsure(0, n_classes=n_classes, n_right=n_right), classes=range(n_classes)).verdict
    assert verdict.level != "believable"
    assert verdict.mean_bound > 0.05


@pytest.mark.parametrize(("n_classes", "n_samples", "most"), [(2, 60, 3), (10, 20, 2), (30, 20, 2)])
def test_right_forecasts_are_rarely_called_off(n_classes, n_samples, most):
    """Of so many, at 1% each, more are called off less than three times in a thousand."""
    levels = [hot(300, n_classes, seed).level for seed in range(n_samples)]
    assert sum(level in ("nearly", "not") for level in levels) <= most


@pytest.mark.parametrize(("n_classes", "factor"), [(2, 2.1), (10, 1.42), (30, 1.36)])
def test_forecasts_too_sure_by_ten_points_are_found(n_classes, factor):
    verdicts = [hot(1000, n_classes, seed, factor) for seed in range(5)]
    assert [verdict.level for verdict in verdicts] == ["not"] * 5


def hot(n_rows, n_classes, seed, factor=1.0):
    """The verdict on logits that are multiplied."""
    rng = np.random.default_rng([seed, n_rows])
    logits = {2: 1.5, 10: 2.0, 30: 2.5}[n_classes] * rng.normal(size=(n_rows, n_classes))
    below = softmax(logits, axis=1).cumsum(axis=1)[:, :-1]
    truth = (rng.random(n_rows)[:, None] > below).sum(axis=1)
    return summarize(truth, softmax(factor * logits, axis=1), classes=range(n_classes)).verdict


@pytest.mark.parametrize("n_classes", [2, 5])
def test_green_says_how_far_off_they_could_still_be(n_classes):
    few, many = (summarize(*honest(n_rows, n_classes, 1)).verdict for n_rows in (1200, 20_000))
    assert few.level == many.level == "believable"
    assert few.headline == "As far as 1,200 rows can tell, these probabilities can be believed."
    assert many.headline == "These probabilities can be believed."
    for verdict, rows in ((few, "1,200"), (many, "20,000")):
        assert verdict.findings[0].startswith(f"With {rows} rows, the probability of ")
        assert f"could still be off by up to {points(verdict.bound)}, typically" in verdict.findings[0]
        assert f"the mean confidence by {points(verdict.mean_bound)} (95% conf" in verdict.findings[0]
    assert many.bound < 0.03 < few.bound
    assert many.mean_bound < few.mean_bound


def test_a_class_that_is_not_drawn_is_tested_too():
    """Of forty classes only twelve are drawn; the one whose mean is off is among them."""
    truth, proba = honest(3000, 40)
    small = proba[:, 17] * 0.2
    said = np.delete(proba, 17, axis=1)
    said *= ((1 - small) / said.sum(axis=1))[:, None]
    verdict = summarize(truth, np.insert(said, 17, small, axis=1), classes=range(40)).verdict
    assert verdict.level in ("nearly", "not")
    assert "Off beyond chance: “17”." in verdict.findings


def test_proven_off_and_perhaps_by_much_is_not_nearly_right():
    """Three rare surprises in sixty rows: how far off they are nobody knows."""
    y = np.arange(60) % 20 == 0
    verdict = summarize(y, np.full(60, 0.002)).verdict
    assert verdict.p_value < 0.01
    assert verdict.bound > 0.1
    assert verdict.level == "not"


def test_a_few_certain_and_right_forecasts_prove_nothing():
    assert summarize([0, 1], [0.0, 1.0]).verdict.level == "unknown"
    assert summarize([0, 1] * 50, [0.0, 1.0] * 50).verdict.level == "believable"


def test_all_wrong():
    verdict = summarize([0, 1] * 50, [1.0, 0.0] * 50).verdict
    assert verdict.level == "not"
    # The best rising function of these forecasts is one half for all: calibration is 1 minus 1/4.
    assert verdict.gap == pytest.approx(np.sqrt(0.75))
    assert verdict.findings[0] == "Forecasts of about 0% for “1” came true 100% of the time (50 rows)."


def test_constant_forecasts_tell_nothing_apart():
    truth, _ = honest(3000, 3)
    share = np.bincount(truth) / 3000
    right = summarize(truth, np.tile(share, (3000, 1)))
    assert right.verdict.level == "believable"
    assert "The forecasts do not tell rows apart at all." in right.verdict.findings
    wrong = summarize(truth, np.tile([0.8, 0.1, 0.1], (3000, 1)))
    assert wrong.verdict.level == "not"


def test_one_class():
    verdict = summarize([1] * 60, np.full(60, 0.9)).verdict
    assert any(finding.startswith("Only one class occurs, “1”") for finding in verdict.findings)


def test_classes_that_are_off_are_named():
    truth, proba = honest(6000, 4)
    spoiled = proba.copy()
    spoiled[:, 2] = proba[:, 2] ** 2
    spoiled[:, 3] += proba[:, 2] - spoiled[:, 2]
    verdict = summarize(np.array(list("abcd"))[truth], spoiled).verdict
    assert verdict.level == "not"
    assert "Off beyond chance: “c” and “d”." in verdict.findings


def test_broken_promises_are_told_under_given_costs():
    cost = [[0, 20], [1, 0]]
    verdict = summarize(*bold(2000, 2, power=5), cost=cost).verdict
    assert any(
        finding.startswith("Under the given costs they promise a cost of") for finding in verdict.findings
    )


def test_a_better_method_is_advised():
    truth, right = honest(3000, 3)
    _, proba = bold(3000, 3)
    verdict = summarize(truth, proba, methods={"repaired": right}).verdict
    assert verdict.advice[0].startswith("Use “repaired” instead: its log loss is 0.")
    assert "certain mistake" not in verdict.advice[0]
    assert not any("CalibratedClassifier" in advice for advice in verdict.advice)


def test_a_loss_that_would_be_infinite_is_said_to_be_a_counted_one():
    truth, right = honest(3000, 3)
    certain = np.eye(3)[bold(3000, 3)[1].argmax(axis=1)]
    verdict = summarize(truth, certain, methods={"repaired": right}).verdict
    assert verdict.advice[0].endswith(", each certain mistake counted as half a row.")
