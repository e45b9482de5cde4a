"""Studies beside the papers' tables: what they compute, and what their checks say."""

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.experiments import (
    _lz05_biology,
    _lz05_multiclass,
    _lz05_scaling,
    _ogg_regularization,
    _tto_cells,
    _tto_ensembles,
    _ze02_codes,
    _ze02_rounds,
)
from calibrant.experiments._datasets import find
from calibrant.experiments._experiment import Done
from calibrant.learners import BoostedNaiveBayes, CategoricalNaiveBayes


def need(file):
    try:
        find(file)
    except CalibrantError as error:
        pytest.skip(str(error))


def held(findings):
    return [check.held for check in findings.checks]


class TestCodes:
    def test_a_ratio_is_a_geometric_mean_over_the_problems_with_its_interval(self):
        way, base = ("all_pairs", "pav", "least_squares"), _ze02_codes.BASE
        problems = {
            (data, "NB"): {way: [loss, 0.1, 0.1], base: [1.0, 0.1, 0.1]}
            for data, loss in (("a", 0.5), ("b", 2.0), ("c", 1.0))
        }
        centre, half, n = _ze02_codes.ratio(problems, way, base, 0)
        assert (centre, n) == (pytest.approx(1), 3)
        # Three logarithms with a standard deviation of log 2, and Student's 4.303.
        assert half == pytest.approx(4.303 * np.log(2) / np.sqrt(3), rel=1e-3)
        assert _ze02_codes.ratio(problems, way, base, 1)[:2] == (1, 0)

    def test_every_way_of_a_code_has_its_losses(self):
        need("iris.csv.gz")
        found = _ze02_codes.code_table("iris", "NB", "one_vs_all")
        assert len(found) == 3 * 4 + 1
        assert all(0 < loss < 1 for losses in found.values() for loss in losses[:2])
        assert found["pav; normalize"] != found["pav; coupling"]
        findings = _ze02_codes.CODES_STUDY.collect(
            [Done({"data": "iris", "learner": "NB", "code": "one_vs_all"}, found)]
        )
        assert len(findings.rows) == len(found)


class TestRounds:
    def test_after_every_round_boosting_answers_as_with_so_many_rounds(self):
        rng = np.random.default_rng(0)
        X, y = rng.integers(3, size=(200, 3)), rng.random(200) < 0.4
        (curve,) = _ze02_rounds._after_rounds(X, y, 5, X[:20])
        for number, answers in enumerate(curve):
            model = BoostedNaiveBayes(n_rounds=number + 1).fit(X, y)
            np.testing.assert_allclose(answers, model.predict_proba(X[:20])[:, 1], atol=1e-12)

    def test_pav_that_helps_up_to_some_round_and_one_that_always_does(self):
        raw, pav, honest = ([[value, 0.1, 0.001, 0.01] for value in row] for row in
                            ((0.03, 0.0163, 0.014), (0.02, 0.016, 0.015), (0.02, 0.015, 0.013)))  # fmt: skip
        curves = {"raw": raw, "PAV": pav, "PAV out of fold": honest}
        findings = _ze02_rounds.ROUNDS.collect([Done({"n_rounds": 3}, curves)])
        assert held(findings) == [True, True, True]
        assert {row.error for row in findings.rows} == {(0.001, 0.01)}
        curves["PAV"] = honest
        assert held(_ze02_rounds.ROUNDS.collect([Done({"n_rounds": 3}, curves)])) == [True, False, True]


class TestScaling:
    def test_scalings_are_multiples_of_the_same_weights(self):
        y = np.array([1, 0, 1, 0, 0])
        weights = np.where(y == 1, 1.0, 0.25)  # the threshold 1/5
        printed, greatest, mean = (each(weights, y) for each in _lz05_scaling.SCALINGS.values())
        np.testing.assert_allclose(printed, np.where(y == 1, 4.0, 1.0))
        np.testing.assert_allclose(greatest, weights)
        assert mean.mean() == pytest.approx(1)

    def test_a_prior_is_not_outweighed(self):
        X, y = np.zeros((20, 1), dtype=int), np.arange(20) < 4
        rescaled = _lz05_scaling.Rescaled(CategoricalNaiveBayes(), _lz05_scaling.PRINTED)
        model = rescaled.fit(X, y.astype(int), np.where(y, 1.0, 0.1))
        assert model.estimator_.predict(X[:1]) == model.predict(X[:1]) == [1]


