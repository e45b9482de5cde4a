"""The files of the examples, made once, and a model fitted to them."""

import importlib.util
import shutil

import pytest

from cli.calling import DOCS, here


def load_script(name):
    """Import a script of the docs."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with the files of the examples, and what the first steps make of them."""
    folder = tmp_path_factory.mktemp("examples")
    load_script("example_files").write(folder)
    here("fit", "scores.csv", "--label", "label", "--scores", "s_*", "--out", "model.json", cwd=folder)
    here("apply", "model.json", "new.csv", "--out", "probabilities.csv", cwd=folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """A copy that a test may change."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path
