"""Model files: what is damaged is refused, or is the model that it was."""

import copy
import json
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from calibrant import CalibrantError
from calibrant.models import ModelFileError, describe, from_document, load, to_document
from fuzz.laws import law
from fuzz.mutations import DAMAGE, damaged
from models.cases import answers

GOLDEN = Path(__file__).parents[1] / "models" / "golden" / "v1"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.json") if not path.stem.endswith(".expected"))
#: What may stand in a field instead.
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([10**400, -(10**18), 2**53, 0.5, -0.0, 5e-324, 1e308, float("nan"), float("inf")])
    | st.sampled_from(["", "pav", "Infinity", "1", "é\ud800", "x" * 1000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abk"), inner, max_size=2),
    max_leaves=4,
)


@law("models", few=100, name=st.sampled_from(NAMES), edits=DAMAGE)
def a_damaged_model_file_is_refused_or_the_same(name, edits):
    whole = (GOLDEN / f"{name}.json").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.json")
        path.write_bytes(damaged(whole, edits))
        try:
            model = load(path)
        except CalibrantError:
            return
    assert to_document(model) == json.loads(whole)


def fields(document, path=()):
    """The ways to all values within a document."""
    inside = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in inside:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from fields(value, (*path, key))


@law(
    "models",
    few=100,
    name=st.sampled_from(NAMES),
    changes=st.lists(st.tuples(st.integers(0, 10**6), VALUES), min_size=1, max_size=2),
)
def a_document_with_other_values_is_refused_or_is_a_model(name, changes):
    """A model that loads saves as what it is, can be described, and answers, or says why it cannot."""
    document = json.loads((GOLDEN / f"{name}.json").read_bytes()) | {"checksum": None}
    for number, value in changes:
        ways = list(fields(document))
        *path, last = ways[number % len(ways)]
        holder = document
        for key in path:
            holder = holder[key]
        holder[last] = copy.deepcopy(value)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.json")
        path.write_text(json.dumps(document))
        try:
            model = load(path)
        except ModelFileError:
            return
        describe(path)
    once = to_document(model)
    assert to_document(from_document(once)) == once
    rows = json.loads((GOLDEN / f"{name}.expected.json").read_bytes())["rows"]
    try:
        proba = answers(model, None if rows is None else np.array(rows))[0]
    except CalibrantError:
        return
    if hasattr(model, "predict_proba"):
        proba = proba[~np.isnan(proba).any(axis=1)]
        assert ((proba >= 0) & (proba <= 1)).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-9)
