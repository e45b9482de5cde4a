"""Inputs that do not fit into memory: the command in passes does what it does in memory."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
import pytest

from calibrant._core._errors import DataError
from calibrant.files import _evaluate, _labelled, compare, labelled
from calibrant.models import load
from cli.calling import here

N = 3000
METHODS = ("pav", "sigmoid", "binning", "accuracy_table", "ranked_logistic")
#: Methods whose fits have the same bits, if every row counts once.
EXACT = ("pav", "binning", "accuracy_table")


def table():
    """Three animals, a click, weights of which some are zero, groups of which some are missing."""
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(N, 3)).round(2)
    animal = (scores + rng.gumbel(size=(N, 3))).argmax(axis=1)
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    click = rng.random(N) < 1 / (1 + np.exp(-1.5 * scores[:, 0]))
    chance = 1 / (1 + np.exp(-scores[:, 0]))
    names = ("cat", "dog", "fox")
    columns = {f"s_{name}": scores[:, place] for place, name in enumerate(names)}
    columns |= {f"p_{name}": proba[:, place] for place, name in enumerate(names)}
    columns |= {"q_no": 1 - chance, "q_yes": chance}
    return pa.table(
        columns
        | {
            "animal": [names[place] for place in animal],
            "click": np.where(click, "yes", "no").tolist(),
            "weight": rng.integers(0, 4, N) / 4,
            "source": pa.array(rng.choice(["web", "app", None], N).tolist()),
        }
    )


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The same rows in files of all formats."""
    folder = tmp_path_factory.mktemp("rows")
    content = table()
    (folder / "many").mkdir()
    for number, start in enumerate(range(0, N, 700)):
        pa_parquet.write_table(
            content.slice(start, 700), folder / "many" / f"{number}.parquet", row_group_size=300
        )
    pa_parquet.write_table(content, folder / "rows.parquet")
    pa_feather.write_feather(content, folder / "rows.feather", chunksize=500)
    frame = content.to_pandas()
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_json(folder / "rows.jsonl", orient="records", lines=True, double_precision=15)
    (folder / "rows.csv.gz").write_bytes(gzip.compress((folder / "rows.csv").read_bytes()))
    (folder / "costs.csv").write_text("decision,cat,dog,fox\ncat,0,1,5\ndog,1,0,5\nfox,2,2,0\n")
    (folder / "clicks.csv").write_text("decision,no,yes\nno,0,4\nyes,1,0\nask,0.4,0.4\n")
    return folder


def fitted(rows, source, how, *arguments):
    """The model file that a fit writes, and what it prints for machines."""
    out = rows / "m.json"
    shown = here("fit", source, *arguments, how, "--json", "--out", out, cwd=rows).stdout
    return json.loads(out.read_text()), json.loads(shown)


def numbers_of(plain):
    """All numbers of a document, and all else that is in it."""
    if isinstance(plain, dict):
        # The steps of Newton's method begin elsewhere, and end at the same place.
        names = [name for name in plain if name not in ("n_iterations", "n_iter")]
        return [each for name in names for each in [name, *numbers_of(plain[name])]]
    if isinstance(plain, list):
        return [each for item in plain for each in numbers_of(item)]
    return [plain]


def assert_same_model(one, other, *, exact):
    for document in (one, other):
        document.pop("checksum")
        # What was measured depends on the rows that were held out; all else does not.
        for name in ("metrics", "n_folds", "n_measured"):
            document["training"].pop(name)
    if exact:
        assert one == other
        return
    for mine, its in zip(numbers_of(one), numbers_of(other), strict=True):
        assert mine == (pytest.approx(its, rel=1e-12, abs=1e-12) if isinstance(mine, float) else its)


