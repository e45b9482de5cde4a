"""What there is to say of probabilities: one vocabulary for arrays, files, frames, models and pages."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from calibrant._core._arrays import Float64Array
from calibrant._core._names import label_text
from calibrant.metrics._estimate import Estimate, plain_record
from calibrant.metrics._reliability import ReliabilityBins

#: Classes that a printed table shows.
MOST_CLASSES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CalibrationErrors:
    """The expected calibration error by every usual definition, see `expected_calibration_error`.

    Attributes
    ----------
    top_label_width, top_label_frequency : Estimate
        Of the most probable class, in bins of equal width, or of equal weight.
    classwise_width, classwise_frequency : Estimate
        Of every class, averaged.
    corrected : Estimate
        Of the default form, without the part that chance adds.
    """

    top_label_width: Estimate
    top_label_frequency: Estimate
    classwise_width: Estimate
    classwise_frequency: Estimate
    corrected: Estimate


@dataclass(frozen=True, slots=True)
class ClassEvaluation:
    """How good the probabilities of one class are, against all others.

    Attributes
    ----------
    label : object
        The class.
    share, mean_probability : Estimate
        How often it comes, and how often it was expected.
    brier_score, calibration, refinement : Estimate
        Mean squared error of its probability, and its parts.
    auc : Estimate
        Area under the ROC curve; `nan` where no row, or every row, is of the class.
    calibration_slope, calibration_intercept : Estimate
        Cox's regression of the truth on the log-odds of the class; `nan` where there is none.
    """

    label: object
    share: Estimate
    mean_probability: Estimate
    brier_score: Estimate
    calibration: Estimate
    refinement: Estimate
    auc: Estimate
    calibration_slope: Estimate
    calibration_intercept: Estimate


@dataclass(frozen=True, slots=True)
class LossMeasures:
    """What forecasts lose on average, see `Evaluation`.

    Attributes
    ----------
    log_loss, brier_score, error_rate : Estimate
        Means over the rows.
    calibration, refinement : Estimate
        The parts of the Brier score, with intervals only if these were asked for.
    certain_mistakes : int
        Rows whose true class had the probability 0.
    """

    log_loss: Estimate
    brier_score: Estimate
    calibration: Estimate
    refinement: Estimate
    error_rate: Estimate
    certain_mistakes: int


@dataclass(frozen=True, slots=True, eq=False)
class CostEvaluation:
    """What decisions cost.

    Attributes
    ----------
    mean_cost : Estimate
        Cost of a row on average.
    total : float
        Cost of all rows.
    weight : ndarray of shape (a, k)
        Weight of the rows by decision and truth.
    mean_cost_most_probable : Estimate or None
        Cost of a row if always the most probable class is decided; None where decisions are no classes.
    """

    mean_cost: Estimate
    total: float
    weight: Float64Array
    mean_cost_most_probable: Estimate | None


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """How good class probabilities are; every estimate knows its interval. Printed, it is a table.

    Attributes
    ----------
    n_rows : int
        Number of rows with a weight.
    weight : float
        Their total weight.
    classes : tuple
        The labels, in the order of the columns.
    log_loss : Estimate
        Mean negative logarithm of the probability of the true class; infinite if that was 0 for some row.
    brier_score : Estimate
        Mean squared error: of the positive of two classes, or summed over more classes.
    calibration, refinement : Estimate
        The parts of the Brier score by isotonic regression, class by class: what is lost by wrong numbers,
        and what is lost by not telling rows apart.
    uncertainty : Estimate
        The Brier score of giving every row the base rates.
    error_rate : Estimate
        Share of rows whose most probable class is not the true one.
    confidence : Estimate
        Mean of the greatest probability of a row.
    certain_mistakes : int
        Rows whose true class had the probability 0.
    expected_calibration_error : Estimate
        In bins of equal width: of the positive of two classes, or of the most probable of more.
    calibration_errors : CalibrationErrors
        By other definitions.
    calibration_slope : Estimate
        Slope of the logistic regression of the truth on the log-odds (Cox): 1 is right, below 1 forecasts are
        too extreme. Of more than two classes one slope for the log-odds of all classes, each against the
        others and with an intercept of its own. Log-odds beyond those of :math:`2^{-40}` count as these.
    calibration_intercept : Estimate or tuple of Estimate
        The intercept of that regression, 0 is right; of more than two classes one for each.
    auc : Estimate
        Area under the ROC curve; of more than two classes the mean over those that have rows and are not that
        of all rows.
    reliability : tuple of ReliabilityBins
        For every class the bins of its reliability diagram.
    by_class : tuple of ClassEvaluation
        Every class against the others.
    cost : CostEvaluation or None
        What decisions cost, if costs are known.
    groups : dict of str to Evaluation
        The same of groups of rows, by name, where these were told apart.
    """

    n_rows: int
    weight: float
    classes: tuple[object, ...]
    log_loss: Estimate
    brier_score: Estimate
    calibration: Estimate
    refinement: Estimate
    uncertainty: Estimate
    error_rate: Estimate
    confidence: Estimate
    certain_mistakes: int
    expected_calibration_error: Estimate
    calibration_errors: CalibrationErrors
    calibration_slope: Estimate
    calibration_intercept: Estimate | tuple[Estimate, ...]
    auc: Estimate
    reliability: tuple[ReliabilityBins, ...]
    by_class: tuple[ClassEvaluation, ...]
    cost: CostEvaluation | None = None
    groups: "dict[str, Evaluation]" = field(default_factory=dict)

    def __str__(self) -> str:
        lines = list(self._lines())
        width = max(len(name) for name, _ in lines)
        table = "\n".join(f"{name:<{width}}  {value}" for name, value in lines)
        return f"{table}\n\n{self._class_table()}"

    def _lines(self) -> Iterator[tuple[str, object]]:
        yield "rows", f"{self.n_rows:,}"
        if self.weight != self.n_rows:
            yield "weight", f"{self.weight:,.6g}"
        for name in ("log_loss", "brier_score"):
            yield name.replace("_", " "), getattr(self, name)
        for name in ("calibration", "refinement", "uncertainty"):
            yield f"  {name}", getattr(self, name)
        for name in ("error_rate", "confidence", "certain_mistakes", "expected_calibration_error"):
            yield name.replace("_", " "), getattr(self, name)
        yield "calibration slope", self.calibration_slope
        if isinstance(self.calibration_intercept, Estimate):
            yield "calibration intercept", self.calibration_intercept
        yield ("auc" if len(self.classes) == 2 else "mean auc"), self.auc
        if self.cost is not None:
            yield "mean cost", self.cost.mean_cost
            if self.cost.mean_cost_most_probable is not None:
                yield "  of the most probable class", self.cost.mean_cost_most_probable

    def _class_table(self) -> str:
        names = ("share", "mean_probability", "brier_score", "calibration", "refinement", "auc")
        rows = [["class", *(name.replace("_", " ") for name in names)]]
        shown = self.by_class[:MOST_CLASSES_SHOWN]
        labels = [str(label_text(each.label)) for each in shown]
        rows += [
            [label, *(str(getattr(each, name)) for name in names)]
            for label, each in zip(labels, shown, strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows
        ]
        rest = len(self.by_class) - MOST_CLASSES_SHOWN
        return "\n".join([line.rstrip() for line in lines] + ([f"... and {rest} more"] if rest > 0 else []))

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as plain values under the same names.

        Returns
        -------
        dict
            Estimates as numbers, and the ends of their intervals under `intervals`; arrays as lists; what is
            not finite as None.
        """
        document = plain_record(self)
        assert isinstance(document, dict)
        return document

    def to_json(self, indent: int | None = None) -> str:
        """Give all of it as JSON.

        Parameters
        ----------
        indent : int, optional
            Spaces by which to indent; by default all is on one line.

        Returns
        -------
        str
            `to_dict` as text.
        """
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)


#: What is known of nothing.
UNKNOWN = Estimate(math.nan)
