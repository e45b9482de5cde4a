"""O'Brien, Gupta and Gray: savings, their means, what the checks say, and the figures."""

import math
from dataclasses import replace

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.decisions import equal_risk_point
from calibrant.experiments import _ogg, _ogg_figures
from calibrant.experiments._cache import Cache
from calibrant.experiments._data_columns import MULTICLASS
from calibrant.experiments._datasets import find, read_table
from calibrant.experiments._experiment import Done
from calibrant.experiments._runner import run_experiment as run

CHECKS = (
    "average",
    "larger",
    "LF harmful",
    "LF usual",
    "LF on segment",
    "LF on dermatology",
    "little",
    "raised",
    "MetaCost",
    "near",
)


def repetition(data="iris", learner="NB", seed=0, size=45.0, raised=0, **costs):
    """What a job returns, the same for all kinds of costs."""
    test = {"expected": 10.0, "parallel": 9.0, "lachiche_flach": 11.0, "chosen": 9.5} | costs
    paid = {
        "test": test,
        "training": {"expected": 9.0, "parallel": 8.0, "lachiche_flach": 8.5},
        "n_raised": raised,
    }
    answer = {
        "n_rows": 300,
        "n_classes": 3,
        "smallest_class": 50,
        "class_size": size,
        "ratio": paid,
        "inverse": paid,
        "random": paid,
    }
    return Done({"data": data, "learner": learner, "seed": seed}, answer)


def held(done, kind="ratio"):
    table = {"ratio": _ogg.TABLES[0], "inverse": _ogg.TABLES[1], "random": _ogg.TABLES[2]}[kind]
    checks = table.collect(done).checks
    names = [name for name in CHECKS if name != "MetaCost" or kind != "inverse"]
    return dict(zip(names, (check.held for check in checks), strict=True))


def test_all_sets_of_three_classes_and_more_are_there():
    assert sorted(_ogg.NUMERIC + _ogg.DISCRETE) == sorted(MULTICLASS)
    for data, learner in _ogg.PROBLEMS:
        contents = MULTICLASS[data]
        assert learner == "NB" or (contents.nominal == "none" and data in _ogg.NUMERIC)
    assert len({data for data, learner in _ogg.PROBLEMS if learner == "QDA"}) >= 8


@pytest.mark.parametrize("data", ["glass", "vowel", "zoo"])
def test_rows_that_qda_takes_are_complete_numbers(data):
    try:
        find(f"{data}.csv.gz" if data != "vowel" else "vowel.train.csv.gz")
    except CalibrantError as error:
        pytest.skip(str(error))
    table = read_table(data)
    assert (data in _ogg.NUMERIC) == (not table.nominal.any() and not np.isnan(table.X).any())


def test_a_longer_run_begins_with_the_jobs_of_a_shorter_one():
    short, long = (_ogg.repetition_jobs(n, 100, [("iris", "NB")]) for n in (2, 5))
    assert long[:2] == short
    assert [job.arguments["seed"] for job in long] == [0, 1, 2, 3, 4]


def test_the_scales():
    assert len(_ogg.TABLES[0].jobs("full")) == 100 * len(_ogg.PROBLEMS)
    with_metacost = [job.arguments for job in _ogg.TABLES[0].jobs("full") if job.arguments["n_resamples"]]
    assert {arguments["n_resamples"] for arguments in with_metacost} == {100}
    assert [each["seed"] for each in with_metacost if (each["data"], each["learner"]) == ("iris", "NB")] == [
        *range(10)
    ]
    assert [
        each["seed"] for each in with_metacost if (each["data"], each["learner"]) == ("shuttle", "NB")
    ] == [0]
    assert {each.arguments["seed"] for each in _ogg.TABLES[0].jobs("full") if each.arguments["choice"]} == {
        *range(10)
    }
    assert _ogg.TABLES[0].jobs("full") == _ogg.TABLES[2].jobs("full")
    assert {tuple(job.arguments["kinds"]) for job in _ogg.TABLES[1].jobs("full")} == {("inverse",)}
    quick = _ogg.TABLES[2].jobs("quick")
    assert {job.arguments["seed"] for job in quick} == set(range(5))
    assert not {job.arguments["data"] for job in quick} & set(_ogg.LARGE)


def test_saving_is_against_the_plain_rule():
    assert _ogg.saving(10.0, 9.0) == pytest.approx(10)
    assert _ogg.saving(10.0, 12.0) == pytest.approx(-20)
    assert math.isnan(_ogg.saving(0.0, 3.0))


def test_a_repetition_without_loss_is_left_out():
    done = [
        repetition(seed=0),
        repetition(seed=1, expected=0.0, parallel=5.0),
        repetition(seed=2, parallel=7.0),
    ]
    (saved,) = _ogg.savings(done, "ratio")
    assert saved.mean["parallel"] == pytest.approx((10 + 30) / 2)
    assert saved.error["parallel"] == pytest.approx(np.std([10, 30], ddof=1) / np.sqrt(2))
    # Together: the plain rule paid 10 + 0 + 10, parallel partition 9 + 5 + 7.
    assert saved.of_totals["parallel"] == pytest.approx(100 * (20 - 21) / 20)
    assert saved.n_repetitions == 3


