"""The evaluation of batches is that of all rows at once, however they are cut and whoever merges."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import metrics
from calibrant._core._errors import DataError, ParameterError
from calibrant.files import Rows, evaluate, labelled
from calibrant.files._evaluate import evaluation_plan
from files.scatter import run_scattered

NAMES = ("log_loss", "brier_score", "calibration", "refinement", "error_rate", "confidence", "auc")


def agree(found, expected):
    for name in NAMES:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-12)
    assert found.n_rows == expected.n_rows
    assert found.certain_mistakes == expected.certain_mistakes
    np.testing.assert_allclose(found.weight, expected.weight)
    for mine, its in zip(found.by_class, expected.by_class, strict=True):
        np.testing.assert_allclose(mine.brier_score, its.brier_score, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(mine.mean_probability, its.mean_probability)


@st.composite
def forecasts(draw, n_columns):
    n = draw(st.integers(1, 150))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k = max(n_columns, 2)
    proba = rng.dirichlet(np.full(k, 0.5), n)
    if draw(st.booleans()):
        proba = np.round(proba * 10) / 10
    weight = rng.choice([0.0, 0.5, 1.0, 2.5], n) if draw(st.booleans()) else None
    if weight is not None and not weight.any():
        weight[0] = 1.0
    truth = rng.integers(0, k, n)
    return Rows(proba[:, 1] if n_columns == 1 else proba, truth, weight)


@pytest.mark.parametrize("n_columns", [1, 2, 4])
@given(data=st.data())
@settings(max_examples=15)
def test_measures_are_those_of_arrays(n_columns, data):
    rows = data.draw(forecasts(n_columns))
    k = max(n_columns, 2)
    plan = evaluation_plan(k)
    found = run_scattered(plan, rows, data.draw(st.integers(0, 99))).result(np.arange(k))
    how = {"sample_weight": rows.weight, "classes": np.arange(k)}
    agree(found, metrics.evaluate(rows.truth, rows.scores, **how))
    np.testing.assert_allclose(found.log_loss, metrics.log_loss(rows.truth, rows.scores, **how))


@pytest.mark.parametrize("in_passes", [True, False])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_groups_are_measured_each_for_itself(in_passes, n_columns):
    rng = np.random.default_rng(0)
    k, n = max(n_columns, 2), 400
    proba = rng.dirichlet(np.ones(k), n)
    label, group = rng.integers(0, k, n), rng.choice(["b", "a", None], n)
    weight = rng.choice([0.0, 1.0, 3.0], n)
    names = ["1"] if n_columns == 1 else [str(number) for number in range(k)]
    shown = proba[:, [1]] if n_columns == 1 else proba
    table = pa.table(
        dict(zip(names, shown.T, strict=True)) | {"label": label, "group": group, "weight": weight}
    )
    rows = labelled(
        table,
        scores=",".join(names),
        label="label",
        weight="weight",
        by="group",
        kind="probability",
        batch_rows=37,
    )
    found = evaluate(rows, in_passes=in_passes)
    agree(found, metrics.evaluate(label, shown, sample_weight=weight, classes=np.arange(k)))
    assert list(found.groups) == ["(none)", "a", "b"]
    for name, each in found.groups.items():
        chosen = group == (None if name == "(none)" else name)
        how = {"sample_weight": weight[chosen], "classes": np.arange(k)}
        agree(each, metrics.evaluate(label[chosen], shown[chosen], **how))


def test_a_file_is_read_once():
    rng = np.random.default_rng(0)
    table = pa.table(
        {"p_yes": rng.random(100_000), "label": np.where(rng.random(100_000) < 0.5, "yes", "no")}
    )
    n_read = []

    def reader():
        n_read.append(0)

        def batches():
            for batch in table.to_batches(max_chunksize=5000):
                n_read[-1] += batch.num_rows
                yield batch

        return pa.RecordBatchReader.from_batches(table.schema, batches())

    rows = labelled(reader, scores="p_*", label="label", kind="probability", batch_rows=5000)
    found = evaluate(rows, in_passes=True)
    assert found.n_rows == 100_000
    # The labels are looked for until both were seen; then everything is read, once.
    assert sum(n_read) <= 130_000


def test_too_many_groups_are_refused_before_anything_is_kept_of_them(monkeypatch):
    rng = np.random.default_rng(0)
    n = 20_000
    table = pa.table({"p": rng.random(n), "label": rng.integers(0, 2, n), "id": np.arange(n)})
    how = {"scores": "p", "label": "label", "by": "id", "kind": "probability", "batch_rows": 5000}
    monkeypatch.setattr(metrics.EvaluationSums, "add", lambda *_, **__: pytest.fail("rows were added"))
    with pytest.raises(
        DataError, match=r"'id' of the table must have at most 1000 groups .* in_passes=False"
    ):
        evaluate(labelled(table, **how), in_passes=True)


def test_certain_mistakes_are_counted():
    rows = [Rows(np.array([0.0, 1.0, 0.5]), np.array([1, 1, 0]))]
    found = evaluate(lambda: rows, classes=["a", "b"])
    assert found.certain_mistakes == 1
    assert found.log_loss == np.inf


def test_scores_that_are_no_probabilities_are_refused():
    rows = [Rows(np.array([0.5, 1.5]), np.array([1, 0]))]
    with pytest.raises(DataError, match=r"scores must lie in \[0, 1\]; got 1.5"):
        evaluate(lambda: rows, classes=[0, 1])


def test_no_rows_and_no_classes_are_refused():
    with pytest.raises(DataError, match="scores must have at least one row; got none"):
        evaluate(list, classes=[0, 1])
    with pytest.raises(ParameterError, match="classes must be given where rows have only the numbers"):
        evaluate(list)
