"""What learners are given, learned from the training rows alone."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from calibrant.experiments._data_preparation import CategoryCodes, DesignMatrix, Indicators
from calibrant.learners import EqualWidthQuantizer

NAN = np.nan
NOMINAL = np.array([True, False])
TRAIN = np.array([[0, 0.0], [2, 21.0], [NAN, NAN], [2, 10.5]])


def test_codes_of_names_levels_of_numbers_and_what_is_missing():
    codes = CategoryCodes(NOMINAL).fit(TRAIN)
    assert codes.transform(TRAIN).tolist() == [[0, 0], [2, 20], [-1, -1], [2, 10]]
    assert codes.transform(np.array([[1, 99.0], [NAN, -5.0]])).tolist() == [[1, 20], [-1, 0]]


def test_levels_are_those_of_the_quantiser():
    X = np.random.default_rng(0).normal(size=(50, 2))
    codes = CategoryCodes(np.array([False, False])).fit(X).transform(X)
    np.testing.assert_array_equal(codes, EqualWidthQuantizer().fit(X).transform(X))


def test_levels_by_rank_hold_equally_many_rows():
    X = np.exp(np.random.default_rng(0).normal(size=(210, 1)))
    codes = CategoryCodes(np.array([False]), by_rank=True).fit(X).transform(X)
    assert np.unique(codes, return_counts=True)[1].tolist() == [10] * 21


def test_a_number_that_is_always_missing_is_one_category():
    X = np.array([[NAN], [NAN]])
    codes = CategoryCodes(np.array([False])).fit(X)
    assert codes.transform(np.array([[NAN], [3.0]])).tolist() == [[-1], [-1]]


def test_indicators_are_zero_for_what_training_did_not_have():
    indicators = Indicators().fit(np.array([[0, 5], [1, 5]]))
    assert indicators.transform(np.array([[1, 5], [2, 7]])).toarray().tolist() == [[0, 1, 1], [0, 0, 0]]


def test_the_design_matrix_has_standardised_numbers_and_a_column_per_name():
    design = DesignMatrix(NOMINAL).fit(TRAIN)
    known = ~np.isnan(TRAIN[:, 1])
    expected = StandardScaler().fit_transform(TRAIN[known, 1:])[:, 0]
    given = design.transform(TRAIN)
    np.testing.assert_allclose(given[known, 0], expected)
    np.testing.assert_array_equal(given[:, 1:], [[1, 0], [0, 1], [0, 0], [0, 1]])
    assert given[2, 0] == 0
    np.testing.assert_array_equal(design.transform(np.array([[1.0, NAN]])), [[0, 0, 0]])


def test_a_constant_or_missing_number_is_zero():
    design = DesignMatrix(np.array([False, False])).fit(np.array([[3.0, NAN], [3.0, NAN]]))
    np.testing.assert_array_equal(design.transform(np.array([[3.0, NAN], [NAN, NAN]])), np.zeros((2, 2)))
