"""Parameters that several stages share, with the setters that Spark's own stages have."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasHandleInvalid,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasWeightCol,
)

from calibrant._core._checks import check_option


def _plain(value: Any) -> Any:
    """A label or number as Python's own, which JSON can keep."""
    return value.item() if isinstance(value, np.generic) else value


def _to_labels(value: Any) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise TypeError(f"classes must be a list of labels; got {value!r}")
    return [_plain(label) for label in value]


def _to_costs(value: Any) -> Any:
    """Costs as JSON can keep them: a list of rows, or labels with such a list."""
    if isinstance(value, Mapping) and set(value) == {"decisions", "truths", "matrix"}:
        return dict(value)
    if isinstance(value, Mapping):
        rows = {
            _plain(decision): {_plain(truth): float(cost) for truth, cost in row.items()}
            for decision, row in value.items()
        }
        truths = list(dict.fromkeys(truth for row in rows.values() for truth in row))
        matrix = [[row.get(truth) for truth in truths] for row in rows.values()]
        return {"decisions": list(rows), "truths": truths, "matrix": matrix}
    return np.asarray(value, dtype=np.float64).tolist()


def _to_code(value: Any) -> Any:
    """The name of a code, or its matrix as a list of rows."""
    return value if isinstance(value, str) else np.asarray(value).tolist()


def _to_settings(value: Any) -> dict[str, Any]:
    return {str(name): _plain(setting) for name, setting in dict(value).items()}


class SettableParams(Params):
    """Parameters that are set by keyword."""

    _input_kwargs: dict[str, Any]

    def _set_given(self) -> Self:
        """Set what the constructor or `setParams` was given; None leaves a parameter as it was."""
        given = {name: value for name, value in self._input_kwargs.items() if value is not None}
        if "handleInvalid" in given:
            check_option("handleInvalid", given["handleInvalid"], ("error", "skip", "keep"))
        return self._set(**given)  # type: ignore[no-any-return]

    def _given(self, name: str) -> Any:
        """The value of a parameter; None if it has none."""
        param = self.getParam(name)
        return self.getOrDefault(param) if self.isDefined(param) else None


class HasScores(HasRawPredictionCol, SettableParams):
    """Where the scores are."""

    scoresCols: "Param[list[str]]" = Param(
        Params._dummy(),
        "scoresCols",
        "numeric columns of scores, in the order of the classes or of the columns of the code; instead of "
        "rawPredictionCol.",
        typeConverter=TypeConverters.toListString,
    )

    def getScoresCols(self) -> list[str]:
        """Give the columns of the scores."""
        return self.getOrDefault(self.scoresCols)  # type: ignore[no-any-return]

    def setScoresCols(self, value: list[str]) -> Self:
        """Set the columns of the scores.

        Parameters
        ----------
        value : list of str
            Numeric columns.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(scoresCols=value)  # type: ignore[no-any-return]

    def setRawPredictionCol(self, value: str) -> Self:
        """Set the column of the scores.

        Parameters
        ----------
        value : str
            A column of numbers, vectors or arrays.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(rawPredictionCol=value)  # type: ignore[no-any-return]


class HasLabels(HasLabelCol, HasWeightCol, SettableParams):
    """Labels and weights."""

    def setLabelCol(self, value: str) -> Self:
        """Set the column of the labels.

        Parameters
        ----------
        value : str
            The column.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(labelCol=value)  # type: ignore[no-any-return]

    def setWeightCol(self, value: str) -> Self:
        """Set the column of the weights.

        Parameters
        ----------
        value : str
            The column.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(weightCol=value)  # type: ignore[no-any-return]


