"""What a fit may ask of the rows, and who answers.

A fit is a conversation, a generator that yields questions and returns what it learned. A question knows two
ways to be answered: of rows that are all in memory, where sorting and solvers have their fast paths, and of
rows that are read in passes, as a plan of tasks whose summaries merge. So a method never sees who answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._errors import ParameterError
from calibrant.passes._options import PassOptions
from calibrant.passes._rows import Rows
from calibrant.passes._summary import NoRowsError, Plan, Task, Totals
from calibrant.passes._together import together
from calibrant.passes._travel import travels

T = TypeVar("T")
A_co = TypeVar("A_co", covariant=True)


class Cases:
    """Checked rows as a method sees them.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, k)
        One score per row, or all scores of a row.
    truth : ndarray of shape (n,)
        Of one score whether the row is positive, as a truth value or, in memory, as a share; of several the
        number of its class.
    weight : ndarray of shape (n,) or None
        Positive weights; None where every row counts once.
    """

    __slots__ = ("_known", "scores", "truth", "weight")

    def __init__(self, scores: Any, truth: Any, weight: Float64Array | None) -> None:
        self.scores, self.truth, self.weight = scores, truth, weight
        self._known: dict[object, Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.scores, self.truth, self.weight))

    def weighted(self, weight: Float64Array) -> "Cases":
        """The same rows with weights; those of weight zero are absent."""
        if weight.all():
            return Cases(self.scores, self.truth, weight)
        present = weight > 0
        return Cases(self.scores[present], self.truth[present], weight[present])

    def once(self, name: object, make: Callable[[], T]) -> T:
        """What several questions need, made when it is first asked for."""
        if self._known is None:
            self._known = {}
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class RowsInPasses:
    """Rows that are read again and again.

    Attributes
    ----------
    problem : object
        Cuts the cases out of a batch: ``problem.cases(rows)``; it travels with the tasks.
    sample : Rows
        Some of the rows that it cuts them out of.
    options : PassOptions
        With all its settings filled in.
    """

    problem: Any
    sample: Rows
    options: PassOptions


class Question(ABC, Generic[A_co]):
    """Something that can be known of rows, wherever they are."""

    @abstractmethod
    def of_cases(self, cases: Cases) -> A_co:
        """Answer from rows in memory."""

    @abstractmethod
    def in_passes(self, rows: RowsInPasses) -> Plan[A_co]:
        """Answer in passes."""


Learning = Generator[Question[Any], Any, T]


def learn_from_cases(learning: Sequence[Learning[T]], cases: Sequence[Cases]) -> list[T]:
    """Run fits on rows in memory, each on its own: all of them ask, and then all are answered."""
    answers: dict[int, Any] = dict.fromkeys(range(len(learning)))
    learned: dict[int, T] = {}
    while answers:
        asked = {}
        for number, answer in answers.items():
            try:
                asked[number] = learning[number].send(answer)
            except StopIteration as end:
                learned[number] = end.value
        answers = {number: question.of_cases(cases[number]) for number, question in asked.items()}
    return [learned[number] for number in range(len(learning))]


def learning_plan(learning: Learning[T], rows: RowsInPasses) -> Plan[T]:
    """The plan of a fit on rows that are read in passes."""
    try:
        question = next(learning)
        while True:
            answer = yield from question.in_passes(rows)
            question = learning.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Several(Question[list[Any]]):
    """Questions that are answered in the same passes.

    Parameters
    ----------
    questions : tuple of Question
        The questions; the answer is the list of theirs.
    """

    questions: tuple[Question[Any], ...]

    def of_cases(self, cases: Cases) -> list[Any]:
        """One after the other."""
        return [question.of_cases(cases) for question in self.questions]

    def in_passes(self, rows: RowsInPasses) -> Plan[list[Any]]:
        """All at once."""
        return together([question.in_passes(rows) for question in self.questions])


@dataclass(frozen=True, eq=False)
class EveryRow(Question[Cases]):
    """The rows themselves, for a choice that needs all of them at once.

    Parameters
    ----------
    refusal : str
        What to say where rows do not fit into memory.
    """

    refusal: str

    def of_cases(self, cases: Cases) -> Cases:
        """They are there."""
        return cases

    def in_passes(self, rows: RowsInPasses) -> NoReturn:  # noqa: ARG002
        """They never are."""
        raise ParameterError(self.refusal)


class Sums(Question[Float64Array], ABC):
    """Sums over the rows, for methods that need no more: counts, moments, slopes of a loss.

    A subclass is a frozen dataclass of numbers, texts and arrays under the decorator `travels`, and says what
    is added up. In passes it is asked of every batch, wherever that is.
    """

    @abstractmethod
    def of_cases(self, cases: Cases) -> Float64Array:
        """The sums over some rows, one or more of them, as a vector whose length is always the same."""

    def in_passes(self, rows: RowsInPasses) -> Plan[Float64Array]:
        """Those of the batches, added up."""
        found: _Added = yield AddUp(rows.problem, self)
        if not len(found.sums):
            raise NoRowsError
        return found.sums


@travels
@dataclass(frozen=True, eq=False)
class AddUp(Task):
    """The pass that adds up what a `Sums` says of every batch."""

    problem: Any
    what: Any

    def empty(self) -> "_Added":
        """Nothing yet."""
        return _Added(self, 0)


class _Added(Totals):
    def update(self, rows: Rows) -> None:
        """Add what is said of these rows."""
        cases = self.task.problem.cases(rows)
        if len(cases.truth):
            self._grow(np.asarray(self.task.what.of_cases(cases), dtype=np.float64))

    def absorb(self, columns: Any) -> None:
        """Add the sums of another summary, or of several."""
        if len(columns["entry"]):
            self._grow(np.bincount(columns["entry"], columns["value"]).astype(np.float64))

    def _grow(self, sums: Float64Array) -> None:
        self.sums = sums.copy() if len(self.sums) == 0 else self.sums + sums
