"""The command stops at scores that point the wrong way, and at score columns of classes that never occur."""

import json

import numpy as np
import pytest

from calibrant._core._errors import DataError, ParameterError
from calibrant.models import load
from cli.calling import here, names_in, process

PLACES = ["--in-memory", "--in-passes"]
both = pytest.mark.parametrize("place", PLACES)


def write(path, header, *columns):
    lines = [",".join(header), *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A credit score, of which high is good; distances to three centres; and an id beside them."""
    folder = tmp_path_factory.mktemp("wrong-way")
    rng = np.random.default_rng(0)
    default = rng.random(300) < 0.25
    score = 600 + 60 * rng.normal(size=300) - 60 * default
    good = 1 / (1 + np.exp((560 - score) / 40))
    status = np.where(default, "default", "current")
    write(folder / "credit.csv", ["score", "p", "status", "w"], score, good, status, rng.integers(1, 4, 300))
    label = rng.integers(0, 3, 400)
    centres = np.array([[0.0, 0], [2, 0], [0, 2]])
    point = centres[label] + rng.normal(size=(400, 2))
    distance = np.linalg.norm(point[:, None] - centres, axis=2)
    names = ["ape", "bee", "cow"]
    kinds = np.array(names)[label]
    write(folder / "far.csv", ["id", *names, "kind"], range(400), *distance.T, kinds)
    write(folder / "near.csv", ["id", *names, "kind"], range(400), *-distance.T, kinds)
    return folder


WRONG = r"'score' of credit\.csv must be higher for 'default' than for 'current'; .* --positive current"


@both
@pytest.mark.parametrize("method", ["pav", "sigmoid", "binning"])
@pytest.mark.parametrize("weight", [(), ("--weight", "w")])
def test_a_fit_stops_and_names_the_remedy(files, place, method, weight):
    arguments = ("credit.csv", "--label", "status", "--scores", "score", "--method", method, *weight, place)
    with pytest.raises(DataError, match=WRONG):
        here("fit", *arguments, "--out", "none.json", cwd=files)
    assert "none.json" not in names_in(files)
    here("fit", *arguments, "--positive", "current", "--out", "turned.json", cwd=files)
    model = load(files / "turned.json")
    assert model.classes_.tolist() == ["default", "current"]
    assert np.ptp(model.predict_proba([500.0, 700.0])[:, 1]) > 0.3


def test_it_is_one_line_and_status_1(files):
    done = process(
        "fit", "credit.csv", "--label", "status", "--scores", "score", "--out", "m.json", cwd=files
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(
        "calibrant: the scores in 'score' of credit.csv must be higher for 'default'"
    )


@both
@pytest.mark.parametrize(
    ("command", "column"), [("compare", "score"), ("evaluate", "p"), ("report", "p"), ("fit", "p")]
)
def test_the_other_commands_stop_too(files, place, command, column, tmp_path):
    out = {"report": ("--out", tmp_path / "page.html"), "fit": ("--out", tmp_path / "m.json")}.get(
        command, ()
    )
    arguments = (command, "credit.csv", "--label", "status", "--scores", column, place, *out)
    with pytest.raises(DataError, match="--positive current"):
        here(*arguments, cwd=files)
    assert names_in(tmp_path) == []
    done = here(*arguments, "--positive", "current", cwd=files)
    assert "warning" not in done.stderr


@both
@pytest.mark.parametrize("said", [("--positive", "default"), ("--classes", "current,default")])
def test_what_the_user_has_said_is_measured_with_a_warning(files, place, said):
    done = here(
        "evaluate", "credit.csv", "--label", "status", "--scores", "p", *said, place, "--json", cwd=files
    )
    assert json.loads(done.stdout)["overall"]["auc"] < 0.5
    assert done.stderr.count("calibrant: warning: the scores in 'p' of credit.csv must be higher") == 1


@both
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("score", "--positive", "defualt"), DataError, "those are current, default; did you mean 'default'"),
        (("score", "--positive", ""), DataError, "'' must be among the labels; those are current, default"),
        (
            ("score", "--positive", "current", "--classes", "a,b"),
            ParameterError,
            "--positive and --classes must",
        ),
        (("score,p", "--positive", "current"), ParameterError, "for a single score column; got 2, score, p"),
        (("score", "--weight", "status"), ParameterError, "one use; got 'status' for --label and --weight"),
        (("score", "--weight", "score"), DataError, "one use; got 'score' of credit.csv for two"),
        (("status",), DataError, "one use; got 'status' of credit.csv for two"),
    ],
)
def test_bad_usage_of_labels_and_columns(files, place, arguments, error, message):
    with pytest.raises(error, match=message):
        here("compare", "credit.csv", "--label", "status", place, "--scores", *arguments, cwd=files)


@both
@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_column_whose_class_never_occurs_is_refused(files, place, command, tmp_path):
    """The star of '*' has caught the id, but never the label."""
    out = ("--out", tmp_path / "m.json") if command == "fit" else ()
    arguments = (command, "near.csv", "--label", "kind", place, *out)
    with pytest.raises(DataError, match="got 'id' of near.csv, and no row has the label 'id'"):
        here(*arguments, "--scores", "*", cwd=files)
    assert names_in(tmp_path) == []
    here(*arguments, "--scores", "ape,bee,cow", cwd=files)
    # A class that is named, and truly has no rows here, is one.
    here(*arguments, "--scores", "*", "--classes", "dog,ape,bee,cow", cwd=files)


@both
def test_a_class_without_weight_never_occurs(files, place, tmp_path):
    lines = (files / "near.csv").read_text().splitlines()
    weighted = [f"{line},{0 if line.endswith('cow') else 1}" for line in lines[1:]]
    (tmp_path / "w.csv").write_text("\n".join([lines[0] + ",w", *weighted]) + "\n")
    arguments = ("--label", "kind", "--scores", "ape,bee,cow", "--weight", "w", place)
    with pytest.raises(DataError, match="got 'cow' of w.csv"):
        here("compare", "w.csv", *arguments, cwd=tmp_path)


@both
@pytest.mark.parametrize("command", ["fit", "compare"])
@pytest.mark.parametrize("classes", [(), ("--classes", "ape,bee,cow")])
def test_distances_are_refused(files, place, command, classes, tmp_path):
    out = ("--out", tmp_path / "m.json") if command == "fit" else ()
    with pytest.raises(DataError, match="most are lower, beyond chance: ape, bee, cow; negate them"):
        here(
            command, "far.csv", "--label", "kind", "--scores", "ape,bee,cow", place, *classes, *out, cwd=files
        )


@both
def test_one_wrong_column_among_many_is_a_warning(files, place, tmp_path):
    lines = [line.split(",") for line in (files / "near.csv").read_text().splitlines()]
    for line in lines[1:]:
        line[1] = str(-float(line[1]))
    (tmp_path / "x.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    arguments = ("--label", "kind", "--scores", "ape,bee,cow", place, "--out", "m.json")
    done = here("fit", "x.csv", *arguments, cwd=tmp_path)
    assert done.stderr.count("warning") == 1
    assert "beyond chance these do not: ape;" in done.stderr


@both
def test_noise_is_not_refused(tmp_path, place):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        write(tmp_path / "noise.csv", ["s", "y"], rng.normal(size=200), rng.integers(0, 2, 200))
        done = here("compare", "noise.csv", "--label", "y", "--scores", "s", "--cv", "2", place, cwd=tmp_path)
        assert done.stderr == ""
