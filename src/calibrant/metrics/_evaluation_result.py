"""From sums to an evaluation: every number, and its interval."""

from calibrant._core._chance import Seed, generator
from calibrant.metrics._calibration_interval import split_points
from calibrant.metrics._estimate import Estimate
from calibrant.metrics._evaluation import Evaluation, LossMeasures
from calibrant.metrics._evaluation_common import Totals
from calibrant.metrics._evaluation_many import ManyClasses
from calibrant.metrics._evaluation_rows import BRIER, ERROR
from calibrant.metrics._evaluation_sums import EvaluationSums
from calibrant.metrics._evaluation_two import TwoClasses
from calibrant.metrics._intervals import mean_estimate, share_of


def evaluation_of(sums: EvaluationSums, labels: tuple[object, ...], random_state: Seed) -> Evaluation:
    """Make the evaluation of the rows that were added."""
    random = generator(random_state)
    seed = random_state if isinstance(random_state, int) else int(random.integers(2**31))
    return _study(sums, labels, seed).evaluation()


def _study(sums: EvaluationSums, labels: tuple[object, ...], seed: int) -> TwoClasses | ManyClasses:
    return (TwoClasses if sums.n_classes == 2 else ManyClasses)(sums, labels, seed)


def losses_of(sums: EvaluationSums, *, part_intervals: bool = False) -> LossMeasures:
    """What the forecasts of the rows that were added lose."""
    found = Totals(sums)
    moments, log_loss = found.losses()
    numbers = [1] if sums.n_classes == 2 else range(sums.n_classes)
    split = [
        split_points(points, found.class_moments(number, 2).mean)
        for number, points in zip(numbers, found.points, strict=False)  # without those of the called class
    ]
    calibration = Estimate(sum(each.calibration for each in split))
    refinement = Estimate(sum(each.refinement for each in split))
    if part_intervals:
        study = _study(sums, tuple(range(sums.n_classes)), 0)
        calibration, refinement = study.parts(study.columns())
    return LossMeasures(
        log_loss=log_loss,
        brier_score=mean_estimate(moments[BRIER], least=0.0),
        calibration=calibration,
        refinement=refinement,
        error_rate=share_of(moments[ERROR]),
        certain_mistakes=found.n_certain,
    )
