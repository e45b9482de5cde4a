"""All measures of probabilities at once."""

from dataclasses import dataclass, replace

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.cli._reading import Labelled
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
    auc_error : float
        How far the area may be from that; 0 for rows in memory.
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
    auc_error: float
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
    auc_error : float
        How far the area may be from that; 0 for rows in memory.
    """

    label: str
    share: float
    mean_probability: float
    brier_score: float
    calibration: float
    refinement: float
    auc: float | None
    auc_error: float


@dataclass(frozen=True)
class Found:
    """All that was measured.

    Attributes
    ----------
    overall : Measures
        Of all rows.
    classes : list of ClassMeasures
        Of every class against the others.
    groups : dict of str to Measures
        Of every group of rows, in the order of their names.
    n_skipped : int
        Rows that were left out because they cannot be used.
    in_passes : bool
        Whether the rows were read in passes.
    """

    overall: Measures
    classes: list[ClassMeasures]
    groups: dict[str, Measures]
    n_skipped: int
    in_passes: bool


def measure_rows(rows: Labelled, weight: str | None, name: str) -> Found:
    """Measure the probabilities of rows in memory."""
    if rows.weights is not None and not rows.weights.any():
        raise no_weight(weight, name)
    overall = measure(rows.truth, rows.proba, rows.weights)
    classes = [
        measure_class(str(label_text(label)), rows.truth == place, rows.proba[:, place], rows.weights)
        for place, label in enumerate(rows.classes)
    ]
    if len(classes) == 2:  # what depends on the order is the same from either end; 1 - p would round it away
        same = {name: getattr(overall, name) for name in ("calibration", "refinement", "auc")}
        classes = [replace(each, **same) for each in classes]
    return Found(
        overall,
        classes,
        _by_group(rows),
        rows.n_skipped,
        in_passes=False,
    )


def no_weight(weight: str | None, name: str) -> DataError:
    """Say that weights must not be all zero."""
    return DataError(f"the column {weight!r} of {name} must not be all zero; got zero for every row")


def _by_group(rows: Labelled) -> dict[str, Measures]:
    """The measures of every group that has rows which count, in the order of the names."""
    found = {}
    for number, name in sorted(enumerate(rows.groups), key=lambda item: item[1]):
        chosen = rows.group == number
        weights = None if rows.weights is None else rows.weights[chosen]
        if chosen.any() and (weights is None or weights.any()):
            found[name] = measure(rows.truth[chosen], rows.proba[chosen], weights)
    return found


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
        # By both columns: what is left of 1 beside a probability near 1 is rounded to nothing.
        log_loss=log_loss(position, proba, sample_weight=weights, classes=classes),
        brier_score=brier_score(
            position,
            shown,
            convention="positive" if n_classes == 2 else "sum",
            sample_weight=weights,
            classes=classes,
        ),
        calibration=split.calibration,
        refinement=split.refinement,
        # By both, too: of columns that sum to 1 but for rounding, the second may be greater and yet one half.
        error_rate=error_rate(position, proba, sample_weight=weights, classes=classes),
        auc=_auc(position == 1, proba[:, 1], weights) if n_classes == 2 else None,
        auc_error=0.0,
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
        auc_error=0.0,
    )


def _auc(is_positive: BoolArray, proba: Float64Array, weights: Float64Array | None) -> float | None:
    counted = is_positive if weights is None else is_positive[weights > 0]
    return None if counted.all() or not counted.any() else auc(is_positive, proba, sample_weight=weights)
