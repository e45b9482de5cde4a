"""No calibration: for comparison, and for scores that are believed already."""

from calibrant._core._arrays import Float64Array, FloatArray, Target
from calibrant._core._checks import check_probabilities
from calibrant.calibrators._binary import BinaryCalibrator


class IdentityCalibrator(BinaryCalibrator):
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

    def _fit(self, scores: FloatArray, target: Target, weights: Float64Array | None) -> None:  # noqa: ARG002
        check_probabilities(scores, "scores taken as they are")

    def _positive(self, scores: Float64Array) -> Float64Array:
        return check_probabilities(scores, "scores taken as they are")
