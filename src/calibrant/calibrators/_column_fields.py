"""How columns stand in a model file.

All columns share the parameters of their calibrator, which therefore stand there once; a column is its fitted
numbers alone, or the constant that a column without two sides answers.
"""

from copy import copy
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._field_groups import Record, Wholes, check_length
from calibrant._core._fields import Field, Later, Number, Schema
from calibrant._core._kinds import Kind, Unfitted, unfitted_schema
from calibrant._core._place import Place
from calibrant.calibrators._kinds import score_kinds
from calibrant.calibrators._method import Method
from calibrant.calibrators._names import named_or_given
from calibrant.codes import LeastSquares, Normalize, is_one_vs_all

CONSTANT = Record(constant=Number(above=0.0, below=1.0))

CALIBRATOR = Unfitted(score_kinds, named_or_given)


class ColumnsField(Later):
    """The fitted numbers of every column.

    What they must be depends on the kind of the calibrator, which stands elsewhere and reads them.
    """

    json_type = (list,)
    what = "a list of objects"

    def __init__(self, *, constants: bool = False) -> None:
        self.constants = constants

    def write(self, value: Any) -> Any:
        """Every column as its kind writes it."""
        return [
            each.kind_in_file().write_fitted(each)
            if isinstance(each, Method)
            else CONSTANT.write({"constant": each.value})
            for each in value
        ]

    def schema(self) -> Schema:
        """A list; its kind says of what."""
        return {"type": "array", "minItems": 1}


class _Code(Field):
    """A code matrix: one list per class, of -1, 0 and 1."""

    json_type = (list,)
    what = "a list of lists of -1, 0 and 1"
    _row = Wholes(-1, 1)

    def write(self, value: Any) -> Any:
        """Lists of integers."""
        return np.asarray(value).tolist()

    def _read(self, plain: Any, at: Place) -> Array:
        rows = [self._row.read(row, at[number]) for number, row in enumerate(plain)]
        for number, row in enumerate(rows):
            check_length(row, max(1, len(rows[0])), at[number], "as the first has, and at least one")
        if not rows:
            at.refuse(f"be {self.what}", plain)
        return np.stack(rows).astype(np.int8)

    def schema(self) -> Schema:
        """Rows of enumerated numbers."""
        row = {"type": "array", "items": {"enum": [-1, 0, 1]}, "minItems": 1}
        return {"type": "array", "items": row, "minItems": 2}


CODE = _Code()


class ColumnsKind(Kind):
    """A kind whose columns are of the kind that a parameter names."""

    def write_unfitted(self, model: Any) -> dict[str, Any]:
        """The kind and the parameters, with the combination that a fitted model has."""
        if hasattr(model, model.mark):
            model = copy(model)
            model.combine = model.combining.combiner
        return super().write_unfitted(model)

    def variants(self) -> list[dict[str, Schema]]:
        """One variant for every calibrator that the columns can have."""
        return [
            {"kind": {"const": self.name}}
            | {key: {"$ref": f"#/$defs/{self._part_of(kind, key)}"} for key in self.keys[1:]}
            for kind in score_kinds().by_name.values()
        ]

    def definitions(self) -> dict[str, Schema]:
        """The parts of every variant."""
        assert self.fitted is not None
        columns = self.fitted.fields["columns"]
        parts = {}
        for kind in score_kinds().by_name.values():
            parameters, fitted = self.parameters.schema(), self.fitted.schema()
            parameters["properties"]["calibrator"] = unfitted_schema(kind)
            column = kind.part("fitted")
            if isinstance(columns, ColumnsField) and columns.constants:
                column = {"anyOf": [column, CONSTANT.schema()]}
            fitted["properties"]["columns"]["items"] = column
            parts[self._part_of(kind, "parameters")] = parameters
            parts[self._part_of(kind, "fitted")] = fitted
        return parts

    def _part_of(self, kind: Kind, key: str) -> str:
        return f"{self.name}_of_{kind.name}_{key}"


def check_code_of_file(code: Array, n_classes: int, combine: object, at: Place) -> None:
    """The faults that leave probabilities undetermined; `code_findings` would list all of them, in pairs."""
    check_length(code, n_classes, at, "one row per class")
    one_sided = np.flatnonzero((code.max(axis=0) < 1) | (code.min(axis=0) > -1))
    if len(one_sided):
        at.fail(f"must have a 1 and a -1 in every column; got only one sign in column {one_sided[0]}")
    rows = [row.tobytes() for row in code]
    if len(set(rows)) < len(rows) or not code.any(axis=1).all():
        at.fail("must have a row of its own for every class, not of zeros; it has not")
    if isinstance(combine, Normalize) and not is_one_vs_all(code):
        at.fail("must be one-vs-all where answers are combined by normalisation; it is not")
    if isinstance(combine, LeastSquares) and not combine.sum_constraint and not code.all():
        at.fail("must have no zeros where least squares has no sum constraint; it has some")


def check_prior(combine: object, n_classes: int, at: Place) -> None:
    """A prior has one probability per class."""
    prior = combine.prior if isinstance(combine, Normalize) else None
    if prior is not None:
        path = at.path.removesuffix("fitted") + "parameters.combine.parameters.prior"
        check_length(prior, n_classes, Place(at.document, path), "one per class")
