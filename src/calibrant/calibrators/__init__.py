"""One score, or one row of scores, to probabilities. One method per file.

- `SigmoidCalibrator`, `BinningCalibrator`, `PAVCalibrator`: two classes, one score per row;
  `IdentityCalibrator` leaves it as it is.
- `OneVsAllCalibrator`: any number of classes, one score per class, by the two-class methods.
"""

from calibrant.calibrators._binning import BinningCalibrator, Bins
from calibrant.calibrators._identity import IdentityCalibrator
from calibrant.calibrators._names import new_calibrator
from calibrant.calibrators._one_vs_all import OneVsAllCalibrator
from calibrant.calibrators._pav import PAVCalibrator
from calibrant.calibrators._pooling import Blocks
from calibrant.calibrators._sigmoid import SigmoidCalibrator

__all__ = [
    "BinningCalibrator",
    "Bins",
    "Blocks",
    "IdentityCalibrator",
    "OneVsAllCalibrator",
    "PAVCalibrator",
    "SigmoidCalibrator",
    "new_calibrator",
]
