"""Batches that are read ahead are the same batches, and errors come where they belong."""

import threading

import pytest

from calibrant.files._ahead import ahead


def test_the_same_batches_in_the_same_order():
    assert list(ahead(iter(range(100)))) == list(range(100))
    assert list(ahead(iter([]))) == []


def test_one_batch_is_read_ahead_and_no_more():
    read = []

    def batches():
        for number in range(10):
            read.append(number)
            yield number

    given = ahead(batches())
    assert next(given) == 0
    assert next(given) == 1  # so that the second has been read
    assert len(read) <= 3
    given.close()


def test_an_error_comes_after_the_batches_before_it():
    def batches():
        yield 1
        yield 2
        raise ValueError("the third cannot be read")

    given = ahead(batches())
    assert [next(given), next(given)] == [1, 2]
    with pytest.raises(ValueError, match="the third cannot be read"):
        next(given)


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_whoever_stops_early_leaves_no_thread(taken):
    before, closed = threading.active_count(), []

    def batches():
        try:
            yield from range(1000)
        finally:
            closed.append(True)

    given = ahead(batches())
    for _ in range(taken):
        next(given)
    given.close()
    del given
    assert threading.active_count() == before
    assert closed == ([True] if taken else [])