@pytest.mark.parametrize("weight", [(), ("--weight", "weight")])
@pytest.mark.parametrize("method", METHODS)
def test_the_model_is_that_of_memory(rows, method, weight):
    arguments = ("--label", "animal", "--scores", "s_*", "--method", method, *weight)
    memory, _ = fitted(rows, "many", "--in-memory", *arguments)
    passes, shown = fitted(rows, "many", "--in-passes", *arguments)
    assert (shown["in_passes"], shown["n_folds"], shown["score_columns"]) == (
        True,
        5,
        ["s_cat", "s_dog", "s_fox"],
    )
    assert_same_model(memory, passes, exact=method in EXACT and not weight)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--scores", "s_cat"),
        ("--scores", "s_cat", "--positive", "no", "--method", "binning"),
        ("--scores", "s_cat", "--classes", "yes,no"),
        ("--scores", "q_yes", "--kind", "probability"),
        ("--scores", "q_*", "--kind", "probability"),
        ("--scores", "q_yes", "--kind", "probability", "--method", "identity"),
        ("--scores", "s_cat,s_dog", "--code", "one_vs_all"),
    ],
)
def test_two_classes_in_passes(rows, arguments):
    arguments = ("--label", "click", *arguments)
    memory, _ = fitted(rows, "rows.parquet", "--in-memory", *arguments)
    passes, _ = fitted(rows, "rows.parquet", "--in-passes", *arguments)
    assert_same_model(memory, passes, exact=True)


@pytest.mark.parametrize(
    "source",
    ["rows.parquet", "many", "many/*.parquet", "rows.csv", "rows.csv.gz", "rows.feather", "rows.jsonl"],
)
def test_every_format_in_passes(rows, source):
    arguments = ("--label", "animal", "--scores", "s_*")
    reference, _ = fitted(rows, "rows.parquet", "--in-memory", *arguments)
    passes, _ = fitted(rows, source, "--in-passes", *arguments)
    assert_same_model(reference, passes, exact=True)


def test_a_pipe_in_passes(rows):
    """What came through a pipe is kept, and can be read again."""
    arguments = ("--label", "click", "--scores", "s_cat")
    reference, _ = fitted(rows, "rows.csv", "--in-memory", *arguments)
    here(
        "fit",
        "-",
        *arguments,
        "--in-passes",
        "--out",
        "m.json",
        cwd=rows,
        stdin=(rows / "rows.csv").read_bytes(),
    )
    assert_same_model(reference, json.loads((rows / "m.json").read_text()), exact=True)


def test_a_rule_learned_in_passes(rows):
    arguments = ("--label", "animal", "--scores", "s_*", "--costs", "costs.csv", "--rule", "parallel")
    document, shown = fitted(rows, "many", "--in-passes", *arguments)
    assert document["decision"]["rule"] is not None
    assert shown["metrics"]["mean_cost"] < 2
    text = here("fit", "many", *arguments, "--in-passes", "--out", "m.json", cwd=rows).stdout
    assert f"{N:,}, read in passes" in text
    assert shown["n_measured"] == N


def test_of_very_many_rows_a_part_is_measured(rows, monkeypatch):
    monkeypatch.setattr("calibrant.models._plan.MANY_SCORES", 1000)
    arguments = ("--label", "animal", "--scores", "s_*", "--costs", "costs.csv", "--rule", "parallel")
    _, shown = fitted(rows, "many", "--in-passes", *arguments)
    assert shown["n_folds"] == 1
    text = here("fit", "many", *arguments, "--in-passes", "--out", "m.json", cwd=rows).stdout
    words = " ".join(text.split())
    assert (
        f"measured on {shown['n_measured']} rows, by a calibrator fitted without them, and the rule" in words
    )


@pytest.mark.parametrize("how", ["--in-memory", "--in-passes"])
def test_apply_finds_the_columns_that_were_fitted_to(rows, how):
    """The file has other columns, of which some are named like the classes too."""
    here("fit", "rows.parquet", "--label", "animal", "--scores", "p_*", how, "--out", "m.json", cwd=rows)
    here("apply", "m.json", "rows.csv", "--out", "found.csv", "--keep", "", cwd=rows)
    here("apply", "m.json", "rows.csv", "--scores", "p_*", "--out", "named.csv", "--keep", "", cwd=rows)
    assert (rows / "found.csv").read_text() == (rows / "named.csv").read_text()
    here("fit", "rows.parquet", "--label", "click", "--scores", "s_dog", how, "--out", "m.json", cwd=rows)
    assert load(rows / "m.json").summary_.score_columns == ("s_dog",)
    here("apply", "m.json", "rows.csv", "--out", "found.csv", "--keep", "", cwd=rows)
    here("apply", "m.json", "rows.csv", "--scores", "s_dog", "--out", "named.csv", "--keep", "", cwd=rows)
    assert (rows / "found.csv").read_text() == (rows / "named.csv").read_text()


