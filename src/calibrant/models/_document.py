"""A model as one document of plain data, and back."""

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import codes, decisions
from calibrant._core._arrays import Array
from calibrant._core._errors import ParameterError
from calibrant._core._field_groups import check_length
from calibrant._core._fields import Field
from calibrant._core._kinds import Kind, Kinds
from calibrant._core._place import ModelFileError, Place
from calibrant.calibrators import CalibratorBase, ScoreCalibrator, calibrator_kinds, n_scores_of
from calibrant.models._chain import OPTIONAL, SCORE_COLUMNS, SCORE_MODEL, TRAINING
from calibrant.models._head import CLASSES, DATE, FORMAT, VERSION, check_head
from calibrant.models._text import checksum_of


def all_kinds() -> Kinds:
    """All that can be saved."""
    calibrators = calibrator_kinds()
    parts = (calibrators, codes.combiner_kinds(), decisions.rule_kinds())
    every = [SCORE_MODEL, *(kind for kinds in parts for kind in kinds.by_name.values())]
    return Kinds(every, calibrators.advice)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a loaded model comes from, for as long as it is the model that was loaded."""

    library_version: str
    date: str | None
    checksum: str


def to_document(model: Any, date: object = None) -> dict[str, Any]:
    """Take a fitted model apart into plain data: dicts, lists, text, numbers, true, false and None.

    Parameters
    ----------
    model : object
        A fitted `ScoreModel`, calibrator or rule, or a combiner.
    date : str, date or datetime, optional
        The date to write down. By default that of the file that the model was loaded from, or none; the
        clock is never asked, so that the same model gives the same document.

    Returns
    -------
    dict
        The document. `json.dumps` can write it; `save` writes it with care.

    See Also
    --------
    from_document : The way back.
    save : Straight to a file.

    Examples
    --------
    >>> from calibrant import ScoreModel
    >>> from calibrant.models import to_document
    >>> document = to_document(ScoreModel().fit([-2, -1, 1, 2], [0, 1, 0, 1]))
    >>> document["kind"], document["classes"]
    ('score_model', {'type': 'int', 'values': [0, 1]})
    """
    kind = SCORE_MODEL if type(model) is SCORE_MODEL.type else all_kinds().of(model)
    body = kind.write(model)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "kind": body.pop("kind"),
        "library_version": _this_version(),
        "date": _read_date(date),
        "checksum": None,
        "classes": CLASSES.write(model.classes_) if hasattr(model, "classes_") else None,
        "training": TRAINING.write(model.summary_) if kind is SCORE_MODEL else None,
        **body,
    }
    if has_columns(kind) and hasattr(model, "feature_names_in_"):
        document["score_columns"] = list(model.feature_names_in_)
    document = _keep_provenance(document, model, dated=date is not None)
    _put_together(document, Place(f"this {type(model).__name__} cannot be saved"))
    return document | {"checksum": checksum_of(document)}


def from_document(document: dict[str, Any], name: str = "the document") -> Any:
    """Put a fitted model together from plain data, every bit of which is checked.

    Parameters
    ----------
    document : dict
        What `to_document` gave, or what was parsed from a file.
    name : str, default="the document"
        What to call it in messages.

    Returns
    -------
    object
        The fitted model. It gives exactly the numbers that the saved one gave.

    Raises
    ------
    ModelFileError
        If anything is not as it must be, with the place; for example
        ``model.json: calibrator.fitted.blocks.value[3] must be a number, at least 0 and at most 1; got 1.5``.

    Examples
    --------
    >>> from calibrant import ScoreModel
    >>> from calibrant.models import from_document, to_document
    >>> document = to_document(ScoreModel().fit([-2, -1, 1, 2], [0, 1, 0, 1]))
    >>> from_document(document).predict_proba([3])[:, 1].round(2)
    array([0.73])
    >>> document["calibrator"]["fitted"]["map"]["power"] = 7.0
    >>> from_document(document)
    Traceback (most recent call last):
        ...
    calibrant.models.ModelFileError: the document: checksum must be that of the contents; ...
    """
    at = Place(name)
    model = _put_together(document, at)
    checksum = checksum_of(document)
    if document["checksum"] not in (None, checksum):
        (at / "checksum").fail(
            "must be that of the contents; it is not, so that they were changed after they were saved",
            "save the model again, or set checksum to null if the change was meant",
        )
    origin = Provenance(document["library_version"], document["date"], _body_checksum(document))
    object.__setattr__(model, "_provenance", origin)  # combiners are frozen
    return model


def _put_together(document: Any, at: Place) -> Any:
    """Check the head of a document and put its model together."""
    if type(document) is not dict:
        at.refuse("be an object", document)
    for name, value in (("format", FORMAT), ("version", VERSION)):
        if name not in document:
            at.fail(f"must have the field {name!r}; it is missing", "is this a calibrant model?")
        if type(document[name]) is not type(value) or document[name] != value:
            advice = "a newer calibrant may read it" if name == "version" else "is this a calibrant model?"
            (at / name).refuse(f"be {value!r}", document[name], advice)
    kind = _kind_of(document, at)
    if kind is SCORE_MODEL:
        return SCORE_MODEL.put_together(document, at)
    check_head(document, kind.keys[1:], optional_fields(kind), at)
    model = kind.read(document, at, _read_classes(document["classes"], kind, at / "classes"))
    if document["training"] is not None:
        (at / "training").refuse("be null for this kind of model", document["training"])
    if "score_columns" in document:
        names = SCORE_COLUMNS.read(document["score_columns"], at / "score_columns")
        n_columns = n_scores_of(model) if has_classes(kind) else len(model.matrix_)
        check_length(names, n_columns, at / "score_columns", "one per column")
        model.name_columns(names)
    return model


def _kind_of(document: dict[str, Any], at: Place) -> Kind:
    name = document.get("kind")
    if "kind" not in document:
        at.fail("must have the field 'kind'; it is missing")
    if name == SCORE_MODEL.name:  # as most are; the others need not be known
        return SCORE_MODEL
    known = all_kinds()
    if type(name) is not str or name not in known.by_name:
        (at / "kind").refuse(f"be one of {', '.join(known.by_name)}", name, known.advice)
    return known.by_name[name]


def _read_classes(plain: Any, kind: Kind, at: Place) -> Array:
    """The labels of a part of a chain; rules and combiners know the numbers of classes only."""
    if not has_classes(kind):
        if plain is not None:
            at.refuse("be null for this kind of model", plain)
        return np.empty(0)
    classes: Array = CLASSES.read(plain, at)
    if issubclass(kind.type, ScoreCalibrator) and len(classes) != 2:
        (at / "values").fail(f"must be two labels for this kind of model; got {len(classes)}")
    return classes


def has_classes(kind: Kind) -> bool:
    """Whether models of this kind know their classes by label."""
    return kind is SCORE_MODEL or issubclass(kind.type, CalibratorBase)


def has_columns(kind: Kind) -> bool:
    """Whether the names of the columns are a field of its own; a `ScoreModel` has them in its training."""
    return issubclass(kind.type, CalibratorBase | decisions.DecisionRule)


def optional_fields(kind: Kind) -> dict[str, Field]:
    """The fields that a file of this kind may have."""
    if kind is SCORE_MODEL:
        return OPTIONAL
    return {"score_columns": SCORE_COLUMNS} if has_columns(kind) else {}


def _read_date(date: object) -> str | None:
    """The caller's date as text."""
    if date is None:
        return None
    text = date.isoformat() if isinstance(date, datetime.date) else date
    try:
        DATE.read(text, Place("date"))
    except ModelFileError as error:
        raise ParameterError(
            f"date must be a date, or text such as '2026-03-31' or '2026-03-31T12:00:00'; got {date!r}"
        ) from error
    return str(text)


def _this_version() -> str:
    from importlib.metadata import version  # noqa: PLC0415  (only those who save pay for it)

    return version("calibrant")


def _keep_provenance(document: dict[str, Any], model: Any, *, dated: bool) -> dict[str, Any]:
    """A model that is still what was loaded keeps the version that made it, and its date."""
    origin = getattr(model, "_provenance", None)
    if origin is None or origin.checksum != _body_checksum(document):
        return document
    date = document["date"] if dated else origin.date
    return document | {"library_version": origin.library_version, "date": date}


def _body_checksum(document: dict[str, Any]) -> str:
    """The checksum of the model itself, without its origin."""
    return checksum_of(document | {"library_version": "", "date": None})
