"""The arena: its parts never share a row, its references are 1, and its page shows what was measured."""

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from models.cases import OURS as METHODS

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="benchmarks are not installed")


@pytest.fixture
def arena(monkeypatch):
    """Its modules by name."""
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: importlib.import_module(f"benchmarks.arena.{name}")


@pytest.mark.parametrize("name", ["digits", "wdbc"])
def test_parts_share_no_row_and_inner_parts_are_within_the_calibration_part(arena, name):
    problems = arena("problems")
    outer, inner = (problems.split(name, 0, inner=each) for each in (False, True))
    parts = [outer.train, outer.calibrate, outer.test]
    rows = np.concatenate(parts)
    assert len(rows) == len(np.unique(rows)) == len(problems.problem_named(name).y)
    assert set(inner.calibrate) | set(inner.test) == set(outer.calibrate)
    assert not set(inner.calibrate) & set(inner.test)
    assert set(inner.train) == set(outer.train)
    assert len(inner.calibrate) == pytest.approx(2 * len(inner.test), rel=0.05)


def test_blocks_are_not_torn_apart(arena):
    problems = arena("problems")
    random = np.random.default_rng(0)
    block = random.integers(0, 30, 500)
    problem = problems.Problem(np.zeros((500, 1)), block % 2, np.array([False]), block)
    parts = problems._cut(problem, np.arange(500), (0.3, 0.3), random)
    assert sorted(np.concatenate(parts)) == list(range(500))
    held = [set(block[part]) for part in parts]
    assert not held[0] & held[1] | held[0] & held[2] | held[1] & held[2]


def test_a_smaller_part_has_every_class(arena):
    y = np.repeat([0, 1, 2], [500, 3, 40])
    rows = arena("problems").draw(y, 40, np.random.default_rng(0))
    assert len(np.unique(rows)) == 40
    assert set(y[rows]) == {0, 1, 2}


def test_a_one_to_one_score_of_a_truth_is_that_truth(arena):
    """Labels have the stated chances, and the distance of the truth from itself is nothing."""
    truths = arena("truths")
    for draw in truths.TRUTHS.values():
        _, truth = draw(50_000, np.random.default_rng(0))
        y = truths.drawn(truth, np.random.default_rng(1))
        share = np.bincount(y, minlength=truth.shape[1]) / len(y)
        np.testing.assert_allclose(share, truth.mean(axis=0), atol=0.01)
        assert truths.distance(truth, truth) == pytest.approx(0, abs=1e-12)
        uniform = np.full_like(truth, 1 / truth.shape[1])
        assert truths.distance(truth, uniform) > 0.1


@pytest.mark.parametrize("name", ["two classes, too sure", "five classes, mixed margins"])
@pytest.mark.filterwarnings("ignore")
def test_everyone_who_is_here_gives_probabilities(arena, name):
    truths, contestants = arena("truths"), arena("contestants")
    scores, truth = truths.TRUTHS[name](300, np.random.default_rng(0))
    y = truths.drawn(truth, np.random.default_rng(1))
    for method in contestants.contestants().values():
        proba = method(scores, y)(scores)
        assert proba.shape == truth.shape
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-6)


def test_measures_are_those_of_scikit_learn(arena):
    from sklearn.metrics import log_loss

    rng = np.random.default_rng(0)
    proba, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    found = arena("measures").measured(y, proba, 100, np.bincount(y), np.random.default_rng(0))
    assert found["log_loss"] == pytest.approx(log_loss(y, proba))
    assert found["brier"] == pytest.approx(((proba - np.eye(3)[y]) ** 2).sum(axis=1).mean())
    assert set(found) == set(arena("measures").MEASURES)


def test_standings_are_geometric_means_over_sets(arena):
    standing, measures = arena("standing"), arena("measures")
    cells = []
    for name, factor in (("a", 0.5), ("b", 2.0), ("c", 0.25)):
        for learner in ("x", "y"):
            about = {"set": name, "learner": learner, "seed": 0, "n_calibrate": 40, "n_classes": 2}
            for method, loss in ((standing.REFERENCE, 1.0), ("other", factor)):
                losses = dict.fromkeys(measures.MEASURES, loss)
                times = {"fit_seconds": 0.001, "predict_seconds": 0.002}
                cells.append(about | {"method": method, "n_test": 10**9} | losses | times)
    reference, other = standing.standings([*cells, {"failed": "so", "method": "third"}])
    if reference["method"] == "other":
        reference, other = other, reference
    assert (reference["brier"]["ratio"], reference["brier"]["low"], reference["brier"]["high"]) == (1, 1, 1)
    assert other["brier"]["ratio"] == pytest.approx(0.25 ** (1 / 3), rel=1e-3)
    assert other["brier"]["low"] < other["brier"]["ratio"] < other["brier"]["high"]
    assert (other["brier"]["better"], other["brier"]["worse"]) == (2, 1)
    assert other["brier"]["rank"] == pytest.approx(4 / 3, rel=1e-3)


def test_the_page_shows_what_was_measured(arena):
    pages = arena("pages")
    kept = json.loads((pages.RESULTS / "arena.json").read_text())
    assert (pages.RESULTS / "arena.md").read_text() == pages.markdown(kept)
    assert "arena.md" in (ROOT / "docs" / "guide" / "arena.md").read_text()
    assert re.search(r"looked at \d+ time", pages.markdown(kept))
    assert kept["n_looks"] == pages.n_looks()


def test_the_guide_says_how_every_method_did(arena):
    kept = json.loads((arena("pages").RESULTS / "arena.json").read_text())
    ratio = {(row["group"], row["method"]): row["log_loss"]["ratio"] for row in kept["standings"]}
    page = (ROOT / "docs" / "guide" / "which-method.md").read_text()
    for name in METHODS:
        method = "uncalibrated" if name == "identity" else f"calibrant {name}"
        two, many = (f"{ratio[group, method]:.3f}" for group in ("two classes", "many classes"))
        assert re.search(rf"^\| `{name}` .* {two} / {many} \|$", page, re.MULTILINE), name


def test_the_command_that_is_kept_names_no_folder(arena):
    without = arena("__main__").without_folders
    assert without(["--inner", "--data", "/x/y", "--sets", "car", "--out", "z"]) == [
        "--inner",
        "--sets",
        "car",
    ]
