"""Decisions from probabilities, plain and learned."""

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

from pyspark.errors import SparkRuntimeException
from pyspark.ml.linalg import Vectors

from calibrant._core._errors import DataError, ParameterError
from calibrant.decisions import ParallelPartitionRule, decide
from calibrant.spark import CostDecider, CostRule, CostRuleModel

COSTS = np.array([[0.0, 1.0, 8.0], [2.0, 0.0, 3.0], [1.0, 1.0, 0.0]])


@pytest.fixture(scope="module")
def proba():
    return np.random.default_rng(2).dirichlet(np.ones(3), size=1200)


@pytest.fixture(scope="module")
def frame(spark, proba):
    rng = np.random.default_rng(3)
    label = [int(rng.choice(3, p=row**2 / (row**2).sum())) for row in proba]
    rows = [(Vectors.dense(row), label[number], number) for number, row in enumerate(proba)]
    return spark.createDataFrame(rows, ["probability", "label", "id"]).repartition(3).cache()


def predictions(decided):
    return np.array([row.prediction for row in decided.orderBy("id").collect()])


def test_plain_decisions_are_those_of_the_library(frame, proba):
    decided = CostDecider(cost=COSTS).transform(frame)
    np.testing.assert_array_equal(predictions(decided), decide(proba, COSTS))


def test_decisions_may_have_names_and_be_others_than_the_classes(frame, proba):
    costs = {
        "go": {"x": 0, "y": 1, "z": 8},
        "stop": {"x": 2, "y": 0, "z": 0},
        "ask": {"x": 1, "y": 1, "z": 1},
    }
    decided = CostDecider(cost=costs, classes=["x", "y", "z"]).transform(frame)
    rows = np.array([[0, 1, 8], [2, 0, 0], [1, 1, 1]])
    expected = np.array(["go", "stop", "ask"])[(proba @ rows.T).argmin(axis=1)]
    np.testing.assert_array_equal(predictions(decided), expected)


def test_costs_may_differ_from_row_to_row(spark):
    """Whom to write to: a letter costs 0.68, and brings what the person gives."""
    rng = np.random.default_rng(1)
    chance, amount = rng.beta(1, 8, 300), rng.gamma(2, 8, 300).round(2)
    rows = [
        (Vectors.dense(1 - p, p), float(x), i) for i, (p, x) in enumerate(zip(chance, amount, strict=True))
    ]
    frame = spark.createDataFrame(rows, ["probability", "amount", "id"]).repartition(3)
    cost = {"keep": {"no": 0, "yes": 0}, "send": {"no": 0.68, "yes": "0.68 - amount"}}
    decider = CostDecider(cost=cost, classes=["no", "yes"])
    expected = np.where(chance * amount > 0.68, "send", "keep")
    np.testing.assert_array_equal(predictions(decider.transform(frame)), expected)
    assert decider.getCost() == cost
    none = spark.createDataFrame([([0.5, 0.5], None)], "probability array<double>, amount double")
    with pytest.raises(
        SparkRuntimeException, match=r"'probability, amount' must be finite numbers; got \[0.5"
    ):
        decider.transform(none).collect()
    with pytest.raises(DataError, match="the frame must have a column 'amount'; it has probability, label"):
        decider.transform(spark.createDataFrame([(Vectors.dense(0.5, 0.5), 1)], ["probability", "label"]))
    with pytest.raises(DataError, match="got 'a lot' for deciding 'send' when the truth is 'yes'"):
        CostDecider(cost={"send": {"no": 1, "yes": "a lot"}}, classes=["no", "yes"]).transform(frame)


