"""Groups are learned in passes as in memory, and from more rows than are kept."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit, log_softmax, softmax

from calibrant import ScoreModel
from calibrant._core._errors import DataError, ParameterError
from calibrant.calibrators import Grouping, fit_group_effects, group_effects_plan
from calibrant.files import _fit, compare_versions, fit, labelled, update
from calibrant.models import CrossFitForecast, _plan
from calibrant.passes import Fold, Rows, modules_of, read_summary, run_plan, task_from_json

N = 8000


def table(seed=0, n=N, spread=1.2):
    rng = np.random.default_rng(seed)
    region = rng.integers(0, 9, n)
    score = 1.5 * rng.normal(size=n)
    came = rng.random(n) < expit(score + np.linspace(-spread, spread, 9)[region])
    names = np.array([f"region {each}" for each in range(9)], dtype=object)[region]
    names[rng.random(n) < 0.02] = None
    answer = np.where(came, "paid", "default")
    return pa.table(
        {"score": score, "answer": answer.tolist(), "region": names.tolist(), "row": np.arange(n)}
    )


def rows(data, **more):
    return labelled(data, **({"scores": "score", "label": "answer", "by": "region"} | more))


def effects(model):
    order = np.argsort(model.groups_.names)
    return np.column_stack([model.groups_.intercepts, model.groups_.slopes])[order]


def test_in_passes_as_in_memory_but_for_the_folds():
    models = [
        fit(ScoreModel("sigmoid"), rows(table(), batch_rows=700), in_passes=each) for each in (False, True)
    ]
    memory, passes = models
    assert sorted(memory.groups_.names) == sorted(passes.groups_.names) == [f"region {n}" for n in range(9)]
    # Rows are dealt into folds by their numbers here, and evenly by class there.
    np.testing.assert_allclose(effects(passes), effects(memory), atol=0.02)
    assert memory.groups_.column == passes.groups_.column == "region"
    assert passes.summary_.metrics.log_loss == pytest.approx(memory.summary_.metrics.log_loss, rel=0.002)
    common = fit(ScoreModel("sigmoid"), rows(table(), by=None), in_passes=True)
    assert passes.summary_.metrics.log_loss.high < common.summary_.metrics.log_loss.low


def test_however_rows_are_cut_and_in_whatever_order_they_come(monkeypatch):
    monkeypatch.setattr(_plan, "MANY_SCORES", 1000)
    monkeypatch.setattr(_plan, "MOST_HELD_OUT", 500)
    found = []
    for order, batch_rows in ((slice(None), None), (slice(None), 311), (slice(None, None, -1), 900)):
        turned = table().take(np.arange(N)[order])
        found.append(
            fit(ScoreModel("sigmoid"), rows(turned, key="row", batch_rows=batch_rows), in_passes=True)
        )
    for each in found[1:]:
        np.testing.assert_allclose(effects(each), effects(found[0]), atol=1e-9)


def test_more_rows_than_are_kept_teach_more(monkeypatch):
    """One fold of 500 rows is kept, and all others but four are asked."""
    true = np.linspace(-1.2, 1.2, 9)
    errors = {}
    for asks in (False, True):
        with monkeypatch.context() as patched:
            patched.setattr(_plan, "MANY_SCORES", 1000)
            patched.setattr(_plan, "MOST_HELD_OUT", 500)
            if not asks:
                patched.setattr(Fold, "leaves_more_out", False)
            found = [
                effects(fit(ScoreModel("sigmoid"), rows(table(seed)), in_passes=True)) for seed in range(5)
            ]
        levels = np.array([each[:, 1] - each[:, 0] for each in found])
        errors[asks] = np.sqrt(np.mean((levels - levels.mean(axis=1, keepdims=True) - true) ** 2))
    assert errors[True] < 0.6 * errors[False]


def test_in_memory_the_same_plan_asks_the_same(monkeypatch):
    monkeypatch.setattr(_plan, "MANY_SCORES", 1000)
    monkeypatch.setattr(_plan, "MOST_HELD_OUT", 500)
    data = table(n=20_000)
    memory, passes = (fit(ScoreModel("sigmoid"), rows(data), in_passes=each) for each in (False, True))
    np.testing.assert_allclose(effects(memory), effects(passes), atol=0.15)  # learned from different rows
    assert memory.summary_.n_folds == 1
    common = fit(ScoreModel("sigmoid"), rows(data, by=None), in_passes=False)
    # of the same 500 rows, by corrections that were not fitted to them
    assert float(memory.summary_.metrics.log_loss) < float(common.summary_.metrics.log_loss) - 0.03


class Given:
    """Rows whose scores are probabilities already."""

    def rows(self, rows):
        return rows


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_plan_finds_the_modes_of_all_rows(k):
    """Started from a part of the rows, it ends where Newton's method in memory ends, which sees all."""
    rng = np.random.default_rng(k)
    n, n_groups = 6000, 12
    logs = log_softmax(2 * rng.normal(size=(n, k)), axis=1)
    number = rng.integers(-1, n_groups, n)
    moved = np.vstack([0.6 * rng.normal(size=(n_groups, k)), np.zeros(k)])
    truth = softmax(logs + moved[number], axis=1)
    y = (truth.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    weight = rng.integers(1, 4, n).astype(float)
    proba, names = np.exp(logs), tuple(f"g{each}" for each in range(n_groups))
    fold = Fold(0, 1)  # all rows are left out
    whole, _ = fit_group_effects(proba, y, weight, Grouping(names, number), np.arange(n) % 5)
    some = slice(0, 600)
    part, _ = fit_group_effects(
        proba[some], y[some], weight[some], Grouping(names, number[some]), np.arange(600) % 5
    )
    start = type(part)(names, part.intercepts, part.slopes, whole.spreads)
    scores = proba[:, 1] if k == 2 else proba
    batches = [slice(0, 1000), slice(1000, 4321), slice(4321, n)]
    found = run_plan(
        group_effects_plan(start, fold, Given()),
        lambda: [Rows(scores[each], y[each], weight[each], group=number[each]) for each in batches],
    )
    np.testing.assert_allclose(found.intercepts, whole.intercepts, atol=2e-3)
    np.testing.assert_allclose(found.slopes, whole.slopes, atol=2e-3)


def test_the_sums_of_a_pass_travel_and_merge():
    data = fit(ScoreModel("sigmoid"), rows(table()))
    forecast = CrossFitForecast.of([data.calibrator_])
    plan = group_effects_plan(data.groups_, Fold(0, 3, 1), forecast)
    task = task_from_json(next(plan).to_json())
    given = rows(table())
    all_rows = given.read()
    all_rows = _fit._Groups(given).of(all_rows)
    halves = [all_rows.take(np.arange(N) % 2 == each) for each in (0, 1)]
    summaries = [task.empty() for _ in range(3)]
    for summary, part in zip(summaries, (*halves, all_rows), strict=True):
        summary.update(part)
    merged = read_summary(summaries[0].to_bytes()).merge(read_summary(summaries[1].to_bytes()))
    np.testing.assert_allclose(merged.sums, summaries[2].sums, rtol=1e-9, atol=1e-9)
    assert (summaries[2].sums != 0).any()


def test_a_task_names_the_modules_of_the_methods_that_it_carries():
    """An executor imports what the driver names, and nothing that a document says."""
    model = fit(ScoreModel("sigmoid"), rows(table()))
    forecast = CrossFitForecast.of([model.calibrator_])
    homes = {type(model.calibrator_).__module__, type(model.calibrator_.map_).__module__}
    assert set(forecast.homes) == homes
    task = next(group_effects_plan(model.groups_, Fold(0, 1), forecast))
    assert homes <= modules_of(task)
    assert task_from_json(task.to_json()).forecast.homes == forecast.homes


def test_a_model_with_groups_is_updated_in_passes():
    old = fit(ScoreModel("sigmoid"), rows(table()))
    found = update(old, rows(table(1)), in_passes=True)
    in_memory = update(old, rows(table(1)), in_passes=False)
    for ours, theirs in zip(found.comparison.measures, in_memory.comparison.measures, strict=True):
        assert ours.old == pytest.approx(theirs.old, rel=1e-9)
        assert ours.new == pytest.approx(theirs.new, rel=0.01)
    compared = compare_versions(old, found.model, table(2), label="answer")
    assert abs(compared.measures[0].difference) < 0.01


def test_what_is_refused(monkeypatch):
    none = table().set_column(2, "region", pa.nulls(N, pa.string()))
    for in_passes in (False, True):
        with pytest.raises(DataError, match="the column 'region' of .* must name a group; got none"):
            fit(ScoreModel("sigmoid"), rows(none), in_passes=in_passes)
        with pytest.raises(ParameterError, match="model must be a ScoreModel to learn what sets the groups"):
            fit("sigmoid", rows(table()), in_passes=in_passes)
    monkeypatch.setattr(_fit, "MOST_GROUPS", 8)
    with pytest.raises(DataError, match="the column 'region' of .* must have at most 8 groups for a fit"):
        fit(ScoreModel("sigmoid"), rows(table()), in_passes=True)


def test_rows_of_weight_zero_are_absent_with_their_groups():
    data = table(n=3000)
    score, answer = data["score"].to_numpy(), np.array(data["answer"].to_pylist())
    region = np.array(data["region"].to_pylist(), dtype=object)
    weight = (np.arange(3000) % 3 > 0).astype(float)
    there = weight > 0
    ours = ScoreModel("sigmoid").fit(score, answer, weight, by=region)
    theirs = ScoreModel("sigmoid").fit(score[there], answer[there], by=region[there])
    np.testing.assert_allclose(effects(ours), effects(theirs), atol=1e-6)