class TestMulticlass:
    def test_forms_give_distributions_and_differ_where_answers_do_not_add_up(self):
        answers = np.array([[0.7, 0.5, 0.2], [0.2, 0.3, 0.5]])
        found = {name: form(answers, 0) for name, form in _lz05_multiclass.FORMS.items()}
        for proba in found.values():
            np.testing.assert_allclose(proba.sum(axis=1), 1)
            np.testing.assert_allclose(proba[1], [0.2, 0.3, 0.5])
        np.testing.assert_allclose(found["clip, last left out"][0], [0.7 / 1.2, 0.5 / 1.2, 0])
        np.testing.assert_allclose(found["project, last left out"][0], [0.6, 0.4, 0])
        np.testing.assert_allclose(found["symmetric"][0], np.array([0.7, 0.5, 0.2]) / 1.4)

    def test_an_infinite_loss_is_counted_and_left_out_of_the_mean(self):
        losses = {name: [1.0, 1.0] for name in _lz05_multiclass.FORMS} | {"symmetric": [0.5, 0.5]}
        losses["clip, last left out"] = [np.inf, 1.0]
        findings = _lz05_multiclass.MULTICLASS.collect([Done({"data": "iris", "learner": "NB"}, losses)])
        assert held(findings) == [True, True]
        assert "infinite on 1" in findings.checks[1].finding


def test_biology_is_near_the_paper_where_blocks_are_torn():
    def done(by_row):
        return [
            Done({"method": "Log", "split": split, "by_block": by_block}, [np.inf, error, 0.98])
            for by_block, error in ((True, 0.064), (False, by_row))
            for split in (0, 1)
        ]

    assert [held(_lz05_biology.BIOLOGY.collect(done(error))) for error in (0.048, 0.06)] == [[True], [False]]


class TestRegularization:
    def done(self, schedule, at_once, one_by_one=(8.0, 8.5)):
        for seed, costs in enumerate(zip((9.0, 9.5), at_once, one_by_one, strict=True)):
            named = dict(zip(_ogg_regularization.RULES, costs, strict=True))
            paid = {kind: {"plain": 10.0} | named for kind in _ogg_regularization.KINDS}
            yield Done(
                {"rows": _ogg_regularization.ALL, "schedule": schedule, "seed": seed},
                {"error": 0.1, "certainty": 0.9, "paid": paid},
            )

    def held(self, *jobs):
        return held(_ogg_regularization.REGULARIZATION.collect(jobs))

    def test_it_decides_where_the_sign_differs(self):
        fine, coarse = self.done("fine", (8.0, 8.5)), self.done("coarse", (10.1, 10.9))
        fine = list(fine)
        assert self.held(*fine, *coarse) == [True, False, False]
        assert self.held(*fine) == [None, False, False]

    def test_harm_is_in_most_settings(self):
        fine, dear = list(self.done("fine", (8.0, 8.5))), (12.0, 12.5)
        coarse, coarser = self.done("coarse", dear), self.done("coarser", dear, dear)
        assert self.held(*fine, *coarse, *coarser) == [True, True, False]
        assert self.held(fine[0]) == [None, False, False]

    def test_the_plain_rule_is_what_is_saved_against(self):
        need("segment.train.csv.gz")
        paid = _ogg_regularization.regularized("segment", _ogg_regularization.FEW, "half and half", 0)["paid"]
        assert set(paid) == set(_ogg_regularization.KINDS)
        assert all(set(costs) == {"plain", *_ogg_regularization.RULES} for costs in paid.values())


def test_writers_and_cells():
    gaps = {"same writers": [0.02, 0.005], "other writers": [0.06, 0.01]}
    answer = {
        "loss": {part: {"f1": 0.15, "f1, f2": 0.17} for part in gaps},
        "gap": gaps,
        "rows per cell": {"f1": 54.0, "f1, f2": 2.0},
    }
    assert held(_tto_cells.WRITERS.collect([Done({"width": 0.05}, answer)])) == [True, None, None]
    answers = [
        {"possible": 10.0**n, "cells": 10.0 * n, "single": 0.5, "fallback": 0.0, "loss": loss}
        for n, loss in ((1, 0.3), (2, 0.2), (4, 0.1))
    ]
    jobs = [
        Done({"data": "Pendigits", "n_scores": n, "n_rows": None}, answer)
        for n, answer in zip((1, 2, 4), answers, strict=True)
    ]
    assert held(_tto_cells.GROWING.collect(jobs)) == [False]
    assert held(_tto_cells.GROWING.collect(jobs[:2])) == [True]


def test_two_scores_of_an_ensemble_may_be_worse_by_less_than_two_standard_errors():
    def done(gap):
        answer = {"error": 0.1, "loss": {"table, one score; 1": [0.2, 0.01]}}
        answer["gap"] = {name: [gap, 0.01] for name in ("table; 1", "logistic; 1", "logistic; 2")}
        return [Done({"data": "segment", "learner": "bagged trees"}, answer)]

    assert held(_tto_ensembles.ENSEMBLES.collect(done(-0.015))) == [True] * 3
    assert held(_tto_ensembles.ENSEMBLES.collect(done(-0.025))) == [False] * 3


@pytest.mark.parametrize(
    "study",
    [
        _ze02_codes.CODES_STUDY,
        _ze02_rounds.ROUNDS,
        _tto_cells.WRITERS,
        _tto_cells.GROWING,
        _tto_ensembles.ENSEMBLES,
        _ogg_regularization.REGULARIZATION,
    ],
    ids=lambda study: study.name,
)
def test_without_data_nothing_is_said(study):
    findings = study.collect([])
    assert findings.rows == ()
    assert set(held(findings)) == {None}
