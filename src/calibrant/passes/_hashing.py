"""Numbers that look random and depend on nothing but a key: the same on every engine and every platform.

A key becomes a hash of 64 bits:

- A whole number, a truth value, a date or a time is taken as a signed integer of 64 bits (dates and times as
  their count of days or ticks since 1970), and `mix` of it is the hash. `mix` is the finaliser of SplitMix64
  (Steele, Lea and Flood, 2014) after the addition of the golden ratio, 0x9E3779B97F4A7C15.
- A floating point number is taken as the 64 bits of its double precision form; -0.0 as 0.0.
- Text is taken as its bytes in UTF-8, and these, as those of binary data, by FNV-1a of 64 bits: from
  0xCBF29CE484222325, for every byte: exclusive or, then times 0x100000001B3. `mix` of the result is the hash.
- Several keys of a row: h = mix(h xor hash of the next), from h = 0.

The fold of a row is the upper half of its hash, a number of 32 bits, modulo the number of folds. All other
arithmetic is modulo 2^64.
"""

from collections.abc import Sequence

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._mix import Hashes, mix


def fold_of(hashes: Hashes, n_folds: int) -> IntArray:
    """Number of the fold of every hash."""
    return ((hashes >> np.uint64(32)) % np.uint64(n_folds)).astype(np.intp)


def hash_integers(numbers: Array) -> Hashes:
    """Hash whole numbers."""
    return mix(np.ascontiguousarray(numbers, dtype=np.int64).view(np.uint64))


def hash_floats(columns: Sequence[Float64Array]) -> Hashes:
    """Hash the floating point numbers of every row."""
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        bits = np.ascontiguousarray(column + 0.0, dtype=np.float64).view(np.uint64)
        hashes = mix(hashes ^ mix(bits))
    return hashes
