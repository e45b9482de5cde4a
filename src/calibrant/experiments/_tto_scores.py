"""The scores of TTO: out of fold to calibrate with, of a refitted learner to test."""

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.experiments._data_text import read_newsgroups
from calibrant.experiments._datasets import read_numeric

#: The number of folds of the paper, outside (20 Newsgroups) and inside.
N_FOLDS = 5
#: The paper's survey, JGSS, is not public: so many rows and codes are made up instead.
SURVEY_TRAIN, SURVEY_TEST, SURVEY_CODES = 20_066, 3_772, 200


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """One score per row and class.

    Attributes
    ----------
    train, test : ndarray of shape (n, k)
        Scores of training rows by learners that were not trained on them, and of test rows by a learner
        trained on all training rows.
    y_train, y_test : ndarray of shape (n,)
        The numbers of the true classes.
    """

    train: Float64Array
    y_train: IntArray
    test: Float64Array
    y_test: IntArray


def scores_of(data: str, learner: str, fold: int, n_rows: int | None) -> Scores:
    """Train and score as the paper does."""
    X, y, X_test, y_test = _rows(data, fold)
    if n_rows is not None and n_rows < len(y):
        sample = _sample(y, n_rows, np.random.default_rng(fold))
        X, y = X[sample], y[sample]
    model, method = _learner(data, learner)
    inner = StratifiedKFold(N_FOLDS, shuffle=True, random_state=fold)
    with warnings.catch_warnings():
        # In a small sample a class may have fewer rows than there are folds; every fold still trains on it.
        warnings.filterwarnings("ignore", "The least populated class")
        train = cross_val_predict(model, X, y, cv=inner, method=method)
    test = getattr(model.fit(X, y), method)(X_test)
    return Scores(train, y, test, y_test)


def _sample(y: IntArray, n_rows: int, random: np.random.Generator) -> IntArray:
    """Rows of all classes in their proportions; a larger sample holds the smaller ones."""
    order = random.permutation(len(y))
    place = np.empty(len(y))
    for label in np.unique(y):
        own = order[y[order] == label]
        place[own] = (np.arange(len(own)) + random.random()) / len(own)
    return np.sort(np.argsort(place, kind="stable")[:n_rows])


class NaiveBayesPerWord(MultinomialNB):
    """Naive Bayes whose scores do not grow with the length of a text.

    The paper does not say which scores of naive Bayes it uses. Its probabilities are 0 or 1 for all but the
    shortest texts, and log-probabilities tell the length of a text before anything else.
    """

    def decision_function(self, X: Any) -> Float64Array:
        """Give the joint log-probability of text and class, divided by the number of words."""
        n_words = np.maximum(np.asarray(X.sum(axis=1)).ravel(), 1)
        return np.asarray(self.predict_joint_log_proba(X) / n_words[:, None])


def _learner(data: str, learner: str) -> tuple[Pipeline, str]:
    if data == "Pendigits":
        return make_pipeline(StandardScaler(), LinearSVC(random_state=0)), "decision_function"
    if learner == "NB":
        return make_pipeline(NaiveBayesPerWord(alpha=0.1)), "decision_function"
    return make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(random_state=0)), "decision_function"


@lru_cache(maxsize=2)
def _rows(data: str, fold: int) -> tuple[Any, IntArray, Any, IntArray]:
    """Training rows and test rows, texts as counts of words."""
    if data == "Pendigits":
        train, test = read_numeric("pendigits.train"), read_numeric("pendigits.test")
        return train.X, train.y.astype(np.intp), test.X, test.y.astype(np.intp)
    if data == "made-up survey":
        return _survey(np.random.default_rng(fold))
    texts, y = _newsgroups()
    outer = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    train_rows, test_rows = list(outer.split(y, y))[fold]
    words = CountVectorizer(min_df=2)
    counts = words.fit_transform([texts[row] for row in train_rows])
    return counts, y[train_rows], words.transform([texts[row] for row in test_rows]), y[test_rows]


@lru_cache(maxsize=1)
def _newsgroups() -> tuple[list[str], IntArray]:
    """The articles without duplicates by date of posting, 18,846; the paper has 18,828."""
    parts = [read_newsgroups(f"20newsgroups-bydate.{part}") for part in ("train", "test")]
    labels: Array = np.concatenate([part.y for part in parts])
    return [text for part in parts for text in part.texts], np.unique(labels, return_inverse=True)[1]


def _survey(random: np.random.Generator) -> tuple[Any, IntArray, Any, IntArray]:
    """Short answers to an open question: two to six words each, some of them typical of their code.

    The largest code is three times as frequent as the smallest, so that every code is in every sample.
    """
    n_words, typical, length = 3_000, 12, 6
    share = np.linspace(0.5, 1.5, SURVEY_CODES) / SURVEY_CODES
    y = random.choice(SURVEY_CODES, size=SURVEY_TRAIN + SURVEY_TEST, p=share)
    vocabulary = random.integers(n_words, size=(SURVEY_CODES, typical))
    n_said = random.integers(2, length + 1, size=len(y))
    answers = []
    for code, said in zip(y, n_said, strict=True):
        own = vocabulary[code, (typical * random.random(said) ** 2).astype(int)]
        noise = random.integers(n_words, size=said)
        answers.append(" ".join(f"w{word}" for word in np.where(random.random(said) < 0.45, own, noise)))
    words = CountVectorizer(min_df=1)
    train = words.fit_transform(answers[:SURVEY_TRAIN])
    return train, y[:SURVEY_TRAIN], words.transform(answers[SURVEY_TRAIN:]), y[SURVEY_TRAIN:]
