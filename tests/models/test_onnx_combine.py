"""Normalisation and least squares in the graph, against the functions of `codes`."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError, OneVsAllCalibrator
from calibrant.calibrators import CodeCalibrator
from calibrant.codes import Coupling, LeastSquares, Normalize, least_squares, one_vs_all
from calibrant.models import OnnxExportError
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
    np.testing.assert_array_equal(
        proba_of(plain_answers("least_squares", 7), rows), least_squares(one_vs_all(7), rows)
    )


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


@pytest.mark.parametrize(
    ("code", "combine", "message"),
    [
        (
            "one_vs_all",
            "coupling",
            "got coupling, which iterates for every row; use one score per class with",
        ),
        ("one_vs_all", Coupling(eps=1e-3), "got coupling, which iterates for every row"),
        ("all_pairs", "coupling", "got coupling, which iterates for every row"),
        (
            "all_pairs",
            "least_squares",
            r"got another one, of shape \(4, 6\), whose solutions are found by iter",
        ),
        (
            "one_vs_all",
            LeastSquares(sum_constraint=False),
            "got sum_constraint=False, whose answers need not",
        ),
        ("one_vs_all", lambda code, answers, weights=None: answers, "got a function, which may do anything"),
    ],
)
def test_what_has_no_closed_form_is_refused(code, combine, message):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    scores = rng.random((40, 4 if code == "one_vs_all" else 6))
    model = CodeCalibrator(code, "sigmoid", combine).fit(scores, y)
    with pytest.raises(OnnxExportError, match=message) as caught:
        proba_of(model, scores)
    assert isinstance(caught.value, CalibrantError)
    assert isinstance(caught.value, NotImplementedError)