def measured(rows, how, *arguments):
    return json.loads(here("evaluate", "many", *arguments, how, "--json", cwd=rows).stdout)


@pytest.mark.parametrize("weight", [(), ("--weight", "weight")])
@pytest.mark.parametrize(
    "arguments",
    [
        ("--label", "animal", "--scores", "p_*"),
        ("--label", "click", "--scores", "q_*"),
        ("--label", "click", "--scores", "q_yes"),
    ],
)
def test_measures_in_passes_are_those_of_memory(rows, arguments, weight):
    arguments = (*arguments, *weight, "--by", "source")
    memory, passes = (measured(rows, how, *arguments) for how in ("--in-memory", "--in-passes"))
    assert (memory["in_passes"], passes["in_passes"]) == (False, True)
    assert [each["group"] for each in passes["groups"]] == ["(none)", "app", "web"]
    for mine, its in zip(
        [memory["overall"], *memory["classes"], *memory["groups"]],
        [passes["overall"], *passes["classes"], *passes["groups"]],
        strict=True,
    ):
        for one, other in zip(numbers_of(mine), numbers_of(its), strict=True):
            is_number = isinstance(one, float)
            assert other == (pytest.approx(one, rel=1e-8, abs=1e-8) if is_number else one)


def test_a_file_of_too_many_groups_is_refused(rows, monkeypatch):
    monkeypatch.setattr(_evaluate, "MOST_GROUPS", 2)
    with pytest.raises(
        DataError, match="'source' of many must have at most 2 groups to be measured in passes"
    ):
        here(
            "evaluate",
            "many",
            "--label",
            "animal",
            "--scores",
            "p_*",
            "--by",
            "source",
            "--in-passes",
            cwd=rows,
        )


def test_weights_of_zero_are_refused_in_passes(rows, tmp_path):
    content = table().drop_columns("weight").append_column("weight", pa.array(np.zeros(N)))
    pa_parquet.write_table(content, tmp_path / "zero.parquet")
    with pytest.raises(DataError, match="the column 'weight' of zero.parquet must not be all zero"):
        here(
            *("evaluate", "zero.parquet", "--label", "click", "--scores", "q_yes", "--weight", "weight"),
            "--in-passes",
            cwd=tmp_path,
        )


def test_what_was_read_in_passes_is_said(rows):
    shown = here("evaluate", "many", "--label", "click", "--scores", "q_yes", "--in-passes", cwd=rows).stdout
    assert "3,000 rows, read in passes." in shown


def test_compare_in_passes(rows):
    arguments = ("compare", "many", "--label", "animal", "--scores", "s_*", "--in-passes")
    found = json.loads(here(*arguments, "--json", cwd=rows).stdout)
    source = labelled(rows / "many", scores="s_*", label="animal")
    expected = compare(source, in_passes=True)
    assert [each["name"] for each in found["results"]] == [each.name for each in expected.results]
    assert found["results"][0]["log_loss"] == expected.results[0].log_loss
    assert (found["in_passes"], found["n_rows"], found["best"]) == (True, N, expected.best)
    memory = json.loads(here(*arguments[:-1], "--in-memory", "--json", cwd=rows).stdout)
    losses = {each["name"]: each["log_loss"] for each in memory["results"]}
    for each in found["results"]:
        assert each["log_loss"] == pytest.approx(losses[each["name"]], rel=0.02)  # other folds
    shown = here(*arguments, cwd=rows).stdout
    assert f"{N:,} rows, read in passes, 5 folds. Less is better." in shown


def test_a_rule_is_learned_from_a_sample_of_many_rows(rows, monkeypatch):
    arguments = ("decide", "many", "--scores", "p_*", "--costs", "costs.csv", "--label", "animal")
    arguments = (*arguments, "--rule", "parallel", "--keep", "animal", "--out", "d.csv")
    here(*arguments, "--in-memory", cwd=rows)
    memory = (rows / "d.csv").read_bytes()
    here(*arguments, "--in-passes", cwd=rows)
    assert (rows / "d.csv").read_bytes() == memory  # the sample holds all rows
    monkeypatch.setattr(_labelled, "SAMPLE_ROWS", 1000)
    shown = " ".join(here(*arguments, "--in-passes", cwd=rows).stdout.split())
    assert f"The rule was learned from a random sample of 1,000 of {N:,} rows." in shown
    assert len((rows / "d.csv").read_bytes().splitlines()) == N + 1


