"""The rules of the house: public names, lazy imports, a README whose numbers are the measured ones."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import get_origin

import pytest

import calibrant
from calibrant._core._errors import MissingExtraError

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


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'calibrant' has no attribute 'Wizard'"):
        calibrant.Wizard  # noqa: B018


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("calibrant", {"numpy", "scipy", "sklearn", "matplotlib", "click"}),
        ("calibrant.metrics", {"scipy", "sklearn", "pandas", "matplotlib"}),
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
