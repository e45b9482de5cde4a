"""The demo as a user sees it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "calibrant"
METHODS = ("raw", "auto", "sigmoid", "pav", "ranked logistic")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "pages"
    done = subprocess.run([COMMAND, "demo", "--out", folder], check=True, capture_output=True, text=True)
    return done, folder


def test_one_group_per_learner_and_problem(demo):
    printed = demo[0].stdout
    groups = re.findall(r"^ ?(digits|diabetes),\s+(naive Bayes|linear SVM)", printed, re.MULTILINE)
    assert len(groups) == len(set(groups)) == 4
    for method in METHODS:
        assert len(re.findall(rf"^ +{method} +[\di]", printed, re.MULTILINE)) == 4


def test_parts_of_the_brier_score_add_up_and_the_best_is_marked(demo):
    lines = re.findall(rf"^ +({'|'.join(METHODS)}) +(.*)$", demo[0].stdout, re.MULTILINE)
    assert len(lines) == 4 * len(METHODS)
    briers = []
    for _, numbers in lines:
        brier, calibration, refinement = (float(cell.rstrip("*")) for cell in numbers.split()[1:4])
        assert brier == pytest.approx(calibration + refinement, abs=2e-4)
        briers.append(brier)
    for start in range(0, len(lines), len(METHODS)):
        group = briers[start : start + len(METHODS)]
        marked = [numbers.split()[1].endswith("*") for _, numbers in lines[start : start + len(METHODS)]]
        assert marked[group.index(min(group))]


def test_losses_have_the_words_of_evaluate_and_their_intervals(demo):
    printed = demo[0].stdout
    heads = re.sub(r"\s+", " ", printed[: printed.index("digits,")])
    assert "log loss brier score calibration refinement error rate" in heads
    assert len(re.findall(r"± \d\.\d{4}", printed)) >= 2 * 4 * len(METHODS)


def test_the_pages_are_named_with_their_verdicts_and_written(demo):
    done, folder = demo
    pages = sorted(folder.iterdir())
    assert [path.name for path in pages] == ["diabetes-costs.html", "digits-after.html", "digits-before.html"]
    for path in pages:
        assert str(path) in done.stdout
        text = path.read_text(encoding="utf-8")
        assert text.startswith("<!doctype html>")
        assert len(text) < 1_000_000
    assert "Digits: naive Bayes, raw. Do not believe these probabilities as they are." in done.stdout
    after = re.search(r"^ +Digits: linear SVM, auto\. (.*)$", done.stdout, re.MULTILINE).group(1)
    assert after in ("These probabilities can be believed.", "These probabilities are nearly right.")


def test_no_progress_bar_and_no_warnings_off_a_terminal(demo):
    assert demo[0].stderr == ""