@pytest.mark.parametrize("command", ["evaluate", "report", "fit"])
def test_the_page_of_many_rows_shows_a_sample(rows, monkeypatch, command):
    monkeypatch.setattr(_labelled, "SAMPLE_ROWS", 900)
    ends = {
        "evaluate": ("--report", "page.html"),
        "report": ("--out", "page.html", "--names", "source"),
        "fit": ("--report", "page.html", "--out", "m.json"),
    }
    arguments = ("many", "--label", "animal", "--scores", "p_*", "--in-passes")
    shown = here(command, *arguments, *ends[command], cwd=rows).stdout
    page = (rows / "page.html").read_text()
    if command == "fit":
        assert load(rows / "m.json").summary_.n_measured == N
        assert "Probabilities from many, rows left out of the fit" in page
    else:
        assert f"The report is in page.html. It shows a random sample of 900 of {N:,} rows." in shown
        assert f"Probabilities of many, a random sample of 900 of {N:,} rows" in page


def test_a_sample_is_fair_and_keeps_the_order(rows):
    where = labelled(rows / "many", scores="s_*", label="animal", weight="weight", by="source")
    everything, groups = where.read(), list(where.groups)
    sample = where.sample(500)
    assert (len(sample), where.n_read, where.n_skipped) == (500, N, 0)
    assert where.groups == ["(none)", "app", "web"]
    places = {tuple(row): place for place, row in enumerate(everything.scores)}
    chosen = np.array([places[tuple(row)] for row in sample.scores])
    assert (np.diff(chosen) > 0).all()
    np.testing.assert_array_equal(sample.truth, everything.truth[chosen])
    np.testing.assert_array_equal(sample.weight, everything.weight[chosen])
    names = np.array(groups)[everything.group[chosen]]
    np.testing.assert_array_equal(np.array(where.groups)[sample.group], names)
    counts = np.histogram(chosen, bins=6, range=(0, N))[0]
    assert (abs(counts - 500 / 6) < 4 * np.sqrt(500 / 6)).all()


@pytest.mark.parametrize("source", ["rows.parquet", "many", "rows.csv", "rows.csv.gz", "rows.feather", "-"])
def test_large_inputs_are_read_in_passes(rows, monkeypatch, source):
    arguments = ("fit", source, "--label", "animal", "--scores", "s_*", "--json", "--out", "m.json")
    text = (rows / "rows.csv").read_bytes() if source == "-" else None

    def in_passes(*extra):
        return json.loads(here(*arguments, *extra, cwd=rows, stdin=text).stdout)["in_passes"]

    assert not in_passes()
    monkeypatch.setattr(_labelled, "MOST_BYTES", N * 4 * 8 - 1)  # three scores and a label
    assert in_passes()
    assert not in_passes("--in-memory")
    if source not in ("rows.csv", "rows.csv.gz", "-"):
        monkeypatch.setattr(_labelled, "MOST_BYTES", N * 4 * 8)
        assert not in_passes()


def test_a_small_machine_reads_in_passes_sooner(monkeypatch):
    monkeypatch.setattr("os.sysconf", lambda name: 4096 if name == "SC_PAGE_SIZE" else 1 << 16)
    assert _labelled.most_bytes() == (1 << 28) / 16
    monkeypatch.setattr("os.sysconf", lambda name: 4096 if name == "SC_PAGE_SIZE" else 1 << 26)
    assert _labelled.most_bytes() == 1 << 28


#: Rows of a file with some that cannot be used: a score, a label, a weight that are missing, a label unknown.
BAD = {
    3: ("s_dog", ""),
    8: ("s_cat", "nan"),
    20: ("animal", ""),
    33: ("weight", "-1"),
    40: ("animal", "wolf"),
}


@pytest.fixture
def dirty(rows, tmp_path):
    """The rows with bad ones among them, and without these."""
    frame = table().to_pandas().astype(str).replace("None", "")
    frame.drop(index=list(BAD)).to_csv(tmp_path / "clean.csv", index=False)
    for row, (column, value) in BAD.items():
        frame.loc[row, column] = value
    frame.to_csv(tmp_path / "dirty.csv", index=False)
    (tmp_path / "costs.csv").write_bytes((rows / "costs.csv").read_bytes())
    return tmp_path


