"""All that Python can set is set from the command: settings, codes of one's own, costs by row."""

import csv
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from calibrant import ScoreModel, load
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._settings import settings_of
from calibrant.calibrators import METHODS, named_method
from calibrant.codes import Coupling, check_code
from calibrant.decisions import RULES, ParallelPartitionRule, decide, mailing_costs
from calibrant.metrics import mailing_profit
from cli.calling import here, process

LABELLED = ("--label", "label", "--scores", "s_*")


def rows_of(path):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    scores = np.array([[float(row[f"s_{name}"]) for name in ("cat", "dog", "fox")] for row in rows])
    return scores, np.array([row["label"] for row in rows])


@pytest.mark.parametrize(
    ("method", "settings", "expected"),
    [
        ("binning", ["n_bins=cv"], {"n_bins": "cv"}),
        ("binning", ["n_bins=7", "smoothing=m", "m=3.5"], {"n_bins": 7, "smoothing": "m", "m": 3.5}),
        ("pav", ["between=linear", "clip=none"], {"between": "linear", "clip": None}),
        ("sigmoid", ["smooth=false"], {"smooth": False}),
        ("accuracy_table", ["smoothing=none", "n_cells=[4, 5]"], {"smoothing": "none", "n_cells": [4, 5]}),
        ("accuracy_table", ["combination=[[1, 2], [2]]", "max_rank=2"], {"combination": [[1, 2], [2]]}),
        ("accuracy_table", ["width=[0.5, 0.4]", "smoothing=median"], {"width": [0.5, 0.4]}),
        ("ranked_logistic", ["combination=B"], {"combination": "B"}),
    ],
)
def test_a_setting_is_that_of_python(folder, method, settings, expected):
    given = [part for each in settings for part in ("--set", each)]
    here("fit", "scores.csv", *LABELLED, "--method", method, *given, "--out", "m.json", cwd=folder)
    model = load(folder / "m.json")
    made = getattr(model.calibrator_, "calibrators_", [model.calibrator_])[0]
    for name, value in expected.items():
        assert getattr(made, name) == value
    scores, labels = rows_of(folder / "scores.csv")
    ours = ScoreModel(named_method(method).set_params(**{name: getattr(made, name) for name in expected}))
    if len(settings) == len(expected):
        np.testing.assert_array_equal(
            model.predict_proba(scores), ours.fit(scores, labels).predict_proba(scores)
        )


def test_settings_of_the_combination_and_of_the_rule(folder):
    given = ("--method", "sigmoid", "--combine", "coupling", "--costs", "costs.csv", "--rule", "parallel")
    sets = ("--set", "combine.eps=0.001", "--set", "rule.family=row_mul", "--set", "rule.passes=2")
    here("fit", "scores.csv", *LABELLED, *given, *sets, "--out", "m.json", cwd=folder)
    model = load(folder / "m.json")
    assert model.calibrator_.combine == Coupling(eps=0.001)
    assert (model.rule_.family, model.rule_.passes) == ("row_mul", 2)


