"""Plans of the two-class calibrators: what each asks of the rows, and what it makes of the answers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, BoolArray
from calibrant._core._checks import ROUNDING
from calibrant._core._errors import DataError, ParameterError
from calibrant.calibrators import (
    BinningCalibrator,
    IdentityCalibrator,
    PAVCalibrator,
    SigmoidCalibrator,
)
from calibrant.calibrators._binning import even_places
from calibrant.engines._direction_pass import with_squares
from calibrant.engines._gather import gather
from calibrant.engines._grid import grid_from_sample
from calibrant.engines._logistic_plan import fit_sigmoid
from calibrant.engines._options import PassOptions
from calibrant.engines._points import Points
from calibrant.engines._problem import Problem
from calibrant.engines._range_pass import FindRange
from calibrant.engines._rows import Rows
from calibrant.engines._screen import open_points
from calibrant.engines._summary import NoRowsError, Plan

#: The classes of a problem that is one of several: the other side, and this one.
SIDES = np.array([False, True])


def fit_two_class(
    calibrator: Any, problem: Problem, sample: Rows, options: PassOptions, classes: Array = SIDES
) -> Plan[Any]:
    """Fit a two-class calibrator.

    Parameters
    ----------
    calibrator : object
        One of those of this package, not fitted yet; it is fitted in place.
    problem : Problem
        The rows.
    sample : Rows
        Some of the rows that the problem is cut out of.
    options : PassOptions
        With all its settings filled in.
    classes : ndarray of shape (2,)
        The labels, the positive one second.

    Returns
    -------
    object
        The calibrator.
    """
    plan = _PLANS.get(type(calibrator))
    if plan is None:
        names = ", ".join(kind.__name__ for kind in _PLANS)
        raise ParameterError(
            f"calibrator must be one of {names} to be fitted in passes; got {type(calibrator).__name__}; fit "
            "it on rows in memory"
        )
    calibrator._check_parameters()  # before any row is read
    fitted = yield from plan(calibrator, problem, sample, options, classes)
    return fitted


def _fit_pav(
    calibrator: PAVCalibrator, problem: Problem, sample: Rows, options: PassOptions, classes: Array
) -> Plan[PAVCalibrator]:
    def wanted(points: Points) -> BoolArray:
        return open_points(points if calibrator.increasing else points.turned())

    points, squares = yield from with_squares(_gather(problem, sample, wanted, options), problem, sample)
    return calibrator.fit_points(points.lo, points.hi, points.positive, points.negative, classes, squares)


def _fit_binning(
    calibrator: BinningCalibrator, problem: Problem, sample: Rows, options: PassOptions, classes: Array
) -> Plan[BinningCalibrator]:
    if calibrator.n_bins == "cv":
        raise ParameterError(
            "n_bins must be a number where rows come in passes; got 'cv'; compare a few numbers, or choose "
            "one on a sample in memory"
        )
    n_bins = int(calibrator.n_bins)

    def wanted(points: Points) -> BoolArray:
        """Those in which a bin of equal size ends."""
        reached = np.cumsum(points.count)
        holds_cut = np.zeros(len(points), dtype=bool)
        holds_cut[np.searchsorted(reached, even_places(int(reached[-1]), n_bins), side="left")] = True
        return holds_cut

    points = yield from _gather(problem, sample, wanted, options)
    reached = np.cumsum(points.count)
    # A cut behind the point of the row that it would come after: equal scores stay together.
    last = np.searchsorted(reached, even_places(int(reached[-1]), n_bins), side="left")
    last = np.unique(np.append(last, len(points) - 1))
    starts = np.append(0, last[:-1] + 1)
    return calibrator.fit_bins(
        points.lo[starts],
        points.hi[last],
        np.add.reduceat(points.count, starts).astype(np.intp),
        np.add.reduceat(points.weight, starts),
        np.add.reduceat(points.positive, starts),
        classes,
    )


def _gather(
    problem: Problem, sample: Rows, wanted: Callable[[Points], BoolArray], options: PassOptions
) -> Plan[Points]:
    known = problem.rows(sample)[0]
    points = yield from gather(
        problem, grid_from_sample(known, options.n_bins or 1, options.edges), wanted, options
    )
    if len(points) == 0:
        raise NoRowsError
    return points


def _fit_identity(
    calibrator: IdentityCalibrator, problem: Problem, sample: Rows, options: PassOptions, classes: Array
) -> Plan[IdentityCalibrator]:
    del sample, options
    found = yield FindRange(problem)
    if found.n_rows == 0:
        raise NoRowsError
    for value in (found.low, found.high):
        if not -ROUNDING <= value <= 1 + ROUNDING:
            raise DataError(
                f"scores taken as they are must lie in [0, 1]; got {value}; margins must be calibrated or "
                "re-scaled first"
            )
    calibrator.classes_ = classes
    return calibrator


_PLANS: dict[type, Callable[..., Plan[Any]]] = {
    PAVCalibrator: _fit_pav,
    SigmoidCalibrator: fit_sigmoid,
    BinningCalibrator: _fit_binning,
    IdentityCalibrator: _fit_identity,
}
