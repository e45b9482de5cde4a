"""Decisions about the rows of a file, and what they cost."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._checks import check_option
from calibrant._core._errors import ParameterError
from calibrant._core._names import label_text
from calibrant._core._words import option
from calibrant.decisions import (
    Ledger,
    RuleResult,
    compare_rules,
    decide as decide_rows,
    least_risk,
    new_rule,
    takes_any,
)
from calibrant.files._amounts import costs_of_rows
from calibrant.files._apply import kept_columns, refuse_twice
from calibrant.files._batch import BatchReader, as_proba
from calibrant.files._classes import ClassesOf, Numbered, choose_scores, text_of
from calibrant.files._cost_file import CostFile, read_cost_file
from calibrant.files._labelled import labelled
from calibrant.files._new_columns import floats_array, places_array, texts_array
from calibrant.files._open import open_source
from calibrant.files._plain import chosen_rows
from calibrant.files._source import Source, how_far
from calibrant.passes import Progress

NEW = ["decision", "expected_cost"]


def decide(
    where: Any,
    *,
    scores: str | Sequence[str],
    cost: Any,
    rule: Any = "expected",
    label: str | None = None,
    weight: str | None = None,
    positive: object = None,
    classes: Sequence[object] | None = None,
    any_costs: bool = False,
    keep: str | Sequence[str] | None = None,
    handle_invalid: str = "error",
    in_passes: bool | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> "Decided":
    """Take the decision that costs least for the rows of a file, a database or a frame, batch by batch.

    Parameters
    ----------
    where : Source, str, path, or frame
        Where the rows are: whatever `open_source` opens.
    scores : str or sequence of str
        The columns of the probabilities, by name or pattern, see `labelled`.
    cost : str, path, frame or CostFile
        What decisions cost, as a table: its first column names the decision, its header the truth. Decisions
        beyond the classes are allowed, such as "ask a person". Where costs differ from row to row, a cell is
        a sum of numbers and columns of the rows, such as "0.68 - amount".
    rule : {"expected", "parallel", "lachiche_flach", "mossman"} or object, default="expected"
        Least expected cost, or a rule that is learned from rows with labels.
    label, weight : str, optional
        The columns of the labels, to learn a rule or to see what was paid, and of the weights.
    positive : object, optional
        With a single column: the class whose probability it holds.
    classes : sequence, optional
        The labels of the columns in order, where their names do not tell them.
    any_costs : bool, default=False
        Whether costs are allowed by which a class is not the cheapest decision when it is the truth.
    keep : str or sequence of str, optional
        Columns to pass on as they are, by name or pattern; they come first. By default all that are no
        probabilities.
    handle_invalid : {"error", "skip"}, default="error"
        What happens to a row with a missing or infinite number, or with no label or an unknown one.
    in_passes : bool, optional
        Whether a rule is learned from all rows in memory, or from a sample of them. By default from a sample
        if the rows would take more than 256 MiB.
    progress : callable, optional
        Called after every batch with a `Progress`.

    Returns
    -------
    Decided
        An iterator of batches, `pyarrow.RecordBatch`, with columns "decision" and "expected_cost"; after the
        last, it knows what all decisions cost.

    See Also
    --------
    calibrant.decisions.decide : For arrays.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant.files import decide
    >>> rows = pa.table({"p_ham": [0.99, 0.7, 0.01], "p_spam": [0.01, 0.3, 0.99]})
    >>> costs = pa.table({"decision": ["ham", "spam"], "ham": [0.0, 20.0], "spam": [1.0, 0.0]})
    >>> found = decide(rows, scores="p_*", cost=costs)
    >>> found.table()["decision"].to_pylist()
    ['ham', 'ham', 'spam']
    >>> round(found.costs.expected, 2)
    0.51
    """
    check_option("handle_invalid", handle_invalid, ("error", "skip"))
    learned = rule != "expected"
    rule_name = getattr(rule, "name", rule)
    if learned and label is None:
        raise ParameterError(
            f"{option('rule')} {rule_name} is learned from rows with labels; name their column with "
            f"{option('label')}"
        )
    file = cost if isinstance(cost, CostFile) else read_cost_file(cost, amounts=True)
    source = where if isinstance(where, Source) else open_source(where, once=not learned)
    file.check_amounts(source)
    chosen = choose_scores(source, scores, [label, weight])
    given = None if classes is None else [str(label_text(each)) for each in classes]
    said = ClassesOf(chosen, text_of(positive), given).checked()
    chosen = said.chosen
    texts = said.two(sorted(file.truths)) if said.alone else list(chosen.classes)
    actions, matrix = file.in_order_of(texts)
    amounts = file.amounts_in_order_of(texts)
    skips = handle_invalid == "skip"
    kept = kept_columns(source, keep, chosen.columns)
    refuse_twice(kept, NEW, source)
    if not any_costs or learned:
        file.check_reasonable()
    costs, found = Ledger(matrix, actions, texts, intervals=label is not None), None
    if learned:
        if amounts:
            raise ParameterError(
                f"{option('rule')} {rule_name} is learned for costs that are the same for all rows; got "
                f"costs by the column {next(iter(amounts))!r}; use {option('rule')} expected"
            )
        of_classes = actions == texts
        if not (of_classes or takes_any(rule)):
            _refuse_actions(actions, texts, rule_name)
        rows = labelled(
            source,
            scores=list(chosen.columns),
            label=str(label),
            weight=weight,
            classes=texts,
            kind="probability",
            handle_invalid=handle_invalid,
            progress=progress,
        )
        found = _learn(rule, matrix, rows, in_passes, of_classes=of_classes)
    return Decided(
        source, chosen.columns, texts, actions, costs, amounts, found, label, weight, kept, skips, progress
    )


@dataclass(frozen=True)
class LearnedRule:
    """A rule that was learned from rows of the file.

    Attributes
    ----------
    rule : object
        The rule.
    n_rows, n_read : int
        Rows that it was learned from, and rows that could be: fewer are a random sample.
    saving, spread : float
        What it saves in percent against least expected cost, on rows that it has not learned from; and the
        standard deviation of that over the folds.
    """

    rule: Any
    n_rows: int
    n_read: int
    saving: float
    spread: float


def _refuse_actions(actions: list[str], classes: list[str], rule_name: str) -> NoReturn:
    """Say which decisions a learned rule cannot take."""
    missing = [name for name in classes if name not in actions]
    extra = [name for name in actions if name not in classes]
    came = f"no row for {missing[0]!r}" if missing else repr(extra[0])
    raise ParameterError(
        f"{option('rule')} {rule_name} decides among the classes, so the costs must have a row for each and "
        f"no other; got {came}; use {option('rule')} parallel or expected"
    )


def _learn(
    rule: Any, matrix: Float64Array, rows: Any, in_passes: bool | None, *, of_classes: bool
) -> LearnedRule:
    read = rows.load_or_sample(in_passes)
    proba, allowed = as_proba(read.scores), {} if of_classes else {"allow_any": True}
    fitted: Any = new_rule(rule).fit(proba, read.truth, matrix, read.weight, **allowed)
    best: RuleResult = compare_rules(
        proba, read.truth, matrix, [rule], sample_weight=read.weight, **allowed
    ).best
    return LearnedRule(fitted, len(read), rows.n_read, best.saving, best.spread)


class Decided:
    """Batches of decisions, made by `decide`.

    Attributes
    ----------
    source : Source
        Where the rows come from.
    actions : list of str
        The decisions.
    learned : LearnedRule or None
        The rule, if one was learned.
    costs : Ledger
        What the decisions cost that were given so far, beside those for the most probable class.
    n_rows, n_skipped : int
        Rows that were read so far, and how many of them were left out.
    """

    def __init__(
        self,
        source: Source,
        columns: tuple[str, ...],
        classes: list[str],
        actions: list[str],
        costs: Ledger,
        amounts: dict[str, Float64Array],
        learned: LearnedRule | None,
        label: str | None,
        weight: str | None,
        kept: list[str],
        skips: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.source, self.actions, self.learned, self.label = source, actions, learned, label
        self.costs = costs
        self.n_rows = self.n_skipped = 0
        self._columns, self._weight, self._kept, self._skips = columns, weight, kept, skips
        self._amounts = amounts
        self._number_of, self._progress = Numbered(classes), progress

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Read, decide, and give; at least one batch, which may be empty."""
        used = [*self._kept, *self._columns, *self._amounts, self.label, self._weight]
        needed = list(dict.fromkeys(name for name in used if name is not None))
        for batch in self.source.batches(needed):
            yield self._decided(batch)
            self.n_rows += batch.num_rows
            if self._progress is not None:
                self._progress(how_far(self.source, self.n_rows, "deciding"))
        if self.n_rows == 0:
            types = [*(pa.string() for _ in self._kept), pa.string(), pa.float64()]
            schema = pa.schema(list(zip([*self._kept, *NEW], types, strict=True)))
            yield pa.RecordBatch.from_pylist([], schema=schema)

    def table(self) -> pa.Table:
        """Give all rows at once.

        Returns
        -------
        pyarrow.Table
            The rows.
        """
        return pa.Table.from_batches(list(self))

    def _decided(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        reader = BatchReader(batch, self.source, self.n_rows, self._skips)
        proba = as_proba(reader.probabilities(self._columns))
        weights = np.ones(len(proba)) if self._weight is None else reader.weights(self._weight)
        truth = None if self.label is None else reader.numbered(self.label, self._number_of)
        values = {name: reader.numbers(name) for name in self._amounts}
        if reader.usable is not None:
            self.n_skipped += len(proba) - int(reader.usable.sum())
            batch = chosen_rows(batch, reader.usable)
            proba, weights = proba[reader.usable], weights[reader.usable]
            truth = None if truth is None else truth[reader.usable]
            values = {name: each[reader.usable] for name, each in values.items()}
        more = costs_of_rows(self._amounts, values, len(proba)) if self._amounts else None
        if self.learned is not None:
            decided: IntArray = self.learned.rule.decide(proba)
        elif more is None:
            decided = least_risk(proba, self.costs.matrix)
        else:
            decided = decide_rows(proba, self.costs.matrix + more, allow_any=True)
        cost = self.costs.add(proba, decided, weights, truth, more=more)
        new = texts_array(self.actions).take(places_array(decided)), floats_array(cost)
        return pa.RecordBatch.from_arrays(
            [*(batch.column(name) for name in self._kept), *new], names=[*self._kept, *NEW]
        )
