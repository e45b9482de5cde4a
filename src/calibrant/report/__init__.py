"""Summarise, then show: `summarize` makes a `Summary`, which is one HTML page, JSON, or a few lines of text.

`summarize` computes and knows no HTML; the page draws and computes nothing but what its reader edits.
`summarize_monitor` does the same for what a `CalibrationMonitor` has found (`WatchSummary`).
"""

from calibrant._core._lazy import at_home
from calibrant.report._drawn import Band, Bin, Curve, Reliability, Roc
from calibrant.report._sections import (
    Confusion,
    Decisions,
    Errors,
    Mistake,
    Rule,
    Sample,
)
from calibrant.report._summarize import summarize
from calibrant.report._summary import Before, ClassTest, Summary, Verdict
from calibrant.report._watch import Change, WatchSummary, summarize_monitor

__all__ = [
    "Band",
    "Before",
    "Bin",
    "Change",
    "ClassTest",
    "Confusion",
    "Curve",
    "Decisions",
    "Errors",
    "Mistake",
    "Reliability",
    "Roc",
    "Rule",
    "Sample",
    "Summary",
    "Verdict",
    "WatchSummary",
    "summarize",
    "summarize_monitor",
]

__dir__ = at_home(__name__)
