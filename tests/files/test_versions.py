"""`compare_versions` gives the paired differences of the library, in one pass, and a sentence."""

import numpy as np
import pyarrow as pa
import pytest

from calibrant import BinningCalibrator, ScoreModel, SigmoidCalibrator, VectorCalibrator, save
from calibrant._core._errors import DataError
from calibrant.decisions import decide
from calibrant.files import compare_versions
from calibrant.metrics import evaluate, evaluate_difference, paired_difference

COST = "decision,no,yes\nno,0,5\nyes,1,0\n"


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3, 3000))
    y = np.where(rng.random((3, 3000)) < 1 / (1 + np.exp(-2 * scores)), "yes", "no")
    return scores, y


@pytest.fixture(scope="module")
def models(rows):
    scores, y = rows
    return BinningCalibrator(n_bins=3).fit(scores[0], y[0]), SigmoidCalibrator().fit(scores[1], y[1])


@pytest.fixture(scope="module")
def table(rows):
    scores, y = rows
    weights = np.tile([1.0, 2.0, 0.0], 1000)
    return pa.table({"score": scores[2], "y": y[2], "w": weights})


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("batch_rows", [None, 700])
def test_the_differences_are_those_of_the_library(rows, models, table, tmp_path, weight, batch_rows):
    scores, y = rows
    costs = tmp_path / "costs.csv"
    costs.write_text(COST)
    found = compare_versions(
        *models, table, label="y", weight=weight, costs=str(costs), batch_rows=batch_rows
    )
    w = None if weight is None else table["w"].to_numpy()
    old, new = (each.predict_proba(scores[2]) for each in models)
    expected = evaluate_difference(y[2], new, old, sample_weight=w, classes=["no", "yes"])
    matrix = np.array([[0, 5], [1, 0]])
    truth = (y[2] == "yes").astype(int)
    paid = [matrix[decide(each, matrix), truth].astype(float) for each in (new, old)]
    by_name = {each.name: each for each in found.measures}
    for name, difference in (
        ("log_loss", expected.log_loss),
        ("brier_score", expected.brier_score),
        ("error_rate", expected.error_rate),
        ("cost", paired_difference(*paid, sample_weight=w)),
    ):
        there = by_name[name].difference
        assert (there, there.low, there.high) == pytest.approx((difference, difference.low, difference.high))
    measured = evaluate(y[2], old, sample_weight=w, classes=["no", "yes"])
    assert by_name["log_loss"].old == pytest.approx(measured.log_loss)
    assert by_name["brier_score"].old == pytest.approx(measured.brier_score)
    assert found.n_rows == (3000 if weight is None else 2000)
    assert found.choice == "new"
    assert found.conclusion.startswith("Take the new model: it is better in log loss (-0.")


def test_the_other_way_round_the_old_one_stays_and_alike_is_said(models, table, tmp_path):
    old, new = models
    back = compare_versions(new, old, table, label="y")
    assert back.choice == "old"
    assert back.conclusion.startswith("Keep the old model: the new one is worse in log loss (0.")
    same = compare_versions(old, old, table, label="y")
    assert (same.choice, same.conclusion) == ("neither", "These 3,000 rows do not tell them apart.")
    path = tmp_path / "model.json"
    save(new, path)
    assert compare_versions(old, path, table, label="y").choice == "new"


def test_classes_are_matched_by_label():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(600, 3))
    y = np.array(["a", "b", "c"])[(scores + rng.gumbel(size=(600, 3))).argmax(axis=1)]
    names = ["s_a", "s_b", "s_c"]
    old = ScoreModel("sigmoid").fit(scores, y)
    new = ScoreModel(VectorCalibrator(kind="margin"), classes=["c", "a", "b"]).fit(scores[:, [2, 0, 1]], y)
    table = pa.table(dict(zip(names, scores.T, strict=True)) | {"y": y})
    found = compare_versions(old, new, table, label="y", scores="s_*")
    proba = new.predict_proba(scores[:, [2, 0, 1]])[:, [1, 2, 0]]
    expected = evaluate_difference(y, proba, old.predict_proba(scores), classes=["a", "b", "c"])
    assert found.measures[0].difference == pytest.approx(expected.log_loss)


def test_costs_of_the_models_count_if_they_are_the_same(rows, table):
    scores, y = rows
    cost = {"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}}
    with_costs = [ScoreModel(each, cost=cost).fit(scores[0], y[0]) for each in ("sigmoid", "pav")]
    assert [each.name for each in compare_versions(*with_costs, table, label="y").measures][-1] == "cost"
    other = ScoreModel("sigmoid", cost={"no": {"no": 0, "yes": 2}, "yes": {"no": 1, "yes": 0}}).fit(
        scores[0], y[0]
    )
    assert len(compare_versions(with_costs[0], other, table, label="y").measures) == 3


def test_what_cannot_be_compared_is_refused(models, table):
    rng = np.random.default_rng(2)
    other = SigmoidCalibrator().fit(rng.normal(size=50), rng.choice(["no", "maybe"], 50))
    with pytest.raises(
        DataError, match="the class of the old model, 'yes' must be among those of the new model"
    ):
        compare_versions(models[0], other, table, label="y")
    with pytest.raises(DataError, match="must hold a label in every row"):
        compare_versions(*models, pa.table({"score": [1.0], "y": pa.array([None], pa.string())}), label="y")
    with pytest.raises(DataError, match="must have a row that can be used"):
        compare_versions(*models, table.slice(0, 0), label="y")
