"""The command on files as spreadsheets of other countries write them: the same model, the same answers."""

import json

import pytest

from cli.calling import here, process

FIT = ("fit", "scores.csv", "--label", "label", "--scores", "s_*", "--out", "m.json")


@pytest.fixture
def german(made, tmp_path):
    """The rows of the examples with semicolons and decimal commas."""
    for name in ("scores.csv", "new.csv"):
        text = (made / name).read_text("utf-8").replace(",", ";").replace(".", ",")
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize("said", [(), ("--delimiter", ";", "--decimal", ",")])
@pytest.mark.parametrize("way", ["--in-memory", "--in-passes"])
def test_semicolons_and_decimal_commas_give_the_same_model_and_answers(made, german, said, way):
    done = here(*FIT, "--json", way, *said, cwd=german)
    plain = here(*FIT[:-1], german / "plain.json", "--json", way, cwd=made)
    assert json.loads(done.stdout)["metrics"] == json.loads(plain.stdout)["metrics"]
    here("apply", "m.json", "new.csv", "--out", "p.csv", *said, cwd=german)
    found, wanted = (
        [line.split(",") for line in (folder / name).read_text("utf-8").splitlines()]
        for folder, name in ((german, "p.csv"), (made, "probabilities.csv"))
    )
    columns = [place for place, name in enumerate(wanted[0]) if name.startswith("p_")]
    assert found[0] == wanted[0]
    assert columns
    for one, two in zip(found[1:], wanted[1:], strict=True):
        assert [one[place] for place in columns] == [two[place] for place in columns]


def test_another_encoding_must_be_said(folder):
    text = (folder / "scores.csv").read_text("utf-8")
    (folder / "scores.csv").write_bytes(text.replace("label", "größe", 1).encode("windows-1252"))
    command = [each if each != "label" else "größe" for each in FIT]
    refused = process(*command, cwd=folder)
    assert refused.returncode == 1
    assert "say which it has, such as windows-1252" in refused.stderr
    assert process(*command, "--encoding", "windows-1252", cwd=folder).returncode == 0


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (("--delimiter", "ab"), "delimiter must be one character"),
        (("--encoding", "klingon"), "encoding must be one that Python knows"),
        (("--delimiter", ",", "--decimal", ","), "delimiter and decimal must differ"),
        (
            ("--decimal", ",", "--engine", "spark", "--master", "local"),
            "--decimal is for files that are read",
        ),
    ],
)
def test_what_cannot_be_said_is_bad_usage(folder, said, message):
    done = process(*FIT, *said, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
