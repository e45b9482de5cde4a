"""Rules of decision that are learned, as an estimator and a model of `pyspark.ml`."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.param import TypeConverters
from pyspark.ml.param.shared import HasSeed
from pyspark.sql import DataFrame

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import check_probabilities
from calibrant._core._errors import ParameterError
from calibrant.decisions import new_rule
from calibrant.files import Rows
from calibrant.models import check_rule, label_array, read_costs
from calibrant.spark._decider import classes_of, with_decisions
from calibrant.spark._engine import FrameRows
from calibrant.spark._judge import ModelText
from calibrant.spark._params import (
    HasClasses,
    HasCosts,
    HasDecisions,
    HasLabels,
    HasProbabilities,
    HasRule,
    new_param,
    with_accessors,
)
from calibrant.spark._persistence import Stage

#: Rows that a rule is learned from, at most.
MOST_ROWS = 1_000_000


class CostRuleModel(Model, HasProbabilities, HasDecisions, Stage):
    """Decides by a learned rule, given probabilities.

    Parameters
    ----------
    rule : object, optional
        The fitted rule.
    classes : list, optional
        The labels in the order of the probabilities.
    actions : list, optional
        The decisions; by default the classes.

    See Also
    --------
    CostRule : Learns the rule.
    """

    _has_model = True

    def __init__(
        self, rule: Any = None, classes: Sequence[Any] = (), actions: Sequence[Any] | None = None
    ) -> None:
        super().__init__()
        self._rule, self._classes = rule, list(classes)
        self._actions = self._classes if actions is None else list(actions)

    @property
    def rule(self) -> Any:
        """The rule: an ordinary one of `calibrant.decisions`."""
        return self._rule

    @property
    def classes(self) -> list[Any]:
        """The labels, in the order of the probabilities."""
        return list(self._classes)

    @property
    def actions(self) -> list[Any]:
        """The decisions."""
        return list(self._actions)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        sent = ModelText.of(self._rule)

        def decide_here(proba: Float64Array) -> Array:
            return np.asarray(sent.read().decide(proba))

        return with_decisions(self, dataset, decide_here, len(self._classes), label_array(self._actions))

    def _saved_model(self) -> Any:
        return self._rule

    def _extra_metadata(self) -> dict[str, Any]:
        return {"classes": self._classes, "actions": self._actions}

    @classmethod
    def _from_saved(cls, model: Any, metadata: dict[str, Any]) -> Self:
        return cls(model, metadata["classes"], metadata.get("actions"))


@with_accessors
class CostRule(
    Estimator[CostRuleModel],
    HasProbabilities,
    HasLabels,
    HasDecisions,
    HasClasses,
    HasCosts,
    HasRule,
    HasSeed,
    Stage,
):
    """Learns where to decide for what, so that decisions cost least in spite of imperfect probabilities.

    Fit it on rows that neither the classifier nor the calibration was fitted to. To calibrate and to learn a
    rule at once, with rows left out, give `ScoreCalibrator` costs and a rule.

    Parameters
    ----------
    cost : array-like of shape (k, k) or (a, k), or mapping
        ``cost[i][j]`` is the cost of deciding class i when the truth is class j (many libraries use the
        transpose); or ``{decision: {truth: cost}}``. For "parallel" and "expected" there may be other
        decisions than the classes.
    rule : {"parallel", "lachiche_flach", "mossman", "expected"}, default="parallel"
        What is learned.
    probabilityCol : str, default="probability"
        The column of the probabilities: vectors or arrays, one number per class.
    labelCol : str, default="label"
        The column of the labels.
    weightCol : str, optional
        The column of the weights.
    predictionCol : str, default="prediction"
        The column that the model adds for decisions.
    classes : list, optional
        The labels in the order of the probabilities; see `CostDecider`.
    handleInvalid : {"error", "skip", "keep"}, default="error"
        What happens to rows without probabilities or without a known label; see `ScoreCalibrator`.
    maxRows : int, default=1000000
        How many rows it is learned from, at most: of more, about as many are drawn at random. They come to
        the driver, 8 bytes for every probability.
    seed : int, default=0
        How they are drawn.

    See Also
    --------
    CostDecider : Decides without learning.

    Examples
    --------
    >>> from calibrant.spark import CostRule
    >>> rows = [([p / 10, 1 - p / 10], float(i % 10 >= p)) for p in range(11) for i in range(10)]
    >>> frame = spark.createDataFrame(rows, ["probability", "label"])
    >>> model = CostRule(cost=[[0, 1], [4, 0]]).fit(frame)
    >>> decided = model.transform(frame)
    >>> decided.where("prediction = 1").count()
    20
    """

    maxRows = new_param("maxRows", "how many rows it is learned from, at most.", TypeConverters.toInt)

    @keyword_only
    def __init__(
        self,
        *,
        cost: Any = None,
        rule: str = "parallel",
        probabilityCol: str = "probability",
        labelCol: str = "label",
        weightCol: str | None = None,
        predictionCol: str = "prediction",
        classes: Sequence[Any] | None = None,
        handleInvalid: str = "error",
        maxRows: int = MOST_ROWS,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self._setDefault(rule="parallel", maxRows=MOST_ROWS, seed=0)
        self._set_given()

    def _fit(self, dataset: DataFrame) -> CostRuleModel:
        given = self.getCost()
        if given is None:
            raise ParameterError("cost must be given to learn a rule; got none; set it")
        classes = classes_of(dataset, self.getProbabilityCol(), self._given("classes"))
        costs, rule = read_costs(given, classes), new_rule(self.getRule())
        check_rule(rule, costs)
        rows = FrameRows.of(
            dataset,
            labelCol=self.getLabelCol(),
            rawPredictionCol=self.getProbabilityCol(),
            weightCol=self._given("weightCol"),
            classes=classes.tolist(),
            paired=True,
            skip=self.getHandleInvalid() != "error",
        )
        drawn = rows.draw(self.getMaxRows(), self.getSeed())
        proba = check_probabilities(_matrix(drawn), self.getProbabilityCol())
        rule.fit(proba, drawn.truth, costs.matrix, drawn.weight, **costs.allowed)
        fitted = CostRuleModel(rule, classes.tolist(), costs.actions.tolist())
        fitted._resetUid(self.uid)
        return self._copyValues(fitted)  # type: ignore[no-any-return]


def _matrix(rows: Rows) -> Float64Array:
    """Probabilities of all classes."""
    if rows.scores.ndim == 1:
        return np.stack([1 - rows.scores, rows.scores], axis=1)
    return np.asarray(rows.scores)
