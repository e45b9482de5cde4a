"""Reliability without bins: the fit is isotonic regression, the band is what chance would do."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import isotonic_regression
from sklearn.isotonic import IsotonicRegression

from calibrant._core._errors import DataError, ParameterError
from calibrant.metrics import brier_decomposition, isotonic_reliability, isotonic_reliability_by_class

eighths = st.integers(0, 8).map(lambda number: number / 8)
weighted_rows = st.lists(
    st.tuples(st.integers(0, 1), eighths, st.integers(0, 3)), min_size=1, max_size=20
).filter(lambda rows: any(weight for _, _, weight in rows))


def columns(rows):
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def calibrated(n, seed, concentration=0.5):
    rng = np.random.default_rng(seed)
    proba = rng.beta(concentration, concentration, n)
    return rng.random(n) < proba, proba


def assert_same(one, other):
    for field in fields(one):
        np.testing.assert_allclose(getattr(one, field.name), getattr(other, field.name), atol=1e-12)


class TestFit:
    @settings(max_examples=50)
    @given(rows=weighted_rows)
    def test_is_that_of_scikit_learn(self, rows):
        y, proba, weights = columns(rows)
        fit = isotonic_reliability(y, proba, sample_weight=weights, n_resamples=0)
        seen = weights > 0
        theirs = IsotonicRegression().fit(proba[seen], y[seen], weights[seen])
        np.testing.assert_allclose(
            np.interp(proba[seen], fit.score, fit.frequency), theirs.predict(proba[seen]), atol=1e-12
        )

    @settings(max_examples=50)
    @given(rows=weighted_rows)
    def test_blocks_rise_and_hold_all_rows(self, rows):
        y, proba, weights = columns(rows)
        fit = isotonic_reliability(y, proba, sample_weight=weights, n_resamples=0)
        least, greatest = fit.score[::2], fit.score[1::2]
        assert (least <= greatest).all()
        assert (greatest[:-1] < least[1:]).all()
        assert (np.diff(fit.frequency[::2]) > 0).all()
        assert (fit.frequency[::2] == fit.frequency[1::2]).all()
        assert fit.weight[::2].sum() == pytest.approx(weights.sum())
        assert fit.weight[::2] @ fit.frequency[::2] == pytest.approx(weights @ y)

    def test_equal_neighbours_are_one_block(self):
        fit = isotonic_reliability([0, 1, 0, 1], [0.1, 0.1, 0.3, 0.3], n_resamples=0)
        assert fit.score.tolist() == [0.1, 0.3]
        assert fit.frequency.tolist() == [0.5, 0.5]
        assert fit.weight.tolist() == [4, 4]

    def test_last_bits_zeros_and_ends_keep_their_order(self):
        tiny = np.nextafter(0.0, 1.0)
        proba = [1.0, -0.0, tiny, np.nextafter(1.0, 0.0), 0.0]
        fit = isotonic_reliability([1, 0, 1, 1, 0], proba, n_resamples=0)
        assert fit.score.tolist() == [0.0, 0.0, tiny, 1.0]
        assert fit.frequency.tolist() == [0, 0, 1, 1]

    def test_does_not_change_what_it_is_given(self):
        y, proba = calibrated(50, seed=0)
        before = proba.copy()
        isotonic_reliability(y, proba)
        np.testing.assert_array_equal(proba, before)

    def test_its_distance_from_the_forecasts_is_the_isotonic_calibration(self):
        y, proba = calibrated(300, seed=0)
        fit = isotonic_reliability(y, proba, n_resamples=0)
        recalibrated = np.interp(proba, fit.score, fit.frequency)
        loss = np.mean((proba - y) ** 2) - np.mean((recalibrated - y) ** 2)
        assert brier_decomposition(y, proba, isotonic=True).calibration == pytest.approx(loss)

    @pytest.mark.parametrize(("label", "frequency"), [(0, 0.0), (1, 1.0)])
    def test_one_class(self, label, frequency):
        fit = isotonic_reliability([label] * 3, [0.2, 0.5, 0.9])
        assert fit.frequency.tolist() == [frequency] * 2
        assert fit.score.tolist() == [0.2, 0.9]

    def test_one_row(self):
        fit = isotonic_reliability([1], [0.4])
        assert fit.score.tolist() == [0.4, 0.4]
        assert fit.band_score.tolist() == [0.4]
        assert (fit.lower.tolist(), fit.upper.tolist()) == ([0.0], [1.0])


class TestBand:
    def test_around_the_diagonal_and_in_range(self):
        y, proba = calibrated(500, seed=1)
        fit = isotonic_reliability(y, proba)
        assert fit.level == 0.9
        assert fit.n_band_rows == 500
        assert fit.band_score[0] == proba.min()
        assert fit.band_score[-1] == proba.max()
        assert (np.diff(fit.band_score) > 0).all()
        assert (fit.lower >= 0).all()
        assert (fit.lower <= fit.upper).all()
        assert (fit.upper <= 1).all()
        middle = (fit.band_score > 0.2) & (fit.band_score < 0.8)
        assert (fit.lower < fit.band_score)[middle].all()
        assert (fit.band_score < fit.upper)[middle].all()

    def test_certain_forecasts_leave_nothing_to_chance(self):
        fit = isotonic_reliability([0, 1, 1], [0.0, 1.0, 0.0])
        assert (fit.lower.tolist(), fit.upper.tolist()) == ([0.0, 1.0], [0.0, 1.0])

    def test_holds_calibrated_forecasters_as_often_as_it_says(self):
        inside = []
        for seed in range(40):
            fit = isotonic_reliability(*calibrated(3000, seed), level=0.8, random_state=seed)
            frequency = np.interp(fit.band_score, fit.score, fit.frequency)
            inside.append(np.mean((fit.lower - 1e-12 <= frequency) & (frequency <= fit.upper + 1e-12)))
        assert 0.76 < np.mean(inside) < 0.86

    def test_a_bold_forecaster_is_outside(self):
        y, proba = calibrated(5000, seed=2)
        bold = proba**3 / (proba**3 + (1 - proba) ** 3)
        fit = isotonic_reliability(y, bold)
        frequency = np.interp(fit.band_score, fit.score, fit.frequency)
        assert np.mean((fit.lower <= frequency) & (frequency <= fit.upper)) < 0.4

    def test_groups_of_rows_give_the_band_of_the_rows(self):
        y, proba = calibrated(20_000, seed=3)
        fit = isotonic_reliability(y, proba, n_resamples=300)
        proba = np.sort(proba)
        rng = np.random.default_rng(0)
        places = np.minimum(np.searchsorted(proba, fit.band_score), len(proba) - 1)
        refits = [
            isotonic_regression((rng.random(len(proba)) < proba).astype(float)).x[places] for _ in range(300)
        ]
        lower, upper = np.quantile(refits, [0.05, 0.95], axis=0)
        np.testing.assert_allclose(fit.lower, lower, atol=0.012)
        np.testing.assert_allclose(fit.upper, upper, atol=0.012)

    def test_narrows_with_the_rows(self):
        width = []
        for n in (1000, 8000, 64_000):
            fit = isotonic_reliability(*calibrated(n, seed=4))
            assert fit.n_band_rows == n
            width.append(np.mean(fit.upper - fit.lower))
        # The fit converges with the cube root of the number of rows: half the width with eight times as many.
        assert width[1] / width[0] == pytest.approx(0.5, abs=0.1)
        assert width[2] / width[1] == pytest.approx(0.5, abs=0.1)

    def test_a_wider_level_holds_a_narrower_one(self):
        y, proba = calibrated(400, seed=5)
        narrow, wide = (isotonic_reliability(y, proba, level=level) for level in (0.5, 0.95))
        assert (wide.lower <= narrow.lower).all()
        assert (narrow.upper <= wide.upper).all()

    def test_no_resamples_no_band(self):
        fit = isotonic_reliability([0, 1], [0.2, 0.8], n_resamples=0)
        assert len(fit.band_score) == len(fit.lower) == len(fit.upper) == 0

    def test_the_same_draws_from_the_same_seed(self):
        y, proba = calibrated(300, seed=6)
        assert_same(isotonic_reliability(y, proba), isotonic_reliability(y, proba, random_state=0))
        one, other = (isotonic_reliability(y, proba, random_state=seed) for seed in (1, 2))
        assert (one.lower != other.lower).any()
        legacy = isotonic_reliability(y, proba, random_state=np.random.RandomState(1))
        assert len(legacy.lower) == len(one.lower)


class TestWeights:
    @settings(max_examples=30)
    @given(rows=weighted_rows)
    def test_are_copies(self, rows):
        y, proba, weights = columns(rows)
        copies = np.repeat(np.arange(len(y)), weights)
        assert_same(
            isotonic_reliability(y, proba, sample_weight=weights, n_resamples=20),
            isotonic_reliability(y[copies], proba[copies], n_resamples=20),
        )

    def test_are_copies_also_of_many_rows(self):
        y, proba = calibrated(4000, seed=7)
        weights = np.random.default_rng(0).integers(0, 4, len(y))
        copies = np.repeat(np.arange(len(y)), weights)
        assert_same(
            isotonic_reliability(y, proba, sample_weight=weights, n_resamples=20),
            isotonic_reliability(y[copies], proba[copies], n_resamples=20),
        )

    def test_that_sum_to_one_are_rows_all_the_same(self):
        y, proba = calibrated(3000, seed=8)
        plain = isotonic_reliability(y, proba)
        shares = isotonic_reliability(y, proba, sample_weight=np.full(3000, 1 / 3000))
        assert shares.n_band_rows == 3000
        assert shares.weight[::2].sum() == pytest.approx(1)
        np.testing.assert_allclose(shares.frequency, plain.frequency)
        assert np.mean(shares.upper - shares.lower) == pytest.approx(
            np.mean(plain.upper - plain.lower), rel=0.05
        )

    def test_of_any_size_give_a_band(self):
        y, proba = calibrated(30, seed=9)
        for weights in (np.full(30, 1e-300), np.full(30, 1e300), np.geomspace(1e-300, 1e300, 30)):
            fit = isotonic_reliability(y, proba, sample_weight=weights)
            assert np.isfinite(fit.frequency).all()
            assert ((fit.lower >= 0) & (fit.lower <= fit.upper) & (fit.upper <= 1)).all()

    def test_heavy_rows_leave_little_to_chance(self):
        y, proba = calibrated(30, seed=9)
        fit = isotonic_reliability(y, proba, sample_weight=np.full(30, 1e12))
        np.testing.assert_allclose(fit.lower, fit.band_score, atol=1e-5)
        np.testing.assert_allclose(fit.upper, fit.band_score, atol=1e-5)


class TestByClass:
    PROBA = np.random.default_rng(0).dirichlet([1, 1, 1], 60)
    Y = np.random.default_rng(1).integers(0, 3, 60)

    def test_each_is_that_of_its_column(self):
        fits = isotonic_reliability_by_class(self.Y, self.PROBA, n_resamples=0)
        assert list(fits) == [0, 1, 2]
        for k, fit in fits.items():
            assert_same(fit, isotonic_reliability(k == self.Y, self.PROBA[:, k], n_resamples=0))

    @pytest.mark.parametrize(
        ("y", "classes", "n_columns", "labels"),
        [
            (["b", "a", "c"], None, 3, ["a", "b", "c"]),
            (["b", "a", "c"], ["c", "a", "b"], 3, ["c", "a", "b"]),
            ([0, 0, 0], None, 3, [0, 1, 2]),
            (["no", "yes", "no"], None, 2, ["no", "yes"]),
            ([-1, 1, 1], None, 2, [-1, 1]),
            (pd.Series(["b", "a", "c"], dtype="category"), None, 3, ["a", "b", "c"]),
        ],
    )
    def test_labels(self, y, classes, n_columns, labels):
        proba = np.full((3, n_columns), 1 / n_columns)
        fits = isotonic_reliability_by_class(y, proba, classes=classes, n_resamples=1)
        assert list(fits) == labels
        shares = [np.mean(np.array(y) == label) for label in labels]
        assert [fit.frequency[0] for fit in fits.values()] == pytest.approx(shares)

    def test_weights(self):
        weights = np.arange(60) % 3
        fits = isotonic_reliability_by_class(self.Y, self.PROBA, sample_weight=weights, n_resamples=5)
        copies = np.repeat(np.arange(60), weights)
        again = isotonic_reliability_by_class(self.Y[copies], self.PROBA[copies], n_resamples=5)
        for k, fit in fits.items():
            assert_same(fit, again[k])


class TestBadInput:
    @pytest.mark.parametrize("level", [0, 1, -0.1, 90, "0.9", None, np.nan])
    def test_level(self, level):
        with pytest.raises(ParameterError, match=f"level must be a number between 0 and 1; got {level!r}"):
            isotonic_reliability([0, 1], [0.2, 0.8], level=level)

    @pytest.mark.parametrize("number", [-1, 2.5, "10", None])
    def test_n_resamples(self, number):
        with pytest.raises(
            ParameterError, match=f"n_resamples must be a whole number, 0 or more; got {number!r}"
        ):
            isotonic_reliability_by_class([0, 1], [[0.2, 0.8]] * 2, n_resamples=number)

    def test_margins(self):
        with pytest.raises(DataError, match=r"proba must lie in \[0, 1\]; got -1\.5 in row 1"):
            isotonic_reliability([0, 1], [0.2, -1.5])

    def test_swapped(self):
        with pytest.raises(DataError, match=r"got the number 0\.125, which can name no class"):
            isotonic_reliability([0.125, 0.5], [0, 1])

    def test_missing(self):
        with pytest.raises(DataError, match=r"proba must be finite; got nan in row 0"):
            isotonic_reliability([0, 1], [np.nan, 0.5])

    def test_no_rows(self):
        with pytest.raises(DataError, match="labels must have at least one row; got none"):
            isotonic_reliability([], [])

    def test_lengths(self):
        with pytest.raises(DataError, match="must have the same number of rows; got 2 and 3"):
            isotonic_reliability([0, 1], [0.2, 0.8, 0.5])

    def test_one_column_by_class(self):
        with pytest.raises(DataError, match="proba must have one column per class"):
            isotonic_reliability_by_class([0, 1], [0.2, 0.8])

    def test_unknown_label(self):
        with pytest.raises(DataError, match=r"labels must be among the classes \['a', 'b', 'c'\]; got 'd'"):
            isotonic_reliability_by_class(["d"], [[0.2, 0.3, 0.5]], classes=["a", "b", "c"])
