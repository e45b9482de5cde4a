"""The page of the documentation that shows the findings, and the findings that are kept for it."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from calibrant.experiments import EXPERIMENTS

DOCS = Path(__file__).parents[2] / "docs"
KEPT = sorted((DOCS / "reproduction").glob("*.json"))


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("reproduction_page", DOCS / "reproduction_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def line(panel, name, style="line", notes=()):
    return {"panel": panel, "name": name, "x": [0.0, 1.0], "y": [None, "inf"], "style": style, "notes": notes}


DOCUMENT = {
    "name": "aa00-figure1",
    "title": "A | B",
    "command": "calibrant reproduce aa00-figure1 --full",
    "conventions": "In $ and *bits*.",
    "labels": ["set", "method"],
    "measures": ["loss"],
    "rows": [{"labels": ["x_1", ""], "ours": ["inf"], "paper": [0.5], "spread": []}],
    "checks": [{"statement": "it grows", "held": False, "finding": "1 > 0"}],
    "axes": {"x": "t", "log": "x"},
    "series": [line("left", "a"), line("left", "b", "points", ["n"]), line("right", "a", "steps")],
    "skipped": ["one is not at hand"],
}


def test_a_section_has_the_figure_the_numbers_and_the_checks(page):
    text = page._section(DOCUMENT)
    assert text.startswith("### aa00-figure1\n\nA \\| B. `calibrant reproduce aa00-figure1 --full`")
    assert 'src="../_images/aa00-figure1.png" alt="A' in text
    assert (
        "| set, method | loss | paper | difference |\n"
        "| --- | --: | --: | --: |\n"
        "| x\\_1 | inf | 0.5000 | off |" in text
    )
    assert "- **NOT HELD**: it grows<br><small>1 > 0</small>\n- skipped: one is not at hand" in text
    assert text.endswith("\n\nIn \\$ and \\*bits\\*.")


def test_what_is_long_is_folded(page):
    (row,) = DOCUMENT["rows"]
    table = DOCUMENT | {"name": "aa00-table1", "series": []}
    assert "<details>" not in page._section(table)
    for more in ({"rows": [row] * 31}, {"conventions": "a word " * 60}):
        assert page._section(table | more).count("<details>") == 1


def test_durations_are_said_as_people_do(page):
    said = [page._duration(seconds) for seconds in (0, 1.4, 14, 80, 2606)]
    assert said == ["a second", "a second", "14 seconds", "a minute", "43 minutes"]


def test_findings_go_where_the_page_says(page, monkeypatch):
    monkeypatch.setattr(page, "read_findings", lambda: [DOCUMENT])
    monkeypatch.setattr(page, "jobs_of", lambda _: {})

    class App:
        class env:  # noqa: N801
            note_dependency = staticmethod(lambda path: None)

    source = ["# Page\n\n<!-- findings: aa00 -->\n\n<!-- findings: bb00 -->\n"]
    page.write_page(App, page.PAGE, source)
    assert "### aa00-figure1" in source[0]
    assert "*No findings are kept for this paper.*" in source[0]
    untouched = ["<!-- findings: aa00 -->"]
    page.write_page(App, "index", untouched)
    assert untouched == ["<!-- findings: aa00 -->"]


def test_every_panel_is_drawn(page):
    drawn = page.figure(DOCUMENT)
    panels = [ax for ax in drawn.axes if ax.axison]
    assert [ax.get_title() for ax in panels] == ["left", "right"]
    assert [len(ax.get_lines()) for ax in panels] == [2, 1]
    assert panels[0].get_xscale() == "log"
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["a", "b"]


def test_tables_come_before_figures_by_number(page):
    names = ["tto-cells", "ze02-figure1", "ze02-table10", "ze02-table2", "lz05-figure1"]
    expected = ["lz05-figure1", "tto-cells", "ze02-table2", "ze02-table10", "ze02-figure1"]
    assert sorted(names, key=page._order) == expected


CLAIM = {"paper": "ze02", "claim": "A | B", "verdict": None, "why": ""}


def test_a_verdict_is_what_its_checks_say(page):
    document = {"name": "e", "checks": [{"statement": s, "held": h} for s, h in (("a", True), ("b", False))]}

    def verdict(*starts, said=None):
        claim = CLAIM | {"verdict": said, "evidence": [{"experiment": "e", "checks": list(starts)}]}
        return page.verdict(claim, [document])

    assert [verdict("a"), verdict("b"), verdict("a", "b")] == ["held", "not held", "held in part"]
    assert [verdict("c"), verdict("a", said="not testable")] == ["not checked", "not testable"]
    claim = CLAIM | {"evidence": [{"experiment": "e", "checks": ["a"]}]}
    tables = list(page.claims_tables([claim], [document]))
    assert tables[0] == "### Claims of Zadrozny & Elkan (2002)"
    assert [line for line in tables if "held" in line] == ["| A \\| B | **held** |  | [e](#e) |"]
    assert page.counted([claim, claim], [document]) == "2: 2 held"
    first, *_, last = list(page.summary([claim, claim], [document]))[4:-2]
    assert first.startswith("| [Zadrozny & Elkan (2002)](#claims-of-zadrozny--elkan-2002), ZE02 |")
    assert last == "| **all four** |  | **2: 2 held** |"


def test_numbers_that_are_near_are_added_up(page):
    def counting(finding):
        checks = [{"statement": "Every printed number is near", "held": False, "finding": finding}]
        return {"checks": [*checks, {"statement": "it grows", "held": True, "finding": "1 of 2 are"}]}

    documents = [counting(finding) for finding in ("84 of 130 are. Off: 46", "1 of 1 are")]
    assert page.nearness([*documents, counting("no standard error is known")]) == "85 of 131"


def test_every_claim_has_evidence_that_is_there(page):
    documents, claims = page.read_findings(), page.read_claims()
    statements = {document["name"]: [c["statement"] for c in document["checks"]] for document in documents}
    for claim in claims:
        assert claim["verdict"] in {None, *page.VERDICTS}
        assert claim["evidence"] or claim["why"]
        for evidence in claim["evidence"]:
            assert evidence["experiment"] in EXPERIMENTS
            for start in evidence["checks"]:
                known = statements.get(evidence["experiment"], [start])
                assert any(statement.startswith(start) for statement in known), (claim["claim"], start)
    assert {claim["paper"] for claim in claims} == set(page.PAPERS)
    for claim in claims:
        verdict = page.verdict(claim, documents)
        assert verdict != "not checked", claim["claim"]
        assert verdict == "held" or claim["why"], claim["claim"]
        said = {check["held"] for check in page.checks_of(claim, documents)}
        assert {"held": False, "not held": True}.get(verdict) not in said, claim["claim"]
        for path in re.findall(r"`(tests/[\w/]+\.py)`", claim["why"]):
            assert (DOCS.parent / path).exists(), path


def test_jobs_that_are_shared_take_their_time_once(page, monkeypatch):
    jobs = {"a": {"f": {"1"}, "g": {"1"}}, "b": {"f": {"1", "2"}}, "c": {"f": {"3"}}, "d": {}}
    monkeypatch.setattr(page, "jobs_of", lambda document: jobs[document["name"]])
    seconds = {"a": {"f": 60, "g": 60}, "b": {"f": 120}, "c": {"f": 300}, "d": {}}
    documents = [{"name": name, "seconds": each} for name, each in seconds.items()]
    assert page.time_taken(documents) == "8 minutes of one processor"


def test_jobs_are_known_by_their_arguments(page):
    one, other, part = (
        page.jobs_of({"name": name, "scale": "full"}) for name in ("ogg-table1", "ogg-table2", "lz05-figure1")
    )
    assert one == other
    assert len(one["repetition"]) == 100 * 28
    assert part["family"] < page.jobs_of({"name": "lz05-table1", "scale": "full"})["family"]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_kept_findings_are_of_the_experiments_as_they_are_now(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    experiment = EXPERIMENTS[document["name"]]
    assert path.stem == document["name"]
    assert document["measures"] == list(experiment.measures)
    assert document["labels"] == list(experiment.labels)
    assert document["title"] == experiment.title
    # A run that left something out says so after the conventions.
    assert document["conventions"].startswith(experiment.conventions)
