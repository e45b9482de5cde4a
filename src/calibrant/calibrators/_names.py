"""The ready-made calibrators by name."""

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from calibrant._core._errors import ParameterError
from calibrant.calibrators._accuracy_table import AccuracyTableCalibrator
from calibrant.calibrators._binning import BinningCalibrator
from calibrant.calibrators._identity import IdentityCalibrator
from calibrant.calibrators._pav import PAVCalibrator
from calibrant.calibrators._ranked_logistic import RankedLogisticCalibrator
from calibrant.calibrators._sigmoid import SigmoidCalibrator

BY_NAME: dict[str, Callable[[], Any]] = {
    "pav": PAVCalibrator,
    "sigmoid": SigmoidCalibrator,
    "binning": BinningCalibrator,
    "identity": IdentityCalibrator,
    "accuracy_table": AccuracyTableCalibrator,
    "ranked_logistic": RankedLogisticCalibrator,
}


def new_calibrator(calibrator: object) -> Any:
    """Make a new, unfitted calibrator.

    Parameters
    ----------
    calibrator : str or object
        Its name, or a calibrator to copy.

    Returns
    -------
    object
        The calibrator.

    Examples
    --------
    >>> from calibrant.calibrators import new_calibrator
    >>> new_calibrator("sigmoid")
    SigmoidCalibrator()
    """
    if isinstance(calibrator, str):
        if calibrator not in BY_NAME:
            names = ", ".join(map(repr, BY_NAME))
            raise ParameterError(f"calibrator must be one of {names}, or an object; got {calibrator!r}")
        return BY_NAME[calibrator]()
    if isinstance(calibrator, type) or not (
        hasattr(calibrator, "fit") and hasattr(calibrator, "predict_proba")
    ):
        raise ParameterError(
            "calibrator must be a name or an object with fit(scores, y, sample_weight) and "
            f"predict_proba(scores); got {calibrator!r}"
        )
    return clone(calibrator)


def takes_probabilities(calibrator: object) -> bool:
    """Tell whether a calibrator takes probabilities alone, and no margins.

    Parameters
    ----------
    calibrator : object
        The calibrator.

    Returns
    -------
    bool
        Whether its scores must lie in [0, 1].
    """
    if isinstance(calibrator, IdentityCalibrator) or getattr(calibrator, "transform", None) == "logit":
        return True
    inner = getattr(calibrator, "calibrator", None)
    return inner is not None and takes_probabilities(new_calibrator(inner))


def takes_score_matrix(calibrator: object) -> bool:
    """Tell whether a calibrator takes one score per class, and not a single score.

    Parameters
    ----------
    calibrator : object
        The calibrator.

    Returns
    -------
    bool
        Whether its scores have one column per class.
    """
    return hasattr(calibrator, "fit_positions")


def can_only_rise(calibrator: Any) -> bool:
    """Tell whether a calibrator makes nothing of a score that points the wrong way.

    Parameters
    ----------
    calibrator : str or object
        The calibrator or its name, or one that gives every column a copy of such.

    Returns
    -------
    bool
        Whether its maps are isotonic and rise.
    """
    chosen = getattr(calibrator, "calibrator", calibrator)
    return chosen == "pav" if isinstance(chosen, str) else getattr(chosen, "increasing", False) is True
