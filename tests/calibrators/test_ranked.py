"""Laws and border checks that hold for both calibrators of ranked scores."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import (
    check_estimator_cloneable,
    check_estimator_repr,
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
)

from calibrant import AccuracyTableCalibrator, CalibrantError, RankedLogisticCalibrator
from calibrant.calibrators import _ranking, fit_rows
from calibrant.passes import Rows

CALIBRATORS = [
    AccuracyTableCalibrator(width=0.5),
    AccuracyTableCalibrator(n_cells=4, max_rank=1),
    AccuracyTableCalibrator(n_cells=(5, 3), max_rank=None, smoothing="ma", fallback="half"),
    AccuracyTableCalibrator("single", n_cells=6, smoothing="median", max_rank=2),
    AccuracyTableCalibrator("C", width=1.0, smoothing="lidstone", lam=0.5, max_rank=1),
    AccuracyTableCalibrator([1, 2, 3], width=0.7, smoothing="laplace", max_rank=2),
    RankedLogisticCalibrator(smooth=True),
    RankedLogisticCalibrator("single", smooth=True, max_rank=1),
    RankedLogisticCalibrator("A", smooth=True, max_rank=2),
    RankedLogisticCalibrator("B", smooth=True, max_rank=2),
    RankedLogisticCalibrator("C", smooth=True, max_rank=1),
    RankedLogisticCalibrator([[1, 2], [2, 1, 3]], smooth=True),
    RankedLogisticCalibrator([2, 1], smooth=True, max_rank=2),
]
every = pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)


def survey(n=80, k=4, seed=1, decimals=9):
    """Scores that favour the true class, and the classes."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(k), rng.integers(k, size=n - k))
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), y] += 1.5
    return scores.round(decimals), y


rows = st.lists(
    st.tuples(
        st.tuples(*[st.integers(-4, 4).map(lambda i: i / 2)] * 3), st.integers(0, 2), st.integers(0, 3)
    ),
    min_size=2,
    max_size=20,
).filter(lambda rows: sum(weight for *_, weight in rows) > 0)


@every
def test_rows_are_distributions(calibrator):
    scores, y = survey()
    proba = clone(calibrator).fit(scores, y).predict_proba(survey(50, seed=2)[0] * 3)
    assert proba.shape == (50, 4)
    assert proba.dtype == np.float64
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@every
@settings(max_examples=20, deadline=None)
@given(rows=rows)
def test_a_weight_is_a_number_of_copies(calibrator, rows):
    scores, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    model = clone(calibrator).set_params(classes=[0, 1, 2])
    query = np.random.default_rng(0).normal(size=(30, 3))
    weighted = clone(model).fit(scores, labels, weights).predict_raw(query)
    copied = clone(model).fit(np.repeat(scores, weights, axis=0), np.repeat(labels, weights))
    np.testing.assert_allclose(weighted, copied.predict_raw(query), rtol=0, atol=1e-9)


@every
def test_relabelling_permutes(calibrator):
    scores, y = survey()
    query = survey(40, seed=2)[0]
    order = np.array([2, 0, 3, 1])
    here = clone(calibrator).fit(scores, y)
    there = clone(calibrator).fit(scores[:, order], np.argsort(order)[y])
    np.testing.assert_allclose(there.predict_proba(query[:, order]), here.predict_proba(query)[:, order])
    assert there.predict(query[:, order]).tolist() == np.argsort(order)[here.predict(query)].tolist()


@every
def test_the_order_of_the_rows_does_not_matter(calibrator):
    scores, y = survey()
    order = np.random.default_rng(3).permutation(len(y))
    query = survey(40, seed=2)[0]
    here = clone(calibrator).fit(scores, y).predict_proba(query)
    there = clone(calibrator).fit(scores[order], y[order]).predict_proba(query)
    np.testing.assert_allclose(here, there, rtol=0, atol=1e-9)


