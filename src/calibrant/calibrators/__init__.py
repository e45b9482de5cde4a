"""One score, or one row of scores, to probabilities. One method per file.

- `SigmoidCalibrator`, `BinningCalibrator`, `PAVCalibrator`: two classes, one score per row;
  `IdentityCalibrator` leaves it as it is.
- `OneVsAllCalibrator`: any number of classes, one score per class, by the two-class methods;
  `CodeCalibrator`: one score per column of a code matrix.
- `AccuracyTableCalibrator`, `RankedLogisticCalibrator`: any number of classes, from the ranked scores of a
  row; `score_status_correlation` shows which of them matter.
- `top_candidates`, `likely_errors`: what a person who checks predictions wants to see first.
- `new_calibrator`: any of them by name.
"""

from calibrant.calibrators._accuracy_table import AccuracyTableCalibrator
from calibrant.calibrators._binning import BinningCalibrator, Bins
from calibrant.calibrators._candidates import (
    Candidates,
    ErrorsFound,
    LikelyErrors,
    likely_errors,
    top_candidates,
)
from calibrant.calibrators._code import CodeCalibrator, ConstantAnswer
from calibrant.calibrators._correlation import RankCorrelation, score_status_correlation
from calibrant.calibrators._identity import IdentityCalibrator
from calibrant.calibrators._names import new_calibrator, takes_score_matrix
from calibrant.calibrators._one_vs_all import OneVsAllCalibrator
from calibrant.calibrators._pav import PAVCalibrator
from calibrant.calibrators._pooling import Blocks
from calibrant.calibrators._ranked import RankEstimates
from calibrant.calibrators._ranked_logistic import RankedLogisticCalibrator, RankMap
from calibrant.calibrators._sigmoid import SigmoidCalibrator
from calibrant.calibrators._table import AccuracyTable

__all__ = [
    "AccuracyTable",
    "AccuracyTableCalibrator",
    "BinningCalibrator",
    "Bins",
    "Blocks",
    "Candidates",
    "CodeCalibrator",
    "ConstantAnswer",
    "ErrorsFound",
    "IdentityCalibrator",
    "LikelyErrors",
    "OneVsAllCalibrator",
    "PAVCalibrator",
    "RankCorrelation",
    "RankEstimates",
    "RankMap",
    "RankedLogisticCalibrator",
    "SigmoidCalibrator",
    "likely_errors",
    "new_calibrator",
    "score_status_correlation",
    "takes_score_matrix",
    "top_candidates",
]