class HasProbabilities(HasProbabilityCol, SettableParams):
    """The column of the probabilities."""

    def setProbabilityCol(self, value: str) -> Self:
        """Set the column of the probabilities.

        Parameters
        ----------
        value : str
            The column.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(probabilityCol=value)  # type: ignore[no-any-return]


class HasDecisions(HasPredictionCol, HasHandleInvalid, SettableParams):
    """The column of the decisions, and what happens to rows that have none."""

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(handleInvalid="error")

    def setPredictionCol(self, value: str) -> Self:
        """Set the column of the decisions.

        Parameters
        ----------
        value : str
            The column.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(predictionCol=value)  # type: ignore[no-any-return]

    def setHandleInvalid(self, value: str) -> Self:
        """Set what happens to rows that cannot be used.

        Parameters
        ----------
        value : {"error", "skip", "keep"}
            They are an error; they are left out; or they are kept without probabilities and without a
            decision. A fit leaves them out in both latter cases.

        Returns
        -------
        Self
            The stage.
        """
        check_option("handleInvalid", value, ("error", "skip", "keep"))
        return self._set(handleInvalid=value)  # type: ignore[no-any-return]


class HasClasses(SettableParams):
    """The labels in order."""

    classes: "Param[list[Any]]" = Param(
        Params._dummy(),
        "classes",
        "labels in the order of the scores or probabilities; of a single score the second is positive.",
        typeConverter=_to_labels,
    )

    def getClasses(self) -> list[Any]:
        """Give the labels."""
        return self.getOrDefault(self.classes)  # type: ignore[no-any-return]

    def setClasses(self, value: Sequence[Any]) -> Self:
        """Set the labels.

        Parameters
        ----------
        value : list
            Labels in order.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(classes=value)  # type: ignore[no-any-return]


class HasCosts(SettableParams):
    """What decisions cost."""

    costs: "Param[Any]" = Param(
        Params._dummy(),
        "costs",
        "costs[i][j] is the cost of deciding class i when the truth is j; or {decision: {truth: cost}}.",
        typeConverter=_to_costs,
    )

    def getCosts(self) -> Any:
        """Give the costs: a list of rows, or a mapping of decisions to truths to costs."""
        return self._costs_as_given()

    def setCosts(self, value: Any) -> Self:
        """Set the costs.

        Parameters
        ----------
        value : array-like of shape (k, k) or (a, k), or mapping
            ``costs[i][j]`` is the cost of deciding class i when the truth is class j (many libraries use the
            transpose); or ``{decision: {truth: cost}}``.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(costs=value)  # type: ignore[no-any-return]

    def _costs_as_given(self) -> Any:
        """The costs as the models take them; None if there are none."""
        kept = self._given("costs")
        if not isinstance(kept, dict):
            return kept
        rows = zip(kept["decisions"], kept["matrix"], strict=True)
        return {
            decision: {
                truth: cost for truth, cost in zip(kept["truths"], row, strict=True) if cost is not None
            }
            for decision, row in rows
        }


