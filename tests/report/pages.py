"""Summaries whose pages are opened in a browser, good ones and odd ones."""

import numpy as np

from calibrant.report import summarize
from report.forecasts import TRIAGE, TRIAGE_COST, bold, honest, triage

NASTY = ("<script>alert(1)</script>", "\"quoted\" & 'more'", "שלום עולם", "😀 </title>\u2028")


def _two():
    truth, proba = bold(400, 2)
    weight = np.tile([1.0, 2.5], 200)
    cost = {"ill": {"ill": 0, "well": 1}, "well": {"ill": 20, "well": 0}}
    y = np.array(["ill", "well"])[truth]
    return summarize(y, proba, classes=["ill", "well"], cost=cost, sample_weight=weight, title="Two classes")


def _three():
    y, proba = triage()
    rivals = {"timid": proba**0.3 / (proba**0.3).sum(axis=1, keepdims=True)}
    return summarize(y, proba, classes=TRIAGE, cost=TRIAGE_COST, title="Triage", methods=rivals)


def _ten():
    truth, proba = bold(3000, 10)
    return summarize(truth, proba, title="Ten classes")


def _nasty():
    truth, proba = honest(300, 4)
    names = [f"<b>{number}</b>" for number in range(300)]
    y = np.array(NASTY)[truth]
    return summarize(y, proba, classes=NASTY, title="</title><script>alert(2)</script>", row_names=names)


def _actions():
    truth, proba = honest(300, 2)
    cost = {
        "release": {"mail": 0, "spam": 1},
        "delete": {"mail": 20, "spam": 0},
        "ask": {"mail": 0.3, "spam": 0.3},
    }
    return summarize(np.array(["mail", "spam"])[truth], proba, classes=["mail", "spam"], cost=cost)


def _extra_action():
    truth, proba = honest(300, 2)
    cost = {
        "ask": {"mail": 0.3, "spam": 0.3},
        "mail": {"mail": 0, "spam": 1},
        "spam": {"mail": 20, "spam": 0},
    }
    return summarize(np.array(["mail", "spam"])[truth], proba, classes=["mail", "spam"], cost=cost)


def _before():
    y, proba = triage()
    softer = proba**0.5 / (proba**0.5).sum(axis=1, keepdims=True)
    return summarize(y, softer, classes=TRIAGE, cost=TRIAGE_COST, before=proba, title="After")


def _before_two():
    truth, proba = bold(400, 2)
    return summarize(truth, 0.5 + (proba - 0.5) / 2, before=proba, title="After, two classes")


def _seven():
    truth, proba = bold(700, 7)
    return summarize(truth, proba, title="Seven classes")


def _thousand():
    truth, proba = bold(1200, 1000, power=3)
    return summarize(truth, proba, title="A thousand classes")


MAKERS = {
    "two": _two,
    "three": _three,
    "ten": _ten,
    "nasty": _nasty,
    "actions": _actions,
    "extra_action": _extra_action,
    "before": _before,
    "before two": _before_two,
    "seven": _seven,
    "thousand": _thousand,
    "two rows": lambda: summarize([0, 1], [0.4, 0.6]),
    "one class": lambda: summarize([1] * 40, np.full(40, 0.9)),
    "constant": lambda: summarize([0, 1, 2] * 30, np.tile([0.2, 0.3, 0.5], (90, 1))),
    "all correct": lambda: summarize([0, 1, 2] * 30, np.tile(np.eye(3), (30, 1))),
    "all wrong": lambda: summarize([0, 1, 2] * 30, np.tile(np.eye(3)[[1, 2, 0]], (30, 1))),
}
