"""The combinations as objects."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.codes import (
    Coupling,
    LeastSquares,
    Normalize,
    all_pairs,
    check_combiner,
    combination_for,
    coupling,
    least_squares,
    normalize,
    one_vs_all,
    ordinal,
)
from codes.cases import CODES, noisy_answers, some_weights


@pytest.mark.parametrize(
    ("name", "object_"),
    [("normalize", Normalize()), ("least_squares", LeastSquares()), ("coupling", Coupling())],
)
def test_names_are_objects(name, object_):
    assert check_combiner(name) == object_
    assert check_combiner(object_) is object_
    answers = noisy_answers(one_vs_all(4))
    np.testing.assert_array_equal(
        check_combiner(name)(one_vs_all(4), answers), object_(one_vs_all(4), answers)
    )
    with pytest.raises(FrozenInstanceError):
        object_.tol = 1.0


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_objects_are_functions(code):
    answers, weights = noisy_answers(code, noise=0.3), some_weights(code)
    np.testing.assert_array_equal(Coupling()(code, answers, weights), coupling(code, answers, weights))
    published = LeastSquares(keep_possible=False)
    np.testing.assert_array_equal(published(code, answers, weights), least_squares(code, answers))
    published = LeastSquares(weighted=True, keep_possible=False)
    np.testing.assert_array_equal(published(code, answers, weights), least_squares(code, answers, weights))
    published = Coupling("published", tol=1e-6, max_iter=5000)
    np.testing.assert_array_equal(
        published(code, answers), coupling(code, answers, algorithm="published", tol=1e-6, max_iter=5000)
    )


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_least_squares_calls_nothing_impossible_that_all_answers_allow(code):
    answers = np.clip(noisy_answers(code, noise=0.6), 1e-3, 1 - 1e-3)
    published, kept = least_squares(code, answers), LeastSquares()(code, answers)
    least = np.minimum(answers, 1 - answers).min(axis=1) / len(code)
    assert (kept >= least[:, None] / 2).all()
    np.testing.assert_allclose(kept.sum(axis=1), 1.0, atol=1e-14)
    untouched = published.min(axis=1) >= least
    np.testing.assert_array_equal(kept[untouched], published[untouched])
    # What was above the bound keeps its proportions, and so the order of the classes.
    share = np.where(published > least[:, None], kept / np.maximum(published, 1e-300), np.nan)
    np.testing.assert_allclose(np.nanmin(share, axis=1), np.nanmax(share, axis=1), rtol=1e-12)
    certain = answers.copy()
    certain[:, 0] = np.arange(len(certain)) % 2
    np.testing.assert_array_equal(LeastSquares()(code, certain), least_squares(code, certain))


def test_reports():
    answers = noisy_answers(one_vs_all(4))
    report = Coupling().solve(one_vs_all(4), answers)
    assert report.converged.all()
    assert report.n_iter.shape == (len(answers),)
    np.testing.assert_array_equal(report.proba, coupling(one_vs_all(4), answers))
    assert LeastSquares().solve(one_vs_all(4), answers).unique.all()
    raw = LeastSquares(sum_constraint=False)(one_vs_all(4), answers)
    np.testing.assert_allclose(raw, answers, atol=1e-12)


def test_normalize_takes_one_vs_all_only():
    answers = noisy_answers(one_vs_all(4))
    np.testing.assert_array_equal(Normalize()(one_vs_all(4), answers, [1, 2, 3, 4]), normalize(answers))
    with pytest.raises(
        CalibrantError, match="one_vs_all for combine='normalize'; .* of shape \\(4, 6\\); use 'least"
    ):
        Normalize()(all_pairs(4), np.full((1, 6), 0.5))
    with pytest.raises(CalibrantError, match="of shape \\(3, 3\\)"):
        Normalize()(all_pairs(3), np.full((1, 3), 0.5))
    with pytest.raises(CalibrantError, match="3 in all; got 4 columns"):
        Normalize()(one_vs_all(3), answers)


def test_normalize_falls_back():
    zeros = np.zeros((1, 3))
    np.testing.assert_array_equal(
        Normalize("prior", (0.5, 0.25, 0.25))(one_vs_all(3), zeros), [[0.5, 0.25, 0.25]]
    )


def test_own_combiners():
    def first(code, answers, weights=None):
        return answers[:, : len(code)]

    assert check_combiner(first) is first


@pytest.mark.parametrize("combine", ["normalise", 3, Coupling, ["coupling"]])
def test_what_is_no_combiner(combine):
    with pytest.raises(CalibrantError, match="'least_squares', 'coupling', or an object to call .*; got"):
        check_combiner(combine)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (None, "normalize"),
        ("one_vs_all", "normalize"),
        ("ovr", "normalize"),
        (one_vs_all(4), "normalize"),
        ("all_pairs", "least_squares"),
        ("ovo", "least_squares"),
        (all_pairs(4), "least_squares"),
        (-all_pairs(4)[:, ::-1], "least_squares"),
        ("exhaustive", "coupling"),
        ("ordinal", "coupling"),
        (ordinal(4), "coupling"),
        ([[1, 1], [0]], "coupling"),
    ],
)
def test_what_suits_a_code(code, name):
    assert combination_for(code) == check_combiner(None, code).name == name