@pytest.mark.parametrize("family", ["row_add", "row_mul", "col_mul", "free"])
def test_families_of_partitions_in_decide(folder, family):
    given = ("--label", "label", "--scores", "p_*", "--costs", "costs.csv", "--rule", "parallel")
    here("apply", "model.json", "scores.csv", "--keep", "label", "--out", "p.csv", cwd=folder)  # with labels
    here("decide", "p.csv", *given, "--set", f"family={family}", "--out", "d.csv", cwd=folder)
    table, found = pa_csv.read_csv(folder / "p.csv"), pa_csv.read_csv(folder / "d.csv")
    names = ["cat", "dog", "fox"]
    proba = np.column_stack([table[f"p_{name}"].to_numpy() for name in names])
    costs = pa_csv.read_csv(folder / "costs.csv")
    cost = np.column_stack([costs[name].to_numpy() for name in names])
    order = [costs.column(0).to_pylist().index(name) for name in names]
    truth = np.array([names.index(label) for label in table["label"].to_pylist()])
    rule = ParallelPartitionRule(family=family).fit(proba, truth, cost[order])
    assert found["decision"].to_pylist() == [names[each] for each in rule.decide(proba)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--method", "binning", "--set", "bins=3"), "settings of binning must be among: n_bins, .*'n_bins'"),
        (("--method", "binning", "--set", "n_bins=many"), "n_bins of binning must be .*; got 'many'"),
        (("--method", "binning", "--set", "n_bins"), "a setting must be NAME=VALUE; got 'n_bins'"),
        (("--method", "binning", "--set", "rull.family=free"), r"--set must be .*; did you mean 'rule'\?"),
        (("--set", "n_bins=3"), "must come with a method .*got --method auto; name one with --method"),
        (("--set", "rule.family=free"), "must come with --rule; got none"),
        (("--method", "temperature", "--set", "kind=margin"), "settings of temperature must be among: none"),
    ],
)
def test_settings_that_are_none_are_one_line(folder, options, said):
    with pytest.raises(ParameterError, match=said) as caught:
        here("fit", "scores.csv", *LABELLED, *options, "--out", "m.json", cwd=folder)
    assert "\n" not in str(caught.value)


def test_compare_takes_settings_by_method(folder):
    plain = json.loads(here("compare", "scores.csv", *LABELLED, "--json", cwd=folder).stdout)
    given = ("--set", "binning.n_bins=4", "--set", "pav.between=linear")
    found = json.loads(here("compare", "scores.csv", *LABELLED, *given, "--json", cwd=folder).stdout)
    losses = [{each["name"]: each["log_loss"] for each in said["results"]} for said in (plain, found)]
    changed = {name for name in losses[0] if losses[0][name] != losses[1][name]}
    assert losses[0].keys() == losses[1].keys()
    assert changed == {"binning", "pav"}
    with pytest.raises(ParameterError, match="did you mean 'binning'"):
        here("compare", "scores.csv", *LABELLED, "--set", "bining.n_bins=4", cwd=folder)


def test_methods_lists_the_registry(folder):
    said = json.loads(here("methods", "--json", cwd=folder).stdout)
    assert [each["name"] for each in said["methods"]] == ["auto", *METHODS]
    assert [each["name"] for each in said["rules"]] == list(RULES)
    for each in said["methods"][1:]:
        method = METHODS[each["name"]]
        assert each["kinds"] == sorted(method.kinds)
        assert [setting["name"] for setting in each["settings"]] == list(settings_of(method))
        assert each["description"].endswith(".")
    shown = here("methods", cwd=folder).stdout
    for name in (*METHODS, *RULES, "isotonic", "platt", "coupling", "n_bins"):
        assert name in shown
    one = here("methods", "isotonic", cwd=folder).stdout
    assert "'nearest', 'linear', 'average', 'lower', 'upper'" in " ".join(one.split())
    with pytest.raises(ParameterError, match=r"NAME must be one of .*; did you mean 'binning'\?"):
        here("methods", "bining", cwd=folder)


def test_a_list_has_commas_between(folder):
    options = ("scores.csv", *LABELLED, "--method", "binning", "--set", "n_bins=cv")
    for name, written in (("commas", "2,5"), ("json", "[2, 5]")):
        here("fit", *options, "--set", f"candidates={written}", "--out", f"{name}.json", cwd=folder)
    assert (folder / "commas.json").read_bytes() == (folder / "json.json").read_bytes()
    assert load(folder / "json.json").calibrator_.calibrator.candidates == [2, 5]


def test_every_listed_default_may_be_set(folder):
    said = json.loads(here("methods", "--json", cwd=folder).stdout)
    for each in said["methods"][1:]:
        for setting in each["settings"]:
            field = METHODS[each["name"]].parameters.fields[setting["name"]]
            assert field.allows(setting["default"]), (each["name"], setting)


