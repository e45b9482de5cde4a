"""Checks at the border that no calibrator or metric exercises in full."""

import numpy as np
import pytest

from calibrant._core._arrays import as_floats
from calibrant._core._checks import (
    check_binary_labels,
    check_class_labels,
    check_option,
    check_probabilities,
    check_score_matrix,
    positions_of,
)
from calibrant._core._errors import CalibrantError, DataError, MissingExtraError, ParameterError


def test_errors_have_one_root_that_is_a_value_error():
    for kind in (DataError, ParameterError, MissingExtraError):
        assert issubclass(kind, CalibrantError)
    assert issubclass(CalibrantError, ValueError)
    missing = MissingExtraError("matplotlib", "plots")
    assert isinstance(missing, ImportError)
    assert str(missing) == (
        "this needs the package matplotlib; it is not installed; run: pip install 'calibrant[plots]'"
    )


def test_integers_and_booleans_are_numbers():
    assert as_floats([1, 2], "x").dtype == np.float64
    assert as_floats(np.array([True, False]), "x").tolist() == [1.0, 0.0]
    assert as_floats(np.array([1.0], np.float16), "x").dtype == np.float64
    with pytest.raises(DataError, match="x must be numbers; got values of type complex128"):
        as_floats([1j], "x")


def test_positions_in_classes_of_any_order():
    assert positions_of(np.array(["b", "a", "b"]), np.array(["c", "b", "a"])).tolist() == [1, 2, 1]
    with pytest.raises(DataError, match=r"among the classes \['c', 'a'\]; got 'b' in row 1"):
        positions_of(np.array(["a", "b"]), np.array(["c", "a"]))
    with pytest.raises(DataError, match="labels must be of the type of the classes"):
        positions_of(np.array([1, None], object), np.array(["c", "a"], object))


def test_two_classes_may_be_named():
    classes, positive = check_binary_labels(["spam", "spam"], classes=["ham", "spam"])
    assert classes.tolist() == ["ham", "spam"]
    assert positive.all()
    with pytest.raises(ParameterError, match=r"classes must be 2 distinct labels.*got \['ham', 'ham'\]"):
        check_binary_labels(["spam"], classes=["ham", "ham"])


def test_whole_numbers_are_columns():
    assert check_class_labels([2, 0], 3).tolist() == [2, 0]
    assert check_class_labels([2.0, 0.0], 3).tolist() == [2, 0]
    with pytest.raises(DataError, match="column numbers from 0 to 2; got 3; pass classes="):
        check_class_labels([1, 3], 3)
    assert check_class_labels([1, 3], 3, classes=[1, 2, 3]).tolist() == [0, 2]


def test_other_labels_must_all_occur():
    assert check_class_labels(["c", "a", "b"], 3).tolist() == [2, 0, 1]
    with pytest.raises(DataError, match="one value per column, 3 in all; got 2; pass classes="):
        check_class_labels(["c", "a"], 3)


def test_rounding_may_carry_a_probability_a_little_outside():
    assert check_probabilities([-1e-12, 1 + 1e-12]).tolist() == [0.0, 1.0]
    with pytest.raises(DataError, match=r"must lie in \[0, 1\]; got 1.1 in row 1"):
        check_probabilities([0.5, 1.1])
    with pytest.raises(DataError, match=r"must have shape \(n,\) or \(n, k\); got shape \(1, 1, 1\)"):
        check_probabilities([[[0.5]]])
    assert check_probabilities([]).shape == (0,)


def test_score_matrices():
    assert check_score_matrix([[1, 2], [3, 4]]).shape == (2, 2)
    with pytest.raises(DataError, match=r"with k >= 2; got shape \(2,\)"):
        check_score_matrix([1, 2])
    with pytest.raises(DataError, match="one column per class, 3 in all; got 2 columns"):
        check_score_matrix([[1, 2]], 3)
    with pytest.raises(DataError, match="got nan in row 1, column 0; drop"):
        check_score_matrix([[1, 2], [np.nan, 4]])


def test_an_option_says_what_is_allowed():
    check_option("kind", None, (None, "a"))
    with pytest.raises(ParameterError, match="kind must be one of None, 'a'; got 'b'"):
        check_option("kind", "b", (None, "a"))


def test_numbers_that_64_bits_cannot_hold_are_refused_and_not_cut():
    for values, words in (
        ([10**400], "x must be numbers; got a number beyond 1e308 in row 0"),
        ([1.0, 10**400], "got a number beyond 1e308 in row 1"),
        (np.array([0, np.longdouble("1e4000")]), r"x must fit into 64 bits; got 1e\+4000 .* in row 1"),
        (np.array([np.longdouble("1e-4000")]), "x must fit into 64 bits; got 1e-4000"),
        (np.array([np.longdouble(1) / 3]), r"x must fit into 64 bits; got 0.333.*call .astype\(float\)"),
        ([1j], "x must be numbers"),
        (np.array([1j, None], dtype=object), "x must be numbers; got 1j in row 0"),
    ):
        with pytest.raises(DataError, match=words):
            as_floats(values, "x")
    exact = np.array([0.5, 3.0, -0.1], dtype=np.longdouble)
    assert as_floats(exact, "x").tolist() == [0.5, 3.0, -0.1]
    assert as_floats(np.array([np.longdouble("nan")]), "x").shape == (1,)


@pytest.mark.parametrize("values", [None, {}, set(), len, dict, (n for n in "ab"), object()])
def test_what_is_no_array_is_named(values):
    with pytest.raises(DataError, match=f"x must be a list, an array.*got {type(values).__name__}"):
        as_floats(values, "x")
