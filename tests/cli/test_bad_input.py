"""Every kind of bad input, as a real process: one line, exit status 1, no traceback, no file."""

import pytest

from calibrant.codes import Coupling
from calibrant.models import save
from cli.calling import names_in, process

FIT = ("fit", "bad.csv", "--label", "label", "--scores", "s_*", "--out", "out.json")
APPLY = ("apply", "model.json", "bad.csv", "--out", "out.csv")
HEADER = "id,label,s_cat,s_dog,s_fox\n"
GOOD = HEADER + "1,cat,1,0,0\n2,dog,0,1,0\n3,fox,0,0,1\n"

#: What is written to bad.csv, the arguments, and what is said.
CASES = {
    "missing file": (None, APPLY, "the file must exist: bad.csv; there is none"),
    "wrong suffix": (
        GOOD,
        ("apply", "model.json", "bad.xls", "--out", "out.csv"),
        "got bad.xls; rename the file",
    ),
    "empty file": ("", FIT, "bad.csv must begin with a line that names the columns; it is empty"),
    "header alone": (HEADER, FIT, "bad.csv must have at least one row under its header; it has none"),
    "missing column": (
        GOOD.replace("label", "truth"),
        FIT,
        "bad.csv must have a column 'label'; it has id, truth",
    ),
    "duplicate column": (
        GOOD.replace("s_fox", "s_dog"),
        FIT,
        "got 's_dog' more than once; rename one of them",
    ),
    "text for a score": (
        GOOD.replace("2,dog,0,", "2,dog,low,"),
        APPLY,
        "'s_cat' of bad.csv must hold finite numbers; got 'low' in row 2 (the first row of data is row 1)",
    ),
    "NaN": (
        GOOD.replace("0,0,1\n", "0,nan,1\n"),
        FIT,
        "the column 's_dog' of bad.csv must hold finite numbers; got 'nan'",
    ),
    "unknown label": (
        GOOD.replace("3,fox", "3,wolf"),
        FIT,
        "the column 'label' of bad.csv must hold one of the classes cat, dog, fox; got 'wolf' in row 3",
    ),
    "class without a column": (
        GOOD.replace("s_fox", "fox score"),
        APPLY,
        "bad.csv must have a score column for every class",
    ),
    "unwritable output": (GOOD, (*APPLY[:-1], "nowhere/out.csv"), "nowhere/out.csv must be writable"),
    "a model of another kind": (
        GOOD,
        ("apply", "coupling.json", "bad.csv", "--out", "out.csv"),
        "coupling.json must hold a model that turns scores into probabilities; it holds a Coupling",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input(case, folder):
    content, arguments, said = CASES[case]
    if content is not None:
        (folder / "bad.csv").write_text(content)
        (folder / "bad.xls").write_text(content)
    save(Coupling(), folder / "coupling.json")
    before = names_in(folder)
    done = process(*arguments, cwd=folder)
    assert done.returncode == 1
    assert done.stderr.startswith("calibrant: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert names_in(folder) == before


@pytest.mark.parametrize(
    "words",
    [
        ("decide", "--costs", "costs.csv", "--out", "d.csv"),
        ("evaluate", "--label", "label"),
        ("report", "--label", "label", "--out", "r.html"),
        ("fit", "--label", "label", "--kind", "probability", "--out", "m.json"),
        ("compare", "--label", "label", "--kind", "probability"),
        ("monitor", "--label", "label"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_counts_rows_from_one(words, tmp_path):
    (tmp_path / "p.csv").write_text("label,p_a,p_b\na,0.9,0.1\nb,0.7,0.9\nb,0.2,0.8\n")
    (tmp_path / "costs.csv").write_text("x,a,b\na,0,1\nb,1,0\n")
    command, *rest = words
    done = process(command, "p.csv", "--scores", "p_*", *rest, cwd=tmp_path)
    assert "got 1.6 in row 2 (the first row of data is row 1)" in done.stderr