@every
def test_estimates_by_rank_are_the_same_at_other_places(calibrator):
    """Also among ties, which go to the class that comes first."""
    scores, y = survey(decimals=0)
    model = clone(calibrator).fit(scores, y)
    query = survey(60, seed=2, decimals=0)[0]
    by_rank, raw = model.predict_by_rank(query), model.predict_raw(query)
    order = np.array([sorted(range(4), key=lambda c: (-row[c], c)) for row in query])
    assert by_rank.label.tolist() == order.tolist()
    np.testing.assert_array_equal(by_rank.score, np.take_along_axis(query, order, axis=1))
    np.testing.assert_array_equal(by_rank.estimate, np.take_along_axis(raw, order, axis=1))
    assert model.predict(query).tolist() == by_rank.label[:, 0].tolist()
    first = model.predict_by_rank(query, n_ranks=2)
    np.testing.assert_array_equal(first.estimate, by_rank.estimate[:, :2])


@every
def test_probabilities_are_the_estimates_divided_by_their_sum(calibrator):
    scores, y = survey()
    model = clone(calibrator).fit(scores, y)
    raw = model.predict_raw(scores)
    np.testing.assert_allclose(model.predict_proba(scores), raw / raw.sum(axis=1, keepdims=True))


@every
def test_blocks_and_ways_of_ranking_do_not_matter(calibrator, monkeypatch):
    scores, y = survey()
    query = survey(60, seed=2, decimals=1)[0]
    usual = clone(calibrator).fit(scores, y).predict_proba(query)
    monkeypatch.setattr(_ranking, "BLOCK_SIZE", 40)
    monkeypatch.setattr(_ranking, "FEW", 0)
    monkeypatch.setattr(_ranking, "FEW_OF_ALL", 0)
    other = clone(calibrator).fit(scores, y).predict_proba(query)
    np.testing.assert_allclose(other, usual, rtol=0, atol=1e-12)
    one_by_one = np.concatenate([clone(calibrator).fit(scores, y).predict_proba(row[None]) for row in query])
    np.testing.assert_array_equal(one_by_one, other)


@every
def test_ranks_without_a_model_of_their_own_share_one(calibrator):
    """As many own models as ranks is the same as no limit."""
    scores, y = survey()
    limited = clone(calibrator).set_params(max_rank=4).fit(scores, y)
    free = clone(calibrator).set_params(max_rank=None).fit(scores, y)
    np.testing.assert_array_equal(limited.predict_proba(scores), free.predict_proba(scores))


@every
def test_rank_accuracy_is_the_share_of_right_candidates(calibrator):
    scores, y = survey()
    model = clone(calibrator).fit(scores, y, np.arange(80) % 3)
    order = np.argsort(-scores, axis=1)
    shares = np.average(order == y[:, None], axis=0, weights=np.arange(80) % 3)
    np.testing.assert_allclose(model.rank_accuracy_, shares[: len(model.rank_accuracy_)])


@every
@pytest.mark.parametrize(
    "wrap",
    [
        np.ndarray.tolist,
        np.asfortranarray,
        pd.DataFrame,
        lambda matrix: pl.DataFrame(matrix, schema=list("abcd")),
        lambda matrix: pa.table(dict(zip("abcd", matrix.T, strict=True))),
    ],
)
def test_matrices_of_any_kind(calibrator, wrap):
    scores, y = survey()
    fitted = clone(calibrator).fit(wrap(scores), pd.Series(y))
    plain = clone(calibrator).fit(scores, y)
    np.testing.assert_array_equal(fitted.predict_proba(wrap(scores)), plain.predict_proba(scores))


@every
def test_float32_scores_are_their_float64_values(calibrator):
    scores, y = survey()
    single = scores.astype(np.float32)
    double = single.astype(np.float64)
    np.testing.assert_array_equal(
        clone(calibrator).fit(single, y).predict_proba(single),
        clone(calibrator).fit(double, y).predict_proba(double),
    )


@every
def test_classes_names_the_columns(calibrator):
    scores, y = survey()
    names = np.array(["d", "a", "c", "b"])
    model = clone(calibrator).set_params(classes=names).fit(scores, names[y])
    assert model.classes_.tolist() == names.tolist()
    plain = clone(calibrator).fit(scores, y)
    np.testing.assert_array_equal(model.predict_proba(scores), plain.predict_proba(scores))
    assert model.predict(scores).tolist() == names[plain.predict(scores)].tolist()


