"""`calibrant decide`: costs by name, decisions that cost least, and what they cost."""

import json

import numpy as np
import pyarrow as pa
import pytest

from calibrant._core._errors import DataError, ParameterError
from calibrant.cli._show import amount
from calibrant.decisions import ParallelPartitionRule, decide, expected_cost, realised_cost
from calibrant.files import open_source, read_cost_file
from calibrant.metrics import Estimate
from cli.calling import here

NAMES = ["cat", "dog", "fox"]
MATRIX = np.array([[0, 1, 5], [1, 0, 5], [2, 2, 0]], dtype=float)


def read(path):
    return pa.Table.from_batches(open_source(path).batches())


@pytest.fixture
def rows(folder):
    table = read(folder / "probabilities.csv")
    return np.column_stack([table[f"p_{name}"].cast(pa.float64()) for name in NAMES]), table[
        "label"
    ].to_pylist()


def run(folder, *arguments, costs="costs.csv"):
    done = here(
        "decide",
        "probabilities.csv",
        "--scores",
        "p_*",
        "--costs",
        costs,
        *arguments,
        "--json",
        "--out",
        "d.csv",
        cwd=folder,
    )
    return json.loads(done.stdout)


def test_the_decisions_and_their_costs_are_those_of_the_library(folder, rows):
    proba, labels = rows
    shown = run(folder, "--label", "label")
    decided = decide(proba, MATRIX)
    found = read(folder / "d.csv")
    assert found.column_names == ["id", "source", "label", "decision", "expected_cost"]
    assert found["decision"].to_pylist() == [NAMES[place] for place in decided]
    assert shown["expected_cost"] == pytest.approx(expected_cost(proba, decided, MATRIX).total)
    truth = [NAMES.index(label) for label in labels]
    assert shown["paid"] == pytest.approx(realised_cost(truth, decided, MATRIX).total)
    plain = proba.argmax(axis=1)
    assert shown["paid_saving"] == pytest.approx(realised_cost(truth, plain, MATRIX).total - shown["paid"])
    assert shown["expected_saving"] > 0


def test_the_order_of_names_in_the_costs_makes_no_difference(folder):
    first = run(folder)
    (folder / "other.csv").write_text("decision,fox,cat,dog\nfox,0,2,2\ndog,5,1,0\ncat,5,0,1\n")
    assert run(folder, costs="other.csv") == first


def test_a_learned_rule(folder, rows):
    proba, labels = rows
    shown = run(folder, "--rule", "parallel", "--label", "label")
    rule = ParallelPartitionRule().fit(proba, [NAMES.index(label) for label in labels], MATRIX)
    assert read(folder / "d.csv")["decision"].to_pylist() == [NAMES[place] for place in rule.decide(proba)]
    assert shown["rule_saving_percent"] is not None
    text = here(
        "decide",
        "probabilities.csv",
        "--scores",
        "p_*",
        "--costs",
        "costs.csv",
        "--rule",
        "parallel",
        "--label",
        "label",
        "--out",
        "d.csv",
        cwd=folder,
    ).stdout
    assert "On rows that it has not learned from, the rule parallel saves" in text


def test_a_decision_beside_the_classes(folder):
    shown = run(folder, costs="asking.csv")
    assert [each["decision"] for each in shown["decisions"]] == ["cat", "dog", "fox", "ask"]
    assert shown["decisions"][3]["n_rows"] > 0
    costs = [float(text) for text in read(folder / "d.csv")["expected_cost"].to_pylist()]
    assert max(costs) == pytest.approx(0.5)
    assert shown["expected_cost"] == pytest.approx(sum(costs))


def test_a_single_probability(tmp_path):
    (tmp_path / "p.csv").write_text("p_spam\n0.9\n0.97\n")
    (tmp_path / "c.csv").write_text("decision,ham,spam\nkeep,0,1\ndrop,20,0\n")
    here("decide", "p.csv", "--scores", "p_*", "--costs", "c.csv", "--out", "d.csv", cwd=tmp_path)
    assert (tmp_path / "d.csv").read_text().splitlines()[1:] == ["keep,0.9", "drop," + repr(20 * (1 - 0.97))]
    here(
        "decide",
        "p.csv",
        "--scores",
        "p_spam",
        "--positive",
        "ham",
        "--costs",
        "c.csv",
        "--out",
        "d.csv",
        cwd=tmp_path,
    )
    assert [line.split(",")[0] for line in (tmp_path / "d.csv").read_text().splitlines()[1:]] == [
        "keep",
        "keep",
    ]


def test_the_summary_leaves_standard_output_to_the_rows(folder):
    done = here(
        "decide",
        "probabilities.csv",
        "--scores",
        "p_*",
        "--costs",
        "costs.csv",
        "--keep",
        "id",
        "--out",
        "-",
        cwd=folder,
    )
    assert done.stdout.startswith("id,decision,expected_cost\n")
    assert len(done.stdout.splitlines()) == 1001
    assert "expected saving" in done.stderr


