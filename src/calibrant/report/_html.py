"""A summary as one HTML page.

The page carries its style, its script and the rows it needs; it asks nothing of a network, and a policy in
its head forbids it to. Without the script it is complete but for what the reader edits.
"""

import base64
import hashlib
import html
import json
import math
import re
import struct
from functools import cache
from importlib.metadata import version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from calibrant.metrics import Estimate, share_estimate
from calibrant.report._drawn import Reliability
from calibrant.report._simplex import line_figure, triangle_figure
from calibrant.report._summary import ClassTest, Summary, Verdict
from calibrant.report._svg import (
    CHECKED,
    WHISKER_WIDTH,
    ReliabilityFigure,
    coordinate,
    detection_figure,
    found_by_checking,
    reliability_figure,
    roc_figure,
    shorten,
    whiskers,
)
from calibrant.report._verdict import SIGNIFICANT
from calibrant.report._words import chance, decimal, estimate, number, percent, percent_estimate, points

#: Rows of the table of classes.
MAX_LISTED_CLASSES = 50
#: Beyond so many classes there is no form for a case of one's own.
MAX_PROBE_CLASSES = 6
#: More class figures than these are drawn small.
MAX_LARGE_FIGURES = 3
#: Rows of the table of the detection curve.
CHECKED_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
#: Cards side by side, by how many figures of classes there are; an odd number gets a card of words.
CLASS_COLUMNS = {2: 2, 3: 3, 4: 4, 6: 3, 8: 4, 10: 5, 12: 4}
#: Being off by more than these is a greater trouble each time, and so is losing more of what forecasts know.
TROUBLING_GAPS, TROUBLING_LOSSES = (0.01, 0.05, 0.10, 0.20), (0.05, 0.25, 0.5, 1.0)
#: A word that is longer than this may be broken where a line ends.
LONG_WORD = 20
#: What the rules do that are compared where the costs are given.
RULE_WORDS = {
    "expected": "decides by least expected cost, and learns nothing",
    "parallel": "moves the boundary of each decision, in parallel, to where the decisions cost least",
    "lachiche_flach": "weights the classes, and takes the one with the greatest weighted probability",
    "mossman": "asks whether one class is probable enough, and else which of the other two leads",
}
#: Height of the frame in a notebook.
FRAME_HEIGHT = 900


def render_page(summary: Summary) -> str:
    """Write the page."""
    style, script = asset("style.css"), asset("live.js")
    return (
        environment()
        .get_template("page.html")
        .render(
            summary=summary,
            style=style,
            script=script,
            policy=policy(style, script),
            data=_as_script_text(_live_data(summary)),
            version=version("calibrant"),
            accuracy=_rest(summary.measures.error_rate),
            verdict_trouble=_verdict_trouble(summary.verdict),
            rule_words=RULE_WORDS,
            **_figures(summary),
            **_tables(summary),
        )
    )


def trouble(tested: Reliability | ClassTest) -> int:
    """How great a trouble it is to be so far off, from 0 to 4: the colour follows it."""
    return _steps(tested.gap, TROUBLING_GAPS) if tested.p_value < SIGNIFICANT else 0


def _verdict_trouble(verdict: Verdict) -> int:
    """The same of all probabilities; what is not to be believed is a trouble, however it came to be said."""
    if verdict.level in ("believable", "unknown"):
        return 0
    found = max(_steps(verdict.gap, TROUBLING_GAPS), _steps(verdict.lost, TROUBLING_LOSSES))
    return max(found, 2) if verdict.level == "not" else 1


def _is_long(text: str) -> bool:
    """Whether a name has a word that may be broken where a line ends."""
    return max(map(len, text.split()), default=0) > LONG_WORD


def _steps(value: float, steps: tuple[float, ...]) -> int:
    return sum(value >= step for step in steps)


def _rest(share: Estimate) -> Estimate:
    """The share of all other rows."""
    return Estimate(1 - share, 1 - share.high, 1 - share.low, share.error)


def framed(title: str, page: str) -> str:
    """A page in a frame of its own, for notebooks."""
    return (
        f'<iframe title="{html.escape(title)}" srcdoc="{html.escape(page)}" '
        f'width="100%" height="{FRAME_HEIGHT}" frameborder="0" sandbox="allow-scripts"></iframe>'
    )


