"""Summarise, then show: `summarize` makes a `Summary`, which is one HTML page, JSON, or a few lines of text.

`summarize` computes and knows no HTML; the page draws and computes nothing but what its reader edits.
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
from calibrant.report._summary import ClassTest, Summary, Verdict

__all__ = [
    "Band",
    "Bin",
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
    "summarize",
]

__dir__ = at_home(__name__)
