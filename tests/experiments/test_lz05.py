"""Langford and Zadrozny: the printed numbers, who wins, what the checks say, and one small set for real."""

import json
import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from calibrant import CalibrantError
from calibrant.experiments import _lz05, _lz05_figure, _lz05_paper, _lz05_protocol, _lz05_sets
from calibrant.experiments._cache import Cache
from calibrant.experiments._datasets import find
from calibrant.experiments._experiment import Done, Experiment
from calibrant.experiments._runner import run_experiment as run
from golden import HERE, revive

METHODS = _lz05_paper.METHODS
ERRORS = [0.01, 0.01, 0.01]
PRINTED = {"CXE": _lz05_paper.CROSS_ENTROPY, "RMS": _lz05_paper.RMS, "AUC": _lz05_paper.AUC}


def need(file):
    try:
        find(file)
    except CalibrantError as error:
        pytest.skip(str(error))


def printed_jobs():
    """The paper's own tables, as if jobs had returned them."""
    for name, data in _lz05_sets.SETS.items():
        measures = {
            method: [table[name][place] for table in PRINTED.values()] for place, method in enumerate(METHODS)
        }
        yield Done(
            {"data": data, "split": 0}, {"measures": measures, "errors": dict.fromkeys(METHODS, ERRORS)}
        )


def changed(name, **numbers):
    """The paper's tables with the cross entropies of one set changed."""
    done = list(printed_jobs())
    for job in done:
        if _lz05_sets.NAME_OF[job.arguments["data"]] == name:
            for method, number in numbers.items():
                job.answer["measures"][method] = [number, number, number]
    return done


def held(findings):
    return [check.held for check in findings.checks]


@pytest.fixture(scope="module")
def golden():
    return revive(json.loads((HERE / "paper_tables.json").read_text())["seed002"])


class TestPrinted:
    def test_tables(self, golden):
        names = {"CXE": "table1_cross_entropy_bits", "RMS": "table2_rms", "AUC": "table3_auc"}
        assert golden["columns"] == list(METHODS)
        for measure, table in PRINTED.items():
            assert {name: list(row) for name, row in table.items()} == golden[names[measure]]

    def test_best(self, golden):
        assert golden["table4_best"]["columns"] == ["RMS", "CXE", "AUC"]
        assert {name: list(best) for name, best in _lz05_paper.BEST.items()} == golden["table4_best"]["rows"]

    def test_the_printed_winners_are_those_of_the_printed_tables_but_for_hepatitis(self):
        spelled = {"J48/SVM": {"J48", "SigSVM"}, "Prob(J48/Log)": {"ProbJ48", "ProbLog"}}
        wrong = set()
        for measure, best in ((_lz05.RMSE, 0), (_lz05.CXE, 1), (_lz05.AREA, 2)):
            for name, row in measure.paper.items():
                won = set(_lz05.winners(dict(zip(METHODS, row, strict=True)), measure.best))
                printed = _lz05_paper.BEST[name][best]
                if not spelled.get(printed, {printed}) <= won:
                    wrong.add((name, measure.name))
        assert wrong == {("Hepatitis", "RMS"), ("Hepatitis", "CXE")}

    def test_probing_is_named_in_21_of_45_entries(self):
        entries = [entry for best in _lz05_paper.BEST.values() for entry in best]
        assert len(entries) == 45
        assert sum("Prob" in entry for entry in entries) == 21


class TestWinners:
    def test_of_equal_ones_all(self):
        assert _lz05.winners({"a": 0.1004, "b": 0.0996, "c": 0.101}, min) == ("a", "b")

    def test_infinite_ones_never_win(self):
        assert _lz05.winners({"a": math.inf, "b": 2.0}, min) == ("b",)

    def test_the_largest_where_large_is_good(self):
        assert _lz05.winners({"a": 0.7, "b": 0.8}, max) == ("b",)


