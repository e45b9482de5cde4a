"""`calibrant evaluate`, `compare`, `report` and `inspect`: the numbers of the library."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

from calibrant._core._errors import DataError
from calibrant.files import open_source
from calibrant.metrics import (
    auc,
    brier_decomposition,
    brier_score,
    error_rate,
    expected_calibration_error,
    log_loss,
)
from calibrant.models import compare_methods, describe
from cli.calling import here

LABELLED = ("--label", "label", "--scores", "p_*")
NAMES = ["cat", "dog", "fox"]


@pytest.fixture(scope="module")
def forecasts(made):
    """Probabilities, labels and sources of the rows."""
    rows = pa.Table.from_batches(open_source(made / "probabilities.csv").batches())
    proba = np.column_stack([rows[f"p_{name}"].cast(pa.float64()) for name in NAMES])
    return proba, np.array(rows["label"].to_pylist()), np.array(rows["source"].to_pylist())


def evaluate(folder, *arguments):
    return json.loads(
        here("evaluate", "probabilities.csv", *LABELLED, *arguments, "--json", cwd=folder).stdout
    )


def test_the_measures_are_those_of_the_library(made, forecasts):
    proba, labels, _ = forecasts
    shown = evaluate(made)["overall"]
    split = brier_decomposition(labels, proba, isotonic=True, mode="classwise", classes=NAMES)
    expected = {
        "n_rows": 1000,
        "weight": 1000,
        "log_loss": log_loss(labels, proba, classes=NAMES),
        "brier_score": brier_score(labels, proba, convention="sum", classes=NAMES),
        "calibration": split.calibration,
        "refinement": split.refinement,
        "error_rate": error_rate(labels, proba, classes=NAMES),
        "confidence": proba.max(axis=1).mean(),
        "expected_calibration_error": expected_calibration_error(labels, proba, classes=NAMES),
        "certain_mistakes": 0,
    }
    for name, value in expected.items():
        assert shown[name] == pytest.approx(value), name
    for name, ends in shown["intervals"].items():
        if name != "calibration_intercept":  # one for every class
            assert ends[0] <= shown[name] <= ends[1]
    assert {"log_loss", "brier_score", "error_rate", "calibration", "auc"} <= set(shown["intervals"])


def test_every_class_against_the_others(made, forecasts):
    proba, labels, _ = forecasts
    for place, each in enumerate(evaluate(made)["classes"]):
        is_it = labels == NAMES[place]
        assert each["label"] == NAMES[place]
        assert each["share"] == pytest.approx(is_it.mean())
        assert each["mean_probability"] == pytest.approx(proba[:, place].mean())
        assert each["auc"] == pytest.approx(auc(is_it, proba[:, place]))
        assert each["brier_score"] == pytest.approx(np.mean((proba[:, place] - is_it) ** 2))


def test_groups_add_up_to_the_whole(made, forecasts):
    _, _, source = forecasts
    found = evaluate(made, "--by", "source")
    groups = {each["group"]: each for each in found["groups"]}
    assert list(groups) == ["app", "web"]
    assert groups["app"]["n_rows"] == (source == "app").sum()
    for name in ("log_loss", "brier_score", "error_rate"):
        total = sum(each["n_rows"] * each[name] for each in groups.values()) / 1000
        assert total == pytest.approx(found["overall"][name])


def test_a_single_column_and_two_columns_are_the_same(tmp_path):
    (tmp_path / "one.csv").write_text("p,y\n0.1,no\n0.8,yes\n0.6,no\n0.9,yes\n")
    (tmp_path / "two.csv").write_text("p_yes,p_no,y\n0.1,0.9,no\n0.8,0.2,yes\n0.6,0.4,no\n0.9,0.1,yes\n")
    one = json.loads(
        here("evaluate", "one.csv", "--label", "y", "--scores", "p", "--json", cwd=tmp_path).stdout
    )
    two = json.loads(
        here(
            "evaluate",
            "two.csv",
            "--label",
            "y",
            "--scores",
            "p_no,p_yes",
            "--classes",
            "yes,no",
            "--json",
            cwd=tmp_path,
        ).stdout
    )
    assert one["overall"]["auc"] == 1.0
    for name in ("log_loss", "brier_score", "error_rate"):
        assert one["overall"][name] == pytest.approx(two["overall"][name])


def test_weights_count_rows(tmp_path):
    (tmp_path / "w.csv").write_text("p,y,w\n0.2,0,2\n0.7,1,1\n0.6,0,0\n")
    (tmp_path / "c.csv").write_text("p,y\n0.2,0\n0.2,0\n0.7,1\n")
    weighted = json.loads(
        here(
            "evaluate", "w.csv", "--label", "y", "--scores", "p", "--weight", "w", "--json", cwd=tmp_path
        ).stdout
    )
    copies = json.loads(
        here("evaluate", "c.csv", "--label", "y", "--scores", "p", "--json", cwd=tmp_path).stdout
    )
    assert weighted["overall"]["brier_score"] == pytest.approx(copies["overall"]["brier_score"])
    (tmp_path / "w.csv").write_text("p,y,w\n0.2,0,0\n0.7,1,0\n")
    with pytest.raises(DataError, match="the column 'w' of w.csv must not be all zero"):
        here("evaluate", "w.csv", "--label", "y", "--scores", "p", "--weight", "w", cwd=tmp_path)


def test_a_certain_mistake_is_counted_and_told(tmp_path):
    (tmp_path / "p.csv").write_text("p,y\n0,1\n1,1\n0.5,0\n")
    found = json.loads(
        here("evaluate", "p.csv", "--label", "y", "--scores", "p", "--json", cwd=tmp_path).stdout
    )
    assert (found["overall"]["log_loss"], found["overall"]["certain_mistakes"]) == (None, 1)
    shown = here("evaluate", "p.csv", "--label", "y", "--scores", "p", cwd=tmp_path).stdout
    assert re.search(r"log loss +inf", shown)
    assert "1 rows were given the probability 0 for what came" in shown


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "p_a,p_b,y\n0.5,0.5,a\n0.5,0.6,b\n",
            "probabilities of a row of p.csv must sum to one; got 1.1 in row 2",
        ),
        (
            "p_a,p_b,y\n1.5,-0.5,a\n0.5,0.6,b\n",
            "'p_a' of p.csv must hold probabilities, from 0 to 1; got 1.5 in row 1",
        ),
        ("p_a,p_b,y\n0.5,0.5,a\n0.5,0.5,\n", "must hold a label in every row; got none in row 2"),
    ],
)
def test_what_are_no_probabilities(tmp_path, content, message):
    (tmp_path / "p.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        here("evaluate", "p.csv", "--label", "y", "--scores", "p_*", cwd=tmp_path)


def test_the_report_of_evaluate_and_report(folder):
    here("evaluate", "probabilities.csv", *LABELLED, "--report", "a.html", cwd=folder)
    here(
        "report",
        "probabilities.csv",
        *LABELLED,
        "--costs",
        "asking.csv",
        "--names",
        "id",
        "--title",
        "Zoo",
        "--out",
        "b.html",
        cwd=folder,
    )
    here("report", "probabilities.csv", *LABELLED, "--out", "c.json", cwd=folder)
    assert "Probabilities of probabilities.csv" in (folder / "a.html").read_text()
    assert "Zoo" in (folder / "b.html").read_text()
    assert json.loads((folder / "c.json").read_text())


def test_compare_is_the_comparison_of_the_library(made):
    found = json.loads(
        here("compare", "scores.csv", "--label", "label", "--scores", "s_*", "--json", cwd=made).stdout
    )
    rows = pa.Table.from_batches(open_source(made / "scores.csv").batches())
    scores = np.column_stack([rows[f"s_{name}"].cast(pa.float64()) for name in NAMES])
    ours = compare_methods(scores, rows["label"].to_pylist())
    assert [each["name"] for each in found["results"]] == [each.name for each in ours.results]
    assert found["results"][0]["log_loss"] == ours.results[0].log_loss
    assert (found["advice"], found["recommended"]) == (ours.advice, ours.recommended)


def test_probabilities_are_tried_as_they_are(made):
    found = json.loads(
        here("compare", "probabilities.csv", *LABELLED, "--kind", "probability", "--json", cwd=made).stdout
    )
    assert "identity" in [each["name"] for each in found["results"]]


def test_inspect_is_the_description_of_the_library(made):
    shown = here("inspect", "model.json", cwd=made).stdout
    assert shown.rstrip() == str(describe(made / "model.json"))
    assert json.loads(here("inspect", "model.json", "--json", cwd=made).stdout)["classes"] == NAMES
