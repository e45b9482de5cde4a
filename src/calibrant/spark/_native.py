"""A fitted model as columns of Spark: what it computes of a row runs where the rows are, without Python.

A model that only compares its score answers the same for all scores of an interval: the library answers
once for each, and Spark looks up. Of other models the steps of the program become columns. What is needed
more than once is a column of a layer, and each layer selects from the one before, so that nothing is
computed twice. Steps and tables compare and look up the same numbers as the library, and give its bits;
exponentials and logarithms are the JVM's, within rounding.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any, NamedTuple, Self

import numpy as np
from pyspark.ml.feature import Bucketizer
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame, functions as F
from pyspark.sql.types import ArrayType

from calibrant._core._arrays import Array, Float64Array
from calibrant.maps import Chain, ExportError, Step, n_uses
from calibrant.models import ScoreModel, chain_of
from calibrant.spark._columns import ScoreColumns, is_finite, quoted

#: With more scores per row columns gain nothing: those of ten make a method that the JVM does not compile.
MOST_SCORES = 1
#: Longer programs are left to Python. A matrix of two classes has 104 steps, and the stack 430 to 500, of
#: which Spark's optimizer makes more than a heap of a gigabyte can hold.
MOST_STEPS = 200
#: Edges of all maps of a model that are sent as columns.
MOST_EDGES = 1 << 16
#: Edges that a tree of comparisons finds. Of more, a Bucketizer does: a JVM never compiles a long method.
MOST_IN_TREE = 8
ADVICE = "set handleInvalid to 'skip' to leave such rows out, or to 'keep' to keep them without probabilities"
GREATEST = float(np.finfo(np.float64).max)
#: No expression is deeper than this.
DEEPEST = 20
#: How Spark stores a vector that has all its numbers.
DENSE = 1

OPERATIONS: dict[str, Callable[..., Column]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": F.try_divide,  # by zero it is null, and another choice is taken
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
    "max": F.greatest,
    "min": F.least,
    "abs": F.abs,
    "floor": lambda a: F.floor(a).cast("double"),
    "exp": F.exp,
    "log": lambda a: F.when(a > 0.0, F.ln(a)).otherwise(-math.inf),
    "choose": lambda a, b, c: F.when(a, b).otherwise(c),
}


class Table(NamedTuple):
    """What a model answers for every interval of its only score; an edge belongs to the interval below it."""

    edges: Float64Array
    proba: Float64Array
    decisions: Array

    @classmethod
    def of(cls, model: ScoreModel, steps: Sequence[Step]) -> Self | None:
        """The answers of the library, if the steps only look where the score is; else None."""
        places = [step for step in steps if step.operator == "place"]
        looked = [step for step in steps if any(each.operator == "score" for each in step.inputs)]
        if not places or looked != places:
            return None
        edges = np.unique(np.concatenate([step.value for step in places]))
        proba = model.predict_proba(np.append(edges, np.nextafter(edges[-1], math.inf)))
        return cls(edges, proba, model.decide_positions(proba))


class NativeForm(NamedTuple):
    """A model in a form that Spark computes: its program, and its table if it has one."""

    chain: Chain
    table: Table | None


def native_form(model: ScoreModel) -> NativeForm | None:
    """The form of a model that can be columns, with the same answers; None for what is left to Python."""
    try:
        chain = chain_of(model, "columns of Spark")
    except ExportError:
        return None
    steps = n_uses(chain.results)
    tables = [step.value for step in steps if step.operator in ("place", "take")]
    fits = (
        chain.program.n_columns <= MOST_SCORES
        and len(steps) <= MOST_STEPS
        and sum(map(len, tables)) <= 2 * MOST_EDGES
        and all(step.operator in ("score", "number", "place", "take", *OPERATIONS) for step in steps)
        and not any(np.isnan(table).any() for table in tables)  # a row may be without an answer
        and not any(np.abs(table).max(initial=0.0) >= GREATEST for table in tables)
        and all(low <= -GREATEST for low, _ in chain.program.limits)  # what is no probability is an error
    )
    return NativeForm(chain, Table.of(model, list(steps))) if fits else None


@dataclass(frozen=True)
class Native:
    """A frame with the results of a model in columns.

    Attributes
    ----------
    frame : DataFrame
        The frame, with columns of its own.
    vector : Column
        The probabilities of the classes.
    decision : Column
        The number of the decision.
    usable : Column
        Whether a row can be used; results of one that cannot mean nothing.
    """

    frame: DataFrame
    vector: Column
    decision: Column
    usable: Column


def with_results(
    frame: DataFrame, columns: ScoreColumns, form: NativeForm, prefix: str, *, refuses: bool
) -> Native:
    """The frame with what a model computes of its rows; one that cannot be used may be refused."""
    chain, table = form
    frame, scores, usable = _checked(frame, columns, chain.program.n_columns, prefix, refuses=refuses)
    frame = frame.select("*", *(each.alias(f"{prefix}_s{number}") for number, each in enumerate(scores)))
    if table is not None:
        found = f"{prefix}_interval"
        frame = _bucketed(frame, [(f"{prefix}_s0", found, table.edges)])
        place = quoted(found).cast("int")
        vector, decision = F.get(vectors(table.proba), place), F.get(numbers(table.decisions), place)
    else:
        program = _Layers(chain, prefix)
        frame = program.added_to(frame)
        vector, decision = array_to_vector(F.array(*program.results[:-1])), program.results[-1]
    return Native(frame, vector, decision.cast("int"), usable)


def _checked(
    frame: DataFrame, columns: ScoreColumns, n_scores: int, prefix: str, *, refuses: bool
) -> tuple[DataFrame, list[Column], Column]:
    """The scores, the first of which raises what is wrong with the row; and whether a row can be used."""
    given = [f"{prefix}_v{number}" for number in range(1 if columns.packed else len(columns.names))]
    named = [each.alias(name) for each, name in zip(columns.values(frame), given, strict=True)]
    frame = frame.select("*", *named)
    values, fits = [quoted(name) for name in given], F.lit(len(given) == n_scores)
    width: Column = F.lit(len(given))
    if columns.packed:
        array, width = values[0], F.coalesce(F.size(values[0]), F.lit(n_scores))
        places, fits = [F.lit(number) for number in range(n_scores)], width == n_scores
        if n_scores == 1:  # MLlib gives a score against the first class and the same one for the second
            places, fits = [F.when(width == 2, 1).otherwise(0)], (width == 1) | (width == 2)
        values = [F.get(array, place) for place in places]
    frame = frame.select("*", reduce(and_, map(is_finite, values)).alias(f"{prefix}_ok"))
    usable = quoted(f"{prefix}_ok")
    # A vector of another length is an error, whatever is to be done with the rest.
    checked = F.when(fits, values[0]).otherwise(F.raise_error(_wrong_width(columns, n_scores, width)))
    if refuses:
        checked = F.when(usable & fits, values[0]).otherwise(
            F.raise_error(
                F.when(fits, _not_finite(columns, values)).otherwise(_wrong_width(columns, n_scores, width))
            )
        )
    return frame, [checked, *values[1:]], usable


def _bucketed(frame: DataFrame, wanted: Sequence[tuple[str, str, Float64Array]]) -> DataFrame:
    """The frame with the numbers of intervals: of which column, under which name, by which edges."""
    names, new, edges = zip(*wanted, strict=True)
    splits = [[-math.inf, *np.nextafter(each, math.inf).tolist(), math.inf] for each in edges]
    found = Bucketizer(inputCols=list(names), outputCols=list(new), splitsArray=splits, handleInvalid="keep")
    return found.transform(frame)


class _Text(NamedTuple):
    """A step as a column: in which layer it can stand, and how deep it is."""

    column: Column
    layer: int
    depth: int
    name: str | None = None


class _Layer(NamedTuple):
    """Columns that are selected, and then buckets: of which column, under which name, by which edges."""

    columns: list[Column]
    buckets: list[tuple[str, str, Float64Array]]


class _Layers:
    """The columns of a program, layer by layer."""

    def __init__(self, chain: Chain, prefix: str) -> None:
        self._prefix = prefix
        self._layers: list[_Layer] = []
        self._n_columns = 0
        self._texts: dict[Step, _Text] = {}
        self._places: dict[Step, Array] = {}
        for step, uses in n_uses(chain.results).items():
            text = self._of(step)
            often = uses > 1 and step.operator not in ("score", "number", "place")
            self._texts[step] = self._named(text) if often or text.depth > DEEPEST else text
        final = [self._named(self._texts[step]) for step in chain.results]
        self.results = [text.column for text in final]

    def added_to(self, frame: DataFrame) -> DataFrame:
        """The frame with all layers."""
        for layer in self._layers:
            if layer.columns:
                frame = frame.select("*", *layer.columns)
            if layer.buckets:
                frame = _bucketed(frame, layer.buckets)
        return frame

    def _new_name(self) -> str:
        self._n_columns += 1
        return f"{self._prefix}_c{self._n_columns}"

    def _layer(self, number: int) -> _Layer:
        while len(self._layers) <= number:
            self._layers.append(_Layer([], []))
        return self._layers[number]

    def _named(self, text: _Text) -> _Text:
        """What is computed once, and then known by a name."""
        name = self._new_name()
        self._layer(text.layer).columns.append(text.column.alias(name))
        return _Text(quoted(name), text.layer + 1, 0, name)

    def _of(self, step: Step) -> _Text:
        if step.operator == "score":
            name = f"{self._prefix}_s{step.value}"
            return _Text(quoted(name), 0, 0, name)
        if step.operator == "number":
            return _Text(F.lit(float(step.value)), 0, 0)
        parts = [self._texts[each] for each in step.inputs]
        if step.operator == "place":
            return self._place(step, parts[0])
        layer, depth = max(each.layer for each in parts), max(each.depth for each in parts)
        if step.operator == "take":
            values = step.value[self._places[step.inputs[0]]]
            column = F.get(numbers(values), parts[0].column)
        else:
            column = OPERATIONS[step.operator](*(each.column for each in parts))
        return _Text(column, layer, depth + 1)

    def _place(self, step: Step, score: _Text) -> _Text:
        """The number of the bucket of a score; an edge belongs to the one below it.

        Equal edges are one split, so that tables are taken where their intervals are.
        """
        edges = np.unique(step.value)
        self._places[step] = np.concatenate([[0], np.searchsorted(step.value, edges, side="right")])
        score = score if score.name else self._named(score)
        if len(edges) <= MOST_IN_TREE:
            return _Text(_tree(score.column, edges, 0), score.layer, len(edges).bit_length())
        name = self._new_name()
        self._layer(max(score.layer - 1, 0)).buckets.append((str(score.name), name, edges))
        return _Text(quoted(name).cast("int"), max(score.layer, 1), 1)


def _tree(score: Column, edges: Float64Array, first: int) -> Column:
    """The number of the bucket by comparisons."""
    if not len(edges):
        return F.lit(first)
    middle = len(edges) // 2
    below, above = _tree(score, edges[:middle], first), _tree(score, edges[middle + 1 :], first + middle + 1)
    return F.when(score <= F.lit(float(edges[middle])), below).otherwise(above)


def numbers(values: Array) -> Column:
    """Numbers as one literal, which Spark reads once; a decimal of 17 digits brings the same bits."""
    return F.split(F.lit(",".join(map(repr, values.astype(np.float64).tolist()))), ",").cast("array<double>")


def vectors(rows: Float64Array) -> Column:
    """Vectors as one literal: Spark makes none of these per row, as it would of arrays."""
    dense = [{"type": DENSE, "values": row} for row in rows.tolist()]
    return F.from_json(F.lit(json.dumps(dense)), ArrayType(VectorUDT()))


def _wrong_width(columns: ScoreColumns, n_scores: int, width: Column) -> Column:
    name = repr(columns.names[0] if columns.packed else ", ".join(columns.names))
    return F.concat(
        F.lit(f"the model takes {n_scores} scores per row; got "),
        width.cast("string"),
        F.lit(f" from {name}; use the columns that it was fitted to"),
    )


def _not_finite(columns: ScoreColumns, values: Sequence[Column]) -> Column:
    """The line about a score that is no finite number, as Python would say it."""
    shown: list[Any] = [
        F.when(value.isNull() | F.isnan(value), "nan")
        .when(F.abs(value) == math.inf, F.when(value > 0, "inf").otherwise("-inf"))
        .otherwise(value.cast("string"))
        for value in values
    ]
    advice = f"; {ADVICE}"
    if len(columns.names) == 1:
        begins = f"the scores in {columns.names[0]!r} must be finite numbers; got ["
        return F.concat(F.lit(begins), F.concat_ws(", ", *shown), F.lit("]" + advice))
    whens: Any = F
    for name, text in zip(columns.names, shown, strict=True):
        line = F.concat(F.lit(f"the scores in {name!r} must be finite numbers; got "), text, F.lit(advice))
        whens = whens.when(text.isin("nan", "inf", "-inf"), line)
    return whens
