"""How good are these probabilities? Arrays in, floats or frozen dataclasses out.

==================  ====================================================================================
all at once         `evaluate`: every measure, each with an interval; `EvaluationSums` for batches of rows;
                    `evaluate_difference`, `paired_difference`: is one forecast better than another?
losses              `brier_score`, `rms_error`, `cross_entropy`, `log_loss`, `error_rate`
ranking             `auc`, `roc_points`
reliability         `reliability_bins`, `reliability_by_class`, `reliability_at_rank`; without bins
                    `isotonic_reliability`, `isotonic_reliability_by_class`
calibration         `expected_calibration_error`: in bins, by confidence or by class
decomposition       `brier_decomposition`: the Brier score as calibration and refinement
finding errors      `detection_curve`, `accuracy_by_threshold`, `reliability_by_coverage`
money               `mailing_profit`
margins             `rescale_margin`: scores of any range into [0, 1], to be measured, not to be believed
==================  ====================================================================================

The same rules hold for all of them:

- The truth comes first, as in scikit-learn: `f(y, proba)`.
- Two classes: `proba` is the probability of the positive class, which is the larger label; or two columns,
  of which the second is that. More classes: one column per class. Integer labels are then column numbers;
  `classes` names the columns where they are something else.
- A row of weight zero is absent, and a row of integer weight m counts as m rows. Points of a curve belong
  to rows, so a row of weight m gives one point: the last of the m points that its copies would give.
- NaN and infinities are refused. A certain mistake has an infinite log loss, and it is reported as `inf`.
"""

from typing import TYPE_CHECKING

from calibrant._core._lazy import at_home, lazily

if TYPE_CHECKING:
    from calibrant.metrics._bins import EDGE_SLACK as EDGE_SLACK, fixed_width_bins as fixed_width_bins
    from calibrant.metrics._calibration_error import expected_calibration_error
    from calibrant.metrics._cox import CoxFit as CoxFit, fit_cox as fit_cox, log_odds as log_odds
    from calibrant.metrics._decomposition import BrierDecomposition, brier_decomposition
    from calibrant.metrics._detection import (
        CoverageCurve,
        DetectionCurve,
        ThresholdCurve,
        accuracy_by_threshold,
        detection_curve,
        reliability_by_coverage,
    )
    from calibrant.metrics._difference import (
        DifferenceSums as DifferenceSums,
        EvaluationDifference,
        evaluate_difference,
        paired_difference,
    )
    from calibrant.metrics._direction import (
        NO_DIRECTION as NO_DIRECTION,
        Direction as Direction,
        direction as direction,
        direction_of_points as direction_of_points,
        directions_of as directions_of,
        mostly_wrong as mostly_wrong,
        normal_tail as normal_tail,
        sides_of as sides_of,
        wrong_columns as wrong_columns,
    )
    from calibrant.metrics._estimate import Estimate, plain_record as plain_record
    from calibrant.metrics._evaluate import evaluate, evaluate_all as evaluate_all
    from calibrant.metrics._evaluation import (
        CalibrationErrors,
        ClassEvaluation,
        CostEvaluation,
        Evaluation,
        LossMeasures as LossMeasures,
    )
    from calibrant.metrics._evaluation_sums import EvaluationSums
    from calibrant.metrics._in_order import InOrder as InOrder, in_order as in_order
    from calibrant.metrics._intervals import (
        N_MOMENTS as N_MOMENTS,
        mean_estimate as mean_estimate,
        mean_of as mean_of,
        moments_of as moments_of,
        normal_estimate as normal_estimate,
        power_sums as power_sums,
        share_estimate as share_estimate,
    )
    from calibrant.metrics._isotonic import (
        BAND_LEVEL as BAND_LEVEL,
        N_RESAMPLES as N_RESAMPLES,
        Draws as Draws,
        IsotonicReliability,
        Ordered as Ordered,
        evenly_spread as evenly_spread,
        fit_in_order as fit_in_order,
        isotonic_reliability,
        isotonic_reliability_by_class,
        pooled_blocks as pooled_blocks,
        refit as refit,
    )
    from calibrant.metrics._losses import brier_score, cross_entropy, error_rate, log_loss, rms_error
    from calibrant.metrics._margins import rescale_margin
    from calibrant.metrics._points import Points as Points, dot as dot
    from calibrant.metrics._profit import KDD98_LETTER as KDD98_LETTER, MailingProfit, mailing_profit
    from calibrant.metrics._ranking import RocCurve, auc, roc_points
    from calibrant.metrics._reliability import (
        BIN_WIDTH as BIN_WIDTH,
        ReliabilityBins,
        reliability_at_rank,
        reliability_bins,
        reliability_by_class,
    )
    from calibrant.metrics._row_losses import (
        most_probable as most_probable,
        row_losses as row_losses,
        squared_errors as squared_errors,
    )
    from calibrant.metrics._rows import (
        Forecasts as Forecasts,
        counting_rows as counting_rows,
        one_column as one_column,
        positive_column as positive_column,
        read_forecasts as read_forecasts,
        weighted_mean as weighted_mean,
    )
    from calibrant.metrics._threads import side_by_side as side_by_side

