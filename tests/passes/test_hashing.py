"""Hashes and folds are part of the format: the numbers here must never change."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from calibrant._core._errors import DataError
from calibrant.files._key_hashes import hash_column
from calibrant.passes import fold_of, hash_floats, hash_integers

MASK = (1 << 64) - 1


def mixed(number):
    """SplitMix64, in Python's own whole numbers."""
    z = (number + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def fnv(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def test_known_answers():
    # The first output of SplitMix64 from seed 0, and of FNV-1a for "a": both published.
    assert int(hash_integers(np.array([0]))[0]) == 0xE220A8397B1DCDAF == mixed(0)
    assert fnv(b"a") == 0xAF63DC4C8601EC8C
    assert int(hash_column(pa.array(["a"]), "k")[0]) == mixed(0xAF63DC4C8601EC8C)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.uint16()])
def test_whole_numbers_of_any_width_have_the_same_hash(kind):
    numbers = [0, 1, 7, 100]
    assert hash_column(pa.array(numbers, kind), "k").tolist() == [mixed(n) for n in numbers]


def test_negative_and_large_numbers():
    assert hash_column(pa.array([-1, -5]), "k").tolist() == [mixed(n & MASK) for n in (-1, -5)]
    assert hash_column(pa.array([MASK], pa.uint64()), "k").tolist() == [mixed(MASK)]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())]
)
def test_text_is_hashed_by_its_bytes(kind):
    words = ["", "a", "ä", "calibrant", "a much longer key 0123456789", "a"]
    values = [word.encode() for word in words] if kind == pa.binary() else words
    expected = [mixed(fnv(word.encode())) for word in words]
    assert hash_column(pa.array(values, kind), "k").tolist() == expected
    assert hash_column(pa.array(values, kind).slice(2, 3), "k").tolist() == expected[2:5]


def test_floats_times_and_truth_values():
    bits = np.array([1.5, -2.0]).view(np.uint64).tolist()
    assert hash_floats([np.array([1.5, -2.0])]).tolist() == [mixed(mixed(b)) for b in bits]
    zeros = hash_column(pa.array([0.0, -0.0]), "k")
    assert zeros[0] == zeros[1]
    days = pa.array([datetime.date(1970, 1, 3)])
    assert hash_column(days, "k").tolist() == [mixed(2)]
    assert hash_column(pa.array([True]), "k").tolist() == [mixed(1)]
    ticks = pa.array([datetime.datetime(1970, 1, 1, 0, 0, 1)], pa.timestamp("ms"))
    assert hash_column(ticks, "k").tolist() == [mixed(1000)]
    with pytest.raises(DataError, match="the key column 'k' must hold numbers, times or text; it holds list"):
        hash_column(pa.array([[1]]), "k")


def test_folds_are_even_and_stable():
    hashes = hash_integers(np.arange(100_000))
    for n_folds in (2, 5, 7):
        count = np.bincount(fold_of(hashes, n_folds), minlength=n_folds)
        assert len(count) == n_folds
        assert np.abs(count / 100_000 - 1 / n_folds).max() < 0.005
    assert fold_of(hashes[:8], 5).tolist() == [(mixed(n) >> 32) % 5 for n in range(8)]
