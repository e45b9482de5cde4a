"""What is wrong with the options is found before anything is read, in memory and in passes alike."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibrant.calibrators import METHODS, JointCalibrator
from calibrant.cli import _main
from calibrant.cli._options import CODES, COMBINATIONS
from cli.calling import names_in

#: Scores of two classes, of as many as there are, of too few and too many for a code of three classes.
SCORES = {"s_a": "one", "s_a,s_b": "three", "s_a,s_b,s_c": "three", "s_*": "three"}

#: Methods that take one score per class, and no other form.
OF_CLASSES = [
    name
    for name, method in METHODS.items()
    if method.takes == "row" and not issubclass(method, JointCalibrator)
]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usage")
    rng = np.random.default_rng(3)
    proba = rng.dirichlet([1, 1, 1, 1], 60)
    label = (rng.random(60) < 0.5).astype(int)
    columns = {f"s_{name}": proba[:, place] for place, name in enumerate("abcd")}
    three = [f"s_{'abc'[place]}" for place in proba[:, :3].argmax(axis=1)]
    labels = {"one": label, "three": three, "same": ["s_a"] * 60}
    pa_parquet.write_table(pa.table(columns | labels), folder / "x.parquet")
    return folder


@pytest.fixture
def command(rows, monkeypatch, capsys):
    """Run the command in this process; its status, and what it says on standard error."""
    monkeypatch.chdir(rows)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["calibrant", *arguments])
        with pytest.raises(SystemExit) as end:
            _main.run()
        return end.value.code or 0, capsys.readouterr().err

    return run


def fit(file, scores, *options):
    return ("fit", file, "--label", SCORES[scores], "--scores", scores, "--out", "m.json", *options)


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("kind", ["margin", "probability"])
def test_codes_methods_and_columns_fail_alike_in_memory_and_in_passes(command, scores, kind):
    for code in (None, *CODES):
        for method in METHODS:
            chosen = ("--method", method, "--kind", kind, *(() if code is None else ("--code", code)))
            memory = command(*fit("x.parquet", scores, *chosen, "--in-memory"))
            passes = command(*fit("x.parquet", scores, *chosen, "--in-passes"))
            assert memory[0] == passes[0], (chosen, memory, passes)
            assert "unexpected" not in memory[1] + passes[1]
            if memory[0] == 2:
                assert memory == passes, chosen


@pytest.mark.parametrize(
    "options",
    [("--code", code, "--method", method) for code in CODES for method in METHODS if method in OF_CLASSES]
    + [("--method", "identity"), ("--rule", "parallel")],
    ids=" ".join,
)
def test_options_that_never_go_together_are_refused_before_the_file_is_looked_for(command, options):
    status, said = command(*fit("nowhere.parquet", "s_*", *options))
    assert status == 2
    assert "nowhere" not in said
    assert all(word in said for word in options[::-2])


@pytest.mark.parametrize("method", OF_CLASSES)
@pytest.mark.parametrize("way", ["--in-memory", "--in-passes"])
def test_methods_of_all_classes_need_their_scores_whatever_the_rows_are(command, tmp_path, method, way):
    (tmp_path / "bad.csv").write_text("y,s\nno,9\nno,9\nyes,1\nyes,\n")
    file = str(tmp_path / "bad.csv")
    status, said = command(
        "fit", file, "--label", "y", "--scores", "s", "--out", "m.json", "--method", method, way
    )
    assert status == 2
    assert said == (
        f"calibrant: --method {method} takes one score per class, so --scores must name several columns; got "
        "only 's'; use another method, such as auto\n"
    )


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("way", ["--in-memory", "--in-passes"])
def test_a_code_has_two_classes_at_least(command, code, way):
    scores = ("--label", "same", "--scores", "s_a", "--code", code)
    chosen = ("fit", "x.parquet", *scores, way, "--out", "m.json")
    found = (
        "calibrant: the labels must have two values or more; got only 's_a'; name all classes with "
        "--classes, in the order of the code\n"
    )
    assert command(*chosen) == (1, found)
    given = "calibrant: --classes must give two labels or more, in the order of the code; got ['s_a']\n"
    assert command(*chosen, "--classes", "s_a") == (2, given)


@pytest.mark.parametrize("way", ["--in-memory", "--in-passes"])
@pytest.mark.parametrize("last", [0.5, None])
def test_a_code_of_too_many_classes(command, tmp_path, way, last):
    """Rows that cannot be used are as bad as too many classes, whichever is found first."""
    table = pa.table({"y": [f"c{place}" for place in range(30)], "s": [0.5] * 29 + [last]})
    pa_parquet.write_table(table, tmp_path / "many.parquet")
    status, said = command(
        *("fit", str(tmp_path / "many.parquet"), "--label", "y", "--scores", "s"),
        *("--code", "exhaustive", "--out", "m.json", way),
    )
    assert status == 1
    if last is not None:
        assert said == (
            "calibrant: there must be fewer classes for --code exhaustive; got 30; use another code\n"
        )


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("combine", COMBINATIONS)
def test_combinations_of_codes_fail_alike(command, rows, code, combine):
    chosen = ("--code", code, "--combine", combine)
    scores = "s_a,s_b" if code == "ordinal" else "s_a,s_b,s_c"
    memory = command(*fit("x.parquet", scores, *chosen, "--in-memory"))
    assert memory == command(*fit("x.parquet", scores, *chosen, "--in-passes"))
    assert memory[0] == (2 if combine == "normalize" and code != "one_vs_all" else 0)
    assert set(names_in(rows)) <= {"x.parquet", "m.json"}


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        (("--method", "sigmiod"), "sigmoid"),
        (("--method", "Isotonic"), "isotonic"),
        (("--code", "allpairs"), "all_pairs"),
        (("--combine", "normalise"), "normalize"),
        (("--kind", "probabilities"), "probability"),
        (("--rule", "paralell"), "parallel"),
        (("--format", "json"), "jsonl"),
        (("--invalid", "skipp"), "skip"),
    ],
)
def test_a_word_that_is_none_is_answered_by_the_closest(command, options, meant):
    status, said = command(*fit("x.parquet", "s_a", *options))
    assert status == 2
    assert f"did you mean '{meant}'?; see calibrant fit --help" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(("alias", "name"), [("isotonic", "pav"), ("platt", "sigmoid")])
def test_methods_have_their_names_of_elsewhere(command, rows, alias, name):
    models = []
    for method in (alias, name):
        assert command(*fit("x.parquet", "s_a", "--method", method))[0] == 0
        models.append((rows / "m.json").read_bytes())
    assert models[0] == models[1]
    for code in ("ovo", "all_pairs"):
        assert command(*fit("x.parquet", "s_a,s_b,s_c", "--method", alias, "--code", code))[0] == 0
        models.append((rows / "m.json").read_bytes())
    assert models[2] == models[3]
