"""Margins in [0, 1]: the range comes from the reference, and order is kept."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant._core._errors import DataError, ParameterError
from calibrant.metrics import rescale_margin

margins = st.lists(st.floats(-100, 100), min_size=1, max_size=10)


@settings(max_examples=40, deadline=None)
@given(scores=margins, reference=margins)
@pytest.mark.parametrize("mode", ["symmetric", "minmax"])
def test_what_a_loop_gives(mode, scores, reference):
    hi = max(map(abs, reference)) if mode == "symmetric" else max(reference)
    lo = -hi if mode == "symmetric" else min(reference)
    want = [0.5 if lo == hi else (min(max(f, lo), hi) - lo) / (hi - lo) for f in scores]
    got = rescale_margin(scores, reference=reference, mode=mode)
    np.testing.assert_allclose(got, want, atol=1e-12)
    assert got.min() >= 0
    assert got.max() <= 1
    assert np.all(np.diff(got[np.argsort(scores)]) >= 0)


def test_the_range_is_that_of_the_training_scores():
    assert rescale_margin([-9.0, 0.0, 1.0], reference=[-2.0, 1.0]).tolist() == [0.0, 0.5, 0.75]
    assert rescale_margin([1.0, 2.0, 3.0], mode="minmax").tolist() == [0.0, 0.5, 1.0]
    assert rescale_margin([], reference=[1.0]).tolist() == []


def test_no_range():
    assert rescale_margin([0.0, 0.0]).tolist() == [0.5, 0.5]
    assert rescale_margin([-1.0, 5.0], reference=[0.0]).tolist() == [0.5, 0.5]
    assert rescale_margin([3.0, 7.0], reference=[5.0, 5.0], mode="minmax").tolist() == [0.5, 0.5]


def test_what_it_refuses():
    with pytest.raises(DataError, match="scores must have at least one row"):
        rescale_margin([])
    with pytest.raises(DataError, match="reference must have at least one row"):
        rescale_margin([1.0], reference=[])
    with pytest.raises(DataError, match="reference must be finite; got nan in row 1"):
        rescale_margin([1.0], reference=[0.0, np.nan])
    with pytest.raises(DataError, match=r"scores must be one column; got shape \(1, 2\)"):
        rescale_margin([[1.0, 2.0]])
    with pytest.raises(ParameterError, match="mode must be one of 'symmetric', 'minmax'; got 'rank'"):
        rescale_margin([1.0], mode="rank")
