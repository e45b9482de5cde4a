"""One evaluation: the same as every single function says, whatever the rows are cut into."""

import itertools
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

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
