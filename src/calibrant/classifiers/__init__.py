"""The scikit-learn estimators: a classifier, with calibration, costs or probes around it.

- `CalibratedClassifier`: any learner, any code matrix, any calibrator.
- `ProbingClassifier`: probabilities from learners that only say yes or no; `probing_curve` shows how they
  settle, a `Ladder` is what was learned, `CrossEntropy` and `SquaredError` are the losses that guide them.
- `CostingClassifier`: weights for learners that take none.
- `CostSensitiveClassifier`, `MetaCostClassifier`: decisions that cost least.
"""

from calibrant._core._lazy import at_home
from calibrant.classifiers._calibrated import CalibratedClassifier
from calibrant.classifiers._cost_sensitive import CostSensitiveClassifier
from calibrant.classifiers._costing import CostingClassifier
from calibrant.classifiers._ladder import Ladder
from calibrant.classifiers._metacost import MetaCostClassifier, average_estimates as average_estimates
from calibrant.classifiers._minimax import CrossEntropy, SquaredError
from calibrant.classifiers._probing import ProbingClassifier
from calibrant.classifiers._probing_curve import ProbingCurve, probing_curve
from calibrant.classifiers._scores import score as score

__all__ = [
    "CalibratedClassifier",
    "CostSensitiveClassifier",
    "CostingClassifier",
    "CrossEntropy",
    "Ladder",
    "MetaCostClassifier",
    "ProbingClassifier",
    "ProbingCurve",
    "SquaredError",
    "probing_curve",
]

__dir__ = at_home(__name__)