class TestChecks:
    @pytest.mark.parametrize("number", range(4))
    def test_the_papers_own_tables_hold(self, number):
        findings = _lz05.TABLES[number].collect(list(printed_jobs()))
        assert held(findings) == [True] * len(findings.checks)

    def test_a_sigmoid_that_ranks_otherwise_is_seen_but_not_on_biology(self):
        assert held(_lz05.TABLES[2].collect(changed("Liver", SigNB=0.7)))[1] is False
        assert held(_lz05.TABLES[2].collect(changed("Biology", SigNB=0.7)))[1] is True

    def test_without_data_nothing_is_said(self):
        for table in _lz05.EXPERIMENTS:
            assert set(held(table.collect([]))) == {None}

    def test_an_infinite_probed_tree_is_seen(self):
        findings = _lz05.TABLES[0].collect(changed("Liver", ProbJ48=math.inf))
        assert held(findings)[0] is False
        assert findings.checks[0].finding.endswith("not on Liver")

    def test_bagging_that_is_better_on_adult_is_seen_with_its_lead(self):
        findings = _lz05.TABLES[0].collect(changed("Adult", BagJ48=0.4))
        assert held(findings)[2] is False
        assert "Adult 0.436 against 0.400 (+0.036)" in findings.checks[2].finding

    def test_a_set_that_cannot_be_had_keeps_the_papers_numbers(self):
        rows = {row.labels: row for row in _lz05.TABLES[0].collect(list(printed_jobs())).rows}
        assert len(rows) == 15
        for name in ("KDD-98", "Physics"):
            row = rows[name, "cannot be had"]
            assert set(row.ours) == {None}
            assert row.paper[:10] == _lz05_paper.CROSS_ENTROPY[name]

    def test_splits_are_averaged_with_their_spread(self):
        done = [
            Done(
                {"data": "liver-bupa", "split": split},
                {"measures": {"NB": [number, 0.5, 0.5]}, "errors": {"NB": ERRORS}},
            )
            for split, number in enumerate((1.0, 2.0, 3.0))
        ]
        row = next(row for row in _lz05.TABLES[0].collect(done).rows if row.labels[0] == "Liver")
        assert row.labels == ("Liver", "3 random")
        place = METHODS.index("NB")
        assert (row.ours[place], row.spread[place]) == (2.0, 1.0)
        # The paper's split is one more of the same kind.
        assert row.error[place] == pytest.approx((1 + 1 / 3) ** 0.5)

    def test_one_split_is_as_sure_as_its_test_rows_make_it(self):
        row = next(
            row for row in _lz05.TABLES[0].collect(list(printed_jobs())).rows if row.labels[0] == "Adult"
        )
        assert row.spread[METHODS.index("NB")] == row.error[METHODS.index("NB")] == 0.01

    def test_one_infinite_split_makes_the_mean_infinite_and_has_no_spread(self):
        done = [
            Done(
                {"data": "liver-bupa", "split": split},
                {"measures": {"J48": [number, 0.5, 0.5]}, "errors": {"J48": ERRORS}},
            )
            for split, number in enumerate((1.0, math.inf))
        ]
        row = next(row for row in _lz05.TABLES[0].collect(done).rows if row.labels[0] == "Liver")
        assert (row.ours[0], row.spread[0]) == (math.inf, None)


class TestFigure1:
    def test_a_curve_that_is_still_falling_after_20_probes_is_seen(self):
        flat, falling = [1.0] + [0.5] * 100, list(np.linspace(1.0, 0.5, 101))
        for curve, expected in ((flat, True), (falling, False)):
            done = [Done({"data": "sick", "split": 0}, {"curve": curve})]
            findings = _lz05_figure.FIGURE1.collect(done)
            assert held(findings) == [expected]
            assert findings.series[0].x[0] == 1
            assert len(findings.series[0].y) == 100


class TestProtocol:
    def test_jobs_cover_every_set_split_and_family_once(self):
        for scale in ("quick", "full"):
            jobs = [tuple(job.arguments.values()) for job in _lz05_sets.family_jobs(scale)]
            assert len(set(jobs)) == len(jobs)
            splits = {data: {job[1] for job in jobs if job[0] == data} for data in _lz05_sets.SETS.values()}
            assert splits["adult"] == splits["sick"] == {0}
            assert splits["diabetes"] == set(range(_lz05_sets.N_SPLITS[scale]))
            assert splits["kddcup2004-bio"] == ({0} if scale == "full" else set())
        assert {job[2] for job in jobs} == {"tree", "svm", "bayes", "logistic", "library"}
        assert {job[3] for job in jobs} == {100}
        assert ("kddcup2004-bio", 0, "library", 100) not in jobs

    def test_a_certain_mistake_is_infinite(self):
        parts = _lz05_protocol.Parts(
            np.array([[0], [1]]), np.array([0, 1]), np.array([[0], [1]]), np.array([1, 1])
        )
        assert parts.measure(DecisionTreeClassifier())[0][0] == math.inf


@pytest.fixture(scope="module")
def hepatitis(tmp_path_factory):
    """Tables 1 and 4 of one small set, with few probes."""
    need("hepatitis.csv.gz")
    jobs = [job for job in _lz05_sets.family_jobs("quick") if job.arguments["data"] == "hepatitis"][:5]
    cache = Cache(tmp_path_factory.mktemp("cache"))

    def outcome(table):
        reduced = Experiment(
            table.name,
            table.title,
            table.conventions,
            table.labels,
            table.measures,
            lambda _: jobs,
            table.collect,
        )
        return run(reduced, cache=cache)

    return [outcome(table) for table in _lz05.TABLES]


class TestHepatitis:
    def test_every_method_has_its_number(self, hepatitis):
        row = next(row for row in hepatitis[0].findings.rows if row.labels[0] == "Hepatitis")
        assert len(row.ours) == len(_lz05.COLUMNS) == 12
        assert None not in row.ours
        assert row.paper[:10] == _lz05_paper.CROSS_ENTROPY["Hepatitis"]

    def test_the_probed_tree_is_finite(self, hepatitis):
        assert held(hepatitis[0].findings)[0] is True

    def test_the_sigmoid_keeps_the_ranking(self, hepatitis):
        assert held(hepatitis[2].findings)[1] is True

    def test_one_winner_per_measure(self, hepatitis):
        assert [row.labels[:2] for row in hepatitis[3].findings.rows] == [
            ("Hepatitis", "RMS"), ("Hepatitis", "CXE"), ("Hepatitis", "AUC"),
        ]  # fmt: skip
