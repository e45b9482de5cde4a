"""All measures of probabilities at once."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.metrics import auc, brier_decomposition, brier_score, error_rate, log_loss


@dataclass(frozen=True)
class Measures:
    """How good some probabilities are.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    log_loss : float
        Mean negative logarithm of the probability of the true class.
    brier_score : float
        Mean squared error: of the positive of two classes, or summed over more classes.
    calibration, refinement : float
        The parts of the Brier score.
    error_rate : float
        Share of rows whose most probable class is not the true one.
    auc : float or None
        Area under the ROC curve, for two classes; None where a class is missing.
    certain_mistakes : int
        Rows whose true class had the probability 0, which make the log loss infinite.
    """

    n_rows: int
    log_loss: float
    brier_score: float
    calibration: float
    refinement: float
    error_rate: float
    auc: float | None
    certain_mistakes: int


@dataclass(frozen=True)
class ClassMeasures:
    """How good the probabilities of one class are, against all others.

    Attributes
    ----------
    label : str
        The class.
    share, mean_probability : float
        How often it comes, and how often it was expected.
    brier_score, calibration, refinement : float
        Mean squared error, and its parts.
    auc : float or None
        Area under the ROC curve; None where all rows are alike.
    """

    label: str
    share: float
    mean_probability: float
    brier_score: float
    calibration: float
    refinement: float
    auc: float | None


def measure(position: IntArray, proba: Float64Array, weights: Float64Array | None) -> Measures:
    """Measure the probabilities of some rows, of which the second of two classes is the positive one."""
    n_classes = proba.shape[1]
    shown = proba[:, 1] if n_classes == 2 else proba
    classes = np.arange(n_classes)
    split = brier_decomposition(
        position, shown, isotonic=True, mode="classwise", sample_weight=weights, classes=classes
    )
    counted = slice(None) if weights is None else weights > 0
    of_truth = proba[np.arange(len(position)), position][counted]
    return Measures(
        n_rows=len(of_truth),
        log_loss=log_loss(position, shown, sample_weight=weights, classes=classes),
        brier_score=brier_score(
            position,
            shown,
            convention="positive" if n_classes == 2 else "sum",
            sample_weight=weights,
            classes=classes,
        ),
        calibration=split.calibration,
        refinement=split.refinement,
        error_rate=error_rate(position, shown, sample_weight=weights, classes=classes),
        auc=_auc(position == 1, proba[:, 1], weights) if n_classes == 2 else None,
        certain_mistakes=int((of_truth <= 0).sum()),
    )


def measure_class(
    label: str, is_it: BoolArray, proba: Float64Array, weights: Float64Array | None
) -> ClassMeasures:
    """Measure the probabilities of one class."""
    split = brier_decomposition(is_it, proba, isotonic=True, sample_weight=weights)
    return ClassMeasures(
        label=label,
        share=float(np.average(is_it, weights=weights)),
        mean_probability=float(np.average(proba, weights=weights)),
        brier_score=split.brier,
        calibration=split.calibration,
        refinement=split.refinement,
        auc=_auc(is_it, proba, weights),
    )


def _auc(is_positive: BoolArray, proba: Float64Array, weights: Float64Array | None) -> float | None:
    counted = is_positive if weights is None else is_positive[weights > 0]
    return None if counted.all() or not counted.any() else auc(is_positive, proba, sample_weight=weights)
