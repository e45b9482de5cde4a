"""The method that suits some scores best, chosen on training rows alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from calibrant._core._arrays import Array, FloatArray
from calibrant.calibrators import Calibrator
from calibrant.metrics import brier_score

N_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen.

    Attributes
    ----------
    name : str
        The candidate with the least cross-validated Brier score.
    calibrator : object
        It, fitted to all rows.
    losses : dict of str to float
        The cross-validated Brier score of every candidate, summed over the classes.
    """

    name: str
    calibrator: Calibrator
    losses: dict[str, float]


def choose(candidates: Mapping[str, Any], scores: FloatArray, y: Array, seed: int = 0) -> Choice:
    """Choose a calibrator by cross-validation on scores of rows that the learner was not trained on."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    losses = dict.fromkeys(candidates, 0.0)
    for train, test in folds.split(scores, y):
        for name, candidate in candidates.items():
            fitted = clone(candidate).fit(scores[train], y[train])
            loss = brier_score(
                y[test], fitted.predict_proba(scores[test]), convention="sum", classes=fitted.classes_
            )
            losses[name] += loss * len(test) / len(y)
    best = min(losses, key=losses.__getitem__)
    return Choice(best, clone(candidates[best]).fit(scores, y), losses)
