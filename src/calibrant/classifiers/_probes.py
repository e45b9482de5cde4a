"""Training the classifier of one threshold: a job that can run anywhere."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.classifiers._hard import Committee, Lesson, train, votes_on
from calibrant.classifiers._importance import acceptance, threshold_importance
from calibrant.classifiers._ladder import Probe


@dataclass(frozen=True, slots=True)
class ProbeJob:
    """Everything about a two-class problem that does not depend on the threshold.

    Attributes
    ----------
    lesson : Lesson
        The learner, the rows and their classes; class 1 is the positive one.
    weights : ndarray of shape (n,)
        Weights of the rows.
    n_resamples : int
        How many classifiers vote, where chance decides what each of them sees.
    entropy : tuple of int
        Where all chance comes from.
    reference : object
        The rows that are voted on to choose the next threshold.
    folds : list of (train, test) or None
        Parts of the lesson, if its own rows are the reference and are to be voted on out of fold.
    held_out : object
        Rows to stop by.
    """

    lesson: Lesson
    weights: Float64Array
    n_resamples: int
    entropy: tuple[int, ...]
    reference: Any
    folds: list[tuple[IntArray, IntArray]] | None
    held_out: Any

    def run(self, threshold: float) -> Probe:
        """Train the classifier of a threshold and let it vote.

        Chance depends on the threshold and not on its turn, so that jobs may run in any order. No weight is
        above that of the row itself, so that a penalty or a prior of the learner stays in force.
        """
        asked = acceptance(threshold_importance(self.lesson.position == 1, threshold))
        importance = asked * self.weights
        committee = self._train(self.lesson, importance, threshold)
        if self.folds is None:
            reference_votes = votes_on(committee, self.reference)
        else:
            reference_votes = self._out_of_fold_votes(importance, threshold)
        held_out_votes = (
            np.zeros(0, dtype=bool) if self.held_out is None else votes_on(committee, self.held_out)
        )
        return Probe(committee, reference_votes, held_out_votes)

    def _train(
        self, lesson: Lesson, importance: Float64Array, threshold: float, fold: int | None = None
    ) -> Committee:
        # Weights leave nothing to chance, so one classifier is as good as many.
        n_models = 1 if lesson.weighting == "weights" else self.n_resamples
        # Seven digits, as the last ones of a threshold may differ between processors.
        digits = int(np.float32(threshold).view(np.uint32))
        keys = [(digits, 0 if fold is None else fold + 1, number) for number in range(n_models)]
        seeds = [np.random.SeedSequence(self.entropy, spawn_key=key) for key in keys]
        return Committee([train(lesson, importance, seed) for seed in seeds], lesson.labels)

    def _out_of_fold_votes(self, importance: Float64Array, threshold: float) -> BoolArray:
        """Votes on every row by a classifier that was not trained on it."""
        votes = np.zeros(len(importance), dtype=bool)
        for number, (learned, asked) in enumerate(self.folds or ()):
            committee = self._train(self.lesson.part(learned), importance[learned], threshold, number)
            votes[asked] = votes_on(committee, _safe_indexing(self.lesson.X, asked))
        return votes
