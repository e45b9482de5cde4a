"""What a table or figure of a paper is, as data: its jobs, its rows, and what should be seen in them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

#: Quick is a look (minutes for all papers together); full is the papers' own protocol.
Scale = Literal["quick", "full"]


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work, run and kept on its own.

    Attributes
    ----------
    function : callable
        A function of a module, which takes the arguments by name and returns plain data (what JSON holds).
        The same arguments must give the same answer: seeds are arguments.
    arguments : mapping
        Plain data.
    """

    function: Callable[..., Any]
    arguments: Mapping[str, Any]

    def __call__(self) -> Any:
        return self.function(**self.arguments)


@dataclass(frozen=True, slots=True)
class Done:
    """A job, what it returned, and how many seconds of a processor it took."""

    arguments: Mapping[str, Any]
    answer: Any
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table.

    Attributes
    ----------
    labels : tuple of str
        What the line is about, such as the data set and the method.
    ours : tuple of float or None
        Our numbers, in the order of the table's measures.
    paper : tuple of float or None
        The paper's numbers in the same order; None where it has none.
    spread : tuple of float or None
        Standard deviation of ours over the splits, or the standard error where the conventions say so; empty
        where there is one split.
    error : tuple of float or None
        By how much ours and the paper's would differ by chance, as a standard error; empty where that is not
        known.
    """

    labels: tuple[str, ...]
    ours: tuple[float | None, ...]
    paper: tuple[float | None, ...] = ()
    spread: tuple[float | None, ...] = ()
    error: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A statement about the numbers that a faithful implementation should make true.

    Attributes
    ----------
    statement : str
        What should be seen.
    held : bool or None
        Whether it was; None where the data were not at hand.
    finding : str
        The numbers that decide it, and the likely reason where it was not held.
    """

    statement: str
    held: bool | None
    finding: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """A line or a set of points of a figure."""

    panel: str
    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: Literal["line", "points", "steps"] = "line"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """What an experiment found: the lines of its table, the lines of its figure, and its checks."""

    rows: tuple[Row, ...] = ()
    checks: tuple[Check, ...] = ()
    series: tuple[Series, ...] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table or figure of a paper.

    Attributes
    ----------
    name : str
        Paper and number, such as "ze02-table4".
    title : str
        What it shows, in a line.
    conventions : str
        How its numbers are to be read: Brier convention, base of the logarithm, positive class, protocol, and
        where our learner differs from the paper's.
    labels : tuple of str
        Headings of the columns that name a line.
    measures : tuple of str
        Headings of the numbers.
    jobs : callable
        The jobs of a scale.
    collect : callable
        From the finished jobs to the findings. Jobs that could not run are not among them.
    axes : mapping
        For figures: "x" and "y" name the axes, "log" may be "x", "y" or "xy"; "shape" is "simplex" where the
        corners of a triangle are three classes.
    """

    name: str
    title: str
    conventions: str
    labels: tuple[str, ...]
    measures: tuple[str, ...]
    jobs: Callable[[Scale], Sequence[Job]]
    collect: Callable[[Sequence[Done]], Findings]
    axes: Mapping[str, str] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """The short name of the paper."""
        return self.name.split("-", 1)[0]
