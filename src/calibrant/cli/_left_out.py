"""Probabilities of rows by models that were not fitted to them."""

from sklearn.base import clone

from calibrant.cli._reading import Labelled
from calibrant.models import Judged, ScoredRows, ScoreModel, judge, stratified_folds

N_FOLDS = 5


def left_out_probabilities(model: ScoreModel, rows: Labelled) -> Judged:
    """The probabilities of all rows, each by a calibrator that was fitted to the other folds."""
    scored = ScoredRows(rows.score_array, rows.position, rows.weights, rows.classes)
    n_folds = min(N_FOLDS, len(rows.position))
    fold = stratified_folds(rows.position, n_folds, random_state=0)
    return judge(lambda _: clone(model.calibrator_), scored, fold, n_folds)