@pytest.mark.parametrize("name", ["random_dense", "random_sparse", "ovo"])
def test_a_code_is_written_trained_by_and_read(tmp_path, name):
    here("code", name, "--classes", "b,a,c", "--random-state", "3", "--out", "code.csv", cwd=tmp_path)
    table = pa_csv.read_csv(tmp_path / "code.csv")
    assert table["class"].to_pylist() == ["b", "a", "c"]
    matrix = np.column_stack([table.column(place).to_numpy() for place in range(1, table.num_columns)])
    np.testing.assert_array_equal(matrix, check_code(name, 3, random_state=3))
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    scores = matrix[truth] + rng.normal(size=(200, matrix.shape[1]))
    # Neither the order of the columns nor that of the rows of the table matters.
    columns = {f"s_{place + 1}": scores[:, place] for place in reversed(range(matrix.shape[1]))}
    rows = pa.table({"label": np.array(["b", "a", "c"])[truth].tolist(), **columns})
    pa_csv.write_csv(rows, tmp_path / "scores.csv")
    options = ("--label", "label", "--scores", "s_*", "--code", "code.csv")
    here("fit", "scores.csv", *options, "--method", "platt", "--out", "m.json", cwd=tmp_path)
    model = load(tmp_path / "m.json")
    ours = ScoreModel("sigmoid", code=matrix, classes=["b", "a", "c"])
    expected = ours.fit(scores, np.array(["b", "a", "c"])[truth]).predict_proba(scores)
    assert model.classes_.tolist() == ["b", "a", "c"]
    np.testing.assert_allclose(model.predict_proba(scores[:, ::-1]), expected, rtol=1e-9, atol=1e-12)
    shown = here("compare", "scores.csv", *options, "--json", cwd=tmp_path).stdout
    assert json.loads(shown)["results"]


def test_codes_of_files_that_will_not_do(folder, tmp_path):
    given = ("fit", "scores.csv", *LABELLED, "--method", "pav", "--out", "m.json", "--code", "code.csv")
    for text, said in (
        ("class,s_cat,s_dog,s_fox\ncat,1,1,2\ndog,-1,0,1\nfox,0,-1,-1\n", "must be 1, -1 or 0; got 2"),
        ("class,s_cat,s_dog\ncat,1,1\ndog,-1,0\nfox,0,-1\n", "must name the columns of scores, 3 in all"),
        ("class,s_cat,s_dog,s_fux\ncat,1,1,0\ndog,-1,0,1\nfox,0,-1,-1\n", "did you mean 's_fux'"),
        ("class,s_cat,s_dog,s_fox\ncat,1,1,1\ndog,-1,-1,-1\nfox,-1,-1,-1\n", "identical rows"),
    ):
        (folder / "code.csv").write_text(text)
        with pytest.raises((DataError, ParameterError), match=said):
            here(*given, cwd=folder)


def test_whom_to_write_to(tmp_path):
    rng = np.random.default_rng(1)
    proba, amount = rng.beta(1, 12, 300), rng.gamma(2, 8, 300)
    gave = rng.random(300) < proba
    (tmp_path / "costs.csv").write_text("decision,no,yes\nsave,0,0\nsend,0.68,0.68 - amount\n")
    rows = {"p_yes": proba, "amount": amount, "gave": np.where(gave, "yes", "no").tolist()}
    pa_csv.write_csv(pa.table(rows), tmp_path / "p.csv")
    options = ("--scores", "p_yes", "--positive", "yes", "--costs", "costs.csv", "--label", "gave")
    said = json.loads(here("decide", "p.csv", *options, "--out", "d.csv", "--json", cwd=tmp_path).stdout)
    found = pa_csv.read_csv(tmp_path / "d.csv")
    both = np.column_stack([1 - proba, proba])
    ours = decide(both, mailing_costs(amount, 0.68))
    assert found["decision"].to_pylist() == [["save", "send"][each] for each in ours]
    policy = mailing_profit(proba, amount, np.where(gave, amount, 0.0), cost=0.68)
    assert -said["paid"] == pytest.approx(policy.profit)
    assert said["expected_cost"] == pytest.approx(np.minimum(0.68 - proba * amount, 0).sum())
    assert said["decisions"][1]["n_rows"] == policy.mailed


