"""How the calibrators of columns are saved: one per class, or one per column of a code matrix.

All columns share the parameters of their calibrator, which therefore stand in the file once; a column is
its fitted numbers alone, or the constant that a column without two sides answers.
"""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._fields import Field, Number, Numbers, Record, Schema, Wholes, check_length
from calibrant._core._place import Place
from calibrant.calibrators import CodeCalibrator, ConstantAnswer, OneVsAllCalibrator, new_calibrator
from calibrant.codes import LeastSquares, Normalize
from calibrant.codes._matrices import is_one_vs_all
from calibrant.models._combiners import COMBINER
from calibrant.models._kinds import Kind, Unfitted, unfitted_schema
from calibrant.models._two_class import TWO_CLASS

#: What a column tells apart: the rest, and its class or its positive side.
SIDES = np.array([False, True])
CONSTANT = Record(constant=Number(above=0.0, below=1.0))
CALIBRATOR = Unfitted(TWO_CLASS, new_calibrator)


class _Columns(Field):
    """The fitted numbers of every column.

    What they must be depends on the kind of the calibrator, which stands elsewhere. So reading this field
    only makes sure that there are objects, and `_read_columns` does the rest.
    """

    json_type = (list,)
    what = "a list of objects"

    def write(self, value: Any) -> Any:
        """Every column as its kind writes it."""
        return [
            CONSTANT.write({"constant": each.value})
            if type(each) is ConstantAnswer
            else TWO_CLASS.of(each).write_fitted(each)
            for each in value
        ]

    def _read(self, plain: Any, at: Place) -> list[Any]:
        for number, column in enumerate(plain):
            if type(column) is not dict:
                at[number].refuse("be an object", column)
        return list(plain)

    def schema(self) -> Schema:
        """A list; its kind says of what."""
        return {"type": "array", "minItems": 1}


class _Code(Field):
    """A code matrix: one list per class, of -1, 0 and 1."""

    json_type = (list,)
    what = "a list of lists of -1, 0 and 1"

    def __init__(self) -> None:
        self._row = Wholes(-1, 1)

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


class _ColumnsKind(Kind):
    """A kind whose columns are of the kind that a parameter names."""

    def variants(self) -> list[dict[str, Schema]]:
        """One variant for every calibrator that the columns can have."""
        return [
            {"kind": {"const": self.name}}
            | {key: {"$ref": f"#/$defs/{self._part_of(kind, key)}"} for key in self.keys[1:]}
            for kind in TWO_CLASS.by_name.values()
        ]

    def definitions(self) -> dict[str, Schema]:
        """The parts of every variant."""
        assert self.fitted is not None
        parts = {}
        for kind in TWO_CLASS.by_name.values():
            parameters, fitted = self.parameters.schema(), self.fitted.schema()
            parameters["properties"]["calibrator"] = unfitted_schema(kind)
            column = kind.part("fitted")
            if self.type is CodeCalibrator:
                column = {"anyOf": [column, CONSTANT.schema()]}
            fitted["properties"]["columns"]["items"] = column
            parts[self._part_of(kind, "parameters")] = parameters
            parts[self._part_of(kind, "fitted")] = fitted
        return parts

    def _part_of(self, kind: Kind, key: str) -> str:
        return f"{self.name}_of_{kind.name}_{key}"


def _restore_one_vs_all(model: OneVsAllCalibrator, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    check_length(fitted["columns"], len(classes), at / "columns", "one per class")
    _check_prior(model.combine, len(classes), at)
    model.calibrators_ = _read_columns(model.calibrator, fitted["columns"], at / "columns")
    model.classes, model.classes_ = classes.tolist(), classes


def _restore_code(model: CodeCalibrator, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    code, n_columns = fitted["code"], fitted["code"].shape[1]
    _check_code(code, len(classes), at / "code")
    check_length(fitted["columns"], n_columns, at / "columns", "one per column of the code")
    check_length(fitted["counts"], n_columns, at / "counts", "one per column of the code")
    _check_combination(model.combine, code, at / "code")
    _check_prior(model.combine, len(classes), at)
    model.calibrators_ = _read_columns(model.calibrator, fitted["columns"], at / "columns", constants=True)
    model.code = model.code_ = code
    model.counts_ = fitted["counts"]
    model.classes, model.classes_ = classes.tolist(), classes


def _read_columns(
    calibrator: Any, columns: list[dict[str, Any]], at: Place, *, constants: bool = False
) -> list[Any]:
    """The fitted calibrators of all columns."""
    kind = TWO_CLASS.of(calibrator)
    fitted: list[Any] = []
    for number, plain in enumerate(columns):
        if constants and "constant" in plain:
            fitted.append(ConstantAnswer(CONSTANT.read(plain, at[number])["constant"]))
        else:
            fitted.append(new_calibrator(calibrator))
            kind.read_fitted(fitted[-1], plain, at[number], SIDES)
    return fitted


def _check_code(code: Array, n_classes: int, at: Place) -> None:
    """The faults that leave probabilities undetermined; `code_findings` would list all of them, in pairs."""
    check_length(code, n_classes, at, "one row per class")
    one_sided = np.flatnonzero((code.max(axis=0) < 1) | (code.min(axis=0) > -1))
    if len(one_sided):
        at.fail(f"must have a 1 and a -1 in every column; got only one sign in column {one_sided[0]}")
    rows = [row.tobytes() for row in code]
    if len(set(rows)) < len(rows) or not code.any(axis=1).all():
        at.fail("must have a row of its own for every class, not of zeros; it has not")


def _check_combination(combine: object, code: Array, at: Place) -> None:
    """Not every way to combine answers takes every code."""
    if isinstance(combine, Normalize) and not is_one_vs_all(code):
        at.fail("must be one-vs-all where answers are combined by normalisation; it is not")
    if isinstance(combine, LeastSquares) and not combine.sum_constraint and not code.all():
        at.fail("must have no zeros where least squares has no sum constraint; it has some")


def _check_prior(combine: object, n_classes: int, at: Place) -> None:
    prior = combine.prior if isinstance(combine, Normalize) else None
    if prior is not None:
        path = at.path.removesuffix("fitted") + "parameters.combine.parameters.prior"
        check_length(prior, n_classes, Place(at.document, path), "one per class")


ONE_VS_ALL = _ColumnsKind(
    name="one_vs_all",
    type=OneVsAllCalibrator,
    parameters=Record(calibrator=CALIBRATOR, combine=COMBINER),
    fitted=Record(columns=_Columns()),
    mark="calibrators_",
    state=lambda model: {"columns": model.calibrators_},
    restore=_restore_one_vs_all,
)

CODE = _ColumnsKind(
    name="code",
    type=CodeCalibrator,
    parameters=Record(calibrator=CALIBRATOR, combine=COMBINER),
    fitted=Record(code=_Code(), counts=Numbers(Number(0.0)), columns=_Columns()),
    mark="calibrators_",
    state=lambda model: {"code": model.code_, "counts": model.counts_, "columns": model.calibrators_},
    restore=_restore_code,
)
