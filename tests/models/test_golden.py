"""Files of every version of the format: they load, predict what they predicted, and save back bit for bit."""

import json
from pathlib import Path

import numpy as np
import pytest

from calibrant.models import load, save
from calibrant.models._document import all_kinds
from models.cases import answers

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(path for path in GOLDEN.glob("v*/*.json") if not path.name.endswith(".expected.json"))
#: Kinds that compare, add and divide, which is the same everywhere. The exponentials, linear algebra and
#: iterations of the others may differ in the last digits between versions of NumPy and SciPy.
EXACT = {
    *("pav", "binning", "identity", "accuracy_table", "one_vs_all", "normalize", "score_model"),
    *("expected", "parallel", "lachiche_flach", "mossman"),
}


def kinds_within(document):
    """The kinds of a document and of its parts."""
    if isinstance(document, dict):
        own = {document["kind"]} if "kind" in document else set()
        return own.union(*map(kinds_within, document.values()))
    return set().union(*map(kinds_within, document)) if isinstance(document, list) else set()


def test_there_is_a_file_of_every_kind():
    assert {json.loads(path.read_text("utf-8"))["kind"] for path in FILES} == set(all_kinds().by_name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_loads_predicts_and_saves_back(path, tmp_path):
    model = load(path)
    expected = json.loads(path.with_suffix(".expected.json").read_text("utf-8"))
    rows = None if expected["rows"] is None else np.array(expected["rows"])
    rounded = kinds_within(json.loads(path.read_text("utf-8"))) - EXACT
    # coupling ends by a tolerance of 1e-8; its steps, and what they leave, are those of the release
    rtol, atol = (0, 1e-9) if "coupling" in rounded else (1e-12, 1e-15) if rounded else (0, 0)
    for said, wanted in zip(answers(model, rows), expected["answers"], strict=True):
        if said.dtype.kind == "f":
            want = np.array(wanted, dtype=np.float64)
            np.testing.assert_allclose(said, want, rtol=rtol, atol=atol)
        else:
            assert said.tolist() == wanted
    save(model, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
