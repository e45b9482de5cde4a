"""Probabilities of rows by models that were not fitted to them."""

from sklearn.base import clone

from calibrant._core._arrays import Float64Array
from calibrant.cli._reading import Labelled
from calibrant.models import ScoreModel
from calibrant.models._cross_fit import judge, stratified_folds
from calibrant.models._scored_rows import ScoredRows

N_FOLDS = 5


def left_out_probabilities(model: ScoreModel, rows: Labelled) -> Float64Array:
    """The probabilities of all rows, each by a calibrator that was fitted to the other folds."""
    scored = ScoredRows(rows.score_array, rows.position, rows.weights, rows.classes)
    n_folds = min(N_FOLDS, len(rows.position))
    fold = stratified_folds(rows.position, n_folds, random_state=0)
    return judge(lambda _: clone(model.calibrator_), scored, fold, n_folds).proba