def test_costs_by_row_say_what_they_may_not_be(tmp_path):
    table = {"p_yes": [0.1, 0.2], "amount": [1.0, 2.0], "label": ["no", "yes"]}
    pa_csv.write_csv(pa.table(table), tmp_path / "p.csv")
    costs = tmp_path / "costs.csv"
    options = ("decide", "p.csv", "--scores", "p_yes", "--positive", "yes", "--costs", "costs.csv")
    for cell, error, said in (
        ("0.68 - amont", DataError, r"got 'amont' in row 2, which is no column; did you mean 'amount'\?"),
        ("0.68 / amount", DataError, "must hold finite numbers; got '0.68 / amount' in"),
        ("nan", DataError, "must hold finite numbers"),
    ):
        costs.write_text(f"decision,no,yes\nno,0,1\nyes,1,{cell}\n")
        with pytest.raises(error, match=said):
            here(*options, "--out", "d.csv", cwd=tmp_path)
    costs.write_text("decision,no,yes\nno,0,1\nyes,1,-2*amount\n")
    with pytest.raises(ParameterError, match="got costs by the column 'amount'; use --rule expected"):
        here(*options, "--rule", "parallel", "--label", "label", "--out", "d.csv", cwd=tmp_path)
    here(*options, "--out", "d.csv", cwd=tmp_path)
    found = pa_csv.read_csv(tmp_path / "d.csv")
    # Deciding yes costs 0.9 - 0.1 * 2 and 0.8 - 0.2 * 4, deciding no 0.1 and 0.2.
    assert found["decision"].to_pylist() == ["no", "yes"]
    assert found["expected_cost"].to_pylist() == pytest.approx([0.1, 0.0], abs=1e-12)


def test_help_is_as_wide_as_the_terminal(tmp_path):
    for width in (60, 100):
        said = process("fit", "--help", cwd=tmp_path, env=os.environ | {"COLUMNS": str(width)}).stdout
        sentences = [line for line in said.splitlines() if "calibrant" not in line and "[" not in line]
        assert width - 8 < max(map(len, sentences)) <= width
    assert "calibrant report" in here("--help", cwd=tmp_path).stdout


def test_a_learned_rule_may_ask_a_person(folder):
    """Learned offsets cost no more on the rows that they were learned from than least expected cost."""
    here("apply", "model.json", "scores.csv", "--keep", "label", "--out", "p.csv", cwd=folder)
    costs = (folder / "costs.csv").read_text().rstrip() + "\nask,0.6,0.6,0.6\n"
    (folder / "asking.csv").write_text(costs)
    given = ("p.csv", "--label", "label", "--scores", "p_*", "--costs", "asking.csv", "--json")
    paid = {}
    for rule in ("expected", "parallel"):
        said = json.loads(here("decide", *given, "--rule", rule, "--out", "d.csv", cwd=folder).stdout)
        decided = pa_csv.read_csv(folder / "d.csv")["decision"].to_pylist()
        assert set(decided) == {"cat", "dog", "fox", "ask"}
        paid[rule] = said["paid"]
        by_hand = {name: decided.count(name) for name in set(decided)}
        assert {each["decision"]: each["n_rows"] for each in said["decisions"]} == by_hand
    assert paid["parallel"] <= paid["expected"]


def test_a_learned_rule_may_decide_for_no_class(folder):
    """Whether to send: the model has the rule, and says so; what it decides is what the command decides."""
    (folder / "sending.csv").write_text("decision,cat,dog,fox\nsend,1,-2,-4\nkeep,0,0,0\n")
    costs = ("--costs", "sending.csv")
    here("fit", "scores.csv", *LABELLED, *costs, "--rule", "parallel", "--out", "sending.json", cwd=folder)
    assert "parallel" in here("inspect", "sending.json", cwd=folder).stdout
    here("apply", "sending.json", "scores.csv", "--decide", "--out", "sent.csv", cwd=folder)
    said = pa_csv.read_csv(folder / "sent.csv")
    model = load(folder / "sending.json")
    proba = np.column_stack([said[name].to_numpy() for name in said.column_names if name.startswith("p_")])
    assert set(said["decision"].to_pylist()) == {"send", "keep"}
    assert said["decision"].to_pylist() == model.actions_[model.rule_.decide(proba)].tolist()
