"""What is found in the points of one column: its parts, its ranking, its slope."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.metrics._calibration_interval import (
    Overfit,
    Parts,
    calibration_estimate,
    distance_of,
    part_variances,
    refinement_estimate,
)
from calibrant.metrics._cox import CoxFit, sandwich
from calibrant.metrics._delong import Ranking
from calibrant.metrics._estimate import Estimate
from calibrant.metrics._intervals import Moments, normal_estimate
from calibrant.metrics._points import Points


@dataclass(frozen=True, slots=True, eq=False)
class Studied:
    """A column of probabilities against what it forecasts, and all that is found in its points alone."""

    points: Points  # in cells, if they are many
    moments: Moments  # of the squared error
    parts: Parts
    fit: Parts  # of the same points
    overfit: Overfit
    ranking: Ranking
    cox: CoxFit

    def split(self) -> tuple[Estimate, Estimate]:
        """Calibration and refinement."""
        parts, overfit = self.parts, self.overfit
        gained, lost = part_variances(self.fit, self.points)
        return (
            calibration_estimate(parts.calibration, gained, distance_of(self.fit, self.points), overfit),
            refinement_estimate(parts.refinement, lost, overfit),
        )

    def regression(self) -> tuple[Estimate, Estimate]:
        """Slope and intercept of the column alone."""
        if self.cox.bread is None:
            return Estimate(self.cox.slope), Estimate(self.cox.intercepts[0])
        slope, intercept = np.sqrt(np.maximum(np.diag(sandwich(self.cox, self.points)), 0.0))
        return (
            normal_estimate(self.cox.slope, float(slope)),
            normal_estimate(float(self.cox.intercepts[0]), float(intercept)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Binned:
    """The expected calibration error of a column in some bins, and which draws its interval is found by."""

    value: float
    starts: IntArray
    gap: Float64Array
    variance: Float64Array
    seed: int
