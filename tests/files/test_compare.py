import numpy as np
import pytest

from calibrant import PAVCalibrator, SigmoidCalibrator
from calibrant._core._errors import DataError, ParameterError
from calibrant.files import PassOptions, Rows, compare
from calibrant.metrics import brier_decomposition, error_rate
from calibrant.models import compare_methods, named_method
from models.cases import OURS


def rows_of_chance(n, seed=0, k=None):
    rng = np.random.default_rng(seed)
    if k is None:
        scores = rng.normal(size=n)
        return Rows(scores, (rng.random(n) < 1 / (1 + np.exp(-2 * scores))).astype(np.intp))
    scores = rng.normal(size=(n, k))
    position = (scores + rng.gumbel(size=(n, k))).argmax(axis=1)
    return Rows(scores, position)


def batches_of(rows, size):
    for start in range(0, len(rows), size):
        some = slice(start, start + size)
        weight = None if rows.weight is None else rows.weight[some]
        yield Rows(rows.scores[some], rows.truth[some], weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_losses_are_those_of_fits_to_the_other_folds(weighted):
    rows = rows_of_chance(600)
    if weighted:
        rows = Rows(rows.scores, rows.truth, np.random.default_rng(1).gamma(2, size=600))
    found = compare(
        lambda: batches_of(rows, 97), classes=[0, 1], cv=4, options=PassOptions(n_bins=20, max_rows=10)
    )
    fold = rows.folds(4)
    mass = np.ones(600) if rows.weight is None else rows.weight
    for result in found.results:
        proba = np.empty(600)
        for number in range(4):
            train, test = fold != number, fold == number
            weight = None if rows.weight is None else rows.weight[train]
            model = named_method(result.name).fit(rows.scores[train], rows.truth[train], weight)
            proba[test] = model.predict_proba(rows.scores[test])[:, 1]
        chance = np.maximum(np.where(rows.truth == 1, proba, 1 - proba), found.limit)
        assert result.log_loss == pytest.approx(np.average(-np.log(chance), weights=mass), abs=1e-12)
        parts = brier_decomposition(rows.truth, proba, isotonic=True, sample_weight=rows.weight)
        assert result.brier_score == pytest.approx(parts.brier, abs=1e-12)
        assert result.calibration == pytest.approx(parts.calibration, abs=1e-12)
        assert result.refinement == pytest.approx(parts.refinement, abs=1e-12)
        assert result.error_rate == pytest.approx(
            error_rate(rows.truth, proba, sample_weight=rows.weight), abs=1e-12
        )
    assert found.results[0].difference == 0
    assert [each.name for each in found.results] == sorted(
        (each.name for each in found.results),
        key=lambda name: next(each.log_loss for each in found.results if each.name == name),
    )
    assert sum(each.share_best for each in found.results) == pytest.approx(1)


def test_batches_make_no_difference():
    rows = rows_of_chance(500)
    one, other = (compare(lambda size=size: batches_of(rows, size), classes=[0, 1]) for size in (500, 13))
    for a, b in zip(one.results, other.results, strict=True):
        assert a.name == b.name
        assert a.log_loss == pytest.approx(b.log_loss, abs=1e-12)
        assert a.share_best == b.share_best


def test_standard_errors_are_near_those_of_memory():
    rows = rows_of_chance(20_000)
    methods = ["sigmoid", "pav", "binning"]
    found = compare(lambda: [rows], classes=[0, 1], methods=methods)
    memory = compare_methods(rows.scores, rows.truth, methods=methods)
    assert found.best == memory.best == "sigmoid"
    errors = {each.name: each.difference.error for each in memory.results}
    for each in found.results[1:]:
        assert each.difference.error == pytest.approx(errors[each.name], rel=0.5)


def test_many_classes_and_methods_of_ones_own():
    rows = rows_of_chance(400, k=3)
    found = compare(lambda: batches_of(rows, 150), classes=["a", "b", "c"], cv=2)
    assert {each.name for each in found.results} == {
        name for name, each in OURS.items() if "margin" in each.kinds
    }
    own = {"steep": SigmoidCalibrator(), "stairs": PAVCalibrator(clip=0.01)}
    found = compare(lambda: [rows], classes=["a", "b", "c"], cv=2, methods=own, combine="least_squares")
    assert {each.name for each in found.results} == {"steep", "stairs"}


def test_wrong_input():
    rows = rows_of_chance(20)
    with pytest.raises(ParameterError, match="cv must be a whole number from 2; got 1"):
        compare(lambda: [rows], classes=[0, 1], cv=1)
    with pytest.raises(ParameterError, match="kind must be one of 'margin', 'probability'; got 'odds'"):
        compare(lambda: [rows], classes=[0, 1], kind="odds")
    with pytest.raises(DataError, match="scores must have at least one row; got none"):
        compare(list, classes=[0, 1])


def test_columns_of_a_code_in_passes_and_in_memory():
    rows = rows_of_chance(900, k=3)
    scores = rows.scores
    pairs = scores[:, [0, 0, 1]] - scores[:, [1, 2, 2]]
    coded = Rows(pairs, rows.truth)
    found = compare(lambda: batches_of(coded, 130), classes=[0, 1, 2], code="all_pairs", cv=3)
    memory = compare_methods(pairs, rows.truth, code="all_pairs", cv=3)
    assert {each.name for each in found.results} == {each.name for each in memory.results}
    losses = {each.name: each.log_loss for each in memory.results}
    for each in found.results:  # other folds, so other chance
        assert each.log_loss == pytest.approx(losses[each.name], abs=0.05)
