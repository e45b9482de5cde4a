"""Summarise, then show: `summarize` makes a `Summary`, which is one HTML page, JSON, or a few lines of text.

`summarize` computes and knows no HTML; the page draws and computes nothing but what its reader edits.
"""

from calibrant.report._summarize import summarize
from calibrant.report._summary import (
    Band,
    Bin,
    ClassMeasures,
    Confusion,
    Curve,
    Decisions,
    Errors,
    Measures,
    Method,
    Methods,
    Mistake,
    Reliability,
    Roc,
    Rule,
    Sample,
    Summary,
    Verdict,
)

__all__ = [
    "Band",
    "Bin",
    "ClassMeasures",
    "Confusion",
    "Curve",
    "Decisions",
    "Errors",
    "Measures",
    "Method",
    "Methods",
    "Mistake",
    "Reliability",
    "Roc",
    "Rule",
    "Sample",
    "Summary",
    "Verdict",
    "summarize",
]
