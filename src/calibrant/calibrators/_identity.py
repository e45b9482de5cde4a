"""No calibration: for comparison, and for scores that are believed already."""

from typing import TYPE_CHECKING

from calibrant import passes
from calibrant._core._field_groups import Record
from calibrant._core._place import Place
from calibrant.calibrators._method import ScoreCalibrator
from calibrant.maps import Identity, Map

if TYPE_CHECKING:
    from calibrant.passes import Learning


class IdentityCalibrator(ScoreCalibrator, name="identity"):
    """Take the scores as they are.

    The scores must be probabilities already. It serves as the baseline that a calibration must beat, and
    to combine the answers of learners that need none.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.

    Examples
    --------
    >>> from calibrant import IdentityCalibrator
    >>> IdentityCalibrator().fit([0.2, 0.9], [0, 1]).predict_proba([0.7])
    array([[0.3, 0.7]])
    """

    kinds = ("probability",)
    fitted = Record()
    complexity = 1

    def _learn(self) -> "Learning[Map]":
        yield passes.InUnitInterval()
        return Identity()

    def _restored(self, at: Place, n_classes: int) -> Map:  # noqa: ARG002
        return Identity()

    def _scores_are(self) -> str:
        return "scores taken as they are"
