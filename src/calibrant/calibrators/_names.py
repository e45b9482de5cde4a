"""The ready-made calibrators by name."""

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from calibrant._core._errors import ParameterError
from calibrant.calibrators._binning import BinningCalibrator
from calibrant.calibrators._identity import IdentityCalibrator
from calibrant.calibrators._pav import PAVCalibrator
from calibrant.calibrators._sigmoid import SigmoidCalibrator

BY_NAME: dict[str, Callable[[], Any]] = {
    "pav": PAVCalibrator,
    "sigmoid": SigmoidCalibrator,
    "binning": BinningCalibrator,
    "identity": IdentityCalibrator,
}


def new_calibrator(calibrator: object) -> Any:
    """A new, unfitted calibrator: by its name, or a copy of the one given."""
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
