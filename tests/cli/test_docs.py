"""Documents that cannot rot: every option is explained, every example runs, every session is true."""

import json
import re
import shlex

import click
import pytest

from calibrant._core._errors import DataError
from calibrant.cli._main import COMMANDS, cli
from calibrant.experiments._datasets import find
from cli.calling import DOCS, here
from cli.conftest import load_script

PAGE = (DOCS / "guide" / "command.md").read_text(encoding="utf-8")
README = (DOCS.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_in_the_guide(name):
    section = re.search(rf"^### `calibrant {name}`$(.*?)(?=^###|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section, name
    command = cli.get_command(click.Context(cli), name)
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.opts} has no help"
            for form in [*option.opts, *option.secondary_opts]:
                assert form in section[1], f"{name} {form}"


def test_the_reference_is_what_the_commands_say():
    assert load_script("command_reference").updated(PAGE) == PAGE, "run python docs/command_reference.py"


@pytest.mark.parametrize("name", ["command.md", "where-it-runs.md"])
def test_every_session_of_the_guide_prints_what_it_shows(name, tmp_path):
    load_script("example_files").write(tmp_path)
    page = (DOCS / "guide" / name).read_text(encoding="utf-8")
    assert load_script("sessions").differences(page, tmp_path) == [], "run python docs/sessions.py"


def test_the_session_of_the_readme_prints_what_it_shows(tmp_path):
    try:
        find("pendigits.train.csv.gz")
    except DataError as error:
        pytest.skip(f"the session of the README needs Pendigits: {error}")
    load_script("pendigits_scores").write(tmp_path)
    sessions = load_script("sessions")
    assert len(sessions.BLOCK.findall(README)) >= 3
    assert sessions.differences(README, tmp_path, "0.2") == [], "run python docs/sessions.py"


@pytest.mark.parametrize(
    ("printed", "alike"),
    [
        ("a,0.4713,12.5 %", True),
        ("a,0.4712,12.4 %", True),
        ("a,0.471249999999,12.4 %", True),
        ("a,0.4714,12.5 %", False),
        ("a,0.4712,12.7 %", False),
        ("b,0.4712,12.5 %", False),
        ("a,0.4712,12.5 %,1.5", False),
    ],
)
def test_sessions_are_compared_to_the_digits_that_they_show(printed, alike, monkeypatch, tmp_path):
    sessions = load_script("sessions")
    monkeypatch.setattr(sessions, "run", lambda command, folder: f"{printed}\n")
    shown = "```console\n$ calibrant\na,0.4712,12.5 %\n```"
    assert (sessions.differences(shown, tmp_path) == []) is alike


@pytest.mark.parametrize(
    # A service runs until it is stopped: those of serve are tested with it.
    "name",
    [name for name in COMMANDS if name not in ("demo", "reproduce", "completion", "serve")],
)
def test_every_example_of_the_help_runs(name, folder):
    told = re.split(r"\n *Examples?:\n", here(name, "--help", cwd=folder).stdout)[1].split("\n\n")[0]
    shown = re.sub(r"\\\n +", "", told)
    examples = re.findall(r"^ +((?:cat new.csv \| )?calibrant .*)$", shown, re.MULTILINE)
    assert examples
    if name == "inspect":
        run(
            folder,
            "calibrant fit scores.csv --label label --scores 's_*' --costs costs.csv --out decider.json",
        )
    if name == "fit":
        run(folder, "calibrant fit scores.csv --label label --scores 's_*' --out model.json")
    if name == "compare":
        for method, out in (("sigmoid", "old.json"), ("vector", "new.json")):
            run(
                folder,
                f"calibrant fit scores.csv --label label --scores 's_*' --method {method} --out {out}",
            )
    for example in examples:
        run(folder, example)


def run(folder, example):
    if "|" in example:
        load_script("sessions").run(example, folder)
    else:
        here(*shlex.split(example)[1:], cwd=folder)


def test_every_key_for_machines_is_in_the_guide(folder):
    table = PAGE.split("## For machines")[1].split("Exit status")[0]
    labelled = ("--label", "label", "--json")
    outputs = {
        "compare": here("compare", "scores.csv", "--scores", "s_*", *labelled, cwd=folder),
        "fit": here("fit", "scores.csv", "--scores", "s_*", *labelled, "--out", "m.json", cwd=folder),
        "evaluate": here(
            "evaluate", "probabilities.csv", "--scores", "p_*", "--by", "source", *labelled, cwd=folder
        ),
        "decide": here(
            "decide",
            "probabilities.csv",
            "--scores",
            "p_*",
            "--costs",
            "costs.csv",
            *labelled,
            "--out",
            "d.csv",
            cwd=folder,
        ),
        "monitor": here(
            *("monitor", "log.csv", "--time", "when", "--label", "status", "--scores", "p_*"),
            *("--by", "region", "--json"),
            cwd=folder,
        ),
        "inspect": here("inspect", "model.json", "--json", cwd=folder),
        "export": here("export", "model.json", "--to", "python", "--out", "model.py", "--json", cwd=folder),
    }
    for name, done in outputs.items():
        line = next(line for line in table.splitlines() if line.startswith(f"| `{name}`"))
        content = json.loads(done.stdout)
        for key in [*content, *keys_within(content)]:
            assert f"`{key}`" in line, f"{name}: {key}"


def keys_within(content):
    """Keys of the objects inside, but for those that other documents explain."""
    for name, value in content.items():
        if name in ("training", "parameters"):
            continue
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict):
            yield from first
