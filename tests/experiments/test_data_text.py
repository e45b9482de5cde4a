"""The articles without what names their group."""

import json
import lzma

import pytest

from calibrant.experiments._data_text import read_newsgroups, without_header


@pytest.mark.parametrize(
    ("article", "body"),
    [
        ("Newsgroups: sci.space\nLines: 2\n\nFirst.\n\nSecond.\n", "First.\n\nSecond.\n"),
        ("Newsgroups: sci.space\r\n\r\nFirst.\r\n", "First.\n"),
        ("no header at all", "no header at all"),
    ],
)
def test_the_header_ends_at_the_first_empty_line(article, body):
    assert without_header(article) == body


def test_articles_and_groups_in_the_order_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    rows = [
        {"id": str(n), "label": group, "text": f"Path: {group}\n\nbody {n}"} for n, group in enumerate("ba")
    ]
    with lzma.open(tmp_path / "tiny.jsonl.xz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    articles = read_newsgroups("tiny")
    assert articles.texts == ("body 0", "body 1")
    assert articles.y.tolist() == ["b", "a"]
