"""What a monitor has found, as one HTML page that carries all it needs and asks nothing of a network."""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from calibrant.metrics import Estimate
from calibrant.monitor import Window
from calibrant.report._html import asset, environment, policy
from calibrant.report._time_svg import (
    TimeFigure,
    cells_figure,
    evidence_figure,
    groups_figure,
    time_figure,
)
from calibrant.report._watch import WatchSummary, moment

#: Classes that are drawn; groups that are drawn, and listed; changes and points that are listed.
MOST_CLASSES, MOST_DRAWN, MOST_GROUPS, MOST_ALARMS, MOST_POINTS = 6, 30, 200, 100, 60


def render_watch(summary: WatchSummary) -> str:
    """Write the page."""
    style, script = asset("style.css"), asset("print.js")
    figures, classes = _figures(summary)
    return (
        environment()
        .get_template("watch.html")
        .render(
            summary=summary,
            style=style,
            script=script,
            policy=policy(style, script),
            version=version("calibrant"),
            when=lambda time: moment(time, summary.dated),
            evidence=evidence_figure(summary.curve, summary.threshold, summary.changes, dated=summary.dated),
            points=_few(summary.curve),
            figures_over_time=figures,
            shown_classes=classes,
            listed_changes=summary.changes[-MOST_ALARMS:],
            drawn_groups=groups_figure(summary.groups[:MOST_DRAWN]) if summary.groups else None,
            listed_groups=summary.groups[:MOST_GROUPS],
            n_drawn=min(len(summary.groups), MOST_DRAWN),
            cells=[
                (name, found, cells_figure(found))
                for name, found in (("before", summary.before), ("since", summary.since))
                if found is not None
            ],
            has_cost=any(each.promised_cost is not None for each in summary.windows),
        )
    )


def _figures(summary: WatchSummary) -> tuple[list[TimeFigure], list[int]]:
    """The charts over time, and the classes that have one."""
    windows = summary.windows
    classes = _classes(summary)
    if not windows:
        return [], classes

    def chart(
        title: str, came: Callable[[Window], Estimate | None], promised: Any = None, **options: Any
    ) -> TimeFigure | None:
        """One of them."""
        return time_figure(
            title,
            windows,
            [came(each) for each in windows],
            [None if promised is None else promised(each) for each in windows],
            summary.changes,
            dated=summary.dated,
            **options,
        )

    found = [
        chart("Log loss of a row", lambda each: each.log_loss, lambda each: each.promised_log_loss),
        chart(
            "Share of mistakes",
            lambda each: each.error_rate,
            lambda each: each.promised_error_rate,
            shares=True,
        ),
        chart("Cost of a decision", lambda each: each.cost, lambda each: each.promised_cost),
        chart("Slope: 1 is right, less is too sure", lambda each: each.slope, right=1.0),
    ]
    found += [
        chart(
            f"How often {summary.classes[place]} came",
            _of_class("frequency", place),
            _of_class("mean_forecast", place),
            shares=True,
        )
        for place in classes
    ]
    return [each for each in found if each is not None], classes


def _of_class(name: str, place: int) -> Callable[[Window], Estimate | None]:
    """What gives the estimate of a class in a window."""
    return lambda window: getattr(window, name)[place] if getattr(window, name) else None


def _classes(summary: WatchSummary) -> list[int]:
    """The second of two classes; of more those whose frequency is farthest from its forecasts in a window."""
    known = [each for each in summary.windows if each.frequency]
    if not known:
        return []
    if len(summary.classes) == 2:
        return [1]

    def off(place: int) -> float:
        return max(
            abs(each.frequency[place] - each.mean_forecast[place])
            / max(each.frequency[place].high - each.frequency[place].low, 1e-9)
            for each in known
        )

    return sorted(sorted(range(len(summary.classes)), key=lambda j: -off(j))[:MOST_CLASSES])


def _few(curve: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Some points of the evidence, the greatest of those about them."""
    step = -(-len(curve) // MOST_POINTS) if curve else 1
    return [max(curve[at : at + step], key=lambda point: point[2]) for at in range(0, len(curve), step)]
