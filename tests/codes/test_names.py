"""Codes by name."""

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.codes import all_pairs, check_code, exhaustive, one_vs_all, ordinal, random_dense


@pytest.mark.parametrize("build", [one_vs_all, all_pairs, exhaustive, ordinal])
def test_a_name_is_its_builder(build):
    np.testing.assert_array_equal(check_code(build.__name__, 4), build(4))


def test_random_names_take_the_seed():
    np.testing.assert_array_equal(check_code("random_dense", 4, random_state=2), random_dense(4, 2))
    assert check_code("random_sparse", 4, random_state=2).shape == (4, 30)


def test_own_matrices():
    code = check_code([[1, 0], [-1, 1], [0, -1]], 3)
    assert code.dtype == np.int8
    with pytest.raises(CalibrantError, match="one row per class, 4 in all; got 3 rows"):
        check_code(code, 4)
    with pytest.raises(CalibrantError, match="identical rows 0 and 1"):
        check_code([[1], [1], [-1]], 3)


def test_unknown_names():
    with pytest.raises(
        CalibrantError, match="'one_vs_all', 'all_pairs', .* or a matrix; got 'one_vs_many'; did"
    ):
        check_code("one_vs_many", 3)


def test_names_check_the_number_of_classes():
    with pytest.raises(CalibrantError, match="at least 2; got 1$"):
        check_code("all_pairs", 1)