#: Where they are at home.
_HOME = {
    "BAND_LEVEL": "calibrant.metrics._isotonic",
    "BIN_WIDTH": "calibrant.metrics._reliability",
    "BrierDecomposition": "calibrant.metrics._decomposition",
    "CalibrationErrors": "calibrant.metrics._evaluation",
    "ClassEvaluation": "calibrant.metrics._evaluation",
    "CostEvaluation": "calibrant.metrics._evaluation",
    "CoverageCurve": "calibrant.metrics._detection",
    "CoxFit": "calibrant.metrics._cox",
    "DetectionCurve": "calibrant.metrics._detection",
    "DifferenceSums": "calibrant.metrics._difference",
    "Direction": "calibrant.metrics._direction",
    "Draws": "calibrant.metrics._isotonic",
    "EDGE_SLACK": "calibrant.metrics._bins",
    "Estimate": "calibrant.metrics._estimate",
    "Evaluation": "calibrant.metrics._evaluation",
    "EvaluationDifference": "calibrant.metrics._difference",
    "EvaluationSums": "calibrant.metrics._evaluation_sums",
    "Forecasts": "calibrant.metrics._rows",
    "InOrder": "calibrant.metrics._in_order",
    "IsotonicReliability": "calibrant.metrics._isotonic",
    "KDD98_LETTER": "calibrant.metrics._profit",
    "LossMeasures": "calibrant.metrics._evaluation",
    "MailingProfit": "calibrant.metrics._profit",
    "NO_DIRECTION": "calibrant.metrics._direction",
    "N_MOMENTS": "calibrant.metrics._intervals",
    "N_RESAMPLES": "calibrant.metrics._isotonic",
    "Ordered": "calibrant.metrics._isotonic",
    "Points": "calibrant.metrics._points",
    "ReliabilityBins": "calibrant.metrics._reliability",
    "RocCurve": "calibrant.metrics._ranking",
    "ThresholdCurve": "calibrant.metrics._detection",
    "accuracy_by_threshold": "calibrant.metrics._detection",
    "auc": "calibrant.metrics._ranking",
    "brier_decomposition": "calibrant.metrics._decomposition",
    "brier_score": "calibrant.metrics._losses",
    "counting_rows": "calibrant.metrics._rows",
    "cross_entropy": "calibrant.metrics._losses",
    "detection_curve": "calibrant.metrics._detection",
    "direction": "calibrant.metrics._direction",
    "direction_of_points": "calibrant.metrics._direction",
    "directions_of": "calibrant.metrics._direction",
    "dot": "calibrant.metrics._points",
    "error_rate": "calibrant.metrics._losses",
    "evaluate": "calibrant.metrics._evaluate",
    "evaluate_all": "calibrant.metrics._evaluate",
    "evaluate_difference": "calibrant.metrics._difference",
    "evenly_spread": "calibrant.metrics._isotonic",
    "expected_calibration_error": "calibrant.metrics._calibration_error",
    "fit_cox": "calibrant.metrics._cox",
    "fit_in_order": "calibrant.metrics._isotonic",
    "fixed_width_bins": "calibrant.metrics._bins",
    "in_order": "calibrant.metrics._in_order",
    "isotonic_reliability": "calibrant.metrics._isotonic",
    "isotonic_reliability_by_class": "calibrant.metrics._isotonic",
    "log_loss": "calibrant.metrics._losses",
    "log_odds": "calibrant.metrics._cox",
    "mailing_profit": "calibrant.metrics._profit",
    "mean_estimate": "calibrant.metrics._intervals",
    "mean_of": "calibrant.metrics._intervals",
    "moments_of": "calibrant.metrics._intervals",
    "most_probable": "calibrant.metrics._row_losses",
    "mostly_wrong": "calibrant.metrics._direction",
    "normal_estimate": "calibrant.metrics._intervals",
    "normal_tail": "calibrant.metrics._direction",
    "one_column": "calibrant.metrics._rows",
    "paired_difference": "calibrant.metrics._difference",
    "plain_record": "calibrant.metrics._estimate",
    "pooled_blocks": "calibrant.metrics._isotonic",
    "positive_column": "calibrant.metrics._rows",
    "power_sums": "calibrant.metrics._intervals",
    "read_forecasts": "calibrant.metrics._rows",
    "refit": "calibrant.metrics._isotonic",
    "reliability_at_rank": "calibrant.metrics._reliability",
    "reliability_bins": "calibrant.metrics._reliability",
    "reliability_by_class": "calibrant.metrics._reliability",
    "reliability_by_coverage": "calibrant.metrics._detection",
    "rescale_margin": "calibrant.metrics._margins",
    "rms_error": "calibrant.metrics._losses",
    "roc_points": "calibrant.metrics._ranking",
    "row_losses": "calibrant.metrics._row_losses",
    "share_estimate": "calibrant.metrics._intervals",
    "side_by_side": "calibrant.metrics._threads",
    "sides_of": "calibrant.metrics._direction",
    "squared_errors": "calibrant.metrics._row_losses",
    "weighted_mean": "calibrant.metrics._rows",
    "wrong_columns": "calibrant.metrics._direction",
}

__all__ = [
    "BrierDecomposition",
    "CalibrationErrors",
    "ClassEvaluation",
    "CostEvaluation",
    "CoverageCurve",
    "DetectionCurve",
    "Estimate",
    "Evaluation",
    "EvaluationDifference",
    "EvaluationSums",
    "IsotonicReliability",
    "MailingProfit",
    "ReliabilityBins",
    "RocCurve",
    "ThresholdCurve",
    "accuracy_by_threshold",
    "auc",
    "brier_decomposition",
    "brier_score",
    "cross_entropy",
    "detection_curve",
    "error_rate",
    "evaluate",
    "evaluate_difference",
    "expected_calibration_error",
    "isotonic_reliability",
    "isotonic_reliability_by_class",
    "log_loss",
    "mailing_profit",
    "paired_difference",
    "reliability_at_rank",
    "reliability_bins",
    "reliability_by_class",
    "reliability_by_coverage",
    "rescale_margin",
    "rms_error",
    "roc_points",
]

__getattr__ = lazily("calibrant.metrics", _HOME)
__dir__ = at_home(__name__)
