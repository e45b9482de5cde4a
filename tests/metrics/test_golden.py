"""Every golden case of the metrics, through one adapter per operation."""

from dataclasses import asdict

import pytest

from calibrant import metrics
from golden import assert_golden, golden_cases


def points(curve, **renamed):
    """A dataclass of arrays as a list of dicts, one per point."""
    columns = {renamed.get(name, name): values.tolist() for name, values in asdict(curve).items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def roc(s, y):
    curve = metrics.roc_points(y, s)
    return [list(point) for point in zip(curve.fpr, curve.tpr, strict=True)]


def murphy(p, y, edges):
    parts = metrics.brier_decomposition(y, p, edges=edges)
    return {
        "brier": parts.brier,
        "rel": parts.calibration,
        "res": parts.resolution,
        "unc": parts.uncertainty,
        "wbv": parts.within_bin_variance,
        "wbc": parts.within_bin_covariance,
    }


ADAPTERS = {
    "accuracy_by_threshold": lambda p, correct, thresholds: points(
        metrics.accuracy_by_threshold(correct, p, thresholds), threshold="t"
    ),
    "auc": lambda s, y: metrics.auc(y, s),
    "brier": lambda P, y, convention, w=None: metrics.brier_score(
        y, P, convention=convention, sample_weight=w
    ),
    "cross_entropy": lambda p, y, **options: metrics.cross_entropy(y, p, **options),
    "degroot_fienberg": lambda p, y, w=None: asdict(metrics.brier_decomposition(y, p, sample_weight=w)),
    "detection_curve": lambda p, correct: points(metrics.detection_curve(correct, p)),
    "df_multiclass": lambda P, y, mode: asdict(metrics.brier_decomposition(y, P, mode=mode)),
    "error_rate": lambda P, y: metrics.error_rate(y, P),
    "error_rate_binary": lambda p, y: metrics.error_rate(y, p),
    "mailing_profit": lambda p, amount_hat, donated, cost: asdict(
        metrics.mailing_profit(p, amount_hat, donated, cost=cost)
    ),
    "multiclass_log_loss": lambda P, y, clip: metrics.log_loss(y, P, clip=clip),
    "murphy_binned": murphy,
    "reliability": lambda s, y, width: points(metrics.reliability_bins(y, s, width=width)),
    "reliability_by_coverage": lambda p, correct: points(metrics.reliability_by_coverage(correct, p)),
    "rescale_margin": lambda f: metrics.rescale_margin(f).tolist(),
    "rms": lambda p, y: metrics.rms_error(y, p),
    "roc": roc,
}


@pytest.mark.parametrize("case", golden_cases("metrics"))
def test_golden(case):
    assert_golden(ADAPTERS[case["op"]](**case["in"]), case["out"], case["tol"])