def test_a_problem_without_any_loss_has_no_number_and_no_part_in_the_mean():
    done = [repetition(), repetition("wine", expected=0.0)]
    saved = _ogg.savings(done, "random")
    assert sorted(math.isnan(of_one.mean["parallel"]) for of_one in saved) == [False, True]
    assert _ogg.mean_saving(saved, "parallel") == pytest.approx(10)
    assert _ogg.mean_saving(saved, "mossman") is None


def test_the_mean_of_totals_has_a_standard_error_of_its_own():
    done = [
        repetition(seed=0, expected=10.0, parallel=9.0),
        repetition(seed=1, expected=30.0, parallel=15.0),
        repetition("wine"),
    ]
    (*_, mean), place = _ogg.TABLES[0].collect(done).rows, _ogg.MEASURES.index("of totals %")
    # Together they save 16 of 40 on iris, and 1 of 10 on wine; one by one 10% and 50%, and 10%.
    assert mean.ours[place - 1 : place + 1] == pytest.approx((20, 25))
    assert mean.spread[place - 1 : place + 1] == pytest.approx((10, 15))


def test_metacost_shows_the_better_variant_of_every_set():
    done = [
        repetition(seed=0, metacost_all=9.0, metacost_others=5.0),
        repetition(seed=1, metacost_all=9.0, metacost_others=20.0),
    ]
    (saved,) = _ogg.savings(done, "ratio")
    # Per set, not per repetition: 10% on average against -25%.
    assert saved.mean["metacost"] == pytest.approx(10)


def test_lines_are_ordered_by_class_size_and_end_with_the_mean_beside_the_papers():
    done = [repetition("wine", size=50.0), repetition("glass", size=20.0, parallel=8.0)]
    for table, paper in zip(_ogg.TABLES, (10.8, 10.8, 8.9), strict=True):
        rows = table.collect(done).rows
        assert [row.labels[0] for row in rows] == ["glass", "wine", "mean of 2"]
        place = table.measures.index("parallel partition %")
        assert rows[-1].ours[place] == pytest.approx(15)
        assert rows[-1].paper[place] == paper
        assert rows[-1].error[place] == pytest.approx(np.std([10, 20], ddof=1) / np.sqrt(2))
        assert all(len(row.ours) == len(table.measures) for row in rows)


def test_checks_that_hold_and_checks_that_do_not():
    good = [
        repetition(
            "iris", size=10.0, parallel=9.9, lachiche_flach=9.0, metacost_all=9.0, metacost_others=9.0
        ),
        *(repetition(data, size=15.0, parallel=9.8, lachiche_flach=9.0, metacost_all=9.0) for data in "ab"),
        repetition("dermatology", size=20.0, parallel=9.0, metacost_all=12.0, metacost_others=12.0),
        repetition("segment", "QDA", size=30.0, parallel=8.0, metacost_all=12.0, metacost_others=12.0),
    ]
    assert held(good) == held(good, "random") == dict.fromkeys(CHECKS, True)
    assert held(good, "inverse") == dict.fromkeys([name for name in CHECKS if name != "MetaCost"], True)
    bad = [
        repetition("iris", size=30.0, parallel=19.0, lachiche_flach=9.0, raised=1, metacost_all=9.0),
        repetition("dermatology", size=20.0, parallel=9.0, lachiche_flach=9.0, metacost_all=9.0),
        repetition("segment", "QDA", size=10.0, parallel=8.0, lachiche_flach=9.0, metacost_all=9.0),
    ]
    bad = [replace(job, answer=job.answer | {"n_rows": 1}) for job in bad]
    # Weights that harm nowhere improve everywhere.
    assert held(bad) == dict.fromkeys(CHECKS, False) | {"LF usual": True, "near": True}


def test_without_data_nothing_is_said():
    for experiment in _ogg.EXPERIMENTS:
        findings = experiment.collect([])
        assert not findings.rows
        assert {check.held for check in findings.checks} == {None}


@pytest.mark.parametrize("figure", _ogg_figures.FIGURES, ids=lambda figure: figure.name)
def test_figures_hold_and_lie_in_the_triangle(figure, tmp_path):
    findings = run(figure, cache=Cache(tmp_path)).findings
    assert [check.held for check in findings.checks] == [True] * len(findings.checks)
    for series in findings.series:
        x, y = np.array(series.x), np.array(series.y)
        assert len(x) == len(y) > 1
        height = y / np.sqrt(0.75)
        assert (height >= -1e-9).all()
        assert (np.abs(x - 0.5) <= (1 - height) / 2 + 1e-9).all()


def test_the_corners_of_the_triangle_are_the_classes():
    np.testing.assert_allclose(_ogg_figures.on_paper(np.eye(3)), [[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])


def test_boundaries_meet_in_the_equal_risk_point():
    point = _ogg_figures.on_paper([equal_risk_point(_ogg_figures.ASYMMETRIC).point])[0]
    lines = _ogg_figures.boundaries("", "", _ogg_figures.ASYMMETRIC)
    assert len(lines) == 3
    for line in lines:
        ends = np.column_stack([line.x, line.y])
        assert np.abs(ends - point).sum(axis=1).min() < 1e-9
