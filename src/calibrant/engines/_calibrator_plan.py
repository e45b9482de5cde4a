"""The plan of any calibrator: one score, one per class, or one per column of a code."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._errors import DataError, ParameterError
from calibrant.calibrators import (
    CodeCalibrator,
    ConstantAnswer,
    OneVsAllCalibrator,
    new_calibrator,
)
from calibrant.calibrators._ranked import RankedCalibrator
from calibrant.codes import check_combiner, one_vs_all
from calibrant.engines._class_pass import ClassCounts, count_classes
from calibrant.engines._options import PassOptions
from calibrant.engines._problem import problems_of
from calibrant.engines._rank_plans import fit_ranked
from calibrant.engines._rows import Fold, Rows
from calibrant.engines._summary import Plan
from calibrant.engines._together import together
from calibrant.engines._two_class_plans import fit_two_class
from calibrant.metrics._direction import sides_of


def fit_calibrator(
    calibrator: Any,
    classes: Array,
    sample: Rows,
    options: PassOptions,
    *,
    n_rows: int | None = None,
    left_out: Fold | None = None,
) -> Plan[Any]:
    """Fit a calibrator.

    Parameters
    ----------
    calibrator : object
        One of those of this package, not fitted yet; it is fitted in place.
    classes : ndarray of shape (k,)
        The labels.
    sample : Rows
        Some rows.
    options : PassOptions
        How much memory may be used.
    n_rows : int, optional
        About how many rows there are.
    left_out : Fold, optional
        The fold whose rows take no part.

    Returns
    -------
    object
        The calibrator.
    """
    if isinstance(calibrator, RankedCalibrator):
        _check_columns(sample, len(classes), "class")
        fitted = yield from fit_ranked(calibrator, classes, sample, left_out)
    elif isinstance(calibrator, OneVsAllCalibrator):
        fitted = yield from _fit_one_vs_all(calibrator, classes, sample, options, n_rows, left_out)
    elif isinstance(calibrator, CodeCalibrator):
        fitted = yield from _fit_code(calibrator, classes, sample, options, n_rows, left_out)
    else:
        if len(classes) != 2:
            raise ParameterError(
                f"classes must be two for one score per row; got {len(classes)}; pass one score per class"
            )
        problem = problems_of(sides_of(2, 1), left_out)[0]
        filled = options.for_problems(1, n_rows)
        fitted = yield from fit_two_class(calibrator, problem, sample, filled, classes)
    return fitted


def _fit_one_vs_all(
    calibrator: OneVsAllCalibrator,
    classes: Array,
    sample: Rows,
    options: PassOptions,
    n_rows: int | None,
    left_out: Fold | None,
) -> Plan[OneVsAllCalibrator]:
    check_combiner(calibrator.combine)
    calibrator._check_calibrator()
    _check_columns(sample, len(classes), "class")
    problems = problems_of(one_vs_all(len(classes)), left_out)
    filled = options.for_problems(len(problems), n_rows)
    plans = [
        fit_two_class(new_calibrator(calibrator.calibrator), problem, sample, filled) for problem in problems
    ]
    calibrator.calibrators_ = yield from together(plans)
    calibrator.classes_ = classes
    return calibrator


def _fit_code(
    calibrator: CodeCalibrator,
    classes: Array,
    sample: Rows,
    options: PassOptions,
    n_rows: int | None,
    left_out: Fold | None,
) -> Plan[CodeCalibrator]:
    code = calibrator._check_code(len(classes))
    check_combiner(calibrator.combine)(code, np.full((1, code.shape[1]), 0.5))
    calibrator._check_calibrator()
    _check_columns(sample, code.shape[1], "column of the code")
    counts: ClassCounts = yield from count_classes(len(classes), left_out)
    positive, negative = counts.mass @ (code > 0), counts.mass @ (code < 0)
    two_sided = np.flatnonzero((positive > 0) & (negative > 0))
    problems = problems_of(code, left_out)
    filled = options.for_problems(len(two_sided), n_rows)
    plans = [
        fit_two_class(new_calibrator(calibrator.calibrator), problems[column], sample, filled)
        for column in two_sided
    ]
    fitted = yield from together(plans)
    calibrators = [_constant(*sides) for sides in zip(positive, negative, strict=True)]
    for column, each in zip(two_sided, fitted, strict=True):
        calibrators[column] = each
    calibrator.classes_, calibrator.code_ = classes, code
    calibrator.calibrators_, calibrator.counts_ = calibrators, positive + negative
    return calibrator


def _constant(positive: float, negative: float) -> Any:
    return ConstantAnswer(float((positive + 1) / (positive + negative + 2)))


def _check_columns(sample: Rows, wanted: int, what: str) -> None:
    n_columns = sample.scores.shape[1] if sample.scores.ndim == 2 else 1
    if len(sample) and n_columns != wanted:
        raise DataError(f"scores must have one column per {what}, {wanted} in all; got {n_columns} columns")