@every
def test_a_class_without_rows_keeps_its_column(calibrator):
    scores, y = survey()
    kept = y != 2
    proba = clone(calibrator).set_params(classes=range(4)).fit(scores[kept], y[kept]).predict_proba(scores)
    assert proba.shape == (80, 4)


@every
def test_rows_that_lack_a_score_are_left_out(calibrator):
    scores, y = survey()
    known = np.ones(scores.shape, dtype=bool)
    known[::3, 1] = False
    blanked = np.where(known, scores, np.nan)
    some = fit_rows(clone(calibrator), Rows(blanked, y, None), np.arange(4), known)
    rest = known.all(axis=1)
    fewer = clone(calibrator).set_params(classes=range(4)).fit(scores[rest], y[rest])
    np.testing.assert_array_equal(some.predict_proba(scores), fewer.predict_proba(scores))
    weights = np.arange(80) % 2 + 1.0
    some = fit_rows(clone(calibrator), Rows(blanked, y, weights), np.arange(4), known)
    fewer = clone(calibrator).set_params(classes=range(4)).fit(scores[rest], y[rest], weights[rest])
    np.testing.assert_array_equal(some.predict_proba(scores), fewer.predict_proba(scores))
    with pytest.raises(CalibrantError, match="at least one row; got 80 rows, each without the score of some"):
        fit_rows(clone(calibrator), Rows(scores, y, None), np.arange(4), np.zeros(scores.shape, dtype=bool))


@every
def test_no_rows_to_predict_is_no_error(calibrator):
    model = clone(calibrator).fit(*survey())
    assert model.predict_proba(np.empty((0, 4))).shape == (0, 4)
    assert model.predict_raw(np.empty((0, 4))).shape == (0, 4)
    assert model.predict_by_rank(np.empty((0, 4))).estimate.shape == (0, 4)


@every
def test_input_is_not_changed_and_may_be_read_only(calibrator):
    scores, y = survey()
    before = scores.copy()
    scores.setflags(write=False)
    y.setflags(write=False)
    clone(calibrator).fit(scores, y).predict_proba(scores)
    np.testing.assert_array_equal(scores, before)


@every
def test_two_classes_will_do(calibrator):
    if isinstance(calibrator.combination, list):
        calibrator = clone(calibrator).set_params(combination=[1, 2])
    scores, y = survey(k=2)
    proba = clone(calibrator).fit(scores, y).predict_proba(scores)
    assert (proba.argmax(axis=1) == y).mean() > 0.7


@every
def test_scikit_learn_can_handle_its_parameters(calibrator):
    name = type(calibrator).__name__
    for check in (
        check_estimator_cloneable,
        check_estimator_repr,
        check_get_params_invariance,
        check_no_attributes_set_in_init,
        check_parameters_default_constructible,
        check_set_params,
    ):
        check(name, clone(calibrator))


@every
def test_it_must_be_fitted_first(calibrator):
    name = type(calibrator).__name__
    for ask in ("predict", "predict_proba", "predict_raw", "predict_by_rank"):
        with pytest.raises(CalibrantError, match=f"this {name} must be fitted before it is used") as error:
            getattr(clone(calibrator), ask)([[1.0, 2.0]])
        assert isinstance(error.value, NotFittedError)


THREE = [[3.0, 2, 1], [1, 3, 2], [1, 2, 3]]
BAD_FITS = {
    "one column": ([[1.0], [2]], [0, 1], None, r"one column per class.*k >= 2; got shape \(2, 1\)"),
    "one score": ([1.0, 2], [0, 1], None, r"one column per class.*k >= 2; got shape \(2,\)"),
    "nan": ([[1, 2], [np.nan, 3]], [0, 1], None, "finite; got nan in row 1, column 0; drop those rows"),
    "infinite": ([[1, np.inf], [2, 3]], [0, 1], None, "finite; got inf in row 0, column 1"),
    "no rows": (np.empty((0, 3)), [], None, "scores must have at least one row; got none"),
    "label without a column": (
        np.ones((4, 3)),
        list("abcd"),
        None,
        "one value per column of scores, 3 in all; got 4; pass classes=",
    ),
    "column without a label": (THREE, [0, 0, 1], None, "3 in all; got 2; pass classes="),
    "lengths": (
        THREE,
        [0, 1, 2, 0],
        None,
        "scores and labels must have the same number of rows; got 3 and 4",
    ),
    "missing label": (THREE, ["a", None, "b"], None, "labels must not be missing; got None in row 1"),
    "negative weight": (THREE, [0, 1, 2], [1, -1, 1], "must not be negative; got -1.0 in row 1"),
    "zero weights": (THREE, [0, 1, 2], [0, 0, 0], "must not be all zero"),
    "few weights": (THREE, [0, 1, 2], [1, 1], r"one weight per row, 3 in all; got shape \(2,\)"),
}