def test_a_learned_rule_may_take_other_decisions(frame, proba, tmp_path):
    costs = {"go": {0: 0, 1: 1, 2: 8}, "stop": {0: 2, 1: 0, 2: 0}, "ask": {0: 0.5, 1: 0.5, 2: 0.5}}
    model = CostRule(cost=costs).fit(frame)
    assert model.actions == ["go", "stop", "ask"]
    decided = np.array(model.actions)[model.rule.decide(proba)]
    np.testing.assert_array_equal(predictions(model.transform(frame)), decided)
    model.write().overwrite().save(str(tmp_path / "rule"))
    again = CostRuleModel.load(str(tmp_path / "rule"))
    np.testing.assert_array_equal(predictions(again.transform(frame)), decided)


def test_a_learned_rule_is_that_of_the_library(frame, proba):
    model = CostRule(cost=COSTS, rule="parallel").fit(frame)
    rows = frame.orderBy("id").collect()
    rule = ParallelPartitionRule().fit(proba, np.array([row.label for row in rows]), COSTS)
    assert model.rule.cost_after_ == pytest.approx(rule.cost_after_, rel=1e-12)
    assert model.rule.cost_after_ < model.rule.cost_before_
    np.testing.assert_array_equal(predictions(model.transform(frame)), model.rule.decide(proba))
    assert model.classes == [0, 1, 2]


def test_a_rule_is_learned_from_a_sample_of_many_rows(frame):
    calibrated = CostRule(cost=COSTS, maxRows=300, seed=4)
    first, second = calibrated.fit(frame).rule, calibrated.fit(frame).rule
    np.testing.assert_array_equal(first.matrix_, second.matrix_)
    assert first.cost_before_ != CostRule(cost=COSTS).fit(frame).rule.cost_before_


def test_rows_without_probabilities(spark):
    rows = [(Vectors.dense(0.9, 0.1),), (None,), (Vectors.dense(0.2, 0.8),)]
    frame = spark.createDataFrame(rows, ["probability"]).coalesce(1)
    decider = CostDecider(cost=[[0, 1], [1, 0]], handleInvalid="keep")
    assert [row.prediction for row in decider.transform(frame).collect()] == [0.0, None, 1.0]
    skipped = decider.setHandleInvalid("skip").transform(frame)
    assert [row.prediction for row in skipped.collect()] == [0.0, 1.0]
    with pytest.raises(
        SparkRuntimeException, match=r"the scores in 'probability' must be finite numbers; got \[nan, nan\]"
    ):
        decider.setHandleInvalid("error").transform(frame).collect()


def test_wrong_input(spark, frame):
    with pytest.raises(ParameterError, match="cost must be given to decide by; got none"):
        CostDecider().transform(frame)
    with pytest.raises(ParameterError, match="cost must be given to learn a rule; got none"):
        CostRule().fit(frame)
    with pytest.raises(DataError, match=r"cost"):
        CostDecider(cost=[[0, 1], [1, 0]]).transform(frame)
    with pytest.raises(DataError, match=r"a column 'p'; it has probability, label, id"):
        CostDecider(cost=COSTS, probabilityCol="p").transform(frame)
    numbers = spark.createDataFrame([(0.5,)], ["probability"])
    with pytest.raises(DataError, match=r"must hold vectors or arrays of probabilities; it holds numbers"):
        CostDecider(cost=[[0, 1], [1, 0]]).transform(numbers)
    wrong = spark.createDataFrame([([0.5, 0.9],)], ["probability"])
    with pytest.raises(
        SparkRuntimeException, match=r"every row of proba must sum to 1; row 0 sums to 1\.4.* 'probability'"
    ):
        CostDecider(cost=[[0, 1], [1, 0]]).transform(wrong).collect()
    none = spark.createDataFrame([(None,)], "probability array<double>")
    with pytest.raises(
        DataError, match=r"'probability' must hold probabilities; it has none; give the classes"
    ):
        CostDecider(cost=[[0, 1], [1, 0]]).transform(none)
    with pytest.raises(
        ParameterError, match=r"rule must be None, 'expected' or 'parallel' where there are other decisions"
    ):
        CostRule(cost=[[0, 1, 2], [1, 0, 2], [2, 2, 0], [1, 1, 1]], rule="mossman").fit(frame)
