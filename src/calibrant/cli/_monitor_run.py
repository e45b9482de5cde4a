"""Watch a log, and say what was found."""

import json
from dataclasses import asdict
from typing import Any

import click

from calibrant._core._errors import ParameterError
from calibrant._core._whole_files import together
from calibrant.cli._options import listed
from calibrant.cli._progress import showing
from calibrant.cli._show import Table, count, show_json, show_table, show_text
from calibrant.files import STANDARD, follow as followed, monitor, open_source
from calibrant.monitor import mended

#: Exit status of an alarm that was asked for.
ALARMED = 3
#: Lines of the tables that are shown; all are in the page and in JSON.
MOST_CHANGES, MOST_WINDOWS, MOST_GROUPS = 10, 12, 10
TIMES = ("time", "began_time", "began_low_time", "began_high_time")


def run(
    *,
    log: str,
    form: dict[str, Any],
    follow: bool,
    fail_on: str | None,
    page: str | None,
    as_json: bool,
    classes: str | None,
    invalid: str,
    **given: Any,
) -> int:
    """Read, watch, show."""
    for name, out in (("--report", page), ("--state", given["state"])):
        if out == STANDARD:
            raise ParameterError(f"{name} must be a file; got '-'")
    given |= {"classes": listed(classes), "handle_invalid": invalid}
    if follow:
        found = _follow(log, form, fail_on, as_json, given)
        _write_page(found, page, log)
        return ALARMED if fail_on == "alarm" and found.alarms else 0
    once = given["model"] is not None or given["classes"] is not None
    with showing() as progress, together():  # a state that has gone on has its page
        found = monitor(open_source(log, **form, once=once), **given, progress=progress)
        _write_page(found, page, log)
    _show(found, page, as_json)
    return ALARMED if fail_on == "alarm" and found.alarms else 0


def _write_page(found: Any, page: str | None, log: str) -> None:
    if page is not None:
        from calibrant.report import summarize_monitor

        name = "standard input" if log == STANDARD else log
        summarize_monitor(found.monitor, title=f"Forecasts of {name}").save(page)


def _follow(log: str, form: dict[str, Any], fail_on: str | None, as_json: bool, given: dict[str, Any]) -> Any:
    """Print alarms as they come."""
    others = [
        name for name, value in form.items() if value is not None and name not in ("format", "delimiter")
    ]
    if others:
        raise ParameterError(
            f"--{others[0]} must not come with --follow, which reads JSON lines or CSV; leave it out"
        )
    source = followed(log, format=form["format"], delimiter=form["delimiter"] or ",")

    def on_alarm(watching: Any, alarm: Any) -> bool:
        click.echo(json.dumps(_record(watching, alarm)) if as_json else _line(watching, alarm))
        return fail_on == "alarm"

    given |= {"grown": given["grown"] or log != STANDARD}
    return monitor(source, **given, on_alarm=on_alarm)


def _record(watching: Any, alarm: Any) -> dict[str, Any]:
    """An alarm for machines: times as people write them."""
    from calibrant.metrics import plain_record

    times = {name: watching.shown_time(getattr(alarm, name)) for name in TIMES}
    return dict(plain_record(asdict(alarm) | times))


def _line(watching: Any, alarm: Any) -> str:
    """An alarm in a line."""
    at, began, low, high = (watching.shown_time(getattr(alarm, name)) for name in TIMES)
    where = f"alarm at {at}, row {count(alarm.row)}"
    if watching.last_time is None:
        where = f"alarm at row {count(alarm.row)}"
        began, low, high = (f"row {count(each)}" for each in (alarm.began, alarm.began_low, alarm.began_high))
    if alarm.kind == "impossible":
        return f"{where}: {alarm.what}"
    if not alarm.continues:
        return f"{where}: {alarm.what}; began about {began} ({low} to {high})"
    first = next((each[0] for each in watching.changes() if alarm in each), alarm)
    since = (
        f"row {count(first.began)}" if watching.last_time is None else watching.shown_time(first.began_time)
    )
    return f"{where}: {alarm.what}; the change of about {since} is still there"


