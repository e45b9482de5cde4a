"""Work side by side is the same work."""

import threading

import pytest

from calibrant.metrics import _threads
from calibrant.metrics._threads import THREADED_ROWS, side_by_side


@pytest.mark.parametrize("n_rows", [0, THREADED_ROWS])
def test_answers_are_in_the_order_of_the_items(n_rows):
    assert side_by_side(lambda item: item**2, range(50), n_rows) == [item**2 for item in range(50)]
    assert side_by_side(lambda item: item, [], n_rows) == []


def test_few_rows_stay_in_this_thread(monkeypatch):
    monkeypatch.setattr(_threads.os, "cpu_count", lambda: 8)
    here = {threading.get_ident()}
    assert set(side_by_side(lambda _: threading.get_ident(), range(4), THREADED_ROWS - 1)) == here
    assert not here & set(side_by_side(lambda _: threading.get_ident(), range(4), THREADED_ROWS))


def test_what_fails_there_fails_here():
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda item: 1 // item, [1, 0], THREADED_ROWS)