@cache
def environment() -> Environment:
    """What templates are rendered with."""
    made = Environment(
        loader=PackageLoader("calibrant.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(
        percent=percent,
        points=points,
        number=number,
        decimal=decimal,
        estimate=estimate,
        percent_estimate=percent_estimate,
        chance=chance,
        at=coordinate,
        short=shorten,
        trouble=trouble,
        whole_dates=_whole_dates,
    )
    made.tests["nan"] = math.isnan
    made.tests["long"] = _is_long
    return made


def _whole_dates(sentence: str) -> Markup:
    """A sentence whose dates stay on one line, which browsers break at their hyphens."""
    return Markup(
        re.sub(r"\d{4}-\d\d-\d\d[\w:.]*", r'<span class="whole">\g<0></span>', str(escape(sentence)))
    )


@cache
def asset(name: str) -> str:
    """The text of a style or a script."""
    loader = environment().loader
    assert loader is not None
    return loader.get_source(environment(), name)[0]


def policy(style: str, script: str) -> str:
    """Nothing may be loaded, and only this style and this script may run."""
    return (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _as_script_text(value: object) -> str:
    """JSON that can stand inside a script element, whatever the texts in it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _live_data(summary: Summary) -> dict[str, object]:
    """What the script needs to decide anew: probabilities to the last bit, as little-endian doubles."""
    sample = summary.sample
    entries = [value for row in sample.proba for value in row]
    return {
        "classes": [entry.name for entry in summary.classes] if sample.rows else [],
        "actions": summary.decisions.actions if sample.rows else [],
        "cost": summary.decisions.cost,
        "truth": sample.truth,
        "weight": None if set(sample.weight) <= {1.0} else sample.weight,
        "proba": base64.b64encode(struct.pack(f"<{len(entries)}d", *entries)).decode(),
    }


def _figures(summary: Summary) -> dict[str, Any]:
    decisions, sample = summary.decisions, summary.sample
    names = [entry.name for entry in summary.classes]
    triangle = line = None
    if decisions.cost and summary.n_classes == 3:
        triangle = triangle_figure(decisions.cost, decisions.actions, names, sample)
    if decisions.cost and summary.n_classes == 2:
        line = line_figure(decisions.cost, decisions.actions, sample)
    errors, counted = summary.errors, summary.total_weight == summary.n_rows
    n_rows = {each.name: each.rows for each in summary.classes} if counted else None
    n_errors = errors.n_errors if counted else 0.0
    ranking = whiskers(summary.methods.results) if summary.methods else ((), 0.0)
    several = len(summary.reliability) > MAX_LARGE_FIGURES
    n_cards = len(summary.reliability)
    return {
        "confidence_figure": reliability_figure(summary.confidence),
        "class_figures": [(drawn, reliability_figure(drawn, small=several)) for drawn in summary.reliability],
        "class_columns": CLASS_COLUMNS.get(n_cards + (n_cards > MAX_LARGE_FIGURES and n_cards % 2), 1),
        "before_figures": _before_and_after(summary),
        "roc": roc_figure(summary.roc, n_rows),
        "detection": detection_figure(errors.detection, n_errors) if errors.detection.x else None,
        "triangle": triangle,
        "line": line,
        "whiskers": ranking[0],
        "whisker_zero": ranking[1],
        "whisker_width": WHISKER_WIDTH,
    }


def _before_and_after(summary: Summary) -> list[tuple[Reliability, ReliabilityFigure]]:
    """The reliability of the most probable class, or of the positive one of two, before and after."""
    if summary.before is None:
        return []
    drawn = [
        each.reliability[0] if summary.n_classes == 2 else each.confidence
        for each in (summary.before, summary)
    ]
    return [(each, reliability_figure(each)) for each in drawn]


def _found(summary: Summary, share: float) -> Estimate:
    """Share of the mistakes among the least certain rows; of weighted rows without an interval."""
    found = found_by_checking(summary.errors.detection, share)
    counted = summary.total_weight == summary.n_rows and summary.errors.n_errors > 0
    return share_estimate(found, summary.errors.n_errors) if counted and found >= 0 else Estimate(found)


def _tables(summary: Summary) -> dict[str, Any]:
    listed = list(zip(summary.classes, summary.measures.by_class, strict=True))
    if len(listed) > MAX_LISTED_CLASSES:
        listed = sorted(listed, key=lambda entry: -entry[1].calibration)[:MAX_LISTED_CLASSES]
    largest = max((max(row) for row in summary.decisions.counts), default=0.0)
    return {
        "listed_classes": listed,
        "heat": lambda count: round(9 * math.sqrt(count / largest)) if largest > 0 else 0,
        "probe": bool(summary.sample.rows) and summary.n_classes <= MAX_PROBE_CLASSES,
        "detection_rows": [(share, _found(summary, share)) for share in CHECKED_SHARES],
        "detection_share": _found(summary, CHECKED),
        "long_names": any(_is_long(entry.name) for entry in summary.classes),
        "named": any(mistake.name for mistake in summary.errors.mistakes),
        "all_in_page": len(summary.sample.rows) == summary.n_rows,
    }
