"""The JSON Schema of model files: made from the same tables that check them, and shipped as a file."""

import json
from importlib.resources import files
from typing import Any

from calibrant._core._checks import is_whole, shown
from calibrant._core._errors import ParameterError
from calibrant._core._field_groups import object_schema
from calibrant._core._fields import Schema
from calibrant._core._kinds import Kind, one_of
from calibrant.calibrators import calibrator_kinds
from calibrant.decisions import rule_kinds
from calibrant.models._chain import SCORE_MODEL, TRAINING
from calibrant.models._document import all_kinds, has_classes, optional_fields
from calibrant.models._head import CLASSES, FORMAT, ORIGIN, VERSION


def schema(version: int = VERSION) -> dict[str, Any]:
    """Give the JSON Schema of model files.

    Parameters
    ----------
    version : int, default=1
        The version of the format.

    Returns
    -------
    dict
        The schema, of JSON Schema's draft 2020-12. It says which fields a file has, of which types and within
        which bounds; `load` checks more, such as that lists have the same length and that blocks ascend.

    Examples
    --------
    >>> from calibrant.models import schema
    >>> schema()["title"]
    'A model file of calibrant, version 1'
    """
    if not is_whole(version, VERSION, VERSION):
        raise ParameterError(f"version must be {VERSION}; got {shown(version)}")
    text = files("calibrant.models").joinpath("schemas", f"v{version}.json").read_text("utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def make_schema() -> Schema:
    """Build the schema of the present version from the tables."""
    kinds = all_kinds().by_name.values()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:calibrant:model:{VERSION}",
        "title": f"A model file of calibrant, version {VERSION}",
        "oneOf": [{"$ref": f"#/$defs/file_{kind.name}"} for kind in kinds],
        "$defs": {
            **{name: field.schema() for name, field in ORIGIN.items()},
            "classes": CLASSES.schema(),
            "training": TRAINING.schema(),
            **{f"file_{kind.name}": _file(kind) for kind in kinds},
            **{
                kind.name: kind.schema()
                for group in (calibrator_kinds(), rule_kinds())
                for kind in group.by_name.values()
            },
            **{name: part for kind in kinds for name, part in kind.definitions().items()},
        },
    }


def _file(kind: Kind) -> Schema:
    """A whole file of one kind."""
    nothing: Schema = {"type": "null"}
    header: dict[str, Schema] = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "kind": {},
        **{name: {"$ref": f"#/$defs/{name}"} for name in ORIGIN},
        "classes": {"$ref": "#/$defs/classes"} if has_classes(kind) else nothing,
        "training": {"$ref": "#/$defs/training"} if kind is SCORE_MODEL else nothing,
    }
    optional = {name: field.schema() for name, field in optional_fields(kind).items()}
    return one_of([object_schema(header | variant, optional) for variant in kind.variants()])