@every
@pytest.mark.parametrize("case", BAD_FITS.values(), ids=BAD_FITS)
def test_bad_rows_are_refused_with_a_reason(calibrator, case):
    *arguments, message = case
    model = clone(calibrator)
    with pytest.raises(CalibrantError, match=message):
        model.fit(*arguments)
    assert not hasattr(model, "classes_")


@every
def test_a_label_that_is_not_among_the_classes_is_named(calibrator):
    model = clone(calibrator).set_params(classes=["a", "b", "c"])
    with pytest.raises(CalibrantError, match=r"among the classes \['a', 'b', 'c'\]; got 'x' in row 1"):
        model.fit(THREE, ["a", "x", "b"])
    with pytest.raises(
        CalibrantError, match=r"classes must be 3 distinct labels, one per column; got \['a',"
    ):
        model.set_params(classes=["a", "b"]).fit(THREE, ["a", "b", "b"])


@every
def test_bad_scores_are_refused_after_fit_too(calibrator):
    model = clone(calibrator).fit(*survey())
    with pytest.raises(CalibrantError, match="one column per class, 4 in all; got 3 columns"):
        model.predict_proba(THREE)
    with pytest.raises(CalibrantError, match="finite; got nan in row 0, column 2"):
        model.predict_by_rank([[1, 2, np.nan, 3]])


@pytest.mark.parametrize("kind", [AccuracyTableCalibrator, RankedLogisticCalibrator])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"combination": "D"},
            "combination must be one of 'single', 'A', 'B', 'C', or lists of ranks; got 'D'",
        ),
        (
            {"combination": [1, 4]},
            r"different ranks from 1 to 3, the number of classes; got \[1, 4\]; leave out",
        ),
        ({"combination": [0, 1]}, r"different ranks from 1 to 3.*got \[0, 1\]"),
        ({"combination": [2, 2]}, r"different ranks from 1 to 3.*got \[2, 2\]"),
        ({"combination": []}, r"a name, a list of ranks, or one such list per rank; got \[\]"),
        ({"combination": [[1, 2], 3]}, r"one such list per rank; got \[\[1, 2\], 3\]"),
        ({"combination": [1.5]}, r"one such list per rank; got \[1.5\]"),
        ({"combination": None}, "one such list per rank; got None"),
        (
            {"combination": [[1], [1, 2], [2]], "max_rank": 1},
            "one list for all ranks after max_rank, which share a model; got 2 for those after 1; raise",
        ),
        ({"max_rank": 0}, "max_rank must be None or a whole number from 1; got 0"),
        ({"max_rank": 1.5}, "max_rank must be None or a whole number from 1; got 1.5"),
    ],
)
def test_bad_combinations_are_refused(kind, parameters, message):
    with pytest.raises(CalibrantError, match=message):
        kind(**parameters).fit(THREE, [0, 1, 2])


@every
def test_the_number_of_ranks_is_checked(calibrator):
    model = clone(calibrator).fit(*survey())
    with pytest.raises(CalibrantError, match="n_ranks must be a whole number from 1 to 4, the number of"):
        model.predict_by_rank(np.ones((1, 4)), n_ranks=5)


@pytest.mark.parametrize("kind", [AccuracyTableCalibrator, RankedLogisticCalibrator])
def test_a_single_row_is_enough(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = kind(classes=["a", "b", "c"]).fit([[1, 2, 3]], ["c"])
    assert model.predict_proba([[1, 2, 3]]).argmax() == 2
