"""What the service understands, as an OpenAPI document."""

from typing import Any

from calibrant.models import ScoreModel
from calibrant.serve._bodies import ARROW, KEY, score_names


def openapi(model: ScoreModel, version: str, *, monitored: bool) -> dict[str, Any]:
    """The document for a model."""
    paths = {
        "/probabilities": {"post": _asking("The probability of every class", _probabilities(model), model)},
        "/decisions": {"post": _asking("The decision that costs least", _decisions(), model)},
        "/model": {"get": _telling("What the model is")},
        "/health": {"get": _telling("Whether the service answers")},
        "/openapi.json": {"get": _telling("This document")},
    }
    if monitored:
        paths["/outcomes"] = {"post": _outcomes()}
    about = {"title": "calibrant", "version": version, "description": "Scores into probabilities."}
    return {"openapi": "3.1.0", "info": about, "paths": paths}


def _asking(summary: str, answer: dict[str, Any], model: ScoreModel) -> dict[str, Any]:
    names = score_names(model)
    n_scores = int(getattr(model.calibrator_, "n_scores", len(model.classes_)))
    number = {"type": "number"}
    row: list[dict[str, Any]] = [
        {"type": "array", "items": number, "minItems": n_scores, "maxItems": n_scores}
    ]
    if n_scores == 1:
        row.append(number)
    if names is not None:
        row.append({"type": "object", "properties": dict.fromkeys(names, number), "required": names})
    rows = {"type": "array", "items": {"anyOf": row}}
    body = {"anyOf": [rows, _object(rows=rows, keys=_keys(), required=["rows"])]}
    stream = {"type": "string", "format": "binary", "description": f"Columns of scores, and perhaps {KEY!r}."}
    return {
        "summary": summary,
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": body}, ARROW: {"schema": stream}},
        },
        "responses": _responses({"application/json": {"schema": answer}, ARROW: {"schema": stream}}),
    }


def _telling(summary: str) -> dict[str, Any]:
    return {
        "summary": summary,
        "responses": {"200": {"description": "It", "content": {"application/json": {"schema": {}}}}},
    }


def _outcomes() -> dict[str, Any]:
    label = {"type": ["string", "number", "boolean"]}
    body = _object(keys=_keys(), labels={"type": "array", "items": label}, required=["keys", "labels"])
    answer = _object(n_alarms={"type": "integer"}, required=["n_alarms"])
    return {
        "summary": "What came of rows that were asked about with keys",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": _responses({"application/json": {"schema": answer}}),
    }


def _responses(content: dict[str, Any]) -> dict[str, Any]:
    line = {"application/json": {"schema": _object(error={"type": "string"}, required=["error"])}}
    return {
        "200": {"description": "The answer", "content": content},
        "413": {"description": "The body is too large", "content": line},
        "422": {"description": "What must hold, what came, what to do", "content": line},
    }


def _probabilities(model: ScoreModel) -> dict[str, Any]:
    k = len(model.classes_)
    row = {"type": "array", "items": {"type": ["number", "null"]}, "minItems": k, "maxItems": k}
    rows = {"type": "array", "items": row}
    return _object(classes={"type": "array"}, probabilities=rows, required=["classes", "probabilities"])


def _decisions() -> dict[str, Any]:
    return _object(decisions={"type": "array"}, required=["decisions"])


def _keys() -> dict[str, Any]:
    return {"type": "array", "items": {"type": ["string", "integer"]}}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
