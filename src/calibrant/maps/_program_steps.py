"""One step of a program, and the order and number of those that results need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One number of a row.

    Attributes
    ----------
    operator : str
        What is done: "score" (value: which), "number", "+", "-", "*", "/", "max", "min", "exp", "log",
        "floor", "abs", ">", ">=", "<=", "=", "choose", "place" (how many edges are below, value: the edges),
        "take" (the entry of a table at a place, value: the table); "loop" (value: a `Loop`), "state" (inside
        a loop), "result" (of a loop, value: which).
    inputs : tuple of Step
        What it is done to.
    value : object
        What else it needs.
    """

    operator: str
    inputs: tuple["Step", ...] = ()
    value: Any = None


class Loop(NamedTuple):
    """Numbers that are changed step by step, until a condition does not hold any more."""

    inside: tuple[Step, ...]
    after: tuple[Step, ...]
    goes_on: Step
    most: int

    def outer(self) -> list[Step]:
        """What its steps need that does not change."""
        moving: set[Step] = set()
        needed: dict[Step, None] = {}
        for step in n_uses((*self.after, self.goes_on)):
            if step in self.inside or any(each in moving for each in step.inputs):
                moving.add(step)
                needed |= dict.fromkeys(each for each in step.inputs if each not in moving)
        return [each for each in (*needed, *self.after, self.goes_on) if each not in moving]


def n_uses(results: Sequence[Step]) -> dict[Step, int]:
    """How often every step is needed, in an order in which each comes after its inputs."""
    uses: dict[Step, int] = {}
    order: dict[Step, None] = {}
    waiting = [(step, False) for step in reversed(results)]
    for step in results:
        uses[step] = uses.get(step, 0) + 1
    while waiting:
        step, ready = waiting.pop()
        if step in order:
            continue
        if ready:
            order[step] = None
            for each in step.inputs:
                uses[each] = uses.get(each, 0) + 1
        else:
            waiting.append((step, True))
            waiting.extend((each, False) for each in reversed(step.inputs))
    return {step: uses[step] for step in order}
