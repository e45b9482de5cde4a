"""The steps of a program as columns of queries, each of which reads the one before."""

import math
from collections.abc import Sequence

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant.maps import Step
from calibrant.models._sql_dialects import Dialect

#: Nothing longer stands inside something else.
LONGEST = 4000
#: Steps of up to so many intervals are a tree of CASE; more are a table.
MOST_IN_CASE = 128
#: Exponentials are those of numbers no further from 0, as some databases raise an error where others go to 0.
MOST_EXPONENT = 700.0
BINARY = {"+", "-", "*", "/", ">", ">=", "<=", "="}


def tree(score: str, edges: Float64Array, values: Sequence[str], dialect: Dialect) -> str:
    """The value of the interval that a score is in, as a binary tree: an edge belongs to the one below it."""
    if not len(edges) or len(set(values)) == 1:
        return values[0]
    middle = (len(edges) - 1) // 2
    below = tree(score, edges[:middle], values[: middle + 1], dialect)
    above = tree(score, edges[middle + 1 :], values[middle + 1 :], dialect)
    return f"CASE WHEN {score} <= {dialect.number(float(edges[middle]))} THEN {below} ELSE {above} END"


class Lookup:
    """A table of intervals, found by the block of a score, and in this by comparing.

    The block is what a database can join by; without it, every row would be compared with every interval.
    There are about as many blocks as a block has intervals.
    """

    def __init__(self, name: str, score: str, edges: Float64Array) -> None:
        self.name, self.score, self.edges = name, score, edges
        self._block = np.arange(len(edges) + 1) // math.isqrt(len(edges) + 1)
        self._columns: dict[bytes, tuple[str, Array]] = {}

    def block(self, dialect: Dialect) -> str:
        """The block of the score."""
        starts = np.flatnonzero(np.diff(self._block))
        return tree(self.score, self.edges[starts], [str(each) for each in range(len(starts) + 1)], dialect)

    def column(self, values: Array) -> str:
        """A column with these values."""
        name, _ = self._columns.setdefault(values.tobytes(), (f"v{len(self._columns)}", values))
        return f"{self.name}.{name}"

    def table(self, dialect: Dialect) -> str:
        """The table: blocks, between which numbers an interval lies, and its values."""
        greatest = float(np.finfo(np.float64).max)
        edges = [dialect.number(each) for each in (*self.edges.tolist(), greatest)]
        columns = [[dialect.number(each) for each in values.tolist()] for _, values in self._columns.values()]
        rows = zip(map(str, self._block), [dialect.minus_infinity, *edges[:-1]], edges, *columns, strict=True)
        names = ", ".join(["block", "low", "high", *(name for name, _ in self._columns.values())])
        body = ",\n  ".join(f"({', '.join(row)})" for row in rows)
        return f"{self.name}({names}) AS (VALUES\n  {body})"

    def join(self, block: str) -> str:
        """How a row finds its interval."""
        own = self.name
        within = f"{self.score} > {own}.low AND {self.score} <= {own}.high"
        return f"\n  LEFT JOIN {own} ON {own}.block = {block} AND {within}"


def expression(step: Step, texts: Sequence[str], dialect: Dialect) -> str:
    """A step of the texts of its inputs; look-ups are not among them."""
    operator = step.operator
    if operator == "number":
        return dialect.number(step.value)
    if operator == "choose":
        return f"CASE WHEN {texts[0]} THEN {texts[1]} ELSE {texts[2]} END"
    if operator in BINARY:
        return f"({texts[0]} {operator} {texts[1]})"
    function = dialect.functions.get(operator, operator)
    called = f"{function}({', '.join(texts)})"
    if operator == "exp":
        most, least = dialect.functions.get("min", "min"), dialect.functions.get("max", "max")
        bound = dialect.number(MOST_EXPONENT)
        return f"exp({most}({least}({texts[0]}, (-{bound})), {bound}))"
    if operator == "log":
        return f"CASE WHEN {texts[0]} > {dialect.number(0.0)} THEN {called} ELSE {dialect.minus_infinity} END"
    return called
