"""A fit in passes, over rows cut and merged in any way, is the fit of memory."""

import numpy as np
from hypothesis import strategies as st

from calibrant import AccuracyTableCalibrator, OneVsAllCalibrator, RankedLogisticCalibrator
from calibrant.calibrators import BinningCalibrator, PAVCalibrator, SigmoidCalibrator, fit_rows
from calibrant.files import PassOptions, Rows, calibrator_plan
from files.scatter import run_scattered
from fuzz.calibrator_laws import rounding_of, score_matrices, too_close_together
from fuzz.hostile import labelled_scores
from fuzz.laws import law, may_refuse

TWO = {
    "pav": PAVCalibrator,
    "linear": lambda: PAVCalibrator("linear"),
    "falling": lambda: PAVCalibrator(increasing=False),
    "binning": lambda: BinningCalibrator(3),
    "laplace": lambda: BinningCalibrator(4, "laplace"),
    "sigmoid": SigmoidCalibrator,
}
MANY = {
    "one_vs_all": lambda: OneVsAllCalibrator("pav", "least_squares"),
    "table": lambda: AccuracyTableCalibrator(width=0.5),
    "cells": lambda: AccuracyTableCalibrator(n_cells=3, smoothing="median"),
    "ranked": lambda: RankedLogisticCalibrator(smooth=True),
}


@law(
    "numbers",
    few=80,
    rows=labelled_scores(),
    method=st.sampled_from(sorted(TWO)),
    seed=st.integers(0, 99),
    n_bins=st.sampled_from([1, 3, 60]),
)
def two_classes_in_passes_are_those_of_memory(rows, method, seed, n_bins):
    scores, weight = np.array(rows["scores"]), rows["weight"]
    position = np.array(rows["y"], dtype=np.intp)
    weight = None if weight is None else np.array(weight)
    spread = np.ptp(scores / 4)
    with may_refuse(method == "sigmoid" and not 1e-290 < spread < 1e290):
        expected = TWO[method]().fit(scores, position == 1, weight)
        plan = calibrator_plan(
            TWO[method](), np.array([False, True]), PassOptions(n_bins=n_bins), len(scores)
        )
        fitted = run_scattered(plan, Rows(scores, position, weight), seed)
    if not getattr(expected, "converged_", True):
        return  # it has said so: weights in a ratio of 1e100
    one, other = fitted.predict_proba(scores), expected.predict_proba(scores)
    most = 1e-7 + rounding_of([expected.A_], expected.B_, scores[:, None]) if method == "sigmoid" else 1e-12
    np.testing.assert_allclose(one, other, rtol=0, atol=most)


@law("numbers", few=60, data=score_matrices(), method=st.sampled_from(sorted(MANY)), seed=st.integers(0, 99))
def many_classes_in_passes_are_those_of_memory(data, method, seed):
    scores = np.array([row[0] for row in data["rows"]])
    position = np.array([row[1] for row in data["rows"]], dtype=np.intp)
    count = np.array([float(row[2]) for row in data["rows"]])
    classes = np.arange(data["k"])
    with may_refuse(method == "ranked" and too_close_together(scores)):
        expected = fit_rows(MANY[method](), Rows(scores, position, count), classes)
        plan = calibrator_plan(MANY[method](), classes, PassOptions(), len(scores))
        fitted = run_scattered(plan, Rows(scores, position, count), seed)
    maps = expected.maps_ if method == "ranked" else []
    farthest = np.abs(scores).max()
    held = sum(rounding_of(each.A, each.B, np.full((1, len(each.A)), farthest)) for each in maps)
    np.testing.assert_allclose(
        fitted.predict_proba(scores), expected.predict_proba(scores), rtol=0, atol=1e-7 + held
    )
