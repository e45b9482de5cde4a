"""A program: formulas as steps that make one number of a row each, to be printed in a language of rows.

A matrix is a list of such numbers, one per column, and a vector is one of them. What has no counterpart among
numbers is written with them: the rank of a class is how many come before it, an entry at a place that is
computed is a choice among all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import ROUNDING
from calibrant.maps._program_steps import Loop, Step
from calibrant.maps._tensor import Operand, Target, Tensor


class Program(Target):
    """Steps that make probabilities and a decision of the scores of a row.

    Parameters
    ----------
    n_columns : int
        How many scores a row has.
    name : str
        What it is printed as.
    loops : bool
        Whether that has loops.
    """

    most_dense = 0

    def __init__(self, n_columns: int, name: str, *, loops: bool = False) -> None:
        self.n_columns, self.name, self._loops = n_columns, name, loops  # type: ignore[misc]
        self._known: dict[tuple[object, ...], Step] = {}
        greatest = float(np.finfo(np.float64).max)
        #: What the scores must lie between for a row to be answered.
        self.limits = [(-greatest, greatest)] * n_columns

    def step(self, operator: str, *inputs: Step, value: Any = None) -> Step:
        """A step, the same for the same inputs, so that nothing is computed twice."""
        plain = value.tobytes() if isinstance(value, np.ndarray) else (type(value), repr(value))
        return self._known.setdefault((operator, inputs, plain), Step(operator, inputs, value))

    def number(self, value: float) -> Step:
        """A constant: a whole number stays one."""
        whole = isinstance(value, int | np.integer | bool | np.bool_)
        return self.step("number", value=int(value) if whole else float(value))

    @property
    def scores(self) -> "Cells":
        return Cells(self, tuple(self.step("score", value=column) for column in range(self.n_columns)))

    def beside(self, tensors: Sequence["Cells"]) -> "Cells":
        return Cells(self, tuple(step for each in tensors for step in each.steps))

    def spread(self, columns: Array) -> "Cells":
        return Cells(self, tuple(map(self.number, np.asarray(columns).tolist())))

    def iterated(
        self, state: Sequence["Cells"], step: Callable[[list[Any]], tuple[list[Any], Any]], most: int
    ) -> list["Cells"]:
        if not self._loops:
            self.refuse(
                f"answers must be combined without iteration to be written as {self.name}; got a combination "
                "that iterates for every row; use one score per class with combine='normalize' or "
                "'least_squares', or write it as ONNX or Python"
            )
        inside = [Cells(self, tuple(Step("state") for _ in each.steps)) for each in state]
        after, live = step(inside)
        loop = Loop(_flat(inside), _flat(after), live.steps[0], most)
        whole = Step("loop", (*_flat(state), *loop.outer()), loop)
        results = iter(Step("result", (whole,), number) for number in range(len(loop.inside)))
        return [Cells(self, tuple(next(results) for _ in each.steps)) for each in state]

    def refusing(self, proba: "Cells", probabilities: Sequence[bool]) -> "Cells":
        """Whoever prints the program looks at the limits first."""
        bounded = (-ROUNDING, 1 + ROUNDING)
        self.limits = [
            bounded if within else limits for within, limits in zip(probabilities, self.limits, strict=True)
        ]
        return proba


@dataclass(frozen=True, slots=True, eq=False)
class Cells(Tensor):
    """The numbers of a row: a matrix of one column or more, or a vector, which has one."""

    program: Program
    steps: tuple[Step, ...]
    is_vector: bool = False

    @property
    def target(self) -> Program:
        return self.program

    def __add__(self, other: Operand) -> "Cells":
        return self._with("+", other)

    def __sub__(self, other: Operand) -> "Cells":
        return self._with("-", other)

    def __rsub__(self, other: Operand) -> "Cells":
        return self._of(other)._with("-", self)

    def __mul__(self, other: Operand) -> "Cells":
        return self._with("*", other)

    def __truediv__(self, other: Operand) -> "Cells":
        return self._with("/", other)

    def __rtruediv__(self, other: Operand) -> "Cells":
        return self._of(other)._with("/", self)

    def is_above(self, other: Operand) -> "Cells":
        return self._with(">", other)

    def is_at_least(self, other: Operand) -> "Cells":
        return self._with(">=", other)

    def is_at_most(self, other: Operand) -> "Cells":
        return self._with("<=", other)

    def is_equal(self, other: Operand) -> "Cells":
        return self._with("=", other)

    def at_least(self, low: Operand) -> "Cells":
        return self._with("max", low)

    def at_most(self, high: Operand) -> "Cells":
        return self._with("min", high)

    def choose(self, if_true: Operand, if_false: Operand) -> "Cells":
        return self._each("choose", self._of(if_true), self._of(if_false))

    def exp(self) -> "Cells":
        return self._each("exp")

    def log(self) -> "Cells":
        return self._each("log")

    def sqrt(self) -> "Cells":
        return self._each("sqrt")

    def floor(self) -> "Cells":
        return self._each("floor")

    def size(self) -> "Cells":
        return self._each("abs")

    def intervals(self, edges: Sequence[Array]) -> "Places":
        starts = np.cumsum([0, *(len(each) + 1 for each in edges[:-1])]).tolist()
        places = [self._place(step, each) for step, each in zip(self.steps, edges, strict=True)]
        return Places(self.program, tuple(places), self.is_vector, tuple(starts))

    def intervals_of_all(self, edges: Array) -> "Places":
        places = [self._place(step, edges) for step in self.steps]
        return Places(self.program, tuple(places), self.is_vector, (0,) * len(places))

    def _place(self, step: Step, edges: Array) -> Step:
        return self.program.step("place", step, value=np.asarray(edges, dtype=np.float64))

    def as_whole(self) -> "Cells":
        return self

    def in_table(self, values: Array) -> "Cells":
        """Places that were computed otherwise than by `intervals` are chosen among all."""
        return Cells(
            self.program, tuple(self._chosen(step, values.tolist()) for step in self.steps), self.is_vector
        )

    def _chosen(self, place: Step, values: Sequence[Any]) -> Step:
        """One of several values, of which the last is meant where no other is."""
        program = self.program
        steps = [each if isinstance(each, Step) else program.number(each) for each in values]
        found = steps[-1]
        for number in range(len(steps) - 2, -1, -1):
            is_it = program.step("=", place, program.number(number))
            found = program.step("choose", is_it, steps[number], found)
        return found

    def columns(self, places: Sequence[int] | Array) -> "Cells":
        return Cells(self.program, tuple(self.steps[int(place)] for place in places))

    def column(self, place: int) -> "Cells":
        return Cells(self.program, (self.steps[place],), is_vector=True)

    def as_vector(self) -> "Cells":
        return Cells(self.program, self.steps, is_vector=True)

    def as_column(self) -> "Cells":
        return Cells(self.program, self.steps)

    def times(self, matrix: Float64Array) -> "Cells":
        return self.program.beside([self._weighted(column) for column in np.asarray(matrix).T])

    def _weighted(self, weights: Float64Array) -> "Cells":
        """The sum of the columns, each times a number: without those that are zero."""
        total: Cells | None = None
        for step, weight in zip(self.steps, weights.tolist(), strict=True):
            if weight:
                one = Cells(self.program, (step,))
                part = one if weight == 1 else one * weight
                total = part if total is None else total + part
        return self.program.spread(np.zeros(1)) if total is None else total

    def row_sums(self) -> "Cells":
        return self._along("+")

    def row_max(self) -> "Cells":
        return self._along("max")

    def row_min(self) -> "Cells":
        return self._along("min")

    def _along(self, operator: str) -> "Cells":
        found = self.steps[0]
        for step in self.steps[1:]:
            found = self.program.step(operator, found, step)
        return Cells(self.program, (found,))

    def divided_by_sum(self, instead: Operand) -> "Cells":
        total = self.row_sums()
        empty = total.is_equal(0.0)
        return empty.choose(instead, self / empty.choose(1.0, total))

    def running_sums(self, *, exclusive: bool = False) -> "Cells":
        sums = [self.program.number(0.0)]
        for step in self.steps:
            sums.append(self.program.step("+", sums[-1], step) if len(sums) > 1 else step)
        return Cells(self.program, tuple(sums[:-1] if exclusive else sums[1:]))

    def first_true(self) -> "Cells":
        program = self.program
        found = program.number(len(self.steps) - 1)
        for number in range(len(self.steps) - 2, -1, -1):
            found = program.step("choose", self.steps[number], program.number(number), found)
        return Cells(program, (found,), is_vector=True)

    def first_greatest(self) -> "Cells":
        return self.is_at_least(self.row_max()).first_true()

    def n_true(self) -> "Cells":
        return self.choose(np.array(1), np.array(0)).row_sums()

    def ranked(self, n_ranks: int) -> tuple["Cells", "Leaders"]:
        leaders = Leaders(self.program, self._ranks(), False, tuple(range(n_ranks)))
        return self.gathered(leaders), leaders

    def _ranks(self) -> tuple[Step, ...]:
        """The rank of every column: how many come before it."""
        program, one, zero = self.program, self.program.number(1), self.program.number(0)

        def rank(column: int) -> Step:
            before = [zero]
            for other, step in enumerate(self.steps):
                if other != column:
                    sooner = program.step(">=" if other < column else ">", step, self.steps[column])
                    before.append(program.step("choose", sooner, one, zero))
            return Cells(program, tuple(before[1:] or before)).row_sums().steps[0]

        return tuple(map(rank, range(len(self.steps))))

    def gathered(self, places: "Cells") -> "Cells":
        if isinstance(places, Leaders):
            return places.of_classes(self.steps)
        return Cells(self.program, tuple(self._chosen(step, self.steps) for step in places.steps))

    def scattered(self, places: "Leaders", values: "Cells") -> "Cells":
        """What stands at the rank of every class, if that is one of these."""
        program, steps = self.program, list(self.steps)
        for column, own in enumerate(places.steps):
            for rank, value in zip(places.ranks, values.steps, strict=True):
                is_it = program.step("=", own, program.number(rank))
                steps[column] = program.step("choose", is_it, value, steps[column])
        return Cells(program, tuple(steps))

    def _with(self, operator: str, other: Operand) -> "Cells":
        return self._each(operator, self._of(other))

    def _each(self, operator: str, *others: "Cells") -> "Cells":
        """An operation on every column, where a single one goes with all."""
        parts = (self, *others)
        width = max(len(each.steps) for each in parts)
        columns = zip(*(each.steps * (width // len(each.steps)) for each in parts), strict=True)
        is_vector = all(each.is_vector for each in parts)
        return Cells(self.program, tuple(self.program.step(operator, *each) for each in columns), is_vector)

    def _of(self, operand: Operand) -> "Cells":
        if isinstance(operand, Cells):
            return operand
        array = np.asarray(operand)
        return Cells(self.program, tuple(map(self.program.number, array.ravel().tolist())), array.ndim == 0)


@dataclass(frozen=True, slots=True, eq=False)
class Places(Cells):
    """Places in intervals, those of a column counted from its own start."""

    starts: tuple[int, ...] = ()

    def in_table(self, values: Array) -> Cells:
        steps = [
            self.program.step("take", step, value=values[start : start + len(step.value) + 1])
            for step, start in zip(self.steps, self.starts, strict=True)
        ]
        return Cells(self.program, tuple(steps), self.is_vector)


@dataclass(frozen=True, slots=True, eq=False)
class Leaders(Cells):
    """The columns at some ranks, known by the rank of every column."""

    ranks: tuple[int, ...] = ()

    def columns(self, places: Sequence[int] | Array) -> "Leaders":
        return Leaders(self.program, self.steps, False, tuple(self.ranks[int(place)] for place in places))

    def in_table(self, values: Array) -> Cells:
        return self.of_classes(tuple(map(self.program.number, values.tolist())))

    def of_classes(self, steps: Sequence[Step]) -> Cells:
        """What belongs to the column at every rank."""
        program = self.program

        def at(rank: int) -> Step:
            found = steps[-1]
            for own, step in zip(self.steps[-2::-1], steps[-2::-1], strict=True):
                found = program.step("choose", program.step("=", own, program.number(rank)), step, found)
            return found

        return Cells(program, tuple(map(at, self.ranks)))


def _flat(matrices: Sequence[Cells]) -> tuple[Step, ...]:
    return tuple(step for each in matrices for step in each.steps)


class Chain(NamedTuple):
    """A program with what it is for: its probabilities, and the number of its decision if it has one."""

    program: Program
    proba: tuple[Step, ...]
    decision: Step | None

    @property
    def results(self) -> tuple[Step, ...]:
        """All that is asked for."""
        return self.proba if self.decision is None else (*self.proba, self.decision)
