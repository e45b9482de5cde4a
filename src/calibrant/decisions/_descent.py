"""Learning the numbers of a rule one at a time, each exactly, in the order of the classes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._chance import Seed, generator
from calibrant._core._checks import is_whole, shown
from calibrant._core._errors import ParameterError
from calibrant.decisions._families import Coordinate, Family
from calibrant.decisions._sweep import intervals_of
from calibrant.decisions._training import TrainingRows


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What a descent came to.

    Attributes
    ----------
    matrix : ndarray of shape (k, k)
        The partition matrix.
    parameters : ndarray
        The numbers learned.
    coordinates : list
        The visits.
    costs : list of float
        Training cost after every visit.
    cost : float
        Training cost of the decisions in the end.
    """

    matrix: Float64Array
    parameters: Float64Array
    coordinates: Sequence[Coordinate]
    costs: Sequence[float]
    cost: float


def check_schedule(passes: object, restarts: object) -> None:
    """Refuse numbers of passes and restarts that cannot be."""
    for name, value, least in (("passes", passes, 1), ("restarts", restarts, 0)):
        if not is_whole(value, least):
            raise ParameterError(f"{name} must be a whole number, at least {least}; got {shown(value)}")


def best_descent(
    make: Callable[[IntArray, Float64Array | None], Family],
    rows: TrainingRows,
    cost: float,
    *,
    order: IntArray,
    passes: int,
    restarts: int,
    random_state: Seed,
    scatter: float = 0.0,
) -> Learned:
    """Learn in the order given, then in random orders; keep the best, and of equals the first.

    With `scatter`, a restart also begins elsewhere: `make` is given numbers of this standard deviation, one
    per class, and None at first.
    """
    best = None
    for visits, start in _starts(order, restarts, random_state, scatter):
        before = cost if start is None else None
        learned = _descend(partial(make, visits, start), rows, visits, before, passes)
        if best is None or learned.cost < best.cost:
            best = learned
    assert best is not None  # the order given is always there
    return best


def _starts(
    order: IntArray, restarts: int, random_state: Seed, scatter: float
) -> Iterator[tuple[IntArray, Float64Array | None]]:
    yield order, None
    rng = generator(random_state)
    for _ in range(restarts):
        yield rng.permutation(order), rng.normal(0.0, scatter, len(order)) if scatter else None


def _descend(
    make: Callable[[], Family], rows: TrainingRows, order: IntArray, before: float | None, passes: int
) -> Learned:
    """Visit every number in turn; `before` is the cost at the start where it is known."""
    family = make()
    before = rows.total(family.decide(rows.proba)) if before is None else before
    cost = before
    coordinates = list(family.coordinates(order)) * passes if len(order) > 1 else []
    costs = []
    for coordinate in coordinates:
        cost = _visit(family, rows, coordinate, cost)
        costs.append(cost)
    reached = rows.total(family.decide(rows.proba))
    if reached > before and not family.may_raise:
        # Where costs differ by more than the digits of a number, a step can be lost in rounding.
        start = make()
        unlearned = rows.total(start.decide(rows.proba))
        if unlearned < reached:
            family, reached, costs = start, unlearned, [unlearned] * len(costs)
    costs[-1:] = [reached] * len(costs[-1:])
    return Learned(family.matrix(), family.parameters(), coordinates, costs, reached)


def _visit(family: Family, rows: TrainingRows, coordinate: Coordinate, cost: float) -> float:
    """Move one number to where the training cost is least, and give that cost."""
    if family.admit(coordinate):
        cost = rows.total(family.decide(rows.proba))
    events, limits = family.events(coordinate), family.limits(coordinate)
    intervals = intervals_of(events, rows, family.tolerance, limits, cost)
    step, reached = family.pick(coordinate, intervals)
    # Rows that tie at the present value can be decided better, by the order of the classes, than on
    # either side of it. Then every step would raise the cost.
    if step and not family.may_raise and cost <= reached + intervals.doubt:
        cost = rows.total(family.decide(rows.proba))
        if cost < reached:
            return cost
    family.move(coordinate, step)
    return reached if step else cost
