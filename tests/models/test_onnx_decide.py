"""Decisions in the graph against the rules: ties, learned partitions, labels of every type."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import IdentityCalibrator, OneVsAllCalibrator
from calibrant.decisions import (
    DecisionRule,
    ExpectedCostRule,
    LachicheFlachRule,
    MossmanRule,
    ParallelPartitionRule,
    random_costs,
)
from calibrant.models import OnnxExportError, ScoreModel
from models.onnx_cases import run, scored_rows, session_of

RULES = {
    "expected": ExpectedCostRule(),
    "parallel": ParallelPartitionRule(),
    "parallel, factors": ParallelPartitionRule(family="row_mul"),
    "parallel, free": ParallelPartitionRule(family="free"),
    "lachiche_flach": LachicheFlachRule(),
    "lachiche_flach, incremental": LachicheFlachRule(active="incremental"),
    "mossman": MossmanRule(),
    "mossman, other order": MossmanRule(order=(2, 0, 1)),
}
NO_INTEGER = np.iinfo(np.int64).min


def deciding(k, **how):
    """A model whose probabilities are its scores, so that only the decision is left."""
    if k == 2:
        calibrator = IdentityCalibrator().fit([0.2, 0.8], [0, 1])
    else:
        calibrator = OneVsAllCalibrator("identity").fit(np.eye(k), np.arange(k))
    return ScoreModel.from_fitted(calibrator, **how)


def coarse_proba(n, k, seed):
    """Distributions with many ties: small whole numbers divided by their sum."""
    rows = np.random.default_rng(seed).integers(0, 4, (n, k)).astype(float)
    rows[:, 0] += rows.sum(axis=1) == 0
    return rows / rows.sum(axis=1, keepdims=True)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), k=st.integers(3, 6), scale=st.sampled_from([1e-3, 1.0, 1e9]))
def test_least_cost_and_its_ties(seed, k, scale):
    rng = np.random.default_rng(seed)
    cost = rng.integers(1, 4, (k + seed % 2, k)) * scale
    cost[np.arange(k), np.arange(k)] = 0
    model, proba = deciding(k, cost=cost), coarse_proba(60, k, seed)
    np.testing.assert_array_equal(run(model, proba)["decision"], model.decide(proba))


def test_two_classes_at_the_threshold():
    model = deciding(2, cost=[[0, 4], [1, 0]])
    score = np.array([0.2, np.nextafter(0.2, 1), 0.2 + 1e-13, 0.2 + 1e-11, 0.2 - 1e-11])
    assert run(model, score)["decision"].tolist() == [0, 0, 0, 1, 0]
    np.testing.assert_array_equal(run(model, score)["decision"], model.decide(score))


def test_small_costs_do_not_all_tie():
    model = deciding(2, cost=[[0, 4e-15], [1e-15, 0]])
    score = np.array([0.1, 0.19, 0.2, 0.21, 0.9])
    assert run(model, score)["decision"].tolist() == model.decide(score).tolist() == [0, 0, 0, 1, 1]


def test_without_costs_the_most_probable_class_and_of_equals_the_first():
    model = deciding(3)
    proba = np.array([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.25, 0.25, 0.5]])
    assert run(model, proba)["decision"].tolist() == model.decide(proba).tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6))
def test_learned_rules(name, seed):
    rng = np.random.default_rng(seed)
    proba, cost = coarse_proba(80, 3, seed), random_costs(3, random_state=seed)
    truth = np.array([rng.choice(3, p=row) for row in proba])
    rule = RULES[name].__class__(**RULES[name].get_params()).fit(proba, truth, cost)
    model = deciding(3, cost=cost, rule=rule)
    query = np.concatenate([proba, rng.dirichlet(np.ones(3), 100), np.eye(3), np.full((1, 3), 1 / 3)])
    np.testing.assert_array_equal(run(model, query)["decision"], model.decide(query))


def test_a_learned_rule_with_decisions_that_are_no_classes():
    proba, rng = coarse_proba(80, 3, 0), np.random.default_rng(0)
    cost = {"ask": {0: 0.4, 1: 0.4, 2: 0.5}, "send": {0: 1, 1: -1, 2: -2}, "keep": {0: 0, 1: 0.6, 2: 0.7}}
    matrix = [list(row.values()) for row in cost.values()]
    truth = np.array([rng.choice(3, p=row) for row in proba])
    rule = ParallelPartitionRule().fit(proba, truth, matrix, allow_any=True)
    model = deciding(3, cost=cost, rule=rule)
    assert {"send", "keep"} <= set(model.decide(proba).tolist())
    np.testing.assert_array_equal(run(model, proba)["decision"], model.decide(proba))


def test_weighted_probabilities_that_differ_in_the_last_bit_are_tied():
    cost, thirds = 1 - np.eye(3), np.full((1, 3), 1 / 3)
    rule = LachicheFlachRule().fit(np.eye(3), [0, 1, 2], cost)
    rule.weights_ = np.array([0.3, 0.1 + 0.2, 0.1])
    model = deciding(3, cost=cost, rule=rule)
    assert run(model, thirds)["decision"].tolist() == model.decide(thirds).tolist() == [0]


def test_a_threshold_hit_exactly():
    proba = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.2, 0.3, 0.5], [0.4, 0.3, 0.3]])
    rule = MossmanRule().fit(proba, [0, 1, 2, 0], [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    model = deciding(3, cost=[[0, 1, 1], [1, 0, 1], [1, 1, 0]], rule=rule)
    first, second = rule.thresholds_
    rest = 1 - first
    at = np.array([first, rest / 2 + second / 2, rest / 2 - second / 2])
    query = np.stack([at, [first + 1e-9, *(at[1:] - 5e-10)], [first - 1e-9, at[1] + 1e-9, at[2]]])
    np.testing.assert_array_equal(run(model, query)["decision"], model.decide(query))


@pytest.mark.parametrize(
    ("labels", "kind", "none"),
    [
        (["no", "yes"], "tensor(string)", ""),
        ([0, 1], "tensor(int64)", NO_INTEGER),
        ([-5, 2**62], "tensor(int64)", NO_INTEGER),
        ([False, True], "tensor(int64)", NO_INTEGER),
        ([0.5, 1.5], "tensor(double)", np.nan),
        (["non", "où ça"], "tensor(string)", ""),
    ],
)
def test_labels_keep_their_type_and_a_row_without_probabilities_has_none(labels, kind, none):
    model = deciding(2, classes=np.array(labels))
    assert session_of(model).get_outputs()[1].type == kind
    decision = run(model, [0.1, 0.9, np.nan])["decision"]
    assert decision[:2].tolist() == labels
    np.testing.assert_array_equal(decision[2], none)


def test_decisions_that_are_no_classes():
    cost = {0: {0: 0, 1: 9}, 1: {0: 5, 1: 0}, "ask a person": {0: 1, 1: 1}}
    model = deciding(2, cost=cost)
    score = np.array([0.01, 0.5, 0.95])
    assert model.decide(score).tolist() == [0, "ask a person", 1]
    assert run(model, score)["decision"].tolist() == ["0", "ask a person", "1"]


@pytest.mark.parametrize(
    "labels",
    [np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), np.array([1, "1"], dtype=object)],
)
def test_labels_that_onnx_cannot_hold(labels):
    model = deciding(2)
    model.classes_ = model.actions_ = labels
    with pytest.raises(OnnxExportError, match="labels must be texts or numbers "):
        run(model, [0.5])


def test_a_rule_of_ones_own():
    class Never(DecisionRule):
        def _fit(self, rows):
            self.matrix_ = rows.cost
            return 0.0, 0.0

        def _decide(self, estimates):
            return np.zeros(len(estimates), dtype=int)

    scores, y = scored_rows(60, 3)
    model = ScoreModel("sigmoid", cost=1 - np.eye(3), rule=Never()).fit(scores, y)
    with pytest.raises(OnnxExportError, match="got a Never, whose decisions are not known; use 'expected'"):
        run(model, scores)