class HasRule(SettableParams):
    """How decisions are made."""

    rule: "Param[str]" = Param(
        Params._dummy(),
        "rule",
        "how decisions are made under the costs: expected, parallel, lachiche_flach or mossman.",
        typeConverter=TypeConverters.toString,
    )

    def getRule(self) -> str:
        """Give the name of the rule."""
        return self.getOrDefault(self.rule)  # type: ignore[no-any-return]

    def setRule(self, value: str) -> Self:
        """Set the rule.

        Parameters
        ----------
        value : {"expected", "parallel", "lachiche_flach", "mossman"}
            Its name.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(rule=value)  # type: ignore[no-any-return]


class HasMethod(SettableParams):
    """How scores become probabilities."""

    method: "Param[str]" = Param(
        Params._dummy(),
        "method",
        "pav, sigmoid, binning, accuracy_table, ranked_logistic or identity.",
        typeConverter=TypeConverters.toString,
    )
    methodParams: "Param[dict[str, Any]]" = Param(
        Params._dummy(),
        "methodParams",
        "settings of the method, by the names that its calibrator has.",
        typeConverter=_to_settings,
    )
    kind: "Param[str]" = Param(
        Params._dummy(),
        "kind",
        "what the scores are: margin or probability.",
        typeConverter=TypeConverters.toString,
    )
    combine: "Param[str]" = Param(
        Params._dummy(),
        "combine",
        "how the answers of several columns become one distribution: normalize, least_squares or coupling.",
        typeConverter=TypeConverters.toString,
    )
    code: "Param[Any]" = Param(
        Params._dummy(),
        "code",
        "the code matrix behind the scores, or its name; scores are then one per column of it.",
        typeConverter=_to_code,
    )
    keyCol: "Param[str]" = Param(
        Params._dummy(),
        "keyCol",
        "a column that says which rows belong together where rows are split into folds.",
        typeConverter=TypeConverters.toString,
    )
    numBins: "Param[int]" = Param(
        Params._dummy(),
        "numBins",
        "bins of scores that a pass counts in; changes time and memory, not the model.",
        typeConverter=TypeConverters.toInt,
    )
    maxRows: "Param[int]" = Param(
        Params._dummy(),
        "maxRows",
        "rows that may come to the driver; changes time and memory, not the model.",
        typeConverter=TypeConverters.toInt,
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(method="pav", kind="margin", combine="normalize")

    def getMethod(self) -> str:
        """Give the name of the method."""
        return self.getOrDefault(self.method)  # type: ignore[no-any-return]

    def setMethod(self, value: str) -> Self:
        """Set the method.

        Parameters
        ----------
        value : {"pav", "sigmoid", "binning", "accuracy_table", "ranked_logistic", "identity"}
            Its name.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(method=value)  # type: ignore[no-any-return]

    def getMethodParams(self) -> dict[str, Any]:
        """Give the settings of the method."""
        return self.getOrDefault(self.methodParams)  # type: ignore[no-any-return]

    def setMethodParams(self, value: Mapping[str, Any]) -> Self:
        """Set settings of the method.

        Parameters
        ----------
        value : dict
            By the names that its calibrator has, such as ``{"n_bins": 20}``.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(methodParams=value)  # type: ignore[no-any-return]

    def getKind(self) -> str:
        """Give what the scores are."""
        return self.getOrDefault(self.kind)  # type: ignore[no-any-return]

    def setKind(self, value: str) -> Self:
        """Set what the scores are.

        Parameters
        ----------
        value : {"margin", "probability"}
            What they are.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(kind=value)  # type: ignore[no-any-return]

    def getCombine(self) -> str:
        """Give how the answers of several columns are put together."""
        return self.getOrDefault(self.combine)  # type: ignore[no-any-return]

    def setCombine(self, value: str) -> Self:
        """Set how the answers of several columns are put together.

        Parameters
        ----------
        value : {"normalize", "least_squares", "coupling"}
            How.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(combine=value)  # type: ignore[no-any-return]

    def getCode(self) -> Any:
        """Give the code behind the scores."""
        return self.getOrDefault(self.code)

    def setCode(self, value: Any) -> Self:
        """Set the code behind the scores.

        Parameters
        ----------
        value : str or array-like of shape (k, l)
            Its name, or the matrix itself.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(code=value)  # type: ignore[no-any-return]

    def getKeyCol(self) -> str:
        """Give the column that says which rows belong together."""
        return self.getOrDefault(self.keyCol)  # type: ignore[no-any-return]

    def setKeyCol(self, value: str) -> Self:
        """Set the column that says which rows belong together.

        Parameters
        ----------
        value : str
            The column, such as that of a customer's number.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(keyCol=value)  # type: ignore[no-any-return]

    def getNumBins(self) -> int:
        """Give the number of bins of a pass."""
        return self.getOrDefault(self.numBins)  # type: ignore[no-any-return]

    def setNumBins(self, value: int) -> Self:
        """Set the number of bins of a pass, which changes time and memory, not the model.

        Parameters
        ----------
        value : int
            For every column of scores.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(numBins=value)  # type: ignore[no-any-return]

    def getMaxRows(self) -> int:
        """Give how many rows may come to the driver."""
        return self.getOrDefault(self.maxRows)  # type: ignore[no-any-return]

    def setMaxRows(self, value: int) -> Self:
        """Set how many rows may come to the driver, which changes time and memory, not the model.

        Parameters
        ----------
        value : int
            For every column of scores.

        Returns
        -------
        Self
            The stage.
        """
        return self._set(maxRows=value)  # type: ignore[no-any-return]
