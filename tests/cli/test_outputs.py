"""No output may be a file that is read, by whatever name, nor may two outputs be one file."""

import hashlib
import itertools
import os
import subprocess
import sys

import click
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibrant._core._errors import CalibrantError, ParameterError
from calibrant.cli._files import Command, Folder, Read, Written
from calibrant.cli._main import COMMANDS, cli
from calibrant.files import open_source
from cli.calling import here, names_in, process

CONTEXT = click.Context(cli)
ALL = {name: cli.get_command(CONTEXT, name) for name in COMMANDS}


def parameters(command, kind):
    return [each for each in command.params if isinstance(each.type, kind)]


PAIRS = [
    (name, read.name, written.name)
    for name, command in ALL.items()
    for read in parameters(command, Read)
    for written in parameters(command, Written)
]
TWICE = [
    (name, *(each.name for each in pair))
    for name, command in ALL.items()
    for pair in itertools.combinations(parameters(command, Written), 2)
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_path_says_whether_it_is_read_or_written(name):
    assert isinstance(ALL[name], Command)
    for each in ALL[name].params:
        looks_like_one = "." in (each.metavar or "").strip("[].") or each.name in ("out", "page")
        if isinstance(each.type, click.Path | click.File) or looks_like_one:
            assert isinstance(each.type, Read | Written | Folder), each.name


def test_the_law_is_not_empty():
    assert len(PAIRS) >= 9
    assert {("fit", "scores_file", "page"), ("apply", "model", "out"), ("decide", "costs", "out")} <= set(
        PAIRS
    )
    assert TWICE == [("fit", "page", "out"), ("monitor", "state", "page")]


def arguments(name, **paths):
    """A call of a command with these paths, and with whatever else it needs."""
    call = [name]
    for each in ALL[name].params:
        if each.name in paths or each.required:
            value = paths.get(each.name, each.type.choices[0] if hasattr(each.type, "choices") else "x")
            call += [value] if isinstance(each, click.Argument) else [each.opts[0], value]
    return call


def other_names(path):
    """The same file under all kinds of names."""
    beside = path.parent / "beside"
    beside.mkdir(exist_ok=True)
    link, hard, far = path.parent / "link.csv", path.parent / "hard.csv", beside / "far.csv"
    link.symlink_to(path.name)
    os.link(path, hard)
    far.symlink_to(link)
    return [path.name, f"./{path.name}", f"beside/../{path.name}", str(path), *map(str, (link, hard, far))]


@pytest.mark.parametrize(("name", "read", "written"), PAIRS)
def test_what_is_read_is_not_written(tmp_path, name, read, written):
    precious = tmp_path / "precious.csv"
    precious.write_text("precious")
    names = other_names(precious)
    before = names_in(tmp_path)
    for source, target in [(names[0], each) for each in names] + [(each, names[0]) for each in names[1:]]:
        with pytest.raises(ParameterError, match="must not be a file that is read; .* is read as "):
            here(*arguments(name, **{read: source, written: target}), cwd=tmp_path)
    assert precious.read_text() == "precious"
    assert names_in(tmp_path) == before


@pytest.mark.parametrize(("name", "one", "other"), TWICE)
def test_two_outputs_are_two_files(tmp_path, name, one, other):
    (tmp_path / "new.link").symlink_to("new")
    for target in ("new", "./new", str(tmp_path / "new"), "new.link"):
        with pytest.raises(ParameterError, match="must be two files; both are .*; give one of them another"):
            here(*arguments(name, **{one: "new", other: target}), cwd=tmp_path)
    (tmp_path / "old").write_text("old")
    for target in other_names(tmp_path / "old"):
        with pytest.raises(ParameterError, match="must be two files"):
            here(*arguments(name, **{one: "old", other: target}), cwd=tmp_path)


FIT = ("fit", "scores.csv", "--label", "label", "--scores", "s_*")
REFUSED = {
    "the scores": (*FIT, "--out", "scores.csv"),
    "the scores by a page": (*FIT, "--out", "new.json", "--report", "./scores.csv"),
    "the costs": (*FIT, "--costs", "costs.csv", "--out", "costs.csv"),
    "the model": ("apply", "model.json", "new.csv", "--out", "model.json", "--out-format", "csv"),
    "the rows": ("apply", "model.json", "new.csv", "--out", "link.csv"),
    "the costs of decisions": (
        *("decide", "probabilities.csv", "--scores", "p_*", "--costs", "costs.csv"),
        *("--out", "hard.csv"),
    ),
    "the page over the page": (*FIT, "--report", "new.html", "--out", "new.html"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_one_line_of_bad_usage(folder, case):
    (folder / "link.csv").symlink_to("new.csv")
    os.link(folder / "costs.csv", folder / "hard.csv")
    before = digests(folder)
    done = process(*REFUSED[case], cwd=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert digests(folder) == before


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def shell(line, folder):
    return subprocess.run(
        ["sh", "-c", line.replace("calibrant", f"{sys.executable} -m calibrant")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "calibrant apply model.json - --out new.csv < new.csv",
            "--out must not be a file that is read; new.csv is read as SCORES, '-'",
        ),
        ("calibrant apply model.json new.csv --out - >> new.csv", "standard output must not be a file"),
        ("calibrant inspect model.json >> model.json", "standard output must not be a file"),
        ("calibrant apply model.json new.csv --out /dev/stdout >> new.csv", "--out must not be a file"),
        (
            "calibrant decide probabilities.csv --scores 'p_*' --costs costs.csv --out d.csv > d.csv",
            "--out and standard output must be two files; both are d.csv",
        ),
    ],
)
def test_files_that_the_shell_has_opened_are_known(folder, line, said):
    before = digests(folder)
    done = shell(line, folder)
    assert done.returncode == 2
    assert done.stderr.startswith(f"calibrant: {said}")
    assert done.stderr.count("\n") == 1
    assert {name: digest for name, digest in digests(folder).items() if name in before} == before


@pytest.mark.parametrize(
    "line",
    [
        "calibrant inspect model.json > all.txt 2>&1 < /dev/null",
        "calibrant apply model.json - --out /dev/stdout < new.csv >> all.txt",
    ],
)
def test_what_is_not_read_may_be_written(folder, line):
    done = shell(line, folder)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "parts"
    (folder / "deep").mkdir(parents=True)
    for name in ("one.parquet", "deep/two.pq"):
        pa_parquet.write_table(pa.table({"x": [1.0]}), folder / name)
    return folder


NAMES = ["new.parquet", "deep/new.pq", "new.json", "_new.parquet", ".new.pq", "new.csv", "one.parquet"]


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_of_parts_is_read_as_it_will_be_the_next_time(parts, name):
    """The oracle is the reader itself: it must not see a row more when the output is there."""
    call = arguments("fit", scores_file="parts", out=f"parts/{name}")
    before = read_rows(parts)
    content = (parts / name).read_bytes() if (parts / name).exists() else None
    pa_parquet.write_table(pa.table({"x": [1.0, 2.0]}), parts / name)
    seen = read_rows(parts) != before
    if content is None:
        (parts / name).unlink()
    with pytest.raises(CalibrantError) as caught:
        here(*call, cwd=parts.parent)
    assert isinstance(caught.value, ParameterError) == seen


def read_rows(folder):
    return sum(batch.num_rows for batch in open_source(folder).batches())


@pytest.mark.parametrize("pattern", ["parts/*.parquet", "parts/**/*.p*", "./parts/o*"])
def test_a_pattern_is_read_as_it_matches(parts, pattern):
    with pytest.raises(ParameterError, match="must not be a file that is read"):
        here(*arguments("fit", scores_file=pattern, out="parts/one.parquet"), cwd=parts.parent)
    with pytest.raises(CalibrantError, match="a column must have one use") as caught:
        here(*arguments("fit", scores_file=pattern, out="parts/model.json"), cwd=parts.parent)
    assert not isinstance(caught.value, ParameterError)


def test_a_new_file_that_the_pattern_would_match_is_refused(parts):
    with pytest.raises(ParameterError, match="must not be a file that is read"):
        here(*arguments("fit", scores_file="parts/*.parquet", out="parts/new.parquet"), cwd=parts.parent)


@pytest.mark.parametrize("source", ["parts", "file:{}/parts", "file://{}/parts", "{}/parts/*"])
def test_a_cluster_reads_all_files_of_a_folder(parts, source):
    (parts / "rows.csv").write_text("x\n1\n")
    for out in ("parts/rows.csv", "parts/new.json"):
        with pytest.raises(ParameterError, match="must not be a file that is read"):
            here(
                *arguments("fit", scores_file=source.format(parts.parent), out=out),
                *("--engine", "spark", "--master", "local[1]"),
                cwd=parts.parent,
            )
