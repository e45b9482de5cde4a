"""Normalisation and least squares in the graph, against the functions of `codes`."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError, OneVsAllCalibrator
from calibrant.calibrators import CodeCalibrator
from calibrant.codes import (
    Coupling,
    LeastSquares,
    Normalize,
    all_pairs,
    exhaustive,
    least_squares,
    one_vs_all,
    ordinal,
    random_dense,
    random_sparse,
)
from calibrant.models import OnnxExportError
from models.export_cases import exported_proba
from models.onnx_cases import proba_of, scored_rows


def plain_answers(combine, k):
    """A model whose answers are its scores, so that only the combination is left."""
    scores = np.eye(k)
    return OneVsAllCalibrator("identity", combine).fit(scores, np.arange(k))


def awkward_rows(seed, k, n=40):
    """Answers with ties, zeros, ones, and whole rows of them."""
    rng = np.random.default_rng(seed)
    rows = np.round(rng.random((n, k)) * 4) / 4
    rows[::3] = rng.random((len(rows[::3]), k))
    rows[1::3] *= rng.random((len(rows[1::3]), k)) < 0.3
    rows[0], rows[-1] = 0.0, 1.0
    return rows


@pytest.mark.parametrize("combine", ["normalize", "least_squares"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 12))
def test_rows_of_all_kinds(combine, seed, k):
    model, rows = plain_answers(combine, k), awkward_rows(seed, k)
    got = proba_of(model, rows)
    np.testing.assert_allclose(got, model.predict_proba(rows), rtol=0, atol=4e-16)
    np.testing.assert_allclose(got.sum(axis=1), 1.0, atol=1e-14)
    assert (got >= 0).all()


def test_least_squares_to_the_last_bit():
    rows = awkward_rows(1, 7, n=3000)
    published = plain_answers(LeastSquares(keep_possible=False), 7)
    np.testing.assert_array_equal(proba_of(published, rows), least_squares(one_vs_all(7), rows))


def test_rows_without_any_answer():
    zeros = np.zeros((2, 3))
    np.testing.assert_array_equal(proba_of(plain_answers("normalize", 3), zeros), np.full((2, 3), 1 / 3))
    prior = Normalize("prior", (0.5, 0.3, 0.2))
    np.testing.assert_array_equal(proba_of(plain_answers(prior, 3), zeros)[1], [0.5, 0.3, 0.2])
    np.testing.assert_array_equal(proba_of(plain_answers("least_squares", 3), zeros)[0], np.full(3, 1 / 3))


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_weighted_least_squares(seed):
    scores, y = scored_rows(80, 4, seed=seed % 1000)
    model = CodeCalibrator("one_vs_all", "sigmoid", LeastSquares(weighted=True)).fit(scores, y)
    model.counts_ = np.random.default_rng(seed).uniform(0.1, 2, size=4)
    np.testing.assert_allclose(proba_of(model, scores), model.predict_proba(scores), rtol=0, atol=1e-14)


@pytest.mark.parametrize("combine", ["normalize", "least_squares"])
def test_one_bad_score_spoils_its_row_only(combine):
    rows = np.full((3, 4), 0.25)
    rows[1, 2] = np.nan
    got = proba_of(plain_answers(combine, 4), rows)
    assert np.isnan(got).all(axis=1).tolist() == [False, True, False]
    np.testing.assert_array_equal(got[[0, 2]], 0.25)


def answered_by(code, combine, seed=0, n=60):
    """A model whose answers are its scores, with weights of its columns, and answers of all kinds."""
    rng = np.random.default_rng(seed)
    n_columns = code.shape[1]
    rows = np.concatenate(
        [
            rng.random((n, n_columns)),
            rng.beta(0.1, 0.1, (n, n_columns)),
            np.round(rng.random((n, n_columns)) * 4) / 4,
            np.eye(n_columns),
            np.zeros((1, n_columns)),
        ]
    )
    model = CodeCalibrator(code, "identity", combine).fit(rows, np.arange(len(rows)) % len(code))
    model.counts_ = rng.uniform(1, 9, n_columns)
    return model, rows


CODES = {
    "one-vs-all": one_vs_all(4),
    "one-vs-all of ten": one_vs_all(10),
    "a single column": np.array([[1], [-1]]),
    "two classes": one_vs_all(2),
    "pairs": all_pairs(5),
    "pairs, some twice": np.hstack([all_pairs(4), -all_pairs(4)[:, :2]]),
    "exhaustive": exhaustive(4),
    "ordinal": ordinal(5),
    "random": random_dense(6, random_state=0),
}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(
    "combine",
    [
        "least_squares",
        LeastSquares(weighted=True, keep_possible=False),
        Coupling(tol=1e-13),
        Coupling("published", max_iter=200),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_combinations_by_steps_in_a_graph_and_in_python(code, combine):
    model, rows = answered_by(CODES[code], combine)
    said = model.predict_proba(rows)
    got = proba_of(model, rows)
    np.testing.assert_allclose(got, said, rtol=0, atol=1e-9)
    np.testing.assert_allclose(got.sum(axis=1), 1.0, atol=1e-14)
    few = rows[::7]
    np.testing.assert_allclose(exported_proba(model, few, "python"), said[::7], rtol=0, atol=1e-9)


def test_unlinked_classes_share_what_the_library_gives_them():
    code = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    with pytest.warns(UserWarning, match="unlinked groups"):
        model, rows = answered_by(code, "coupling")
    np.testing.assert_allclose(proba_of(model, rows), model.predict_proba(rows), rtol=0, atol=1e-9)


def test_steps_of_no_rows_and_of_refused_ones():
    model, rows = answered_by(all_pairs(4), "coupling")
    assert proba_of(model, rows[:0]).shape == (0, 4)
    rows[1, 2] = np.nan
    got = proba_of(model, rows[:3])
    assert np.isnan(got).all(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("code", "combine", "message"),
    [
        (
            random_sparse(4, random_state=1),
            "coupling",
            "must have one minimum to be written as ONNX; got a code with zeros",
        ),
        (
            one_vs_all(4),
            LeastSquares(sum_constraint=False),
            "got sum_constraint=False, whose answers need not",
        ),
        (one_vs_all(4), lambda code, answers, weights=None: answers, "got a function, which may do anything"),
    ],
)
def test_what_cannot_be_exact_is_refused(code, combine, message):
    model, rows = answered_by(code, combine)
    with pytest.raises(OnnxExportError, match=message) as caught:
        proba_of(model, rows)
    assert isinstance(caught.value, CalibrantError)
    assert isinstance(caught.value, NotImplementedError)