@pytest.mark.parametrize("how", ["--in-memory", "--in-passes"])
def test_rows_that_cannot_be_used_are_left_out(dirty, how):
    arguments = ("--label", "animal", "--scores", "s_*", "--weight", "weight")
    clean, _ = fitted(dirty, "clean.csv", how, *arguments)
    left, shown = fitted(dirty, "dirty.csv", how, *arguments, "--invalid", "skip")
    assert shown["n_skipped"] == len(BAD)
    assert_same_model(clean, left, exact=True)
    text = here("fit", "dirty.csv", *arguments, how, "--invalid", "skip", "--out", "m.json", cwd=dirty).stdout
    assert f", {len(BAD)} left out as they cannot be used" in text
    with pytest.raises(
        DataError, match=r"'s_cat' of dirty.csv must hold finite numbers; got 'nan' in row 9 "
    ):
        here("fit", "dirty.csv", *arguments, how, "--out", "m.json", cwd=dirty)


@pytest.mark.parametrize("how", ["--in-memory", "--in-passes"])
def test_other_commands_leave_out_such_rows(dirty, how):
    arguments = ("--label", "animal", "--scores", "s_*", "--weight", "weight", how, "--json")
    clean = json.loads(here("compare", "clean.csv", *arguments, cwd=dirty).stdout)
    left = json.loads(here("compare", "dirty.csv", *arguments, "--invalid", "skip", cwd=dirty).stdout)
    assert (left["n_skipped"], left["n_rows"]) == (len(BAD), clean["n_rows"])
    arguments = ("--label", "animal", "--scores", "p_*", "--weight", "weight", how, "--json")
    clean = json.loads(here("evaluate", "clean.csv", *arguments, "--by", "source", cwd=dirty).stdout)
    left = json.loads(
        here("evaluate", "dirty.csv", *arguments, "--by", "source", "--invalid", "skip", cwd=dirty).stdout
    )
    assert left["n_skipped"] == 3  # a bad score of another set of columns is no matter
    assert left["overall"]["log_loss"] == pytest.approx(clean["overall"]["log_loss"], rel=0.01)


def test_decisions_without_such_rows(dirty):
    arguments = ("--scores", "p_*", "--costs", "costs.csv", "--label", "animal", "--keep", "animal")
    shown = here("decide", "dirty.csv", *arguments, "--invalid", "skip", "--out", "d.csv", cwd=dirty).stdout
    assert "2, as they cannot be used" in shown
    assert len((dirty / "d.csv").read_text().splitlines()) == N - 2 + 1
    with pytest.raises(
        DataError, match=r"must hold a label in every row; got none in row 21 \(the first row"
    ):
        here("decide", "dirty.csv", *arguments, "--out", "d.csv", cwd=dirty)


def test_probabilities_of_such_rows(dirty):
    here("fit", "clean.csv", "--label", "animal", "--scores", "s_*", "--out", "m.json", cwd=dirty)
    arguments = ("apply", "m.json", "dirty.csv", "--decide", "--keep", "animal", "--out", "p.csv")
    done = here(*arguments, "--invalid", "skip", cwd=dirty)
    assert done.stderr == f"calibrant: warning: 2 of {N:,} rows were left out\n"
    assert len((dirty / "p.csv").read_text().splitlines()) == N - 2 + 1
    done = here(*arguments, "--invalid", "keep", cwd=dirty)
    assert done.stderr == f"calibrant: warning: 2 of {N:,} rows were given no probabilities\n"
    lines = (dirty / "p.csv").read_text().splitlines()
    assert len(lines) == N + 1
    assert [number - 1 for number, line in enumerate(lines) if line.endswith(",,,,")] == [3, 8]


def test_a_file_without_a_usable_row(dirty):
    (dirty / "bad.csv").write_text("animal,s_cat,s_dog,s_fox\ncat,,,\nwolf,1,2,3\n")
    for how in ("--in-memory", "--in-passes"):
        with pytest.raises(DataError, match=r"bad.csv must have a row|at least one row"):
            here(
                *("fit", "bad.csv", "--label", "animal", "--scores", "s_*", "--invalid", "skip"),
                *(how, "--out", "m.json"),
                cwd=dirty,
            )