def _show(found: Any, page: str | None, as_json: bool) -> None:
    watching = found.monitor
    if as_json:
        show_json(_content(found, page))
        return
    click.echo(_headline(found))
    changes = watching.changes()
    for alarms in changes[-MOST_CHANGES:]:
        click.echo(_line(watching, alarms[0]))
        over = mended(alarms)
        now = "it seems to be over: rows since speak against it" if over else "it goes on"
        if len(alarms) > 1:
            last = watching.shown_time(alarms[-1].time)
            click.echo(f"  {count(len(alarms) - 1)} more of the same, the last at {last}: {now}")
        elif over:
            click.echo(f"  {now}")
    if len(changes) > MOST_CHANGES:
        click.echo(f"and {count(len(changes) - MOST_CHANGES)} earlier changes")
    _show_windows(watching)
    _show_groups(watching)
    if watching.n_labelled:
        show_text(f"\nWhat to do: {watching.advice().text}.")
    for what, file in (("state", found.state), ("page", page)):
        if file is not None:
            click.echo(f"The {what} is in {file}.")


def _headline(found: Any) -> str:
    watching, n = found.monitor, found.monitor.n_alarms
    parts = [f"{count(watching.n_rows)} rows, {count(watching.n_labelled)} of them with labels"]
    if watching.n_waiting:
        parts.append(f"{count(watching.n_waiting)} wait for labels")
    if watching.n_given_up:
        parts.append(f"{count(watching.n_given_up)} were given up")
    if found.n_skipped:
        parts.append(f"{count(found.n_skipped)} left out as they cannot be used")
    alarms = "no alarm" if not n else "1 alarm" if n == 1 else f"{count(n)} alarms"
    new = "" if len(found.alarms) == n else f", {count(len(found.alarms))} new"
    return f"{', '.join(parts)}: {alarms}{new}."


def _show_windows(watching: Any) -> None:
    """What came beside what was promised, window by window."""
    windows = watching.windows()[-MOST_WINDOWS:]
    if not windows:
        return
    costs = watching.cost is not None
    headings = ("from", "rows", "labelled", "log loss", "promised", "errors", "promised", "slope")
    lines = []
    for each in windows:
        cells = [watching.shown_time(each.began), count(each.n_rows), count(each.n_labelled)]
        for name in ("log_loss", "error_rate"):
            cells += [_text(getattr(each, name)), f"{getattr(each, f'promised_{name}'):.3f}"]
        cells.append(_text(each.slope))
        if costs:
            cells += [_text(each.cost), f"{each.promised_cost:.4g}"]
        lines.append(cells)
    click.echo()
    show_table(Table((*headings, "cost", "promised") if costs else headings, lines))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _show_groups(watching: Any) -> None:
    groups = watching.groups()
    if not groups:
        return
    n_found = sum(each.found for each in groups)
    lines = [
        (
            each.name,
            count(each.n_rows),
            f"{each.gap:+.3f}",
            f"{each.gap.low:+.3f} to {each.gap.high:+.3f}",
            each.verdict,
        )
        for each in groups[:MOST_GROUPS]
    ]
    click.echo(f"\n{count(n_found)} of {count(len(groups))} groups are off; those with most evidence:")
    show_table(Table(("group", "rows", "off by", "95%", "verdict"), lines))


def _content(found: Any, page: str | None) -> dict[str, Any]:
    """All of it, for machines."""
    watching = found.monitor
    return {
        "n_rows": watching.n_rows,
        "n_labelled": watching.n_labelled,
        "n_waiting": watching.n_waiting,
        "n_given_up": watching.n_given_up,
        "n_skipped": found.n_skipped,
        "n_late_labels": found.n_late,
        "classes": watching.classes,
        "bound": watching.bound,
        "threshold": watching.threshold,
        "value": watching.value,
        "drift_value": watching.drift_value,
        "n_alarms": watching.n_alarms,
        "alarms": [_record(watching, each) for each in watching.alarms],
        "new_alarms": [_record(watching, each) for each in found.alarms],
        "windows": [
            asdict(each)
            | {"began": watching.shown_time(each.began), "ended": watching.shown_time(each.ended)}
            for each in watching.windows()
        ],
        "groups": watching.groups(),
        "reliability": None
        if not watching.n_labelled
        else dict(zip(("before", "since"), watching.reliability(), strict=True)),
        "advice": watching.advice() if watching.n_labelled else None,
        "state": found.state,
        "report": page,
    }
