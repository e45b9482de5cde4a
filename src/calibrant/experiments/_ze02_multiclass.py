"""The multiclass problems of Zadrozny & Elkan: Pendigits and 20 Newsgroups, one-vs-all."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from calibrant._core._arrays import Array, Float64Array
from calibrant.calibrators import OneVsAllCalibrator, PAVCalibrator, RankedLogisticCalibrator
from calibrant.classifiers import score
from calibrant.codes import Coupling, LeastSquares, Normalize, one_vs_all
from calibrant.experiments._choice import choose
from calibrant.experiments._data_text import read_newsgroups
from calibrant.experiments._datasets import read_numeric
from calibrant.experiments._errors import mean_error
from calibrant.learners import BoostedNaiveBayes, CategoricalNaiveBayes, EqualWidthQuantizer
from calibrant.metrics import brier_score, error_rate

COMBINATIONS: dict[str, Any] = {
    "normalisation": Normalize(),
    "least squares": LeastSquares(keep_possible=False),
    "coupling": Coupling(algorithm="published", tol=1e-6, max_iter=5000),
    "KL minimiser": Coupling(),
}
#: The paper's isotonic regression, which may be certain.
PAV = PAVCalibrator(clip=0)
#: What there is to choose from today, on scores out of fold.
TODAY: dict[str, Any] = {
    "PAV, normalisation": OneVsAllCalibrator(PAV),
    "PAV, KL minimiser": OneVsAllCalibrator(PAV, "coupling"),
    "sigmoid, normalisation": OneVsAllCalibrator("sigmoid"),
    "sigmoid, KL minimiser": OneVsAllCalibrator("sigmoid", "coupling"),
    "ranked logistic": RankedLogisticCalibrator(smooth=True),
}
LEARNERS: dict[str, Any] = {
    "NB": make_pipeline(EqualWidthQuantizer(), CategoricalNaiveBayes()),
    "BNB": make_pipeline(EqualWidthQuantizer(), BoostedNaiveBayes()),
}
#: Multinomial naive Bayes with Laplace's correction on the counts of all words but the commonest.
TEXT_LEARNER = MultinomialNB(alpha=1.0)


@dataclass(frozen=True, slots=True)
class Parts:
    """Training and test rows."""

    X_train: Any
    y_train: Array
    X_test: Any
    y_test: Array


def pendigits(learner: str) -> dict[str, Any]:
    """A learner on Pendigits, one-vs-all, in the standard split."""
    train, test = read_numeric("pendigits.train"), read_numeric("pendigits.test")
    return one_vs_all_table(LEARNERS[learner], Parts(train.X, train.y, test.X, test.y))


def newsgroups(seed: int) -> dict[str, Any]:
    """Naive Bayes on 20 Newsgroups, one-vs-all, on a random 80% of every group."""
    articles = read_newsgroups()
    split = StratifiedShuffleSplit(1, test_size=0.2, random_state=seed)
    train, test = next(split.split(articles.y, articles.y))
    words = CountVectorizer(stop_words="english")
    return one_vs_all_table(
        TEXT_LEARNER,
        Parts(
            words.fit_transform([articles.texts[row] for row in train]),
            articles.y[train],
            words.transform([articles.texts[row] for row in test]),
            articles.y[test],
        ),
    )


def one_vs_all_table(model: Any, parts: Parts) -> dict[str, Any]:
    """The table of a learner: raw and PAV answers, combined in every way; and the best method of today."""
    classes = np.unique(parts.y_train)
    columns = [clone(model).fit(parts.X_train, parts.y_train == label) for label in classes]
    train, test = _scores(columns, parts.X_train), _scores(columns, parts.X_test)
    out_of_fold = _out_of_fold(model, parts, classes)
    answers = {
        "raw": _probabilities(columns, test),
        "PAV": _pav(train, parts.y_train, classes, test),
        "PAV out of fold": _pav(out_of_fold, parts.y_train, classes, test),
    }
    code = one_vs_all(len(classes))
    table: dict[str, Any] = {
        kind: {
            name: measures_of(combine(code, answer), parts.y_test, classes)
            for name, combine in COMBINATIONS.items()
        }
        for kind, answer in answers.items()
    }
    # How sure the combined answers are of their first choice.
    certainty = {
        kind: float(COMBINATIONS["normalisation"](code, answer).max(axis=1).mean())
        for kind, answer in answers.items()
    }
    choice = choose(TODAY, out_of_fold, parts.y_train)
    measures = measures_of(choice.calibrator.predict_proba(test), parts.y_test, classes)
    return table | {
        "certainty": certainty,
        "today": {"choice": choice.name, "losses": choice.losses, "measures": measures},
    }


def _scores(columns: list[Any], X: Any) -> Float64Array:
    """The score of every column for its class: log-odds where it has them, which keep their order."""
    method = _method(columns[0])
    return np.column_stack([score(column, X, method, column.classes_)[0][:, 1] for column in columns])


def _method(column: Any) -> str:
    return "log_odds" if hasattr(column, "predict_log_proba") else "predict_proba"


def _probabilities(columns: list[Any], scores: Float64Array) -> Float64Array:
    return np.asarray(expit(scores)) if _method(columns[0]) == "log_odds" else scores


def _out_of_fold(model: Any, parts: Parts, classes: Array) -> Float64Array:
    scores = np.empty((len(parts.y_train), len(classes)))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for train, held in folds.split(scores, parts.y_train):
        X, y = parts.X_train[train], parts.y_train[train]
        columns = [clone(model).fit(X, y == label) for label in classes]
        scores[held] = _scores(columns, parts.X_train[held])
    return scores


def _pav(scores: Float64Array, y: Array, classes: Array, new: Float64Array) -> Float64Array:
    """The PAV answer of every column."""
    columns = [
        clone(PAV).fit(column, y == label).predict_proba(fresh)[:, 1]
        for column, fresh, label in zip(scores.T, new.T, classes, strict=True)
    ]
    return np.column_stack(columns)


def measures_of(proba: Float64Array, y: Array, classes: Array) -> list[float]:
    """Squared error and error, and the standard errors of both over the test rows."""
    truth = y[:, np.newaxis] == classes
    wrong = (classes[proba.argmax(axis=1)] != y).astype(np.float64)
    return [
        brier_score(y, proba, convention="mean", classes=classes),
        error_rate(y, proba, classes=classes),
        mean_error(np.mean((proba - truth) ** 2, axis=1)),
        mean_error(wrong),
    ]
