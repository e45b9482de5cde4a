"""The map side: probabilities and decisions as columns of a frame."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from pyspark.ml.functions import array_to_vector
from pyspark.sql import Column, DataFrame, functions as F
from pyspark.sql.types import DoubleType, IntegerType, StringType, StructField, StructType

from calibrant._core._arrays import Array, BoolArray, Float64Array
from calibrant._core._errors import CalibrantError, DataError
from calibrant.models import from_document, to_document
from calibrant.spark._columns import ScoreColumns, quoted
from calibrant.spark._partition import import_all, modules_to_send

#: Decisions of rows that have none: their scores cannot be used, or the model gives them no number.
UNUSABLE, UNKNOWN = -1, -2
#: Under this name the metadata of a column of probabilities carry the labels.
METADATA_KEY = "calibrant"
#: A function of scores, and of groups if there are any, that gives probabilities and numbers of decisions.
Judge = Callable[..., tuple[Float64Array, Array]]


@dataclass(frozen=True)
class ModelText:
    """A model on its way to the executors.

    Attributes
    ----------
    text : str
        The model as JSON.
    modules : tuple of str
        Where its methods are defined: ours, and a user's own.
    """

    text: str
    modules: tuple[str, ...]

    @classmethod
    def of(cls, model: Any) -> "ModelText":
        """Write a fitted model or rule down."""
        return cls(json.dumps(to_document(model)), modules_to_send(_modules_of(model)))

    def read(self) -> Any:
        """The model again, put together once per process."""
        return _read(self)


def _modules_of(model: Any) -> set[str]:
    """The modules of a model's methods, and of the maps that these have made."""
    calibrator = getattr(model, "calibrator_", model)
    methods = [calibrator, *getattr(calibrator, "calibrators_", [])]
    return {type(each).__module__ for one in methods for each in (one, getattr(one, "map_", one))}


@lru_cache(maxsize=16)
def _read(sent: ModelText) -> Any:
    import_all(sent.modules)
    return from_document(json.loads(sent.text))


def judged(
    frame: DataFrame,
    columns: ScoreColumns,
    judge: Judge,
    n_scores: int,
    n_classes: int,
    invalid: str,
    group: str | None = None,
) -> Column:
    """Probabilities and the number of the decision as one column."""
    import pandas as pd  # noqa: PLC0415

    names = [f"p_{place}" for place in range(n_classes)]
    fields = [StructField(name, DoubleType()) for name in names]
    label = ", ".join(columns.all_names)
    values = columns.values(frame)
    n_columns, grouped = len(values), [] if group is None else [quoted(group)]

    def judge_batch(*series: pd.Series) -> pd.DataFrame:
        failure = None
        try:
            scores = score_matrix(series[:n_columns], columns.packed, n_scores, label)
            groups = [each.to_numpy(dtype=object) for each in series[n_columns:]]
            proba, decision = judge_usable(
                judge, scores, n_classes, columns.all_names, *groups, keeps=invalid == "keep"
            )
        except CalibrantError as error:
            failure = f"{error}" if repr(label) in str(error) else f"{error}; that is in {label!r}"
            proba, decision = np.full((len(series[0]), n_classes), np.nan), np.full(len(series[0]), UNUSABLE)
        content = dict(zip(names, proba.T, strict=True))
        return pd.DataFrame(content | {"decision": decision.astype(np.int32), "failure": failure})

    others = [StructField("decision", IntegerType()), StructField("failure", StringType())]
    answer = F.pandas_udf(judge_batch, StructType([*fields, *others]))(*values, *grouped)
    failure = answer.getField("failure")
    return F.when(failure.isNotNull(), F.raise_error(failure)).otherwise(answer)


def score_matrix(series: Any, packed: bool, n_scores: int, name: str) -> Float64Array:
    """The scores of a batch, not a number where there are none."""
    if not packed:
        matrix = np.stack([np.asarray(each, dtype=np.float64) for each in series], axis=1)
        there = np.ones(len(matrix), dtype=bool)
    else:
        there = series[0].notna().to_numpy()
        arrays = [each for each, known in zip(series[0], there, strict=True) if known]
        lengths = {len(each) for each in arrays} or {n_scores}
        if len(lengths) > 1:
            raise DataError(
                f"the column {name!r} must hold vectors of one length; got lengths {sorted(lengths)[:5]}"
            )
        matrix = np.array(arrays, dtype=np.float64).reshape(-1, lengths.pop())
    if n_scores == 1 and matrix.shape[1] == 2 and packed:
        matrix = matrix[:, 1:]  # MLlib gives a score against the first class and the same one for the second
    if matrix.shape[1] != n_scores:
        raise DataError(
            f"the model takes {n_scores} scores per row; got {matrix.shape[1]} from {name!r}; use the "
            "columns that it was fitted to"
        )
    if there.all():
        return matrix
    scores = np.full((len(there), n_scores), np.nan)
    scores[there] = matrix
    return scores


def judge_usable(
    judge: Judge, scores: Float64Array, n_classes: int, names: tuple[str, ...], *groups: Array, keeps: bool
) -> tuple[Float64Array, Array]:
    """Judge the rows whose scores are finite."""
    usable: BoolArray = np.asarray(np.isfinite(scores).all(axis=1))
    if not usable.all() and not keeps:
        row = scores[~usable][0]
        place = int(np.argmin(np.isfinite(row)))
        name, got = (names[0], row.tolist()) if len(names) == 1 else (names[place], row[place])
        raise DataError(
            f"the scores in {name!r} must be finite numbers; got {got}; set handleInvalid to 'skip' to leave "
            "such rows out, or to 'keep' to keep them without probabilities"
        )
    proba = np.full((len(scores), n_classes), np.nan)
    decision = np.full(len(scores), UNUSABLE, dtype=np.int32)
    if usable.any():
        used = scores[usable]
        of_rows = [each[usable] for each in groups]
        proba[usable], decision[usable] = judge(used[:, 0] if used.shape[1] == 1 else used, *of_rows)
    return proba, decision


def decisions_of(decide: Callable[[Float64Array], Array], proba: Float64Array) -> Array:
    """Numbers of decisions, where there are probabilities."""
    decision = np.full(len(proba), UNKNOWN, dtype=np.int32)
    known = ~np.isnan(proba).any(axis=1)
    if known.any():
        decision[known] = decide(proba[known])
    return decision


def probability_vector(answer: Column, n_classes: int, *, always: bool) -> Column:
    """The probabilities of a row as a vector."""
    vector = array_to_vector(F.array(*(answer.getField(f"p_{place}") for place in range(n_classes))))
    return vector if always else F.when(answer.getField("decision") != UNUSABLE, vector)


def label_of_number(number: Column, labels: Array) -> Column:
    """The labels of decisions: numbers in double precision, as MLlib has them, truth values, or text."""
    values = labels.tolist()
    if all(isinstance(value, bool) for value in values):
        literals = [F.lit(value) for value in values]
    elif all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        literals = [F.lit(float(value)) for value in values]
    else:
        literals = [F.lit(str(value)) for value in values]
    return F.when(number >= 0, F.element_at(F.array(*literals), number + 1))
