"""One word per idea: the table of docs/glossary.md holds wherever a user meets a name."""

import ast
import dataclasses
import importlib
import inspect
import json
import re
from pathlib import Path

import click
import pytest

import calibrant
from calibrant.cli._main import COMMANDS, cli
from calibrant.models import schema

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
ROW = re.compile(r"^\| `([a-z_]+)` \|(.*)\|(.*)\|([^|]*)\|$", re.MULTILINE)


def table():
    """Our words, and for each the words that are not used."""
    return {
        word: re.findall(r"`(\w+)`", avoided)
        for word, _, _, avoided in ROW.findall(GLOSSARY.read_text("utf-8"))
    }


AVOIDED = {avoided: word for word, all_ in table().items() for avoided in all_}
#: Names that mean something else, or that are scikit-learn's and Spark's own.
OTHER_MEANINGS = {("brier", "BrierDecomposition"): "the whole of the parts, as golden cases call it"}
#: Words that a data scientist would not use.
OURS_ALONE = (r"\bjudged\b", r"\btwin\b", r"\btame\b", "somebody else has", "must be plain")
#: What the parts of the package are called by those who work on it.
OF_CONTRIBUTORS = (r"\brooms?\b", r"\bhouse\b")
#: Spark's own stages call it so.
OF_SPARK = {"seed"}


def public_names():
    """The arguments of public callables, and the fields of public records."""
    for room in calibrant._ROOMS:
        module = importlib.import_module(f"calibrant.{room}")
        for name in module.__all__:
            found = getattr(module, name)
            yield from _arguments(found, name)
            if inspect.isclass(found):
                if dataclasses.is_dataclass(found):
                    yield from ((field.name, name) for field in dataclasses.fields(found))
                for inner, method in inspect.getmembers(found, callable):
                    if not inner.startswith("_") and _is_ours(method):
                        yield from _arguments(method, f"{name}.{inner}")


def _is_ours(method):
    return str(getattr(method, "__module__", "")).startswith("calibrant")


def _arguments(found, name):
    try:
        yield from ((argument, name) for argument in inspect.signature(found).parameters)
    except (TypeError, ValueError):
        return


def options_of_the_command():
    for command in COMMANDS:
        for parameter in cli.get_command(None, command).params:
            for written in parameter.opts if isinstance(parameter, click.Option) else ():
                yield written.lstrip("-").replace("-", "_"), command


def fields_of_model_files():
    def walk(part):
        if isinstance(part, dict):
            for name, inner in part.get("properties", {}).items():
                yield name
                yield from walk(inner)
            for key, inner in part.items():
                if key != "properties":
                    yield from walk(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from walk(inner)

    yield from ((name, "model file") for name in walk(schema()))


def params_of_spark():
    """By its text, as Spark need not be installed."""
    for path in sorted((ROOT / "src" / "calibrant" / "spark").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "new_param"
            if named and isinstance(node.args[0], ast.Constant):
                yield re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", node.args[0].value), path.name


def json_of_the_command(folder):
    """The fields that machines read, of every command that prints some."""
    from cli.calling import here
    from cli.conftest import load_script

    load_script("example_files").write(folder)
    labelled = ("--label", "label", "--scores", "s_*")
    runs = [
        ("fit", "scores.csv", *labelled, "--out", "model.json", "--json"),
        ("compare", "scores.csv", *labelled, "--json"),
        ("inspect", "model.json", "--json"),
        ("methods", "--json"),
    ]
    found = [json.loads(here(*run, cwd=folder).stdout) for run in runs]
    here("apply", "model.json", "scores.csv", "--keep", "label", "--out", "p.csv", cwd=folder)
    of_proba = ("p.csv", "--label", "label", "--scores", "p_*")
    found.append(json.loads(here("evaluate", *of_proba, "--json", cwd=folder).stdout))
    found.append(
        json.loads(
            here("decide", *of_proba, "--costs", "costs.csv", "--out", "d.csv", "--json", cwd=folder).stdout
        )
    )

    def walk(part):
        if isinstance(part, dict):
            for name, inner in part.items():
                yield name
                yield from walk(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from walk(inner)

    yield from ((name, "JSON") for each in found for name in walk(each))


def test_the_table_is_read():
    assert {
        "method",
        "cost",
        "classes",
        "kind",
        "log_odds",
        "error_rate",
        "brier_score",
        "handle_invalid",
    } <= set(table())
    assert not set(table()) & set(AVOIDED)


@pytest.mark.parametrize(
    "names",
    [public_names, options_of_the_command, fields_of_model_files, params_of_spark],
    ids=lambda names: names.__name__,
)
def test_no_name_is_one_that_the_table_avoids(names):
    given = list(names())
    assert len(given) > 5
    allowed = OF_SPARK if names is params_of_spark else set()
    wrong = {
        f"{name} of {where}: say {AVOIDED[name]}"
        for name, where in given
        if name in AVOIDED and name not in allowed and (name, where) not in OTHER_MEANINGS
    }
    assert not wrong, "; ".join(sorted(wrong))


def test_no_field_of_json_is_one_that_the_table_avoids(tmp_path):
    wrong = {f"{name}: say {AVOIDED[name]}" for name, _ in json_of_the_command(tmp_path) if name in AVOIDED}
    assert not wrong, "; ".join(sorted(wrong))


def test_what_the_table_says_is_there():
    """Every word of the table names something."""
    used = {
        name for names in (public_names, options_of_the_command, fields_of_model_files) for name, _ in names()
    }
    from calibrant import metrics

    used |= {name for name, _ in params_of_spark()} | set(metrics.__all__) | {"log_odds"}
    assert not set(table()) - used


@pytest.mark.parametrize(
    "page", ["README.md", "docs/glossary.md", "src/calibrant/__init__.py", "src/calibrant/cli/_main.py"]
)
def test_whoever_searches_for_calibrated_probabilities_finds_them(page):
    assert "calibrated probabilities" in (ROOT / page).read_text("utf-8").lower()


def test_words_that_only_we_use_are_gone():
    texts = [
        *sorted((ROOT / "docs").rglob("*.md")),
        ROOT / "README.md",
        *sorted((ROOT / "src").rglob("*.html")),
    ]
    for path in texts:
        text = path.read_text("utf-8")
        inside = "decisions" in path.parts  # which are for those who work on it
        for word in OURS_ALONE if inside else (*OURS_ALONE, *OF_CONTRIBUTORS):
            assert not re.search(word, text), f"{path.name} says {word}"


def test_nothing_cites_a_document_that_is_not_here():
    """Numbered sections of a specification are cited by nobody; what was cited is in docs/methods."""
    texts = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "src").rglob("*.py")),
    ]
    for path in texts:
        cited = re.search(r"\b(METHODS|ESTIMATES|MONITOR|SCALE|DESIGN)(\.md)?,? \d", path.read_text("utf-8"))
        assert cited is None, f"{path.name} cites {cited[0]}"
