"""All measures of probabilities that are read in passes."""

import math

import numpy as np

from calibrant._core._names import label_text
from calibrant.cli._direction import ScoreCheck
from calibrant.cli._measures import ClassMeasures, Found, Measures, no_weight
from calibrant.cli._passes import PassRows
from calibrant.cli._progress import watched_passes
from calibrant.files import Evaluation, PassOptions, evaluation_plan, run_plan
from calibrant.metrics import BIN_WIDTH
from calibrant.passes import NoRowsError, surveyed


def measure_passes(rows: PassRows, check: ScoreCheck) -> Found:
    """Measure the probabilities of rows that are read again and again."""
    try:
        with watched_passes(rows.source) as progress:
            n_classes = len(rows.classes)
            plan = evaluation_plan(n_classes, BIN_WIDTH, PassOptions(), rows.n_rows, len(rows.groups))
            found = run_plan(surveyed(plan, n_classes, check.survey), rows, progress)
    except NoRowsError:
        raise no_weight(rows.weight, rows.source.name) from None
    groups = zip(rows.groups, found.groups, strict=True)
    return Found(
        _measures(found),
        _by_class(found, [str(label_text(label)) for label in rows.classes]),
        {name: _measures(each) for name, each in groups},
        rows.n_skipped,
        in_passes=True,
    )


def _measures(found: Evaluation) -> Measures:
    """Of two classes the Brier score is that of the second, be there one column of probabilities or two."""
    two = len(found.confusion) == 2
    brier = found.columns[-1] if two else found.brier
    area, error = _middle(found.auc[-1]) if two else (None, 0.0)
    return Measures(
        n_rows=found.n_rows,
        log_loss=found.log_loss,
        brier_score=brier.brier,
        calibration=brier.calibration,
        refinement=brier.refinement,
        error_rate=found.error_rate,
        auc=area,
        auc_error=error,
        certain_mistakes=found.impossible,
    )


def _by_class(found: Evaluation, labels: list[str]) -> list[ClassMeasures]:
    """The measures of every class; a single column is that of the second, and the first is its mirror."""
    shares = found.confusion.sum(axis=0) / found.weight
    measured = []
    for place, label in enumerate(labels):
        column = place if len(found.columns) > 1 else 0
        expected = np.average(found.reliability[column].mean_score, weights=found.reliability[column].weight)
        mirrored = len(found.columns) == 1 and place == 0
        # Of two classes what depends on the order is the same from either end; 1 - p would round it away.
        by_order = -1 if len(labels) == 2 else column
        area, error = _middle(found.auc[by_order])
        measured.append(
            ClassMeasures(
                label=label,
                share=float(shares[place]),
                mean_probability=float(1 - expected if mirrored else expected),
                brier_score=found.columns[column].brier,
                calibration=found.columns[by_order].calibration,
                refinement=found.columns[by_order].refinement,
                auc=area,
                auc_error=error,
            )
        )
    return measured


def _middle(bounds: tuple[float, float]) -> tuple[float | None, float]:
    """The middle between bounds, and how far they are from it; None where a class is missing."""
    low, high = bounds
    return (None, 0.0) if math.isnan(low) else ((low + high) / 2, (high - low) / 2)
