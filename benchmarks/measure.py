"""Timing two things in turn, so that a slow moment of the machine hits both."""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of a table: ours, a peer, and what was aimed at.

    `ratio` is peer over ours (how many times faster or smaller ours is) where `goal` starts with ">=",
    and ours over the yardstick where it starts with "<=".
    """

    case: str
    peer: str
    ours: float
    theirs: float
    unit: str
    ratio: float
    goal: str

    @property
    def holds(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        if not self.goal:
            return None
        sign, number = self.goal.split()
        return self.ratio >= float(number) if sign == ">=" else self.ratio <= float(number)


#: What tells the seconds.
Clock = Callable[[], float]


def seconds(work: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """Time one call."""
    gc.collect()
    start = clock()
    work()
    return clock() - start


def in_turn(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    repeats: int,
    clock: Clock = time.perf_counter,
) -> tuple[float, float]:
    """Median seconds of both, called alternately after one warm-up each."""
    ours(), theirs()
    times = [(seconds(ours, clock), seconds(theirs, clock)) for _ in range(repeats)]
    return tuple(statistics.median(column) for column in zip(*times, strict=True))  # type: ignore[return-value]


def faster(
    case: str,
    peer: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    goal: str = "",
    repeats: int = 5,
    clock: Clock = time.perf_counter,
) -> Row:
    """How many times faster ours is than a peer."""
    mine, other = in_turn(ours, theirs, repeats, clock)
    return Row(case, peer, mine, other, "s", other / mine, goal)


def within(
    case: str,
    yardstick: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    goal: str = "",
    repeats: int = 5,
    clock: Clock = time.perf_counter,
) -> Row:
    """How many yardsticks ours takes."""
    mine, other = in_turn(ours, theirs, repeats, clock)
    return Row(case, yardstick, mine, other, "s", mine / other, goal)


def peak_bytes(work: Callable[[], object]) -> int:
    """Greatest extra memory that Python and NumPy held during one call."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
