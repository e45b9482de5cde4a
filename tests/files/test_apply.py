import numpy as np
import pyarrow as pa
import pytest

from calibrant import OneVsAllCalibrator, PAVCalibrator, SigmoidCalibrator
from calibrant._core._errors import DataError, ParameterError
from calibrant.decisions import ExpectedCostRule
from calibrant.files import apply, fit, labelled
from calibrant.models import ScoreModel, load, save

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(300, 3))
Y = RNG.integers(0, 3, 300)


def table_of(scores):
    return pa.table({f"s{i}": column for i, column in enumerate(scores.T)} | {"id": np.arange(len(scores))})


@pytest.mark.parametrize("batch_rows", [1, 77, 1000])
def test_batches_are_the_whole(batch_rows):
    model = OneVsAllCalibrator().fit(SCORES, Y)
    batches = apply(model, table_of(SCORES), scores=["s0", "s1", "s2"], keep=["id"], batch_rows=batch_rows)
    table = pa.Table.from_batches(batches)
    assert table.column_names == ["id", "p_0", "p_1", "p_2"]
    assert table["id"].to_pylist() == list(range(300))
    proba = np.stack([table[f"p_{k}"].to_numpy() for k in range(3)], axis=1)
    np.testing.assert_array_equal(proba, model.predict_proba(SCORES))


def test_decisions_of_a_model():
    cost = {"keep": {"ham": 0, "spam": 1}, "drop": {"ham": 20, "spam": 0}}
    model = ScoreModel("sigmoid", cost=cost).fit(SCORES[:, 0], np.where(Y > 0, "spam", "ham"))
    table = pa.Table.from_batches(
        apply(model, table_of(SCORES), scores="s0", decide=True, keep=[], prefix="")
    )
    assert table.column_names == ["ham", "spam", "decision"]
    assert table["decision"].to_pylist() == model.decide(SCORES[:, 0]).tolist()


@pytest.mark.parametrize("top", [None, 2])
def test_a_model_is_given_or_the_file_that_holds_it(tmp_path, top):
    model, file = ScoreModel("sigmoid").fit(SCORES[:, 0], Y > 0), tmp_path / "m.json"
    save(model, file)
    given = {"scores": "s0", "top": top, "decide": True}
    assert apply(file, table_of(SCORES), **given).table() == apply(model, table_of(SCORES), **given).table()
    save(SigmoidCalibrator().fit(SCORES[:, 0], Y > 0), file)
    assert apply(file, table_of(SCORES), scores="s0").table().column_names[-2:] == ["p_false", "p_true"]
    save(ExpectedCostRule().fit([[0.2, 0.8]], [1], [[0, 1], [1, 0]]), file)
    with pytest.raises(DataError, match=r"m.json must hold a model that turns scores .* holds a Expected"):
        apply(file, table_of(SCORES))


def test_bad_rows_are_refused_left_out_or_kept_without_probabilities():
    model = PAVCalibrator().fit(SCORES[:, 0], Y > 0)
    table = pa.table({"s": [0.1, None, np.nan, 0.4], "id": [1, 2, 3, 4]})
    how = {"scores": "s", "keep": ["id"], "prefix": "p_"}
    with pytest.raises(
        DataError, match="the column 's' of .* must hold finite numbers; got an empty cell in row 2"
    ):
        list(apply(model, table, **how))
    [left] = apply(model, table, handle_invalid="skip", **how)
    assert left["id"].to_pylist() == [1, 4]
    [kept] = apply(model, table, handle_invalid="keep", **how)
    assert kept["id"].to_pylist() == [1, 2, 3, 4]
    assert [value is None for value in kept["p_true"].to_pylist()] == [False, True, True, False]
    np.testing.assert_array_equal(
        kept["p_true"].drop_null().to_numpy(), model.predict_proba([0.1, 0.4])[:, 1]
    )


def test_wrong_options_and_columns():
    model = SigmoidCalibrator().fit(SCORES[:, 0], Y > 0)
    with pytest.raises(ParameterError, match="handle_invalid must be one of 'error', 'skip', 'keep'"):
        list(apply(model, table_of(SCORES), scores="s0", handle_invalid="drop"))
    with pytest.raises(DataError, match="must have a column 'x'"):
        list(apply(model, table_of(SCORES), scores="x"))


def test_groups_of_a_column(tmp_path):
    rng = np.random.default_rng(3)
    region, scores = rng.integers(0, 6, 2000), rng.normal(size=2000)
    y = rng.random(2000) < 1 / (1 + np.exp(-scores - np.linspace(-1, 1, 6)[region]))
    regions = [None if each == 5 else f"r{each}" for each in region]
    table = pa.table({"s": scores, "y": np.where(y, "yes", "no"), "region": regions, "id": np.arange(2000)})
    rows = labelled(table, scores="s", label="y", by="region")
    model = fit(ScoreModel("sigmoid"), rows)
    expected = ScoreModel("sigmoid").fit(scores, np.where(y, "yes", "no"), by=np.array(regions, dtype=object))
    np.testing.assert_allclose(model.groups_.spreads, expected.groups_.spreads)
    assert model.groups_.column == "region"
    save(model, tmp_path / "m.json")
    found = apply(load(tmp_path / "m.json"), table, keep="id", batch_rows=333).table()
    np.testing.assert_allclose(
        found["p_yes"].to_numpy(), expected.predict_proba(scores, by=np.array(regions, dtype=object))[:, 1]
    )
    with pytest.raises(DataError, match="region"):
        apply(model, table.drop_columns(["region"])).table()
    with pytest.raises(ParameterError, match="model must be a ScoreModel to learn what sets the groups"):
        fit("sigmoid", rows)
