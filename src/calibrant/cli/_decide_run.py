"""Take decisions about the rows of a file, and say what they cost."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._errors import ParameterError
from calibrant.cli._apply_run import kept_columns, refuse_twice
from calibrant.cli._cost_file import CostFile, read_cost_file
from calibrant.cli._options import listed
from calibrant.cli._progress import watched
from calibrant.cli._reading import as_proba, read_matrix
from calibrant.cli._show import Table, amount, count, percent, show_facts, show_json, show_table, show_text
from calibrant.cli._size import read_or_sample
from calibrant.cli._wanted import Wanted, choose_scores, two_classes
from calibrant.files import STANDARD, BatchReader, Source, chosen_rows, open_sink, open_source

if TYPE_CHECKING:
    from calibrant.decisions import RuleResult

NEW = ["decision", "expected_cost"]


def run(
    *,
    probabilities: str,
    scores: str,
    costs: str,
    rule: str,
    label: str | None,
    weight: str | None,
    positive: str | None,
    classes: str | None,
    any_costs: bool,
    keep: str | None,
    out: str,
    as_json: bool,
    form: dict[str, Any],
    out_format: str | None,
    in_passes: bool | None,
    invalid: str,
) -> None:
    """Read, decide, write, and add up."""
    learned = rule != "expected"
    if learned and label is None:
        raise ParameterError(
            f"--rule {rule} is learned from rows with labels; name their column with --label"
        )
    file = read_cost_file(costs)
    if not any_costs or learned:
        file.check_reasonable()
    source = open_source(probabilities, **form, once=not learned)
    wanted = Wanted(
        scores, label, weight, None, positive, listed(classes), proba=True, skips=invalid == "skip"
    )
    choice = _Choice(source, wanted, file)
    found = choice.learn(rule, probabilities, in_passes) if learned else None
    kept = kept_columns(source, keep, choice.columns)
    refuse_twice(kept, NEW, source)
    with open_sink(out, format=out_format) as sink:
        first = 0
        needed = list(dict.fromkeys([*kept, *choice.columns, *wanted.others]))
        for batch in watched(source.batches(needed), source, "deciding"):
            sink.write(choice.output(batch, kept, first))
            first += batch.num_rows
        if first == 0:
            types = [*(pa.string() for _ in kept), pa.string(), pa.float64()]
            sink.write(pa.schema(list(zip([*kept, *NEW], types, strict=True))).empty_table())
    content = choice.totals(rule, found)
    if as_json:
        show_json(content, err=out == STANDARD)
    else:
        _show(content, err=out == STANDARD)


class _Choice:
    """Decisions under the costs of a file, and what they add up to."""

    def __init__(self, source: Source, wanted: Wanted, file: CostFile) -> None:
        chosen = choose_scores(source, wanted)
        self.columns = chosen.columns
        self._source, self._wanted = source, wanted
        texts = list(chosen.classes)
        if len(texts) == 1:
            texts = two_classes(sorted(file.truths), chosen, wanted)
        self._classes = texts
        self._actions, self._matrix = file.in_order_of(texts)
        self._known: dict[str | None, int] = {text: place for place, text in enumerate(texts)}
        self._rule: Any = None
        self._n_learned, self._n_sampled_from, self._n_skipped = 0, 0, 0
        from calibrant.decisions import Ledger

        self._ledger = Ledger(self._matrix, self._actions, texts)

    def learn(self, name: str, path: str, in_passes: bool | None) -> "RuleResult":
        """Learn a rule from all rows, or from a sample of many; and see in folds what it saves."""
        if self._actions != self._classes:
            extra = [action for action in self._actions if action not in self._classes]
            raise ParameterError(
                f"--rule {name} decides among the classes, so the costs must have a row for each and no "
                f"other; got {extra[0] if extra else self._actions!r}; use --rule expected"
            )
        rows = read_or_sample(self._source, self._wanted_in_order(), path, in_passes)
        self._n_learned, self._n_sampled_from = len(rows.truth), rows.n_read
        from calibrant.decisions import compare_rules, new_rule

        fitted = new_rule(name).fit(rows.proba, rows.truth, self._matrix, rows.weights)
        self._rule = fitted
        return compare_rules(rows.proba, rows.truth, self._matrix, [name], sample_weight=rows.weights).best

    def _wanted_in_order(self) -> Wanted:
        """The same columns; a single score gets its classes from the costs."""
        classes = self._classes if len(self.columns) == 1 else self._wanted.classes
        return replace(self._wanted, positive=None, classes=classes)

    def output(self, batch: pa.RecordBatch, kept: list[str], first: int) -> pa.RecordBatch:
        """The rows of the output; their costs are added up."""
        reader = BatchReader(batch, self._source, first, self._wanted.skips)
        proba = as_proba(read_matrix(reader, self.columns, self._wanted, self._source, first))
        weights, truth = self._weights_and_truth(reader)
        if reader.usable is not None:
            self._n_skipped += len(proba) - int(reader.usable.sum())
            batch = chosen_rows(batch, reader.usable)
            proba, weights = proba[reader.usable], weights[reader.usable]
            truth = None if truth is None else truth[reader.usable]
        if self._rule is not None:
            decided: IntArray = self._rule.decide(proba)
        else:
            from calibrant.decisions import decide

            decided = decide(proba, self._matrix, allow_any=True)
        cost = self._ledger.add(proba, decided, weights, truth)
        names = pa.array(self._actions).take(pa.array(decided))
        return pa.RecordBatch.from_arrays(
            [*(batch.column(name) for name in kept), names, pa.array(cost)], names=[*kept, *NEW]
        )

    def _weights_and_truth(self, reader: BatchReader) -> tuple[Float64Array, IntArray | None]:
        weight, label = self._wanted.weight, self._wanted.label
        weights = np.ones(reader.batch.num_rows) if weight is None else reader.weights(weight)
        truth = None if label is None else reader.positions(label, self._known, np.array(self._classes))
        return weights, truth

    def totals(self, rule: str, found: "RuleResult | None") -> dict[str, Any]:
        """What the decisions cost, for machines."""
        ledger = self._ledger
        known = self._wanted.label is not None
        compared = ledger.of_class is not None
        return {
            "n_rows": int(ledger.n_rows.sum()),
            "n_skipped": self._n_skipped,
            "rule": rule,
            "n_learned": None if found is None else self._n_learned,
            "n_sampled_from": None if found is None else self._n_sampled_from,
            "decisions": [
                {"decision": name, "n_rows": int(n), "expected_cost": float(each)}
                for name, n, each in zip(
                    self._actions, ledger.n_rows, ledger.expected_by_decision, strict=True
                )
            ],
            "expected_cost": ledger.expected,
            "expected_cost_most_probable": ledger.plain_expected if compared else None,
            "expected_saving": ledger.plain_expected - ledger.expected if compared else None,
            "paid": ledger.paid if known else None,
            "paid_most_probable": ledger.plain_paid if known and compared else None,
            "paid_saving": ledger.plain_paid - ledger.paid if known and compared else None,
            "rule_saving_percent": None if found is None else found.saving,
            "rule_saving_spread": None if found is None else found.spread,
        }


def _show(content: dict[str, Any], *, err: bool) -> None:
    """Print the decisions, and what they cost."""
    n_rows = max(1, content["n_rows"])
    lines = [
        (
            each["decision"],
            count(each["n_rows"]),
            percent(each["n_rows"] / n_rows),
            amount(each["expected_cost"]),
        )
        for each in content["decisions"]
    ]
    show_table(Table(("decision", "rows", "share", "expected cost"), lines), err=err)
    click.echo(err=err)
    facts = [("expected cost", amount(content["expected_cost"]))]
    if content["expected_saving"] is not None:
        facts += _saving("expected", content["expected_cost_most_probable"], content["expected_cost"])
    if content["paid"] is not None:
        facts.append(("paid, by the labels", amount(content["paid"])))
    if content["paid_saving"] is not None:
        facts += _saving("paid", content["paid_most_probable"], content["paid"])
    if content["n_skipped"]:
        facts.append(("rows left out", f"{count(content['n_skipped'])}, as they cannot be used"))
    show_facts(facts, err=err)
    if content["rule_saving_percent"] is not None:
        click.echo(err=err)
        learned = ""
        if content["n_learned"] < content["n_sampled_from"]:
            learned = (
                f"The rule was learned from a random sample of {count(content['n_learned'])} of "
                f"{count(content['n_sampled_from'])} rows. "
            )
        show_text(
            f"{learned}On rows that it has not learned from, the rule {content['rule']} saves "
            f"{content['rule_saving_percent']:.1f}% against least expected cost (standard deviation over the "
            f"folds {content['rule_saving_spread']:.1f}%).",
            err=err,
        )


def _saving(what: str, plain: float, paid: float) -> list[tuple[str, str]]:
    from calibrant.decisions import saved_share

    share = f" ({percent(saved_share(plain, paid))})" if plain else ""
    return [
        (f"{what}, by most probable class", amount(plain)),
        (f"{what} saving", f"{amount(plain - paid)}{share}"),
    ]
