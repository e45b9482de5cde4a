"""The tables and figures of Zadrozny & Elkan, on the real data where they are at hand."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.experiments import (
    _ze02_mailing,
    _ze02_many_classes,
    _ze02_multiclass,
    _ze02_profit,
    _ze02_tables,
)
from calibrant.experiments._cache import Cache
from calibrant.experiments._datasets import find
from calibrant.experiments._experiment import Done
from calibrant.experiments._runner import run_experiment as run
from calibrant.experiments._ze02 import EXPERIMENTS

BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "paper_tables.json").read_text(encoding="utf-8"))[
    "seed000"
]


@pytest.fixture(scope="module")
def outcome_of(tmp_path_factory):
    """Run some jobs of an experiment; jobs that two of them share are run once."""
    cache = Cache(tmp_path_factory.mktemp("cache"))

    def outcome(name, *files, only=lambda arguments: True):
        for file in files:
            try:
                find(f"{file}.csv.gz")
            except CalibrantError as error:
                pytest.skip(str(error))
        experiment = BY_NAME[name]

        def chosen(scale):
            return [job for job in experiment.jobs(scale) if only(job.arguments)]

        return run(dataclasses.replace(experiment, jobs=chosen), cache=cache)

    return outcome


def table(outcome):
    return {row.labels: row for row in outcome.findings.rows}


def held(outcome):
    return {check.statement: check.held for check in outcome.findings.checks}


@pytest.fixture(scope="module")
def pendigits(outcome_of):
    """Table 4 for plain naive Bayes, which takes seconds."""
    return outcome_of("ze02-table4", "pendigits.train", only=lambda arguments: arguments["learner"] == "NB")


def test_calibration_improves_every_combination(pendigits):
    rows = table(pendigits)
    for combination in _ze02_multiclass.COMBINATIONS:
        raw, calibrated = (rows["NB", kind, combination].ours for kind in ("raw", "PAV"))
        assert calibrated[0] < raw[0]
        assert calibrated[1] < raw[1]
    assert held(pendigits)["naive Bayes: PAV lowers MSE and error in every combination"]


def test_calibrated_rows_are_close_to_the_paper(pendigits):
    compared = [row for labels, row in table(pendigits).items() if labels[1] == "PAV" and row.paper]
    assert len(compared) == 3
    for row in compared:
        assert row.ours[0] == pytest.approx(row.paper[0], abs=0.003)


def test_the_kl_minimiser_behaves_like_normalisation_and_the_published_limit_like_least_squares(pendigits):
    rows = table(pendigits)
    mse = {name: rows["NB", "PAV", name].ours[0] for name in _ze02_multiclass.COMBINATIONS}
    assert mse["KL minimiser"] <= mse["normalisation"] < mse["least squares"]
    assert mse["coupling"] == pytest.approx(mse["least squares"], abs=0.0005)


def test_the_best_method_of_today_is_chosen_on_training_rows(pendigits):
    (row,) = [row for labels, row in table(pendigits).items() if labels[1].startswith("best of today")]
    assert row.paper == ()
    assert 0 < row.ours[0] < 0.03


def test_checks_without_their_data_are_not_checked(pendigits):
    assert held(pendigits)["boosted naive Bayes: PAV lowers MSE and error in every combination"] is None


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_without_data_nothing_is_found_and_nothing_held(name):
    findings = BY_NAME[name].collect([])
    assert all(check.held is None for check in findings.checks)
    assert findings.checks
    assert all(value is None for row in findings.rows for value in row.ours)


def test_adult_naive_bayes_is_close_to_the_paper(outcome_of):
    outcome = outcome_of("ze02-table3", "adult.train", only=lambda arguments: arguments["learner"] == "NB")
    pav = table(outcome)["NB", "PAV"]
    assert pav.ours[1] == pytest.approx(pav.paper[1], abs=0.01)
    assert held(outcome)["naive Bayes: MSE PAV < sigmoid < raw, train and test"]
    assert held(outcome)["naive Bayes: the error falls with calibration, train and test"]


def test_tic_and_its_figures(outcome_of):
    winner = {"only": lambda arguments: arguments.get("attributes") == "winner"}
    outcome = outcome_of("ze02-table2", "tic.train", **winner)
    assert held(outcome)["naive Bayes: MSE PAV < sigmoid < raw, train and test"]
    assert held(outcome)["SVM: MSE sigmoid < raw, train and test"]
    figure = outcome_of("ze02-figure4", "tic.train", **winner)
    curve, points = figure.findings.series
    assert (curve.name, points.style) == ("sigmoid", "points")
    assert np.all(np.diff(curve.y) >= 0)
    assert sum(int(note.replace(",", "")) for note in points.notes) == 4000


def test_kdd98_targets(outcome_of):
    outcome = outcome_of("ze02-table1", "kddcup98-valtargt", only=lambda arguments: not arguments)
    everybody = table(outcome)["", "base rate, write to everybody"].ours
    rate = 4873 / 96367
    assert everybody[1] == pytest.approx(2 * rate * (1 - rate))
    assert everybody[3] == pytest.approx(10560, abs=1)
    assert held(outcome)["real targets: the paper's test MSE is a sum over the two classes"]


def test_the_stand_in_keeps_its_numbers_apart(monkeypatch):
    donated = np.where(np.arange(4000) % 20 == 0, 5.0 + np.arange(4000) % 7, 0.0)
    columns = np.column_stack([np.arange(4000), donated])
    monkeypatch.setattr(_ze02_mailing, "read_numeric", lambda name: _Columns(columns))
    answers = [Done({"seed": seed}, _ze02_mailing.stand_in(seed)) for seed in (0, 1)]
    findings = _ze02_profit.TABLE1.collect(answers)
    raw = next(row for row in findings.rows if row.labels == ("NB", "raw"))
    assert raw.ours[:4] == (None,) * 4
    assert raw.paper[:4] == _ze02_profit.PAPER["raw"]
    assert raw.paper[4:] == (None,) * 4
    assert all(math.isfinite(value) for value in (*raw.ours[4:], *raw.spread[4:]))


@dataclasses.dataclass
class _Columns:
    X: np.ndarray


def test_the_papers_numbers_are_those_of_the_golden_file():
    names = {"raw": "", "sigmoid": "Sigmoid ", "PAV": "PAV "}
    for printed, ours in (
        (GOLDEN["table2_tic"], _ze02_tables.PAPER2),
        (GOLDEN["table3_adult"], _ze02_tables.PAPER3),
    ):
        assert {key: tuple(printed[f"{names[key[1]]}{key[0]}"]) for key in ours} == ours
    combinations = {
        "normalisation": "Normalization",
        "least squares": "Least-Squares",
        "coupling": "Coupling",
    }
    printed = GOLDEN["table4_pendigits_test"]
    for (learner, kind, combination), numbers in _ze02_many_classes.PAPER4.items():
        assert tuple(printed[f"{names[kind]}{learner} {combinations[combination]}"]) == numbers
    short = {"normalisation": "Norm", "least squares": "LS", "coupling": "Coup"}
    printed = GOLDEN["table5_20newsgroups"]
    for (kind, combination), numbers in _ze02_many_classes.PAPER5.items():
        assert tuple(printed[f"{names[kind]}NB {short[combination]}"][::2]) == numbers
    printed = GOLDEN["table1_kdd98"]
    for method, numbers in _ze02_profit.PAPER.items():
        assert tuple(printed[f"{names[method]}NB"]) == numbers


def test_newsgroups_are_split_by_group_and_counted_on_training_articles(monkeypatch):
    random = np.random.default_rng(0)
    groups = np.repeat(["autos", "space", "wine"], 40)
    texts = [" ".join(random.choice([f"{group}{n}" for n in range(9)] + ["common"], 12)) for group in groups]
    monkeypatch.setattr(_ze02_multiclass, "read_newsgroups", lambda: _Articles(tuple(texts), groups))
    answer = _ze02_multiclass.newsgroups(0)
    assert answer["PAV"]["normalisation"][1] < 0.1
    assert set(answer) == {"raw", "PAV", "PAV out of fold", "certainty", "today"}
    assert answer == _ze02_multiclass.newsgroups(0)


@dataclasses.dataclass
class _Articles:
    texts: tuple
    y: np.ndarray
