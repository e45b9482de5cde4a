"""One evaluation: the same as every single function says, whatever the rows are cut into."""

import itertools
import json
import math
import pickle
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from calibrant._core._errors import DataError, ParameterError
from calibrant.metrics import (
    Estimate,
    EvaluationSums,
    ReliabilityBins,
    auc,
    brier_decomposition,
    brier_score,
    error_rate,
    evaluate,
    expected_calibration_error,
    log_loss,
    reliability_bins,
    reliability_by_class,
)


def rows_of(n, k, seed=0, *, digits=None, sharp=1.0):
    """Probabilities and truths; with few digits many probabilities are equal."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, k)) * 1.5
    proba = np.exp(logits)
    proba /= proba.sum(axis=1, keepdims=True)
    truth = (rng.random(n)[:, None] > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    truth[:k] = np.arange(k)
    said = proba**sharp
    said /= said.sum(axis=1, keepdims=True)
    if digits is not None:
        said = said.round(digits)
    return truth, said


def leaves(value, path=""):
    """All numbers of an evaluation, intervals included, under their names."""
    if isinstance(value, Estimate):
        yield path, float(value)
        yield from ((f"{path}.{name}", getattr(value, name)) for name in ("low", "high"))
    elif is_dataclass(value):
        for each in fields(value):
            yield from leaves(getattr(value, each.name), f"{path}.{each.name}")
    elif isinstance(value, tuple | np.ndarray):
        for number, each in enumerate(value):
            yield from leaves(each, f"{path}[{number}]")
    elif isinstance(value, int | float | np.number):
        yield path, float(value)


def assert_same(one, other, rtol=1e-9, atol=1e-12, but=()):
    first, second = dict(leaves(one)), dict(leaves(other))
    assert first.keys() == second.keys()
    for name, number in first.items():
        if not name.endswith(but):
            assert number == pytest.approx(second[name], rel=rtol, abs=atol, nan_ok=True), name


CASES = {
    "two classes": lambda: rows_of(400, 2),
    "two classes, few probabilities": lambda: rows_of(400, 2, digits=1),
    "five classes": lambda: rows_of(500, 5, sharp=1.5),
    "five classes, few probabilities": lambda: rows_of(500, 5, digits=1),
}
WEIGHTS = {
    "none": lambda n: None,
    "whole": lambda n: np.random.default_rng(1).integers(0, 4, n),
    "any": lambda n: np.random.default_rng(2).exponential(size=n),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("case", CASES)
def test_every_measure_is_what_the_single_function_says(case, weights):
    y, proba = CASES[case]()
    w = WEIGHTS[weights](len(y))
    found = evaluate(y, proba, sample_weight=w)
    two = proba.shape[1] == 2
    how = {"sample_weight": w}
    shown = proba[:, 1] if two else proba
    split = brier_decomposition(y, shown, isotonic=True, mode="classwise", **how)
    convention = "positive" if two else "sum"
    expected = {
        "log_loss": log_loss(y, proba, **how),
        "brier_score": brier_score(y, proba, convention=convention, **how),
        "calibration": split.calibration,
        "refinement": split.refinement,
        "uncertainty": split.uncertainty,
        "error_rate": error_rate(y, proba, **how),
        "confidence": np.average(proba.max(axis=1), weights=w),
        "expected_calibration_error": expected_calibration_error(y, proba, **how),
    }
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-12), name
    for name, mode, bins in (
        (f"{mode}_{bins}", mode, bins)
        for mode, bins in itertools.product(("top_label", "classwise"), ("width", "frequency"))
    ):
        value = expected_calibration_error(y, shown, mode=mode, bins=bins, **how)
        assert getattr(found.calibration_errors, name) == pytest.approx(value, rel=1e-9), name
    corrected = expected_calibration_error(y, proba, corrected=True, **how)
    assert found.calibration_errors.corrected == pytest.approx(corrected, rel=1e-9)
    areas = [auc(y == c, proba[:, c], **how) for c in range(proba.shape[1])]
    assert found.auc == pytest.approx(areas[1] if two else np.mean(areas), rel=1e-12)
    assert found.n_rows == (len(y) if w is None else np.count_nonzero(w))
    for each, column in zip(found.by_class, proba.T, strict=True):
        is_it = y == each.label
        assert each.share == pytest.approx(np.average(is_it, weights=w))
        assert each.mean_probability == pytest.approx(np.average(column, weights=w))
        assert each.brier_score == pytest.approx(np.average((column - is_it) ** 2, weights=w))
        if not two:
            own = brier_decomposition(is_it, column, isotonic=True, **how)
            assert each.calibration == pytest.approx(own.calibration, rel=1e-12)
            assert each.refinement == pytest.approx(own.refinement, rel=1e-12)
    for drawn, own in zip(found.reliability, reliability_by_class(y, proba, **how), strict=True):
        for name in ReliabilityBins.__dataclass_fields__:
            np.testing.assert_allclose(getattr(drawn, name), getattr(own, name), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("case", CASES)
def test_an_estimate_lies_in_its_interval(case, weights):
    y, proba = CASES[case]()
    found = dict(leaves(evaluate(y, proba, sample_weight=WEIGHTS[weights](len(y)))))
    for name in (name for name in found if f"{name}.low" in found):
        assert found[f"{name}.low"] <= found[name] <= found[f"{name}.high"], name


def sums_of(y, proba, w=None, **how):
    return EvaluationSums(proba.shape[1], proba.shape[1], **how)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("cuts", [[7], [100, 150, 151, 399], [1, 2, 3]])
def test_split_and_merge_is_the_whole(case, weights, cuts):
    y, proba = CASES[case]()
    w = WEIGHTS[weights](len(y))
    w = None if w is None else w.astype(float)
    keys = np.arange(len(y), dtype=np.uint64)
    whole = sums_of(y, proba).add(y, proba, w, keys=keys).result()
    parts = [
        sums_of(y, proba).add(y[rows], proba[rows], None if w is None else w[rows], keys=keys[rows])
        for rows in np.split(np.arange(len(y)), cuts)
    ]
    merged = sums_of(y, proba)
    for part in reversed(parts):
        merged.merge(part)
    assert_same(merged.result(), whole)
    travelled = sums_of(y, proba)
    tables = [part.columns() for part in parts]
    table = {name: np.concatenate([each[name] for each in tables]) for name in tables[0]}
    order = np.random.default_rng(0).permutation(len(table["kind"]))
    travelled.absorb({name: each[order] for name, each in table.items()})
    assert_same(travelled.result(), whole)
    assert_same(evaluate(y, proba, sample_weight=w), whole)


@pytest.mark.parametrize("case", CASES)
def test_whole_weights_are_copies(case):
    y, proba = CASES[case]()
    w = WEIGHTS["whole"](len(y))
    copied = evaluate(np.repeat(y, w), np.repeat(proba, w, axis=0))
    weighted = evaluate(y, proba, sample_weight=w)
    counts = (".n_rows", ".certain_mistakes", *(f".count[{place}]" for place in range(10)))
    assert_same(weighted, copied, but=counts)


def test_relabelled_classes_permute():
    y, proba = rows_of(600, 4)
    order = np.array([2, 0, 3, 1])
    moved = evaluate(np.argsort(order)[y], proba[:, order])
    kept = evaluate(y, proba)
    names = ("log_loss", "brier_score", "error_rate", "auc", "calibration_slope", "uncertainty")
    for name in names:
        for end in ("low", "high"):
            one, other = (getattr(getattr(each, name), end) for each in (moved, kept))
            assert one == pytest.approx(other, rel=1e-9), name
    for name in ("calibration", "refinement", "expected_calibration_error"):
        assert getattr(moved, name) == pytest.approx(getattr(kept, name), rel=1e-12)
    for place, each in enumerate(moved.by_class):
        own = kept.by_class[order[place]]
        assert each.auc.low == pytest.approx(own.auc.low, rel=1e-12)
        assert each.calibration_slope.high == pytest.approx(own.calibration_slope.high, rel=1e-9)


def test_two_classes_by_one_column_or_by_both_are_the_same():
    y, proba = rows_of(300, 2)
    one, both = evaluate(y, proba[:, 1]), evaluate(y, np.column_stack([1 - proba[:, 1], proba[:, 1]]))
    assert_same(one, both, rtol=1e-9)


def test_the_classes_are_named_by_labels():
    y, proba = rows_of(300, 3)
    names = np.array(["x", "a", "m"])
    found = evaluate(names[y], proba, classes=names)
    assert found.classes == ("x", "a", "m")
    assert [each.label for each in found.by_class] == ["x", "a", "m"]
    numbered = {name: each for name, each in leaves(evaluate(y, proba)) if "label" not in name}
    named = dict(leaves(found))
    assert all(named[name] == each for name, each in numbered.items() if not name.startswith(".classes"))
    assert evaluate(["b", "a", "b"], [0.9, 0.2, 0.6]).classes == ("a", "b")
    assert evaluate([True, False, True], [0.9, 0.2, 0.6]).classes == (False, True)


def test_the_diagram_of_the_first_of_two_classes_is_its_own():
    y, proba = rows_of(500, 2, digits=1)
    found = evaluate(y, proba[:, 1])
    own = reliability_bins(1 - y, 1 - proba[:, 1])
    for name in ReliabilityBins.__dataclass_fields__:
        np.testing.assert_allclose(getattr(found.reliability[0], name), getattr(own, name), rtol=1e-12)


def cells_of(n, k, seed=0):
    """More distinct probabilities than a column may keep."""
    return rows_of(n, k, seed, sharp=1.3)


@pytest.mark.parametrize(("k", "limit"), [(2, 1 << 15), (4, 1 << 16)])
def test_cells_are_as_good_as_rows_within_a_bound(k, limit):
    y, proba = cells_of(200_000, k)
    n_columns = 1 if k == 2 else k + 1
    pooled = EvaluationSums(k, k, n_cells=limit * n_columns).add(y, proba)
    assert pooled.points[0].pooled
    assert len(pooled.points[0].points()) <= limit
    found, exact = pooled.result(), evaluate(y, proba)
    for name in ("log_loss", "brier_score", "error_rate", "confidence", "expected_calibration_error"):
        assert getattr(found, name) == pytest.approx(getattr(exact, name), rel=1e-12), name
    # A fit to cells gains a little less on its own rows: far less than the interval is wide.
    assert found.calibration == pytest.approx(exact.calibration, abs=1e-4)
    assert found.refinement == pytest.approx(exact.refinement, abs=1e-4)
    assert found.calibration <= exact.calibration + 1e-15  # a cell can only pool more
    assert found.calibration_slope == pytest.approx(exact.calibration_slope, abs=1e-4)
    assert found.auc == pytest.approx(exact.auc, abs=1e-5)
    assert found.auc.low <= exact.auc.low
    assert found.auc.high >= exact.auc.high
    for name in ("top_label_frequency", "classwise_frequency", "top_label_width", "classwise_width"):
        one, other = (getattr(each.calibration_errors, name) for each in (found, exact))
        assert one == pytest.approx(other, abs=5e-4), name


@pytest.mark.parametrize("size", [997, 5000, 40_000])
def test_cells_do_not_depend_on_batches(size):
    y, proba = cells_of(20_000, 3)

    def few():
        return EvaluationSums(3, 3, n_cells=1 << 14)

    keys = np.arange(len(y), dtype=np.uint64)
    whole = few().add(y, proba, keys=keys)
    batches = few()
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        batches.add(y[rows], proba[rows], keys=keys[rows])
    parts = [few().add(y[odd::2], proba[odd::2], keys=keys[odd::2]) for odd in (0, 1)]
    merged = few()
    merged.absorb(parts[1].columns())
    merged.merge(parts[0])
    assert_same(batches.result(), whole.result())
    assert_same(merged.result(), whole.result())


def test_the_sample_is_of_the_rows_and_not_of_the_batches():
    y, proba = rows_of(30_000, 3)
    keys = np.arange(len(y), dtype=np.uint64)
    whole = EvaluationSums(3, 3).add(y, proba, keys=keys)
    parts = [EvaluationSums(3, 3).add(y[r], proba[r], keys=keys[r]) for r in np.array_split(keys, 7)]
    for part in parts[1:]:
        parts[0].merge(part)
    assert len(whole.sample[0]) == 4096
    np.testing.assert_array_equal(parts[0].sample[1], whole.sample[1])


def test_sums_of_different_kinds_do_not_merge():
    with pytest.raises(DataError, match="same classes, columns, bins and costs"):
        EvaluationSums(3, 3).merge(EvaluationSums(4, 4))
    with pytest.raises(DataError, match="same classes, columns, bins and costs"):
        EvaluationSums(2, 1, cost=np.eye(2)).merge(EvaluationSums(2, 1))
    with pytest.raises(DataError, match="must have 1 columns; got 2"):
        EvaluationSums(2, 1).add(np.array([0]), np.array([[0.5, 0.5]]))
    with pytest.raises(DataError, match="at least one row with a weight; got none"):
        EvaluationSums(2, 1).result()


def test_costs_are_those_of_the_decisions():
    y, proba = rows_of(400, 3)
    cost = np.array([[0.0, 5, 1], [1, 0, 1], [2, 3, 0]])
    w = np.random.default_rng(0).integers(1, 4, len(y))
    found = evaluate(y, proba, cost=cost, sample_weight=w).cost
    decided = (proba @ cost.T).argmin(axis=1)
    paid = cost[decided, y]
    assert found.mean_cost == pytest.approx(np.average(paid, weights=w))
    assert found.total == pytest.approx(float(paid @ w))
    assert found.mean_cost_most_probable == pytest.approx(
        np.average(cost[proba.argmax(axis=1), y], weights=w)
    )
    counts = np.zeros((3, 3))
    np.add.at(counts, (decided, y), w)
    np.testing.assert_array_equal(found.weight, counts)
    assert_same(evaluate(y, proba, cost=cost, decisions=decided, sample_weight=w).cost, found)
    more = np.vstack([cost, np.full(3, 0.4)])
    asked = evaluate(y, proba, cost=more, decisions=np.full(len(y), 3)).cost
    assert asked.mean_cost == pytest.approx(0.4)
    assert asked.mean_cost_most_probable is None


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"n_bins": 0}, "n_bins must be a whole number from 1; got 0"),
        ({"decisions": [0, 1]}, "decisions must come with their costs"),
        ({"cost": [[0, 1, 2]]}, "one column per class, 2 in all; got shape (1, 3)"),
        ({"cost": [[0, math.nan], [1, 0]]}, "cost must"),
        ({"cost": np.eye(2), "decisions": [0, 1, 1]}, "same number of rows; got 2 and 3"),
        ({"cost": np.ones((3, 2)), "decisions": [0, 3]}, "whole numbers from 0 to 2"),
        ({"random_state": -1}, "random_state must be"),
        ({"sample_weight": [1, -1]}, "sample_weight must not be negative; got -1.0 in row 1"),
        ({"sample_weight": [0, 0]}, "sample_weight must not be all zero"),
    ],
)
def test_what_cannot_be_is_refused(how, message):
    with pytest.raises((DataError, ParameterError)) as error:
        evaluate([0, 1], [0.2, 0.7], **how)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("y", "proba", "message"),
    [
        ([0, 1], [0.2, math.nan], "proba must be finite"),
        ([0, 1], [0.2, 1.7], "proba must lie in [0, 1]; got 1.7 in row 1"),
        ([0, 1, 1], [0.2, 0.7], "same number of rows; got 3 and 2"),
        ([0, 1, 5], np.full((3, 3), 1 / 3), "column numbers from 0 to 2; got 5"),
        ([], [], ""),
    ],
)
def test_rows_are_checked_as_everywhere(y, proba, message):
    with pytest.raises(DataError) as error:
        evaluate(y, proba)
    assert message in str(error.value)


DEGENERATE = {
    "one row": ([1], [0.7]),
    "one class": ([1, 1, 1], [0.7, 0.8, 0.7]),
    "one probability": ([0, 1, 0, 1], [0.5] * 4),
    "certain and right": ([0, 1] * 5, [0.0, 1.0] * 5),
    "certain and wrong": ([0, 1] * 5, [1.0, 0.0] * 5),
    "apart": ([0] * 5 + [1] * 5, np.linspace(0.1, 0.9, 10)),
    "one row of many classes": ([0], [[0.5, 0.3, 0.2]]),
    "a class without rows": ([0, 1] * 9, [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]] * 9),
    "tiny weights": ([0, 1, 1], [0.2, 0.6, 0.7]),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_few_rows_are_measured_too(case):
    y, proba = DEGENERATE[case]
    weights = [1e-9, 2e-9, 5e-10] if case == "tiny weights" else None
    found = evaluate(y, proba, sample_weight=weights)
    numbers = dict(leaves(found))
    for name in (name for name in numbers if f"{name}.low" in numbers):
        value, low, high = numbers[name], numbers[f"{name}.low"], numbers[f"{name}.high"]
        assert math.isnan(low) or math.isnan(value) or low <= value <= high, name
    json.loads(found.to_json())
    assert str(found)


@pytest.mark.parametrize("unit", [1e-300, 1e-150, 1e100, 1e300])
@pytest.mark.parametrize("k", [2, 3])
def test_the_unit_of_weights_does_not_matter(unit, k):
    y, proba = rows_of(60, k)
    w = np.random.default_rng(0).uniform(0.5, 1.5, 60)
    found, usual = (evaluate(y, proba, sample_weight=w * each, cost=1 - np.eye(k)) for each in (unit, 1.0))
    assert found.weight == pytest.approx(usual.weight * unit)
    assert found.cost.total == pytest.approx(usual.cost.total * unit)
    for name in ("log_loss", "brier_score", "auc", "calibration", "calibration_slope"):
        for end in ("low", "high"):
            one, other = (getattr(getattr(each, name), end) for each in (found, usual))
            assert one == pytest.approx(other, rel=1e-6), name


def test_certain_mistakes_cost_infinitely_much():
    found = evaluate([0, 1, 1, 0], [0.2, 0.0, 0.7, 1.0])
    assert found.certain_mistakes == 2
    assert (found.log_loss, found.log_loss.low, found.log_loss.high) == (math.inf,) * 3
    assert json.loads(found.to_json())["log_loss"] is None


def test_an_evaluation_is_a_table_for_people_and_json_for_machines():
    y, proba = rows_of(500, 3)
    found = evaluate(y, proba, cost=1 - np.eye(3))
    text = str(found)
    for words in ("log loss", "brier score", "  calibration", "mean auc", "mean cost", "mean probability"):
        assert words in text
    document = json.loads(found.to_json())
    assert document["log_loss"] == found.log_loss
    assert document["intervals"]["log_loss"] == [found.log_loss.low, found.log_loss.high]
    assert document["classes"] == [0, 1, 2]
    assert len(document["by_class"]) == len(document["calibration_intercept"]) == 3
    assert document["cost"]["total"] == found.cost.total
    assert set(document) == {each.name for each in fields(found)} | {"intervals"}
    assert pickle.loads(pickle.dumps(found)).auc.low == found.auc.low
