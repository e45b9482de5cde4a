"""The rules of the house: public names, lazy imports, a README whose numbers are the measured ones."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_origin

import pytest

import calibrant
from calibrant._core._errors import MissingExtraError
from calibrant.calibrators import METHODS

ROOT = Path(__file__).parent.parent
ROOMS = sorted(
    path.name
    for path in (ROOT / "src" / "calibrant").iterdir()
    if (path / "__init__.py").exists() and path.name != "_core"
)


def run_python(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True
    )


def test_every_public_name_is_there_and_the_list_is_sorted():
    assert list(calibrant.__all__) == sorted(calibrant.__all__)
    assert set(dir(calibrant)) == set(calibrant.__all__)
    for name in calibrant.__all__:
        assert getattr(calibrant, name) is not None


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_lists_what_it_offers(room):
    try:
        module = importlib.import_module(f"calibrant.{room}")
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert module.__doc__
    offered = getattr(module, "__all__", [])
    assert len(set(offered)) == len(offered)
    for name in offered:
        value = getattr(module, name)
        if isinstance(value, type) or callable(value):
            assert value.__doc__ or get_origin(value), f"calibrant.{room}.{name} has no docstring"


#: Rooms that may know a method by name: where the methods and their maps are, and the runs of the papers.
KNOW_METHODS = {"calibrators", "maps", "experiments"}
#: Words that mean something else there than the method of that name: (module, name).
OTHER_MEANINGS: set[tuple[str, str]] = {
    ("decisions/_parallel.py", "matrix"),
    ("models/_chain.py", "matrix"),
    ("spark/_params.py", "matrix"),
}


def test_no_other_room_knows_a_method_by_name():
    source = ROOT / "src" / "calibrant"
    modules = [path for path in sorted(source.glob("*/*.py")) if path.parent.name not in KNOW_METHODS]
    found = {
        (path.relative_to(source).as_posix(), name): line
        for path in modules
        for name, line in methods_named_in(path.read_text("utf-8"))
    }
    known = [f"{path}:{found[path, name]} names {name}" for path, name in found.keys() - OTHER_MEANINGS]
    assert not known, f"{'; '.join(sorted(known))}: walk over calibrant.calibrators.METHODS instead"
    assert found.keys() >= OTHER_MEANINGS, "OTHER_MEANINGS lists what is not there any more"


def test_a_method_known_by_name_would_be_found():
    method = next(iter(METHODS.values()))
    for code in (
        f"if name == {method.name!r}: pass",
        f'raise ValueError(f"{{x}} will not do; use calibrator={method.name!r}, which can")',
        f"from calibrant import {method.__name__}",
        f"calibrant.{method.__name__}()",
        f'def f():\n    """Such as {method.name!r}."""',
    ):
        assert list(methods_named_in(code)), code
    assert not list(methods_named_in(f"{method.name} = 3  # no name of a method, a word"))


def methods_named_in(code):
    """Methods that are named, by quoted name or by class, in code, in texts and in docstrings."""
    for number, line in enumerate(code.splitlines(), 1):
        for method in METHODS.values():
            named = re.search(rf"['\"]{method.name}['\"]|\b{method.__name__}\b", line)
            if named and method.__module__.startswith("calibrant."):
                yield method.name, number


def test_a_room_is_entered_by_its_door():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    doors = {
        (*each["protected_modules"], *each["allowed_importers"])
        for each in settings["contracts"]
        if each["type"] == "protected" and "ignore_imports" not in each
    }
    assert doors == {(f"calibrant.{room}.*", f"calibrant.{room}") for room in ROOMS}


def offered_to_checkers(room):
    """What a lazy room imports where only a checker of types looks, and from where."""
    tree = ast.parse((ROOT / "src" / "calibrant" / room / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("room", ["calibrators", "files", "experiments"])
def test_a_lazy_room_offers_what_checkers_of_types_see(room):
    module = importlib.import_module(f"calibrant.{room}")
    assert list(module._HOME) == sorted(module._HOME)
    assert offered_to_checkers(room) == module._HOME
    for name in module._HOME:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match=f"module 'calibrant.{room}' has no attribute 'Wizard'"):
        module.Wizard  # noqa: B018


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'calibrant' has no attribute 'Wizard'"):
        calibrant.Wizard  # noqa: B018


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("calibrant", {"numpy", "scipy", "sklearn", "matplotlib", "click"}),
        ("calibrant.metrics", {"scipy", "sklearn", "pandas", "matplotlib"}),
        ("calibrant.calibrators", {"numpy", "scipy", "sklearn", "pandas", "matplotlib"}),
        (
            "calibrant.files",
            {
                "scipy",
                "sklearn",
                "pandas",
                "matplotlib",
                "sqlite3",
                "duckdb",
                "adbc_driver_manager",
                "openpyxl",
            },
        ),
        ("calibrant.experiments", {"numpy", "scipy", "sklearn", "pandas", "matplotlib"}),
    ],
)
def test_import_is_light(module, heavy):
    done = run_python(f"import sys, {module}; loaded = {heavy} & set(sys.modules); assert not loaded, loaded")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert calibrant.__version__ == version("calibrant")


def test_the_readme_shows_the_measured_numbers(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    tables = importlib.import_module("benchmarks.tables")
    shown = tables.README.read_text().split(tables.BEGIN)[1].split(tables.END)[0]
    assert shown == tables.readme_table()


def test_the_guide_shows_the_measured_errors_of_the_verdict(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    verdict = importlib.import_module("benchmarks.verdict")
    shown = verdict.GUIDE.read_text(encoding="utf-8")
    assert shown == verdict.guide(shown, verdict.kept())


def test_the_guide_shows_how_often_intervals_covered(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    coverage = importlib.import_module("benchmarks.coverage")
    if not (coverage.RESULTS / "coverage.json").exists():
        pytest.skip("python -m benchmarks.coverage has not been run")
    shown = coverage.GUIDE.read_text(encoding="utf-8")
    assert shown == coverage.guide(shown, coverage.kept())


def test_the_guide_shows_what_was_simulated_of_the_monitor(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    monitor = importlib.import_module("benchmarks.monitor")
    shown = monitor.GUIDE.read_text(encoding="utf-8")
    assert shown == monitor.guide(shown)
