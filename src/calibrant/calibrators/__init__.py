"""One score, or one row of scores, to probabilities. One method per file.

- `SigmoidCalibrator`, `BinningCalibrator`, `PAVCalibrator`: two classes, one score per row.
"""

from calibrant.calibrators._binning import BinningCalibrator, Bins
from calibrant.calibrators._pav import PAVCalibrator
from calibrant.calibrators._pooling import Blocks
from calibrant.calibrators._sigmoid import SigmoidCalibrator

__all__ = ["BinningCalibrator", "Bins", "Blocks", "PAVCalibrator", "SigmoidCalibrator"]
