"""`calibrant report --before`: the same rows in another file, checked to be the same."""

import json

import numpy as np
import pytest

from calibrant._core._errors import DataError, ParameterError
from calibrant.report import summarize
from cli.calling import here

GIVEN = ["after.csv", "--scores", "p_*", "--label", "label"]


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    after = rng.random(300).round(3)
    y = np.where(rng.random(300) < after, "spam", "ham")
    before = (after**2 / (after**2 + (1 - after) ** 2)).round(6)
    write(tmp_path / "after.csv", "p", after, y)
    write(tmp_path / "before.csv", "s", before, y)
    return y, after, before


def write(path, prefix, spam, y):
    lines = [f"{1 - p!r},{p!r},{label}" for p, label in zip(spam.tolist(), y, strict=True)]
    path.write_text("\n".join([f"{prefix}_ham,{prefix}_spam,label", *lines]) + "\n")


def test_says_what_python_says(rows, tmp_path):
    y, after, before = rows
    asked = [*GIVEN, "--before", "before.csv", "--before-scores", "s_*", "--out", "page.json"]
    here("report", *asked, cwd=tmp_path)
    said = json.loads((tmp_path / "page.json").read_text())["before"]
    expected = json.loads(summarize(y, after, before=before).to_json())["before"]
    assert said["difference"]["log_loss"] == pytest.approx(expected["difference"]["log_loss"])
    assert said["measures"]["brier_score"] == pytest.approx(expected["measures"]["brier_score"])


def test_the_columns_are_those_of_scores_unless_it_is_said(rows, tmp_path):
    here("report", *GIVEN, "--before", "after.csv", "--out", "page.json", cwd=tmp_path)
    said = json.loads((tmp_path / "page.json").read_text())["before"]
    assert said["difference"]["log_loss"] == 0


def test_other_rows_are_refused(rows, tmp_path):
    y, _, before = rows
    asked = [*GIVEN, "--before", "other.csv", "--before-scores", "s_*", "--out", "page.html"]
    turned = y.copy()
    turned[4] = "ham" if y[4] == "spam" else "spam"
    write(tmp_path / "other.csv", "s", before, turned)
    with pytest.raises(DataError, match="in the same order as the report; got another label in row 5;"):
        here("report", *asked, cwd=tmp_path)
    write(tmp_path / "other.csv", "s", before[:-1], y[:-1])
    with pytest.raises(DataError, match="as the report; got 299 rows of 2 classes for 300 of 2;"):
        here("report", *asked, cwd=tmp_path)
    assert not (tmp_path / "page.html").exists()


def test_columns_alone_are_refused(rows, tmp_path):
    with pytest.raises(ParameterError, match="--before-scores must come with --before; got it alone"):
        here("report", *GIVEN, "--before-scores", "s_*", "--out", "page.html", cwd=tmp_path)
