"""Probabilities to the decisions that cost least."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pyspark import keyword_only
from pyspark.ml import Transformer
from pyspark.sql import DataFrame, functions as F

from calibrant._core._arrays import Array, Float64Array, as_array
from calibrant._core._checks import check_probabilities
from calibrant._core._errors import DataError, ParameterError
from calibrant.decisions import cost_matrix, decide
from calibrant.files import costs_of_rows, split_costs
from calibrant.models import read_costs
from calibrant.spark._columns import check_columns, score_columns
from calibrant.spark._judge import METADATA_KEY, decisions_of, judged, label_of_number
from calibrant.spark._params import HasClasses, HasCosts, HasDecisions, HasProbabilities
from calibrant.spark._persistence import Stage


class CostDecider(Transformer, HasProbabilities, HasDecisions, HasClasses, HasCosts, Stage):
    """Decides what costs least, given probabilities.

    The probabilities may come from `ScoreCalibratorModel` or from any classifier of MLlib. Nothing is
    learned; see `CostRule` for rules that are.

    Parameters
    ----------
    cost : array-like of shape (k, k) or (a, k), or mapping
        ``cost[i][j]`` is the cost of deciding class i when the truth is class j (many libraries use the
        transpose); or ``{decision: {truth: cost}}``. There may be other decisions than the classes. Where
        costs differ from row to row, one by label is a sum of numbers and columns, such as "0.68 - amount".
    probabilityCol : str, default="probability"
        The column of the probabilities: vectors or arrays, one number per class.
    predictionCol : str, default="prediction"
        The column of the decisions. One that is there is replaced.
    classes : list, optional
        The labels in the order of the probabilities. By default those that the column of probabilities
        carries, which `ScoreCalibratorModel` puts there; else 0, 1, ..., as MLlib counts them.
    handleInvalid : {"error", "skip", "keep"}, default="error"
        What happens to rows without probabilities: an error; they are left out; or they get no decision.

    See Also
    --------
    CostRule : Learns where to decide for what.

    Examples
    --------
    >>> from pyspark.ml.linalg import Vectors
    >>> from calibrant.spark import CostDecider
    >>> rows = [(Vectors.dense(0.7, 0.3),), (Vectors.dense(0.1, 0.9),)]
    >>> frame = spark.createDataFrame(rows, ["probability"])
    >>> decider = CostDecider(cost={"keep": {"ham": 0, "spam": 1}, "drop": {"ham": 5, "spam": 0}},
    ...                       classes=["ham", "spam"])
    >>> [row.prediction for row in decider.transform(frame).collect()]
    ['keep', 'drop']
    """

    @keyword_only
    def __init__(
        self,
        *,
        cost: Any = None,
        probabilityCol: str = "probability",
        predictionCol: str = "prediction",
        classes: Sequence[Any] | None = None,
        handleInvalid: str = "error",
    ) -> None:
        super().__init__()
        self._set_given()

    def _transform(self, dataset: DataFrame) -> DataFrame:
        given = self.getCost()
        if given is None:
            raise ParameterError("cost must be given to decide by; got none; set it")
        classes = classes_of(dataset, self.getProbabilityCol(), self._given("classes"))
        given, by_column = split_costs(given) if isinstance(given, Mapping) else (given, {})
        costs = read_costs(given, classes, allow_any=bool(by_column))
        amounts = {name: cost_matrix(each, classes, costs.actions) for name, each in by_column.items()}
        matrix, n_classes, names = costs.matrix, len(classes), tuple(amounts)

        def decide_here(numbers: Float64Array) -> Array:
            proba = numbers[:, :n_classes]
            if not names:
                return decide(proba, matrix, allow_any=True)
            values = dict(zip(names, numbers[:, n_classes:].T, strict=True))
            return decide(proba, matrix + costs_of_rows(amounts, values, len(proba)), allow_any=True)

        return with_decisions(self, dataset, decide_here, n_classes, costs.actions, names)


def classes_of(frame: DataFrame, name: str, given: Sequence[Any] | None) -> Array:
    """The labels of a column of probabilities."""
    check_columns(frame, [name])
    if given is not None:
        return as_array(given, "classes")
    carried = frame.schema[name].metadata.get(METADATA_KEY, {}).get("classes")
    if carried is not None:
        return as_array(carried, "classes")
    width = score_columns(frame, name, None).width(frame)
    row = frame.select(width.alias("width")).where(F.col("width").isNotNull()).first()
    if row is None:
        raise DataError(f"the column {name!r} must hold probabilities; it has none; give the classes")
    return np.arange(2 if row[0] == 1 else int(row[0]))


def with_decisions(
    stage: Any,
    frame: DataFrame,
    choose: Any,
    n_classes: int,
    actions: Array,
    beside: tuple[str, ...] = (),
) -> DataFrame:
    """A frame with a column of decisions, by the probabilities and by the numbers of columns beside them."""
    name, invalid = stage.getProbabilityCol(), stage.getHandleInvalid()
    columns = score_columns(frame, name, None)
    if not columns.packed:
        raise DataError(f"the column {name!r} must hold vectors or arrays of probabilities; it holds numbers")
    check_columns(frame, beside)
    columns = replace(columns, beside=beside)
    if invalid == "skip":
        frame = frame.filter(columns.usable(frame))

    def judge(numbers: Float64Array) -> tuple[Float64Array, Array]:
        proba = check_probabilities(numbers[:, :n_classes], name)
        return proba, decisions_of(choose, numbers)

    n_numbers = n_classes + len(beside)
    number = judged(frame, columns, judge, n_numbers, n_classes, invalid).getField("decision")
    return frame.withColumn(stage.getPredictionCol(), label_of_number(number, np.asarray(actions)))
