"""`calibrant fit`: the model of a file is the model of its rows."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibrant._core._errors import DataError, ParameterError
from calibrant.models import ScoreModel, load, named_method
from cli.calling import here, names_in

SCORES = ("--label", "label", "--scores", "s_*")
LABELLED = (*SCORES, "--out", "m.json")


def rows_of(path):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    scores = np.array([[float(row[f"s_{name}"]) for name in ("cat", "dog", "fox")] for row in rows])
    return scores, np.array([row["label"] for row in rows])


def test_by_default_it_takes_the_stack_and_says_so(folder):
    shown = here("fit", "scores.csv", *LABELLED, cwd=folder).stdout
    scores, labels = rows_of(folder / "scores.csv")
    ours = ScoreModel().fit(scores, labels)
    assert f"\n{ours.report_}\n" in shown
    np.testing.assert_array_equal(load(folder / "m.json").predict_proba(scores), ours.predict_proba(scores))
    said = json.loads(here("fit", "scores.csv", *LABELLED, "--json", cwd=folder).stdout)
    assert (said["method"], said["taken"]) == ("auto", ours.report_)


@pytest.mark.parametrize("method", ["pav", "sigmoid", "binning", "accuracy_table", "ranked_logistic"])
def test_a_model_of_a_file_is_the_model_of_its_rows(folder, method):
    here("fit", "scores.csv", *LABELLED, "--method", method, cwd=folder)
    scores, labels = rows_of(folder / "scores.csv")
    ours = ScoreModel(named_method(method)).fit(scores, labels)
    model = load(folder / "m.json")
    assert model.classes_.tolist() == ["cat", "dog", "fox"]
    np.testing.assert_array_equal(model.predict_proba(scores), ours.predict_proba(scores))


@pytest.mark.parametrize("way", ["--in-memory", "--in-passes"])
def test_the_best_is_what_compare_recommends_fitted_as_it_was_ranked(folder, way):
    found = json.loads(here("compare", "scores.csv", *SCORES, way, "--json", cwd=folder).stdout)
    best = ("--method", "best", "--json", "--out", "best.json")
    said = json.loads(here("fit", "scores.csv", *SCORES, way, *best, cwd=folder).stdout)
    assert said["method"] == found["recommended"]
    assert (said["advice"], said["n_compared"]) == (found["advice"], len(found["results"]))
    assert said["metrics"]["log_loss"] == pytest.approx(found["results"][0]["log_loss"], abs=1e-12)
    named = ("--method", found["recommended"], "--out", "named.json")
    here("fit", "scores.csv", *SCORES, way, *named, cwd=folder)
    assert (folder / "best.json").read_bytes() == (folder / "named.json").read_bytes()
    shown = here("fit", "scores.csv", *SCORES, way, *best[:2], *best[3:], cwd=folder).stdout
    assert " ".join(f"It was chosen of {len(found['results'])} on rows left out".split()) in " ".join(
        shown.split()
    )


def test_the_order_of_columns_and_the_format_make_no_difference(folder):
    here("fit", "scores.csv", *LABELLED, cwd=folder)
    reference = load(folder / "m.json")
    scores, labels = rows_of(folder / "scores.csv")
    table = pa.table(
        {"s_fox": scores[:, 2], "label": labels.tolist(), "s_cat": scores[:, 0], "s_dog": scores[:, 1]}
    )
    pa_parquet.write_table(table, folder / "other.parquet")
    here("fit", "other.parquet", *LABELLED, cwd=folder)
    other = load(folder / "m.json")
    assert other.classes_.tolist() == ["fox", "cat", "dog"]
    np.testing.assert_allclose(
        other.predict_proba(scores[:, [2, 0, 1]])[:, [1, 2, 0]], reference.predict_proba(scores), rtol=1e-12
    )


def write(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n")


ROWS = [f"{score},{label}" for score, label in zip(range(12), "001001011011", strict=True)]


@pytest.mark.parametrize(
    ("labels", "extra", "classes"),
    [
        (("0", "1"), (), [0, 1]),
        (("no", "yes"), (), ["no", "yes"]),
        (("no", "yes"), ("--positive", "no"), ["yes", "no"]),
        (("00", "01"), (), ["00", "01"]),
        (("NA", "true"), (), ["NA", "true"]),
        (("a", "b"), ("--classes", "b,a"), ["b", "a"]),
    ],
)
def test_two_classes_from_a_single_score(tmp_path, labels, extra, classes):
    rows = [f"{score},{labels[label == '1']}" for score, label in (row.split(",") for row in ROWS)]
    write(tmp_path / "s.csv", "score,y", rows)
    shown = here(
        "fit",
        "s.csv",
        "--label",
        "y",
        "--scores",
        "score",
        *extra,
        "--method",
        "pav",
        "--out",
        "m.json",
        cwd=tmp_path,
    ).stdout
    model = load(tmp_path / "m.json")
    assert model.classes_.tolist() == classes
    assert f"positive class  {classes[1]}" in shown
    rising = model.predict_proba(np.arange(12.0))[:, 1]
    assert (np.diff(rising) >= 0).all()


def test_the_star_names_the_positive_class(tmp_path):
    write(tmp_path / "s.csv", "s_ham,y", [row.replace(",0", ",spam").replace(",1", ",ham") for row in ROWS])
    here("fit", "s.csv", "--label", "y", "--scores", "s_*", "--out", "m.json", cwd=tmp_path)
    assert load(tmp_path / "m.json").classes_.tolist() == ["spam", "ham"]


def test_the_types_that_parquet_gives_labels_are_kept(tmp_path):
    score = np.arange(12.0)
    for labels, kind in ((np.arange(12) % 2, "i"), (np.arange(12) % 2 == 1, "b"), (["0", "1"] * 6, "U")):
        pa_parquet.write_table(pa.table({"score": score, "y": labels}), tmp_path / "s.parquet")
        here("fit", "s.parquet", "--label", "y", "--scores", "score", "--out", "m.json", cwd=tmp_path)
        assert load(tmp_path / "m.json").classes_.dtype.kind == kind


def test_weights_are_copies(tmp_path):
    write(tmp_path / "w.csv", "score,y,w", [f"{row},{1 + place % 3}" for place, row in enumerate(ROWS)])
    write(
        tmp_path / "c.csv", "score,y", [row for place, row in enumerate(ROWS) for _ in range(1 + place % 3)]
    )
    common = ("--label", "y", "--scores", "score", "--method", "sigmoid")
    here("fit", "w.csv", *common, "--weight", "w", "--out", "w.json", cwd=tmp_path)
    here(
        "fit",
        "c.csv",
        "--label",
        "y",
        "--scores",
        "score",
        "--method",
        "sigmoid",
        "--out",
        "c.json",
        cwd=tmp_path,
    )
    weighted, copies = (load(tmp_path / name).predict_proba(np.arange(12.0)) for name in ("w.json", "c.json"))
    np.testing.assert_allclose(weighted, copies, rtol=1e-6)


def test_scores_of_a_code(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    pairs = [(0, 1), (0, 2), (1, 2)]
    scores = [
        np.where(truth == a, 1.0, np.where(truth == b, -1.0, 0.0)) + rng.normal(size=300) for a, b in pairs
    ]
    pa_parquet.write_table(
        pa.table(
            {f"{a}_against_{b}": score for (a, b), score in zip(pairs, scores, strict=True)} | {"y": truth}
        ),
        tmp_path / "s.parquet",
    )
    common = ("--scores", "*_against_*")
    coded = ("--code", "all_pairs", "--method", "sigmoid", "--out", "m.json")
    here("fit", "s.parquet", "--label", "y", *common, *coded, cwd=tmp_path)
    here("apply", "m.json", "s.parquet", *common, "--keep", "y", "--out", "p.parquet", cwd=tmp_path)
    found = pa_parquet.read_table(tmp_path / "p.parquet").to_pandas()
    assert (found[["p_0", "p_1", "p_2"]].to_numpy().argmax(axis=1) == truth).mean() > 0.6
    # The model remembers its columns; of a file without them nothing tells which are which.
    here("apply", "m.json", "s.parquet", "--keep", "y", "--out", "q.parquet", cwd=tmp_path)
    assert pa_parquet.read_table(tmp_path / "q.parquet").equals(pa_parquet.read_table(tmp_path / "p.parquet"))
    # Named by a pattern, the columns of another file are matched by name, whatever their order.
    shuffled = pa_parquet.read_table(tmp_path / "s.parquet").select([2, 0, 3, 1])
    pa_parquet.write_table(shuffled, tmp_path / "shuffled.parquet")
    here("apply", "m.json", "shuffled.parquet", *common, "--keep", "y", "--out", "r.parquet", cwd=tmp_path)
    assert pa_parquet.read_table(tmp_path / "r.parquet").equals(pa_parquet.read_table(tmp_path / "p.parquet"))
    renamed = pa.table(dict(zip("abc", scores, strict=True)))
    pa_parquet.write_table(renamed, tmp_path / "renamed.parquet")
    with pytest.raises(DataError, match="takes the 3 scores of a code, in its order; name their columns"):
        here("apply", "m.json", "renamed.parquet", "--out", "p.parquet", cwd=tmp_path)
    with pytest.raises(DataError, match="takes the 3 scores of a code; got 2 columns"):
        here("apply", "m.json", "s.parquet", "--scores", "0_*", "--out", "p.parquet", cwd=tmp_path)


def test_costs_and_a_learned_rule_are_in_the_model(folder):
    extra = ("--costs", "costs.csv", "--rule", "parallel", "--date", "2026-03-31")
    shown = json.loads(here("fit", "scores.csv", *LABELLED, *extra, "--json", cwd=folder).stdout)
    model = load(folder / "m.json")
    np.testing.assert_array_equal(model.cost_, [[0, 1, 5], [1, 0, 5], [2, 2, 0]])
    assert model.rule_.__class__.__name__ == "ParallelPartitionRule"
    assert shown["metrics"]["mean_cost"] < shown["metrics"]["mean_cost_plain"] * 1.2
    assert json.loads((folder / "m.json").read_text())["date"] == "2026-03-31"


def test_the_report_is_about_rows_left_out(folder):
    shown = here("fit", "scores.csv", *LABELLED, "--report", "fit.html", cwd=folder).stdout
    assert "The model is in m.json. The report is in fit.html." in shown
    page = (folder / "fit.html").read_text()
    assert "rows left out of the fit" in page


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("--rule", "parallel"), ParameterError, "--rule parallel must come with --costs"),
        (
            ("--method", "best", "--set", "n_bins=cv"),
            ParameterError,
            "must come with a method that it is of; got --method best",
        ),
        (
            ("--method", "best", "--engine", "spark", "--master", "local"),
            ParameterError,
            "--method best compares methods on rows that are read here; got --engine spark",
        ),
        (("--method", "identity"), ParameterError, "so they must be --kind probability"),
        (("--kind", "probability"), DataError, "must hold probabilities, from 0 to 1; got 1.537 in row 1"),
        (("--classes", "cat,dog"), ParameterError, "one label per score column, 3 in all; got 2"),
        (("--classes", "cat,dog,"), ParameterError, "must be distinct labels with commas between"),
        (("--out", "-"), ParameterError, "--out must be a file for the model; got '-'"),
        (("--date", "soon"), ParameterError, "date must be a date"),
        (("--costs", "asking.csv", "--rule", "lachiche_flach"), ParameterError, "rule"),
        (
            ("--weight", "source"),
            DataError,
            "the column 'source' of scores.csv must hold finite numbers; got 'app'",
        ),
        (
            ("--weight", "s_cat"),
            DataError,
            "the column 's_cat' of scores.csv must hold weights that are not negative; got -",
        ),
        (("--scores", "s_cat"), DataError, "must have two classes; got 3 labels: cat, dog, fox"),
        (("--scores", "label,s_cat"), DataError, "a column must have one use; got 'label'"),
    ],
)
def test_options_that_do_not_fit(folder, arguments, error, message):
    before = names_in(folder)
    with pytest.raises(error, match=message):
        here("fit", "scores.csv", *LABELLED, *arguments, cwd=folder)
    assert names_in(folder) == before


def test_a_single_label_whose_partner_nobody_knows(tmp_path):
    write(tmp_path / "s.csv", "score,y", ["1,yes", "2,yes"])
    with pytest.raises(
        DataError, match="the labels must have two values; got only 'yes'; name both with --classes"
    ):
        here("fit", "s.csv", "--label", "y", "--scores", "score", "--out", "m.json", cwd=tmp_path)


@pytest.fixture
def months(tmp_path):
    """Two months of scores in regions that differ; in the second one more is paid."""
    rng = np.random.default_rng(1)
    for name, shift in (("january", 0.0), ("february", 0.8)):
        region, scores = rng.integers(0, 6, 2000), 1.5 * rng.normal(size=2000)
        paid = rng.random(2000) < 1 / (1 + np.exp(-scores - shift - np.linspace(-1, 1, 6)[region]))
        rows = zip(scores, region, paid, strict=True)
        lines = [
            f"{score:.5f},{'' if at == 5 else f'r{at}'},{'yes' if got else 'no'}" for score, at, got in rows
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["score,region,paid", *lines]) + "\n")
    return tmp_path


PAID = ("--label", "paid", "--scores", "score")


def test_groups_get_probabilities_of_their_own(months):
    shown = here("fit", "january.csv", *PAID, "--by", "region", "--out", "m.json", cwd=months).stdout
    assert "The 5 groups of region differ beyond chance in their log-odds" in " ".join(shown.split())
    model = load(months / "m.json")
    assert set(model.groups_.names) == {"r0", "r1", "r2", "r3", "r4"}
    here("apply", "m.json", "january.csv", "--out", "p.csv", cwd=months)
    with (months / "p.csv").open() as file:
        rows = list(csv.DictReader(file))
    for region in ("r0", "r4"):
        own = [row for row in rows if row["region"] == region]
        said = np.mean([float(row["p_yes"]) for row in own])
        assert abs(said - np.mean([row["paid"] == "yes" for row in own])) < 0.05
    said = json.loads(
        here("fit", "january.csv", *PAID, "--by", "region", "--out", "m.json", "--json", cwd=months).stdout
    )
    assert set(said["groups"]) == {"column", "spreads", "intercepts", "slopes"}


def test_groups_in_passes_are_those_of_memory_but_for_the_folds(months):
    for name, how in (("m", "--in-memory"), ("p", "--in-passes")):
        here("fit", "january.csv", *PAID, "--by", "region", how, "--out", f"{name}.json", cwd=months)
    memory, passes = (load(months / f"{name}.json").groups_ for name in "mp")
    assert sorted(memory.names) == sorted(passes.names)
    for name in memory.names:
        there, here_ = (each.intercepts[each.names.index(name)] for each in (memory, passes))
        np.testing.assert_allclose(here_, there, atol=0.05)
    update = ("fit", "february.csv", *PAID, "--update", "p.json", "--in-passes", "--out", "new.json")
    assert "Take the new model" in " ".join(here(*update, cwd=months).stdout.split())


def test_an_update_says_what_changes(months):
    here("fit", "january.csv", *PAID, "--by", "region", "--out", "m.json", cwd=months)
    before = (months / "m.json").read_bytes()
    update = ("fit", "february.csv", *PAID, "--update", "m.json", "--out", "new.json")
    shown = " ".join(here(*update, cwd=months).stdout.split())
    assert "Take the new model: it is better in log loss" in shown
    assert (months / "m.json").read_bytes() == before
    old, new = load(months / "m.json"), load(months / "new.json")
    assert type(new.calibrator_) is type(old.calibrator_)
    assert (old.groups_.column, new.groups_.column) == ("region", "region")
    said = json.loads(here(*update, "--json", cwd=months).stdout)
    assert said["comparison"]["choice"] == "new"
    with pytest.raises(ParameterError, match="--update takes --method from the model; got both"):
        here(*update, "--method", "pav", cwd=months)
    (months / "other.csv").write_text("score,region,paid\n1,r1,yes\n2,r1,perhaps\n")
    with pytest.raises(DataError, match="perhaps"):
        here("fit", "other.csv", *PAID, "--update", "m.json", "--out", "new.json", cwd=months)
