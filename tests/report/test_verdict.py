"""The verdict: what is said of forecasts that are right, wrong, nearly right, or too few."""

import numpy as np
import pytest

from calibrant.report import summarize
from report.forecasts import bold, honest


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
    assert not any("CalibratedClassifier" in advice for advice in verdict.advice)
