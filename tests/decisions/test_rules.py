"""Laws and border checks that hold for every rule, and the rules by name."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import (
    check_estimator_cloneable,
    check_estimator_repr,
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
)

from calibrant import CalibrantError
from calibrant.decisions import (
    DecisionRule,
    ExpectedCostRule,
    LachicheFlachRule,
    MossmanRule,
    ParallelPartitionRule,
    decide,
    new_rule,
    random_costs,
    realised_cost,
)

RULES = [
    ExpectedCostRule(),
    ParallelPartitionRule(),
    ParallelPartitionRule("paper"),
    ParallelPartitionRule(family="row_mul"),
    ParallelPartitionRule(family="col_mul", passes=2),
    ParallelPartitionRule(family="free", restarts=1, random_state=0),
    LachicheFlachRule(),
    LachicheFlachRule("incremental", passes=2),
    MossmanRule(),
]
every = pytest.mark.parametrize("rule", RULES, ids=repr)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(3), size=60), rng.integers(3, size=60), random_costs(3, random_state=0)


@every
def test_decisions_are_class_numbers_and_their_cost_is_known(rule, data):
    proba, y, cost = data
    fitted = clone(rule).fit(proba, y, cost)
    decisions = fitted.decide(proba)
    assert decisions.dtype == np.intp
    assert set(decisions) <= {0, 1, 2}
    np.testing.assert_allclose(fitted.cost_after_, realised_cost(y, decisions, cost).total)
    assert fitted.matrix_.shape == (3, 3)
    assert fitted.decide(np.empty((0, 3))).shape == (0,)


@every
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_weight_is_a_number_of_copies(rule, seed):
    rng = np.random.default_rng(seed)
    proba, y, cost = rng.dirichlet(np.ones(3), size=15), rng.integers(3, size=15), random_costs(3, rng)
    weights = rng.integers(0, 4, size=15)
    weights[0] = 1
    weighted = clone(rule).fit(proba, y, cost, weights)
    copied = clone(rule).fit(np.repeat(proba, weights, axis=0), np.repeat(y, weights), cost)
    np.testing.assert_allclose(weighted.matrix_, copied.matrix_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(weighted.cost_after_, copied.cost_after_)
    np.testing.assert_allclose(weighted.cost_before_, copied.cost_before_)


@every
def test_the_order_of_the_rows_does_not_matter(rule, data):
    proba, y, cost = data
    order = np.random.default_rng(1).permutation(len(y))
    here, there = clone(rule).fit(proba, y, cost), clone(rule).fit(proba[order], y[order], cost)
    np.testing.assert_allclose(here.matrix_, there.matrix_, atol=1e-9)


@every
def test_single_precision_frames_and_lists(rule, data):
    proba, y, cost = data
    single = proba.astype(np.float32)
    wanted = clone(rule).fit(single.astype(float), y, cost)
    for wrap in (np.asarray, pd.DataFrame, pl.DataFrame):
        fitted = clone(rule).fit(wrap(single), y.tolist(), cost.tolist())
        np.testing.assert_allclose(fitted.matrix_, wanted.matrix_)
        np.testing.assert_array_equal(fitted.decide(wrap(single)), wanted.decide(single.astype(float)))


@every
def test_labels_in_sorted_order(rule, data):
    proba, y, cost = data
    named = clone(rule).fit(proba, np.array(["low", "mid", "top"])[y], cost)
    np.testing.assert_array_equal(named.matrix_, clone(rule).fit(proba, y, cost).matrix_)


@every
@pytest.mark.parametrize("present", [[0, 0, 0], [1, 1, 1], [0, 2, 0]], ids=str)
def test_absent_classes_keep_their_place(rule, data, present):
    proba, _, cost = data
    fitted = clone(rule).fit(proba[:3], present, cost)
    assert fitted.matrix_.shape == (3, 3)
    assert set(fitted.decide(proba)) <= {0, 1, 2}


@pytest.mark.parametrize("rule", [each for each in RULES if not isinstance(each, MossmanRule)], ids=repr)
def test_one_class_is_always_decided(rule):
    fitted = clone(rule).fit([[1.0], [1.0]], [0, 0], [[0.0]])
    assert fitted.decide([[1.0]]).tolist() == [0]


@every
def test_input_is_not_changed_and_may_be_read_only(rule, data):
    before = [column.copy() for column in data]
    for column in data:
        column.setflags(write=False)
    clone(rule).fit(*data).decide(data[0])
    for column, was in zip(data, before, strict=True):
        np.testing.assert_array_equal(column, was)


@every
def test_what_is_learned_is_plain_numbers(rule, data):
    """Few attributes, all of them numbers or arrays, from which a copy decides the same."""
    fitted = clone(rule).fit(*data)
    learned = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    text = json.dumps({name: np.asarray(value).tolist() for name, value in learned.items()})
    copy = clone(rule)
    for name, value in json.loads(text).items():
        setattr(copy, name, np.array(value) if isinstance(value, list) else value)
    np.testing.assert_array_equal(copy.decide(data[0]), fitted.decide(data[0]))
    assert len(learned) <= 6


@every
def test_scikit_learn_can_handle_its_parameters(rule):
    name = type(rule).__name__
    for check in (
        check_estimator_cloneable,
        check_estimator_repr,
        check_get_params_invariance,
        check_no_attributes_set_in_init,
        check_parameters_default_constructible,
        check_set_params,
    ):
        check(name, clone(rule))


@every
def test_it_must_be_fitted_first(rule):
    name = type(rule).__name__
    with pytest.raises(CalibrantError, match=f"this {name} must be fitted before it is used") as error:
        clone(rule).decide([[0.2, 0.3, 0.5]])
    assert isinstance(error.value, NotFittedError)


GOOD = np.full((3, 3), 1 / 3)
COST = 1 - np.eye(3)
BAD_FITS = {
    "sum": (GOOD * 1.5, [0, 1, 2], COST, None, r"row 0 sums to 1.5, 0.5 too much \(and 2 more rows"),
    "no rows": (np.empty((0, 3)), [], COST, None, "proba must have at least one row; got none"),
    "lengths": (GOOD, [0, 1], COST, None, "proba and labels must have the same number of rows; got 3 and 2"),
    "label": (GOOD, [0, 1, 3], COST, None, "labels must be column numbers from 0 to 2; got 3"),
    "names": (GOOD, ["a", "b", "b"], COST, None, "labels must have one value per column, 3 in all; got 2"),
    "shape": (GOOD, [0, 1, 2], [[0, 1], [1, 0]], None, r"got shape \(2, 2\); cost\[i, j\]"),
    "per row": (GOOD, [0, 1, 2], np.ones((3, 3, 3)), None, r"got shape \(3, 3, 3\)"),
    "nan cost": (GOOD, [0, 1, 2], COST * np.nan, None, r"cost must be finite; got nan at cost\[0, 0\]"),
    "unreasonable": (
        GOOD,
        [0, 1, 2],
        np.eye(3),
        None,
        r"got cost\[0, 0\] = 1 and cost\[1, 0\] = 0; .*decide without a learned rule",
    ),
    "weights": (GOOD, [0, 1, 2], COST, [1, -1, 1], "sample_weight must not be negative; got -1.0 in row 1"),
    "zero weights": (GOOD, [0, 1, 2], COST, [0, 0, 0], "sample_weight must not be all zero"),
    "few weights": (GOOD, [0, 1, 2], COST, [1], r"one weight per row, 3 in all; got shape \(1,\)"),
}


@every
@pytest.mark.parametrize("case", BAD_FITS.values(), ids=BAD_FITS)
def test_bad_rows_are_refused_with_a_reason(rule, case):
    *arguments, message = case
    model = clone(rule)
    with pytest.raises(CalibrantError, match=message):
        model.fit(*arguments)
    with pytest.raises(NotFittedError):
        model.decide(GOOD)


@every
def test_other_decisions_than_the_classes_are_for_those_that_take_them(rule, data):
    proba, y, cost = data
    more, model = [*cost, np.full(3, 0.4)], clone(rule)
    if rule.any_decisions:
        assert 3 in model.fit(proba, y, more).decide(proba)
    else:
        with pytest.raises(CalibrantError, match=r"shape \(3, 3\); got shape \(4, 3\)"):
            model.fit(proba, y, more)


@every
def test_other_columns_are_refused_after_fit(rule, data):
    with pytest.raises(CalibrantError, match="one column per class, 3 in all; got 2 columns"):
        clone(rule).fit(*data).decide([[0.5, 0.5]])


def test_the_plain_rule_is_decide(data):
    proba, y, cost = data
    rule = ExpectedCostRule().fit(proba, y, cost)
    np.testing.assert_array_equal(rule.decide(proba), decide(proba, cost))
    assert rule.cost_before_ == rule.cost_after_


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("expected", ExpectedCostRule),
        ("parallel", ParallelPartitionRule),
        ("lachiche_flach", LachicheFlachRule),
        ("mossman", MossmanRule),
    ],
)
def test_rules_by_name(name, kind):
    assert type(new_rule(name)) is kind
    assert isinstance(new_rule(name), DecisionRule)


def test_a_rule_that_is_passed_is_copied():
    rule = ParallelPartitionRule(passes=3)
    assert new_rule(rule) is not rule
    assert new_rule(rule).passes == 3


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("roc", "rule must be one of 'expected', 'parallel', .*or an object; got 'roc'"),
        (ParallelPartitionRule, "rule must be a name or an object with fit"),
        (None, "rule must be a name or an object .*got None"),
    ],
)
def test_other_rules_are_refused(rule, message):
    with pytest.raises(CalibrantError, match=message):
        new_rule(rule)


@every
def test_a_fit_that_fails_leaves_the_one_before(rule, data):
    proba, y, cost = data
    fitted = clone(rule).fit(pd.DataFrame(proba).add_prefix("p_"), y, cost)
    kept = pickle.dumps(fitted)
    with pytest.raises(CalibrantError):
        fitted.fit(pd.DataFrame(proba).add_prefix("q_"), y, np.full((3, 3), 1e308) * (1 - np.eye(3)))
    assert pickle.dumps(fitted) == kept
