"""The same models on Spark, as stages of `pyspark.ml`; needs the extra ``spark``.

- `ScoreCalibrator`: scores to probabilities, and to decisions; it fits a `ScoreCalibratorModel`.
- `CostDecider`: probabilities to the decision that costs least; `CostRule` learns such a rule and fits a
  `CostRuleModel`.
- `CalibrationEvaluator`: one number that says how good probabilities are, for `CrossValidator`.
- `evaluate`: all that is known of how good they are; `compare`: which method to use.
- `monitor`: whether forecasts stay calibrated, of a frame; `MonitorBatches`: of a stream.
- `fit_files`: a model fitted to files that a cluster reads.
- `FrameRows`: the rows of a frame for any plan of `calibrant.files`.

What is fitted here is an ordinary model of `calibrant.models`: the same file, the same numbers. The frames
may be those of a classic session or of Spark Connect. Executors need calibrant installed, as the driver does.
"""

from calibrant._core._errors import MissingExtraError

try:
    import pyspark  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtraError("pyspark", "spark") from error

from calibrant.spark._calibrator import ScoreCalibrator, ScoreCalibratorModel
from calibrant.spark._cost_rule import CostRule, CostRuleModel
from calibrant.spark._decider import CostDecider
from calibrant.spark._engine import FrameRows
from calibrant.spark._evaluator import CalibrationEvaluator
from calibrant.spark._fit_files import fit_files
from calibrant.spark._measures import compare, evaluate
from calibrant.spark._monitor import MonitorBatches, monitor

__all__ = [
    "CalibrationEvaluator",
    "CostDecider",
    "CostRule",
    "CostRuleModel",
    "FrameRows",
    "MonitorBatches",
    "ScoreCalibrator",
    "ScoreCalibratorModel",
    "compare",
    "evaluate",
    "fit_files",
    "monitor",
]