def test_weights_multiply_costs(folder):
    text = (folder / "probabilities.csv").read_text().splitlines()
    (folder / "w.csv").write_text("\n".join([f"{text[0]},w", *(f"{line},2" for line in text[1:])]) + "\n")
    plain = run(folder, "--label", "label")
    done = here(
        "decide",
        "w.csv",
        "--scores",
        "p_*",
        "--costs",
        "costs.csv",
        "--weight",
        "w",
        "--label",
        "label",
        "--json",
        "--out",
        "d.csv",
        cwd=folder,
    )
    assert json.loads(done.stdout)["paid"] == pytest.approx(2 * plain["paid"])


def test_no_rows(tmp_path, made):
    (tmp_path / "p.csv").write_text("id,p_cat,p_dog,p_fox\n")
    here("decide", "p.csv", "--scores", "p_*", "--costs", made / "costs.csv", "--out", "d.csv", cwd=tmp_path)
    assert (tmp_path / "d.csv").read_text() == "id,decision,expected_cost\n"


ROWS = "cat,0,1,5\ndog,1,0,5\nfox,2,2,0\n"
LEARN = ("--rule", "parallel", "--label", "label")


@pytest.mark.parametrize(
    ("costs", "extra", "error", "message"),
    [
        (
            f"truth,cat,dog,fox\n{ROWS}",
            (),
            DataError,
            "its heading 'truth' says that it names truths; rows are",
        ),
        (f"truth\\decision,cat,dog,fox\n{ROWS}", (), DataError, "columns are truths: transpose the table"),
        (
            "x,cat,dog,fox,ask\ncat,0,1,2,0.5\ndog,1,0,2,0.5\nfox,5,5,0,0.5\n",
            (),
            DataError,
            "it names 'ask', and the first column names the classes; .* transpose the table",
        ),
        (
            "x,cat,dog,wolf\ncat,0,1,2\ndog,1,0,2\n",
            (),
            DataError,
            "must name classes, .* it names 'wolf', and the classes are cat, dog, fox",
        ),
        (
            "x,cat,dog\ncat,0,1\ndog,1,0\nfox,5,5\n",
            (),
            DataError,
            "'fox' must be among the truths in the head",
        ),
        (
            f"x,cat,dog,fox\n{ROWS}".replace("fox,2", "fox,0"),
            (),
            DataError,
            "deciding 'fox' when the truth is 'cat' costs 0, and deciding 'cat' costs 0; check",
        ),
        (
            f"x,cat,dog,fox\n{ROWS}".replace("dog,1,0", "dog,1,zero"),
            (),
            DataError,
            "'dog' of bad.csv must hold finite numbers, .*; got 'zero' in row 2",
        ),
        (f"x,cat,dog,fox\n{ROWS}cat,1,0,5\n", (), DataError, "must have one row; got 'cat' more than once"),
        ("x,cat,dog,fox\n", (), DataError, "bad.csv must have a row per decision; it has none"),
        (
            "x\ncat\n",
            (),
            DataError,
            "a column per class after the one of the decisions; it has the column 'x'",
        ),
        (
            None,
            LEARN[:2],
            ParameterError,
            "--rule parallel is learned from rows with labels; name their column",
        ),
        (
            f"x,cat,dog,fox\n{ROWS}ask,1,1,1\n",
            (*LEARN, "--rule", "lachiche_flach"),
            ParameterError,
            "got 'ask'; use --rule parallel or expected",
        ),
        (
            "x,cat,dog,fox\ncat,0,1,5\ndog,1,0,5\nask,1,1,1\n",
            (*LEARN, "--rule", "mossman"),
            ParameterError,
            "got no row for 'fox'; use --rule parallel or expected",
        ),
    ],
)
def test_costs_that_do_not_fit(folder, costs, extra, error, message):
    if costs is not None:
        (folder / "bad.csv").write_text(costs)
    with pytest.raises(error, match=message):
        run(folder, *extra, costs="costs.csv" if costs is None else "bad.csv")
    assert not (folder / "d.csv").exists()


def test_any_costs_are_allowed_when_they_are_meant(folder):
    (folder / "odd.csv").write_text("x,cat,dog,fox\ncat,0,1,5\ndog,1,0,5\nfox,0,0,0\n")
    shown = run(folder, "--any-costs", costs="odd.csv")
    assert shown["expected_cost"] == 0


def test_a_corner_that_names_both_sides(tmp_path):
    (tmp_path / "c.csv").write_text("decision\\truth,a,b\na,0,1\nb,1,0\n")
    assert read_cost_file(str(tmp_path / "c.csv")).decisions == ["a", "b"]


def test_the_ends_of_an_interval_have_the_digits_of_the_amount():
    assert amount(Estimate(2.8, -0.9979, 8.52)) == "2.80 [-1.00, 8.52]"
    assert amount(Estimate(0.5, 0.25, 0.75)) == "0.5 [0.25, 0.75]"
    assert (amount(1234.5), amount(0.0), amount(0.01234567)) == ("1,234.50", "0.00", "0.01235")
