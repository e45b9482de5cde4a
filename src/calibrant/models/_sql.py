"""A fitted model as one SQL statement: scores of a table in, probabilities and decisions out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from calibrant._core._checks import shown
from calibrant._core._errors import ParameterError
from calibrant._core._names import label_text
from calibrant._core._words import option
from calibrant.maps import Chain, Step, n_uses
from calibrant.models._formulas import chain_of
from calibrant.models._labels_out import labels_of_one_type, plain_labels
from calibrant.models._score_model import ScoreModel
from calibrant.models._sql_dialects import Dialect, dialect_named
from calibrant.models._sql_steps import (
    LONGEST,
    MOST_IN_CASE,
    Lookup,
    expression,
    tree,
)


def to_sql(
    model: Any,
    table: str | Sequence[str] = "scores",
    scores: Sequence[str] | None = None,
    *,
    dialect: str = "duckdb",
    keep: Sequence[str] | None = None,
) -> str:
    """Write a fitted model as an SQL statement.

    Parameters
    ----------
    model : ScoreModel or calibrator
        The fitted model.
    table : str or sequence of str, default="scores"
        The table or view of the scores; several names are those of its schema, and the like, before its own.
    scores : sequence of str, optional
        The columns of the scores in the order of the model. By default the names that the model was fitted
        with.
    dialect : {"duckdb", "postgresql", "sqlite", "spark"}, default="duckdb"
        Whose SQL it is to be.
    keep : sequence of str, optional
        Columns of the table to be given beside the results; by default those of the scores, but for any that
        has the name of a result.

    Returns
    -------
    str
        A SELECT without a semicolon. Its columns are those kept, then one for every class, ``p_`` and its
        label, and for a `ScoreModel` the column "decision": what costs least, or without costs the most
        probable class.

    Raises
    ------
    ExportError
        If a part of the model cannot be written: combinations that iterate, rules of one's own, and
        calibrators that are not methods of the registry.

    See Also
    --------
    export : The same, written to a file.

    Notes
    -----
    A row with a score that is null, infinite or NaN, or outside [0, 1] where it must be a probability, gets
    nulls. Steps compare the same numbers as the library, and are equal to the last bit.

    Examples
    --------
    >>> import sqlite3
    >>> from calibrant import ScoreModel
    >>> from calibrant.models import to_sql
    >>> model = ScoreModel().fit([1, 2, 3, 4, 5, 6], [0, 1, 0, 0, 1, 1])
    >>> statement = to_sql(model, "scored", ["score"], dialect="sqlite")
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE scored (score)")
    >>> _ = database.executemany("INSERT INTO scored VALUES (?)", [(4.4,), (None,), (4.6,)])
    >>> for score, p_0, p_1, decision in database.execute(statement):
    ...     print(score, p_1 and round(p_1, 2), decision)
    4.4 0.6 1
    None None None
    4.6 0.6 1
    >>> database.close()
    """
    chain, how = chain_of(model, "SQL"), dialect_named(dialect)
    names = _columns_of(model, scores, chain.program.n_columns)
    results = names_of_results(model)
    kept = [name for name in names if name not in results] if keep is None else _names("keep", keep)
    place = _names("table", [table] if isinstance(table, str) else table)
    if len({*kept, *results}) < len(kept) + len(results):
        twice = next(name for name in [*kept, *results] if [*kept, *results].count(name) > 1)
        raise ParameterError(f"{option('keep')} must name every column once, and no result; got {twice!r}")
    return _Statement(chain, how).text(model, names, kept, ".".join(map(how.identifier, place)))


class _Statement:
    """Queries that read each other: the scores as numbers, the steps in layers, the results.

    A step stands inside the one that needs it; needed often, or long, it becomes a column of a layer.
    """

    def __init__(self, chain: Chain, dialect: Dialect) -> None:
        self.chain, self.dialect = chain, dialect
        self._lookups: dict[Step, tuple[Lookup, str]] = {}
        #: Of every column that is computed its layer, what it is, the columns it needs, and a look-up if any.
        self._columns: dict[str, _Column] = {}
        self._texts: dict[Step, _Text] = {}
        for step, uses in n_uses(chain.results).items():
            text = self._printed(step)
            often = uses > 1 and step.operator not in ("score", "number", "place")
            if often or len(text.text) > LONGEST or text.depth > dialect.deepest:
                text = self._column(text)
            self._texts[step] = text

    def text(self, model: Any, names: list[str], kept: list[str], table: str) -> str:
        """The statement."""
        dialect = self.dialect
        scores = [f"s{number}" for number in range(len(names))]
        others = [f"k{number}" for number in range(len(kept))]
        final = [self._texts[step] for step in self.chain.results]
        last = max(each.layer for each in final)
        given = [
            *(f"{dialect.identifier(name)} AS {other}" for name, other in zip(kept, others, strict=True)),
            *map(self._checked, names, scores, self.chain.program.limits),
        ]
        queries = [self._query("q0", given, table, "")]
        for layer, needed in enumerate(self._needed(final, last), start=1):
            columns = {name: self._columns[name] for name in needed}
            new = {name: each for name, each in columns.items() if each.text.layer + 1 == layer}
            computed = [f"{each.text.text} AS {name}" for name, each in new.items()]
            passed = [name for name in columns if name not in new]
            joins = "".join(dict.fromkeys(each.join for each in new.values()))
            read = f"q{layer - 1}{joins}"
            everything = [*others, *scores, *passed, *computed]
            self._check_width(len(everything))
            queries.append(self._query(f"q{layer}", everything, read, dialect.fence))
        tables = [lookup.table(dialect) for lookup, _ in self._lookups.values()]
        results = self._results(model, final, " AND ".join(f"{score} IS NOT NULL" for score in scores))
        shown = [f"{other} AS {dialect.identifier(name)}" for name, other in zip(kept, others, strict=True)]
        ends = f"SELECT {_lines([*shown, *results])}\nFROM q{last}"
        return "WITH " + ",\n".join([*tables, *queries]) + f"\n{ends}"

    def _check_width(self, n_columns: int) -> None:
        most = self.dialect.most_columns
        if n_columns > most:
            self.chain.program.refuse(
                f"a query must have at most {most} columns to be written as SQL of {self.dialect.name}; this "
                f"model needs {n_columns}; use fewer classes, a method without ranks, ONNX or Python"
            )

    def _query(self, name: str, columns: list[str], read: str, fence: str) -> str:
        return f"{name} {self.dialect.named} (SELECT {_lines(columns)}\n  FROM {read}{fence})"

    def _checked(self, name: str, score: str, limits: tuple[float, float]) -> str:
        """A score as a number, null where the library would refuse it."""
        number = self.dialect.as_real(self.dialect.identifier(name))
        low, high = map(self.dialect.number, limits)
        return f"CASE WHEN {number} BETWEEN {low} AND {high} THEN {number} END AS {score}"

    def _results(self, model: Any, final: list["_Text"], valid: str) -> list[str]:
        dialect, n_classes = self.dialect, len(self.chain.proba)
        names = names_of_results(model)
        found = [each.text for each in final]
        if self.chain.decision is not None:
            labels = map(dialect.label, labels_of_one_type(model.actions_, "SQL"))
            whens = " ".join(f"WHEN {number} THEN {label}" for number, label in enumerate(labels))
            found[n_classes] = f"CASE {found[n_classes]} {whens} END"
        return [
            f"CASE WHEN {valid} THEN {each} END AS {dialect.identifier(name)}"
            for each, name in zip(found, names, strict=True)
        ]

    def _needed(self, final: list["_Text"], last: int) -> list[list[str]]:
        """The columns of every layer after the first: its own, and those that are passed on."""
        needed: list[set[str]] = [set() for _ in range(last + 1)]
        needed[last] = set().union(*(each.needs for each in final))
        for layer in range(last, 0, -1):
            for name in needed[layer]:
                column = self._columns[name].text
                needed[layer - 1] |= column.needs if column.layer + 1 == layer else {name}
        return [sorted(each, key=lambda name: int(name[1:])) for each in needed[1:]]

    def _column(self, text: "_Text", join: str = "") -> "_Text":
        """What is computed once, and then known by a name."""
        name = f"c{len(self._columns)}"
        self._columns[name] = _Column(text, join)
        return _Text(name, text.layer + 1, 0, frozenset([name]))

    def _as_name(self, step: Step) -> "_Text":
        """A step that is to be written more than once."""
        if self._texts[step].depth and step.operator != "number":
            self._texts[step] = self._column(self._texts[step])
        return self._texts[step]

    def _printed(self, step: Step) -> "_Text":
        if step.operator == "score":
            return _Text(f"s{step.value}", 0, 0, frozenset())
        if step.operator == "place":
            return self._place(step)
        if step.operator == "take":
            return self._taken(step)
        if step.operator == "log":
            self._as_name(step.inputs[0])
        parts = [self._texts[each] for each in step.inputs]
        return _joined(expression(step, [each.text for each in parts], self.dialect), parts)

    def _place(self, step: Step) -> "_Text":
        """A place is the score itself, to be compared; in a large table the block that it is in."""
        score = self._as_name(step.inputs[0])
        if len(step.value) < MOST_IN_CASE:
            return score
        lookup = Lookup(f"t{len(self._lookups)}", score.text, step.value)
        block = self._column(_joined(lookup.block(self.dialect), [score]))
        self._lookups[step] = lookup, block.text
        return block._replace(needs=block.needs | score.needs)

    def _taken(self, step: Step) -> "_Text":
        (place,) = step.inputs
        if place in self._lookups:
            lookup, block = self._lookups[place]
            found = self._texts[place]._replace(text=lookup.column(step.value))
            return self._column(found, lookup.join(block))
        score = self._texts[place]
        values = [self.dialect.number(each) for each in step.value.tolist()]
        return _joined(tree(score.text, place.value, values, self.dialect), [score])


class _Text(NamedTuple):
    """What is written for a step: in which layer it can stand, how deep it is, which columns it names."""

    text: str
    layer: int
    depth: int
    needs: frozenset[str]


class _Column(NamedTuple):
    """A column: how it is computed from the layer before, and the table that is joined for it."""

    text: _Text
    join: str


def _joined(text: str, parts: list[_Text]) -> _Text:
    layer, depth = (
        max((each.layer for each in parts), default=0),
        max((each.depth for each in parts), default=0),
    )
    return _Text(text, layer, depth + 1, frozenset().union(*(each.needs for each in parts)))


def _lines(columns: list[str]) -> str:
    """Columns, each on a line of its own."""
    return ",\n    ".join(columns)


def _columns_of(model: Any, scores: Sequence[str] | None, n_columns: int) -> list[str]:
    """The names of the columns of scores, given or remembered."""
    known: Any = getattr(model, "feature_names_in_", None)
    if scores is None and known is None:
        raise ParameterError(
            f"{option('scores')} must name the columns for a model that was fitted without names; got none; "
            f"name {n_columns}"
        )
    names = _names("scores", list(known) if scores is None else scores)
    if len(names) != n_columns:
        raise ParameterError(f"{option('scores')} must name {n_columns} columns; got {len(names)}")
    return names


def names_of_results(model: Any) -> list[str]:
    """The names of the columns of results, as `calibrant apply` has them."""
    names = [f"p_{label_text(label)}" for label in plain_labels(model.classes_, "SQL")]
    return [*names, "decision"] if type(model) is ScoreModel else names


def _names(parameter: str, given: Sequence[str]) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(name, str) and name for name in names):
        raise ParameterError(
            f"{option(parameter)} must be names, texts that are not empty; got {shown(given)}"
        )
    return names
