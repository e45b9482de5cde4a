"""The page of the documentation that shows the findings, and the findings that are kept for it."""

import importlib.util
import json
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
        "| set, method | loss | paper | difference |\n| --- | --: | --: | --: |\n| x\\_1 | inf | 0.5000 |  |"
        in text
    )
    assert "In \\$ and \\*bits\\*." in text
    assert "- **NOT HELD**: it grows (1 > 0)\n- skipped: one is not at hand" in text


def test_findings_go_where_the_page_says(page, monkeypatch):
    monkeypatch.setattr(page, "read_findings", lambda: [DOCUMENT])

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
