"""Scores to probabilities, and to decisions, as an estimator and a model of `pyspark.ml`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.sql import Column, DataFrame, functions as F

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import ParameterError
from calibrant._core._fitted import check_fitted
from calibrant.calibrators import DEFAULT, needs_all_scores, warn_of_direction
from calibrant.models import (
    ScoreModel,
    TrainingSummary,
    describe,
    load,
    named_method,
    save,
    to_document,
)
from calibrant.spark._columns import ScoreColumns, check_columns, quoted, score_columns
from calibrant.spark._engine import FrameRows
from calibrant.spark._judge import (
    METADATA_KEY,
    ModelText,
    decisions_of,
    judged,
    label_of_number,
    probability_vector,
)
from calibrant.spark._native import NativeForm, native_form, with_results
from calibrant.spark._params import (
    HasClasses,
    HasCosts,
    HasDecisions,
    HasGroups,
    HasLabels,
    HasMethod,
    HasProbabilities,
    HasRule,
    HasScores,
)
from calibrant.spark._persistence import Stage


class ScoreCalibratorModel(Model, HasScores, HasGroups, HasProbabilities, HasDecisions, Stage):
    """Adds probabilities, and decisions, to frames of scores.

    It comes from `ScoreCalibrator.fit`, or from a model that was fitted elsewhere: `fromModel`, `fromFile`.
    ``transform`` adds a vector of probabilities in the order of the classes, and a column of decisions: what
    costs least, or without costs the most probable class; numbers in double precision where labels are
    numbers, text where they are text.

    Parameters
    ----------
    scoreModel : ScoreModel, optional
        The fitted model.

    See Also
    --------
    ScoreCalibrator : Fits such a model.
    calibrant.load : The same model without Spark.

    Notes
    -----
    Where the model takes one score and a vector holds two, it takes the second: MLlib's raw predictions of
    two classes are a score for the second class and its negative.

    A model that was fitted with groups takes them from ``groupCol``, or from the column of its fit.

    Examples
    --------
    >>> from calibrant.models import ScoreModel
    >>> from calibrant.spark import ScoreCalibratorModel
    >>> scores, y = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0], ["no", "no", "yes", "no", "yes", "no", "yes"]
    >>> model = ScoreCalibratorModel.fromModel(ScoreModel().fit(scores, y))
    >>> frame = spark.createDataFrame([(0.3,), (2.5,)], ["score"])
    >>> judged = model.setRawPredictionCol("score").transform(frame)
    >>> [(round(float(row.probability[1]), 2), row.prediction) for row in judged.collect()]
    [(0.55, 'yes'), (0.85, 'yes')]
    """

    _has_model = True

    def __init__(self, scoreModel: ScoreModel | None = None) -> None:
        super().__init__()
        self._score_model = scoreModel

    @property
    def scoreModel(self) -> ScoreModel:
        """The model: an ordinary one, that `calibrant.save` saves."""
        if self._score_model is None:
            raise ParameterError("scoreModel must be given to make a model by hand; use fromModel")
        return self._score_model

    @property
    def classes(self) -> list[Any]:
        """The labels, in the order of the probabilities."""
        labels: list[Any] = self.scoreModel.classes_.tolist()
        return labels

    @property
    def summary(self) -> TrainingSummary | None:
        """Rows, base rates, and how good the probabilities are on rows that were left out."""
        return self.scoreModel.summary_

    @property
    def numClasses(self) -> int:
        """Number of classes."""
        return len(self.scoreModel.classes_)

    @classmethod
    def fromModel(cls, model: Any) -> Self:
        """Take a model that was fitted elsewhere.

        Parameters
        ----------
        model : ScoreModel or calibrator
            The fitted model.

        Returns
        -------
        ScoreCalibratorModel
            The same for frames.
        """
        check_fitted(model, "classes_")
        return cls(model if isinstance(model, ScoreModel) else ScoreModel.from_fitted(model))

    @classmethod
    def fromFile(cls, path: str | os.PathLike[str]) -> Self:
        """Take a model from a file that `calibrant.save` or the command wrote.

        Parameters
        ----------
        path : str or path
            The file, where the driver runs.

        Returns
        -------
        ScoreCalibratorModel
            The same for frames.
        """
        return cls.fromModel(load(path))

    def saveModel(self, path: str | os.PathLike[str]) -> None:
        """Save the model as one file, that applies anywhere.

        Parameters
        ----------
        path : str or path
            The file, where the driver runs. For a folder on a file system of the cluster use ``save``.
        """
        save(self.scoreModel, path)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        model, invalid = self.scoreModel, self.getHandleInvalid()
        named = self._given("scoresCols")
        columns = score_columns(
            dataset, self.getRawPredictionCol(), None if named is None else model.order_of_columns(named)
        )
        if invalid == "skip":
            dataset = dataset.filter(columns.usable(dataset))
        form = native_form(model)
        if form is not None:
            return self._in_columns(dataset, columns, form, invalid)
        sent, n_classes = ModelText.of(model), len(model.classes_)
        n_scores = describe(to_document(model)).n_scores or 1

        def judge(scores: Float64Array, by: Array | None = None) -> tuple[Float64Array, Array]:
            known = sent.read()
            proba = known.predict_proba(scores, by)
            return proba, decisions_of(known.decide_positions, proba)

        group, answer = self._group_column(dataset), f"{self.uid}_answer"
        judgement = judged(dataset, columns, judge, n_scores, n_classes, invalid, group)
        frame = dataset.withColumn(answer, judgement)
        vector = probability_vector(F.col(answer), n_classes, always=invalid != "keep")
        return self._with_answers(dataset, frame, vector, F.col(answer).getField("decision"))

    def _group_column(self, dataset: DataFrame) -> str | None:
        """The column of the groups; None for a model without groups."""
        groups = self.scoreModel.groups_
        if groups is None:
            return None
        name: str | None = self._given("groupCol") or groups.column
        if name is None:
            raise ParameterError(
                "groupCol must name the column of the groups that the model was fitted with; got none"
            )
        check_columns(dataset, [name])
        return name

    def _in_columns(
        self, dataset: DataFrame, columns: ScoreColumns, form: NativeForm, invalid: str
    ) -> DataFrame:
        """The same without Python on the way."""
        found = with_results(dataset, columns, form, self.uid, refuses=invalid == "error")
        vector, number = found.vector, found.decision
        if invalid == "keep":
            vector, number = F.when(found.usable, vector), F.when(found.usable, number)
        return self._with_answers(dataset, found.frame, vector, number)

    def _with_answers(
        self, dataset: DataFrame, frame: DataFrame, vector: Column, number: Column
    ) -> DataFrame:
        """The columns that came, and those that were asked for."""
        probability, prediction = self.getProbabilityCol(), self.getPredictionCol()
        others = [name for name in dataset.columns if name not in (probability, prediction)]
        added = []
        if probability:
            added.append(vector.alias(probability, metadata={METADATA_KEY: {"classes": self.classes}}))
        if prediction:
            added.append(label_of_number(number, np.asarray(self.scoreModel.actions_)).alias(prediction))
        return frame.select(*map(quoted, others), *added)

    def _saved_model(self) -> ScoreModel:
        return self.scoreModel

    @classmethod
    def _from_saved(cls, model: Any, metadata: dict[str, Any]) -> Self:
        del metadata
        return cls.fromModel(model)

    def __repr__(self) -> str:
        return f"ScoreCalibratorModel: uid={self.uid}, numClasses={self.numClasses}"


class ScoreCalibrator(
    Estimator[ScoreCalibratorModel],
    HasScores,
    HasLabels,
    HasGroups,
    HasProbabilities,
    HasDecisions,
    HasClasses,
    HasMethod,
    HasCosts,
    HasRule,
    Stage,
):
    """Learns the map from scores to probabilities, and to decisions, on a cluster.

    The rows stay where they are. Every pass sends small summaries to the driver, and the model is the one
    that a fit in memory would give: the same bits for methods that count, if rows have no weights, and within
    about 1e-12 otherwise.

    Parameters
    ----------
    labelCol : str, default="label"
        The column of the labels: numbers, text or truth values.
    rawPredictionCol : str, default="rawPrediction"
        The column of the scores: numbers, for two classes; or vectors or arrays with one score per class, or
        per column of the code. Of a vector of two scores for two classes the second is used.
    scoresCols : list of str, optional
        Several numeric columns of scores, instead of that.
    probabilityCol : str, default="probability"
        The column that the model adds for vectors of probabilities.
    predictionCol : str, default="prediction"
        The column that the model adds for decisions.
    weightCol : str, optional
        The column of the weights.
    keyCol : str, optional
        A column that says which rows belong together, such as a customer's number, where rows are left out to
        measure the model. By default every row stands for itself.
    groupCol : str, optional
        A column of groups, such as regions, whose probabilities may differ: each gets a correction of its
        own, shrunk toward none.
    handleInvalid : {"error", "skip", "keep"}, default="error"
        What happens to a row whose scores or weight are missing or not finite, or whose label is missing or
        unknown: an error; it is left out; or it is left out of the fit, and kept by the model without
        probabilities.
    method : str, default="auto"
        How scores become probabilities: "auto", the stack of all scores of a row; or a method of
        `calibrant.calibrators.METHODS`, made fit for new rows as by the command
        (`calibrant.models.named_method`).
    methodParams : dict, optional
        Settings of the calibrator, by its own names, such as ``{"n_bins": 20}`` or ``{"clip": 0.0}``.
    kind : {"margin", "probability"}, default="margin"
        What the scores are.
    combine : {"normalize", "least_squares", "coupling"}, optional
        How the answers of several columns become one distribution: by default what suits the
        code, see `calibrant.codes.combination_for`. With "auto" it makes a calibrator of every column.
    code : str or array-like of shape (k, l), optional
        The code matrix behind the scores, or its name.
    classes : list, optional
        The labels in the order of the scores. By default 0, 1, ... if labels are such numbers, else the
        sorted labels.
    cost : array-like of shape (k, k) or (a, k), or mapping, optional
        ``cost[i][j]`` is the cost of deciding class i when the truth is class j (many libraries use the
        transpose); or ``{decision: {truth: cost}}``.
    rule : {"expected", "parallel", "lachiche_flach", "mossman"}, optional
        How decisions are made under the costs; by default by least expected cost.
    numBins, maxRows : int, optional
        Bins that a pass counts in, and rows that may come to the driver, for every column of scores. They
        change time and memory, not the model.

    See Also
    --------
    ScoreCalibratorModel : What is fitted.
    calibrant.models.ScoreModel : The same in memory.

    Notes
    -----
    The frame is read three times or more: once to see the labels, once for a sample, and once per pass;
    isotonic calibration and binning take two passes, sigmoids about six. Of up to four million scores, the
    passes are made on the driver, and the frame is read once for all of them. Cache a frame that is costly
    to compute.

    Fit on scores of rows that the model behind the scores was **not** trained on.

    Examples
    --------
    >>> from calibrant.spark import ScoreCalibrator
    >>> rows = [(0.2 * i, "yes" if i % 3 else "no") for i in range(30)]
    >>> frame = spark.createDataFrame(rows, ["score", "answer"])
    >>> calibrator = ScoreCalibrator(labelCol="answer", rawPredictionCol="score")
    >>> model = calibrator.fit(frame)
    >>> model.classes
    ['no', 'yes']
    >>> model.transform(frame).columns
    ['score', 'answer', 'probability', 'prediction']
    """

    @keyword_only
    def __init__(
        self,
        *,
        labelCol: str = "label",
        rawPredictionCol: str = "rawPrediction",
        scoresCols: list[str] | None = None,
        probabilityCol: str = "probability",
        predictionCol: str = "prediction",
        weightCol: str | None = None,
        keyCol: str | None = None,
        groupCol: str | None = None,
        handleInvalid: str = "error",
        method: str = DEFAULT,
        methodParams: Mapping[str, Any] | None = None,
        kind: str = "margin",
        combine: str | None = None,
        code: Any = None,
        classes: Sequence[Any] | None = None,
        cost: Any = None,
        rule: str | None = None,
        numBins: int | None = None,
        maxRows: int | None = None,
    ) -> None:
        super().__init__()
        self._set_given()

    def _fit(self, dataset: DataFrame) -> ScoreCalibratorModel:
        method, code = self.getMethod(), self._given("code")
        rows = FrameRows.of(
            dataset,
            labelCol=self.getLabelCol(),
            rawPredictionCol=self.getRawPredictionCol(),
            scoresCols=self._given("scoresCols"),
            weightCol=self._given("weightCol"),
            keyCol=self._given("keyCol"),
            groupCol=self._given("groupCol"),
            classes=self._given("classes"),
            coded=code is not None,
            paired=needs_all_scores(method),
            skip=self.getHandleInvalid() != "error",
            maxRows=self._given("maxRows"),
        )
        named, settings = named_method(method, self.getKind()), self._given("methodParams")
        model = ScoreModel(
            named.set_params(**settings) if settings else method,
            self.getCost(),
            self._given("rule"),
            kind=self.getKind(),
            code=code,
            combine=self._given("combine"),
            classes=rows.classes.tolist(),
        )
        options = rows.options(rows.n_scores, self._given("numBins"), self._given("maxRows"))
        learned = rows.run(model.plan(rows.classes, options, rows.n_rows, by=rows.groups))
        warn_of_direction(learned.calibrator_, stacklevel=4)
        if rows.layout.width is None and learned.summary_ is not None:  # the command will look for these
            learned.name_columns(rows.layout.scores)
        if rows.layout.group is not None:
            learned.name_group_column(rows.layout.group)
        fitted = ScoreCalibratorModel(learned)
        fitted._resetUid(self.uid)
        return self._copyValues(fitted)  # type: ignore[no-any-return]
