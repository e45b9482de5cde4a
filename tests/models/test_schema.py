"""The JSON Schema: what is saved is valid, and the file in the package is what the tables say."""

import copy

import pytest
from jsonschema import Draft202012Validator

from calibrant import CalibrantError
from calibrant.models import schema, to_document
from calibrant.models._schema import make_schema
from models.cases import CASES

VALIDATOR = Draft202012Validator(schema())


def test_the_file_in_the_package_is_what_the_tables_say():
    assert schema() == make_schema(), "run python tests/models/golden/write_v1.py, which writes it"


def test_it_is_a_schema():
    assert list(Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema())) == []


@pytest.mark.parametrize("name", CASES)
def test_what_is_saved_is_valid(name):
    assert list(VALIDATOR.iter_errors(to_document(CASES[name][0], "2026-03-31"))) == []


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("pav", ("version",), 2),
        ("pav", ("kind",), "sigmoid"),
        ("pav", ("fitted", "blocks", "value", 0), 1.5),
        ("pav", ("fitted", "blocks", "weight", 0), 0),
        ("pav", ("fitted", "blocks", "lo", 0), "1"),
        ("pav", ("parameters", "between"), "far"),
        ("pav", ("classes",), None),
        ("pav", ("classes", "values"), [1, 2]),
        ("one_vs_all", ("parameters", "calibrator", "kind"), "sigmoid"),
        ("one_vs_all", ("fitted", "columns", 0), {"constant": 0.5}),
        ("code", ("fitted", "code", 0, 0), 2),
        ("model_binary", ("calibrator", "fitted", "blocks", "value", 0), -1),
        ("model_multiclass", ("decision", "rule", "kind"), "mossman"),
        ("model_multiclass", ("training", "n_rows"), 0),
        ("expected", ("classes",), {"type": "int", "values": [0, 1]}),
    ],
)
def test_what_is_wrong_is_invalid(name, path, value):
    document = copy.deepcopy(to_document(CASES[name][0]))
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    assert not VALIDATOR.is_valid(document)


def test_a_version_that_is_not_there():
    with pytest.raises(CalibrantError, match="version must be 1; got 2"):
        schema(2)
