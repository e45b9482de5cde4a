"""Take decisions about the rows of a file, and say what they cost."""

from typing import Any

import click

from calibrant.cli._options import columns_of
from calibrant.cli._progress import showing
from calibrant.cli._settings import by_owner, set_rule
from calibrant.cli._show import Table, amount, count, percent, show_facts, show_json, show_table, show_text
from calibrant.files import STANDARD, open_sink, open_source


def run(
    *,
    probabilities: str,
    rule: str,
    settings: tuple[str, ...],
    out: str,
    as_json: bool,
    form: Any,
    out_format: Any,
    **given: Any,
) -> None:
    """Read, decide, write, and add up."""
    from calibrant.files import decide

    rest = {name: given.pop(name) for name in ("any_costs", "keep", "in_passes")}
    rest["cost"] = given.pop("costs")
    rest["rule"] = set_rule(rule, by_owner(settings, ("rule",), "rule")["rule"])
    columns = columns_of(given)
    with showing() as progress:
        source = open_source(probabilities, **form, once=rule == "expected")
        found = decide(source, **columns, **rest, progress=progress)
        with open_sink(out, format=out_format) as sink:
            for batch in found:
                sink.write(batch)
    if as_json:
        show_json(_content(found, rule), err=out == STANDARD)
    else:
        _show(_content(found, rule), err=out == STANDARD)


def _content(found: Any, rule: str) -> dict[str, Any]:
    """What the decisions cost, for machines."""
    costs, learned = found.costs, found.learned
    known, compared = found.label is not None, found.costs.of_class is not None
    by_decision = zip(found.actions, costs.n_rows.tolist(), costs.expected_by_decision, strict=True)
    return {
        "n_rows": int(costs.n_rows.sum()),
        "n_skipped": found.n_skipped,
        "rule": rule,
        "n_learned": None if learned is None else learned.n_rows,
        "n_sampled_from": None if learned is None else learned.n_read,
        "decisions": [
            {"decision": name, "n_rows": int(n), "expected_cost": float(each)}
            for name, n, each in by_decision
        ],
        "expected_cost": costs.expected,
        "expected_cost_most_probable": costs.plain_expected if compared else None,
        "expected_saving": costs.plain_expected - costs.expected if compared else None,
        "paid": costs.paid if known else None,
        "paid_most_probable": costs.plain_paid if known and compared else None,
        "paid_saving": costs.saved if known and compared else None,
        "rule_saving_percent": None if learned is None else learned.saving,
        "rule_saving_spread": None if learned is None else learned.spread,
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
        facts += _saving("expected", content["expected_cost_most_probable"], content["expected_saving"])
    if content["paid"] is not None:
        facts.append(("paid, by the labels", amount(content["paid"])))
    if content["paid_saving"] is not None:
        facts += _saving("paid", content["paid_most_probable"], content["paid_saving"])
    if content["n_skipped"]:
        facts.append(("rows left out", f"{count(content['n_skipped'])}, as they cannot be used"))
    show_facts(facts, err=err)
    if content["rule_saving_percent"] is not None:
        learned = ""
        if content["n_learned"] < content["n_sampled_from"]:
            learned = (
                f"The rule was learned from a random sample of {count(content['n_learned'])} of "
                f"{count(content['n_sampled_from'])} rows. "
            )
        saving = content["rule_saving_percent"]
        show_text(
            f"\n{learned}On rows that it has not learned from, the rule {content['rule']} saves "
            f"{saving:.1f}% [{saving.low:.1f}%, {saving.high:.1f}%] against least expected cost (standard "
            f"deviation over the folds {content['rule_saving_spread']:.1f}%).",
            err=err,
        )


def _saving(what: str, plain: float, saved: float) -> list[tuple[str, str]]:
    share = f" ({percent(saved / abs(plain))})" if plain else ""
    return [(f"{what}, by most probable class", amount(plain)), (f"{what} saving", f"{amount(saved)}{share}")]
