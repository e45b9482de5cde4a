"""Findings as files: valid, rounded, the same every time."""

import json
from importlib.metadata import version

import pytest

from calibrant.experiments._document import to_document, write_document
from calibrant.experiments._experiment import Check, Experiment, Findings, Row, Series
from calibrant.experiments._layout import blocks, row_names
from calibrant.experiments._runner import Outcome

EXPERIMENT = Experiment(
    "made-up-table1", "Made up", "in bits", ("set", "method"), ("loss", "dollars"), list, Findings, {"x": "t"}
)
FINDINGS = Findings(
    rows=(
        Row(("one", "raw"), (0.123456789, 1234.5678), (float("inf"), 1000.0), (0.001, None)),
        Row(("one", ""), (float("inf"), None), (float("inf"), 10.0)),
        Row(("two", "raw"), (float("nan"), -3.0)),
    ),
    checks=(Check("less is more", True, "1 < 2"), Check("more is less", None)),
    series=(Series("left", "curve", (0.0, 1 / 3), (1.0, float("-inf"))),),
)


@pytest.fixture
def document():
    return to_document(Outcome(EXPERIMENT, "full", FINDINGS, ("the data set is not at hand",), {"f": 61.7}))


def test_it_is_json_that_every_reader_takes(document, tmp_path):
    path = write_document(document, tmp_path / "new" / "folder")
    assert path.name == "made-up-table1.json"
    text = path.read_text(encoding="utf-8")

    def refuse(constant):
        raise AssertionError(constant)

    assert json.loads(text, parse_constant=refuse) == document
    assert [each.name for each in path.parent.iterdir()] == ["made-up-table1.json"]
    assert write_document(document, path.parent).read_text(encoding="utf-8") == text


def test_it_says_what_was_run_and_what_came(document):
    assert document["command"] == "calibrant reproduce made-up-table1 --full"
    assert document["version"] == version("calibrant")
    assert document["rows"][0]["ours"] == [0.123457, 1234.57]
    assert document["rows"][0]["paper"][0] == "inf"
    assert document["rows"][2]["ours"][0] is None
    assert document["series"][0]["y"] == [1.0, "-inf"]
    assert document["checks"][1]["held"] is None
    assert document["seconds"] == {"f": 62}
    assert document["skipped"] == ["the data set is not at hand"]


def test_the_table_has_ours_the_papers_and_the_difference(document):
    assert row_names(document) == ["one, raw", "one", "two, raw"]
    loss, dollars = blocks(document)
    assert loss.headings == ("loss", "paper", "difference")
    assert loss.cells == [("0.12346 ± 0.00100", "inf", "off"), ("inf", "inf", ""), ("", "", "")]
    assert dollars.cells == [("1,235", "1,000", "+235"), ("", "10", ""), ("-3", "", "")]
    assert loss.width == 2 + 17 + 2 + 5 + 2 + 10


def test_a_measure_that_the_paper_lacks_has_one_column(document):
    for row in document["rows"]:
        row["paper"] = []
    assert [block.headings for block in blocks(document)] == [("loss",), ("dollars",)]
