"""Which score says most about which rank."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._checks import (
    check_class_labels,
    check_not_empty,
    check_same_length,
    check_score_matrix,
    check_weights,
    labels_of_columns,
)
from calibrant._core._names import by_label
from calibrant.calibrators._ranking import rank_truth


@dataclass(frozen=True, slots=True, eq=False)
class RankCorrelation:
    """How the scores at every rank go with the class at every rank being right.

    Attributes
    ----------
    correlation : ndarray of shape (k, k)
        Pearson's correlation. Rows: rank of the class that is right or wrong. Columns: rank of the score.
        `nan` where either does not vary.
    best : ndarray of shape (k,)
        For every rank of a class, the rank from 1 of the score with the largest absolute correlation; 0
        where there is none.
    """

    correlation: Float64Array
    best: IntArray


def score_status_correlation(
    scores: object, y: object, *, sample_weight: object = None, classes: Sequence[object] | None = None
) -> RankCorrelation:
    """Correlate the score at every rank with whether the class at every rank is right.

    Parameters
    ----------
    scores : array-like of shape (n, k)
        One finite score per row and class.
    y : array-like of shape (n,)
        The labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, not negative.
    classes : array-like of shape (k,), optional
        The labels of the columns in order; by default the sorted labels of `y`.

    Returns
    -------
    RankCorrelation
        The correlations, and for every rank the score that says most.

    See Also
    --------
    RankedLogisticCalibrator : Uses these scores.

    Notes
    -----
    The paper's table 9, where the highest score tells most about 16 ranks of 20, or of 19: its numbers do
    not match. That is the reason for combination A.

    Examples
    --------
    Whether the second candidate is right shows in the score of the first, and hardly in its own:

    >>> from calibrant.calibrators import score_status_correlation
    >>> scores = [[3, 1, 0], [4, 1, 0], [2, 1, 0], [2, 1.5, 0], [0, 1, 3], [0, 1, 2], [2, 3, 0]]
    >>> table = score_status_correlation(scores, [0, 0, 1, 1, 2, 1, 1])
    >>> table.correlation[1].round(2)
    array([-0.88, -0.11,   nan])
    >>> table.best
    array([1, 1, 0])
    """
    matrix = check_score_matrix(scores)
    check_not_empty(len(matrix))
    n_classes = matrix.shape[1]
    labels = labels_of_columns(classes, y, n_classes)
    position = check_class_labels(y, n_classes, labels)
    matrix = by_label(scores, matrix, lambda: labels, "scores")
    check_same_length(scores=matrix, labels=position)
    weights = check_weights(sample_weight, len(matrix))
    mass = np.ones(len(matrix)) if weights is None else weights / weights.mean()
    leading, rank = rank_truth(matrix, position)
    total = mass.sum()
    varies = leading.min(axis=1) < leading.max(axis=1)
    leading -= (leading @ mass / total)[:, None]
    spread = np.where(varies, np.sqrt(leading**2 @ mass / total), 0.0)
    share = np.bincount(rank, mass, minlength=n_classes) / total
    together = np.stack([np.bincount(rank, mass * each, minlength=n_classes) for each in leading], axis=1)
    scale = np.sqrt(share * (1 - share))[:, None] * spread
    correlation = np.full((n_classes, n_classes), np.nan)
    np.divide(together / total, scale, out=correlation, where=scale > 0)
    strength = np.nan_to_num(np.abs(correlation), nan=-1.0)
    best = np.where(strength.max(axis=1) >= 0, strength.argmax(axis=1) + 1, 0)
    return RankCorrelation(correlation, best)
