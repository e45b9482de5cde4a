"""The experiments of Takahashi, Takamura & Okumura: the protocol, and a run on the real Pendigits."""

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.experiments import _tto_scores
from calibrant.experiments._cache import Cache
from calibrant.experiments._datasets import find
from calibrant.experiments._experiment import Experiment
from calibrant.experiments._runner import run_experiment as run
from calibrant.experiments._tto import DIGITS, EXPERIMENTS, NEWS, SURVEY

BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What is found on Pendigits alone, which takes seconds."""
    try:
        find("pendigits.train.csv.gz")
    except CalibrantError as error:
        pytest.skip(str(error))
    cache = Cache(tmp_path_factory.mktemp("cache"))

    def outcome(name):
        experiment = BY_NAME[name]
        fields = {field: getattr(experiment, field) for field in Experiment.__dataclass_fields__}
        fields["jobs"] = lambda scale: [
            job for job in experiment.jobs(scale) if job.arguments["data"] == DIGITS
        ]
        return run(Experiment(**fields), "quick", cache=cache)

    return outcome


def held(outcome):
    return {check.statement: check.held for check in outcome.findings.checks}


def test_every_table_and_figure_at_hand_is_there():
    tables, figures = (4, 6, 7, 8, 9, 10, 11), (3, 4, 6, 7)
    assert set(BY_NAME) == {
        *(f"tto-table{number}" for number in tables),
        *(f"tto-figure{number}" for number in figures),
        *(f"tto-{name}" for name in ("cells", "writers", "growth", "ensembles")),
    }


def test_full_has_five_outer_folds_of_all_articles():
    jobs = BY_NAME["tto-table6"].jobs("full")
    assert [job.arguments["fold"] for job in jobs if job.arguments["data"] == NEWS] == [0, 1, 2, 3, 4]
    assert all(job.arguments["n_rows"] is None for job in jobs)
    assert [job.arguments["n_rows"] for job in BY_NAME["tto-figure6"].jobs("full")] == [
        *(1000, 2000, 4000, 10_000, 20_000),
        *(1000, 2000, 4000, 10_000),
    ]


def test_the_made_up_survey_has_the_sizes_of_the_real_one():
    X, y, X_test, y_test = _tto_scores._survey(np.random.default_rng(0))
    assert (X.shape[0], X_test.shape[0]) == (len(y), len(y_test)) == (20_066, 3_772)
    assert np.array_equal(np.unique(y), np.arange(200))
    n_words = np.asarray(X.sum(axis=1)).ravel()
    assert (n_words.min(), n_words.max()) == (2, 6)


def test_calibration_scores_come_from_learners_that_did_not_see_the_row():
    """A learner that memorises would make no errors on rows that it has seen."""
    scores = _tto_scores.scores_of(SURVEY, "SVM", 0, 1000)
    assert scores.train.shape == (1000, 200)
    seen = np.mean(scores.train.argmax(axis=1) != scores.y_train)
    unseen = np.mean(scores.test.argmax(axis=1) != scores.y_test)
    assert seen == pytest.approx(unseen, abs=0.08)
    assert seen > 0.2


def test_naive_bayes_scores_do_not_grow_with_the_text():
    counts = np.array([[3, 1], [1, 3]])
    model = _tto_scores.NaiveBayesPerWord(class_prior=[0.5, 0.5]).fit(counts, [0, 1])
    once, twice = model.decision_function(counts), model.decision_function(20 * counts)
    assert np.array_equal(once.argmax(axis=1), twice.argmax(axis=1))
    np.testing.assert_allclose(once, twice, atol=0.2)


def test_the_findings_about_ranks_hold_on_pendigits(outcomes):
    found = held(outcomes("tto-figure4")) | held(outcomes("tto-table9")) | held(outcomes("tto-table10"))
    for statement in (
        "A is at least as good as the single score at rank 2",
        "the gap between A and single is smaller at rank 5 than at rank 2",
        "for most ranks, whether its class is right goes most with the highest score",
        "A ranks better than the single score at rank 2",
    ):
        assert found[f"{DIGITS}: {statement}"], statement


def test_the_findings_about_the_first_guess_hold_on_pendigits(outcomes):
    found = held(outcomes("tto-table6")) | held(outcomes("tto-figure3"))
    for statement in (
        "two scores beat one, each with its best cells",
        "ma_cov beats no smoothing of two scores in cells of 0.05",
        "ma_cov beats no smoothing of two scores in cells of 0.1",
        "logistic: the first 10% of the rows hold at least the errors found by score",
    ):
        assert found[f"{DIGITS}: {statement}"], statement
    # It does not hold in narrow cells, and the reason is said.
    (narrow,) = [
        check
        for check in outcomes("tto-table6").findings.checks
        if check.statement == f"{DIGITS}: two scores beat one in cells of 0.1 with ma_cov"
    ]
    assert not narrow.held
    assert "other writers" in narrow.finding


def test_the_distribution_is_better_than_naive_bayes_of_2002(outcomes):
    found = held(outcomes("tto-table11"))
    assert found[f"{DIGITS}: the MSE is below that of PAV naive Bayes in ZE02"]
    assert found[f"{DIGITS}: the error is below that of PAV naive Bayes in ZE02"]


def test_every_check_names_its_numbers(outcomes):
    for name in ("tto-table4", "tto-table6", "tto-table8", "tto-cells", "tto-figure7"):
        outcome = outcomes(name)
        assert outcome.findings.rows
        assert all(any(digit.isdigit() for digit in check.finding) for check in outcome.findings.checks)
        for row in outcome.findings.rows:
            assert len(row.labels) == len(outcome.experiment.labels)
            assert len(row.ours) == len(outcome.experiment.measures)
