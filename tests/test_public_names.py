"""What users import: by `import *`, `dir`, tab completion and the reference, and what it says of itself."""

import importlib
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import calibrant
from calibrant import PAVCalibrator, ScoreModel

ROOT = Path(__file__).parents[1]
ROOMS = calibrant._ROOMS
#: Rooms that are for other rooms: what travels between processes is named by the file that it is in.
INSIDE = ("calibrant._core.", "calibrant.maps.", "calibrant.passes.")


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_import_star_dir_and_all_agree(room):
    module = importlib.import_module(f"calibrant.{room}".rstrip("."))
    assert sorted(module.__all__) == sorted(dir(module))
    assert len(set(module.__all__)) == len(module.__all__)
    given = {}
    exec(f"from {module.__name__} import *", given)
    del given["__builtins__"]
    assert sorted(given) == sorted(module.__all__)


@pytest.mark.parametrize("room", ROOMS)
def test_what_a_room_offers_says_that_it_is_of_that_room(room):
    module = importlib.import_module(f"calibrant.{room}")
    for name in module.__all__:
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isfunction(value)) and not value.__module__.startswith(INSIDE):
            home = importlib.import_module(value.__module__)
            assert "._" not in value.__module__, f"{name} says {value.__module__}"
            assert getattr(home, value.__name__) is value, name


def test_names_of_the_package_are_those_of_its_rooms():
    for name, home in calibrant._HOME.items():
        value = getattr(calibrant, name)
        assert value.__module__ in ("calibrant", f"calibrant.{home}"), name


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise calibrant.CalibrantError('x')", "calibrant.CalibrantError: x"),
        ("calibrant.ScoreModel('x').fit([0, 1], [0, 1])", "calibrant.ParameterError: calibrator must be"),
        ("calibrant.PAVCalibrator().fit([0, None], [0, 1])", "calibrant.DataError: "),
        ("calibrant.load('x.json')", "calibrant.models.ModelFileError: x.json must be"),
    ],
)
def test_tracebacks_name_what_can_be_imported(code, said):
    code = f"import calibrant; {code}"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith(said)


def test_objects_are_pickled_by_these_names():
    scores, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 1, 0, 1])
    for model in (PAVCalibrator().fit(scores, y), ScoreModel("platt").fit(scores, y)):
        kept = pickle.dumps(model)
        assert f"calibrant.{'calibrators' if isinstance(model, PAVCalibrator) else 'models'}".encode() in kept
        np.testing.assert_array_equal(pickle.loads(kept).predict_proba(scores), model.predict_proba(scores))


def test_the_reference_lists_what_can_be_imported():
    """Every entry is a name; and every name of the package and of its rooms has an entry."""
    listed, module = set(), "calibrant"
    for line in (ROOT / "docs" / "reference.md").read_text("utf-8").splitlines():
        said = re.match(r"\.\. currentmodule:: (\S+)", line)
        module = said[1] if said else module
        entry = re.fullmatch(r"   (~?)([A-Za-z_][\w.]*)", line)
        if entry and module != "calibrant.spark" and not module.startswith("calibrant.spark"):
            found = importlib.import_module(module)
            for part in entry[2].split("."):
                found = getattr(found, part)
            listed.add(entry[2].split(".")[-1])
    offered = {name for room in ROOMS for name in importlib.import_module(f"calibrant.{room}").__all__}
    assert (offered | {*calibrant.__all__} - {*ROOMS, "__version__"}) - listed == set()
