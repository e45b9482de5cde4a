"""The ready-made code matrices."""

from itertools import product

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.codes import all_pairs, exhaustive, min_distance, one_vs_all, ordinal, row_distances
from golden import assert_golden, golden_cases

BUILDERS = {"one_vs_all": one_vs_all, "all_pairs": all_pairs, "exhaustive": exhaustive, "ordinal": ordinal}


@pytest.mark.parametrize(
    ("build", "case"),
    [
        pytest.param(build, *case.values, id=case.id)
        for name, build in BUILDERS.items()
        for case in golden_cases("codes", name)
    ],
)
def test_golden(build, case):
    code = build(case["in"]["k"])
    assert code.dtype == np.int8
    assert_golden(code.tolist(), case["out"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("codes", "min_distance"))
def test_golden_distance(case):
    assert_golden(min_distance(np.array(case["in"]["M"])), case["out"], case["tol"])


@pytest.mark.parametrize("k", range(2, 9))
def test_exhaustive_is_every_split_once(k):
    columns = {tuple(column) for column in exhaustive(k).T.tolist()}
    splits = {(1, *rest) for rest in product((-1, 1), repeat=k - 1) if -1 in rest}
    assert columns == splits
    assert exhaustive(k).shape[1] == len(splits) == 2 ** (k - 1) - 1
    assert min_distance(exhaustive(k)) == 2.0 ** (k - 2)


def test_all_pairs_has_every_pair_once():
    code = all_pairs(6)
    pairs = [(int(np.argmax(column)), int(np.argmin(column))) for column in code.T]
    assert pairs == [(i, j) for i in range(6) for j in range(i + 1, 6)]
    assert (np.abs(code).sum(axis=0) == 2).all()


def test_distance_counts_a_zero_as_one_half():
    np.testing.assert_array_equal(row_distances(np.array([[1, 1, 0], [1, -1, 1]])), [[0.5, 1.5], [1.5, 0.0]])


@pytest.mark.parametrize("build", BUILDERS.values())
@pytest.mark.parametrize("k", [1, 0, -3, 2.0, True, "3", None, np.float64(3)])
def test_number_of_classes(build, k):
    shown = repr(k.item() if isinstance(k, np.generic) else k)
    with pytest.raises(CalibrantError, match=f"at least 2; got {shown}$"):
        build(k)


def test_numpy_whole_numbers_are_numbers_of_classes():
    np.testing.assert_array_equal(all_pairs(np.int64(3)), all_pairs(3))


def test_too_many_classes_for_exhaustive():
    assert exhaustive(15).shape == (15, 16383)
    with pytest.raises(
        CalibrantError, match="at most 15 .* got 16, which needs 32767 columns; use random_dense"
    ):
        exhaustive(16)
