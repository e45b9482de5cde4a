"""The demo as a user sees it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "calibrant"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [COMMAND, "demo", "--out", folder / "pictures"], check=True, capture_output=True, text=True
    )
    return done, folder / "pictures"


def test_one_group_per_learner_and_problem(demo):
    printed = demo[0].stdout
    groups = re.findall(r"(breast cancer|digits),\s+(naive Bayes|linear SVM)", printed)
    assert len(groups) == len(set(groups)) == 4
    assert printed.count("sigmoid") == printed.count("binning") == 4
    assert printed.count("raw") == 4


def test_parts_of_the_brier_score_add_up_and_the_best_is_marked(demo):
    lines = re.findall(r"^ +(raw|sigmoid|binning|pav) +(.*)$", demo[0].stdout, re.MULTILINE)
    assert len(lines) == 16
    briers = []
    for _, numbers in lines:
        brier, calibration, refinement = (float(cell.rstrip("*")) for cell in numbers.split()[:3])
        assert brier == pytest.approx(calibration + refinement, abs=2e-4)
        briers.append(brier)
    for start in range(0, 16, 4):
        group = briers[start : start + 4]
        marked = [numbers.split()[0].endswith("*") for _, numbers in lines[start : start + 4]]
        assert marked[group.index(min(group))]


def test_the_pictures_are_named_and_written(demo):
    done, folder = demo
    pictures = sorted(folder.iterdir())
    assert [path.name for path in pictures] == ["reliability-breast-cancer.png", "reliability-digits.png"]
    for path in pictures:
        assert str(path) in done.stdout
        assert path.read_bytes().startswith(b"\x89PNG")


def test_no_progress_bar_off_a_terminal(demo):
    assert demo[0].stderr == ""
