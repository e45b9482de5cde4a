"""The score of a fitted learner: which of its methods gives it, and in which columns."""

import warnings
from typing import Any

import numpy as np
from scipy.special import logsumexp

from calibrant._core._arrays import Array, BoolArray, Float64Array, as_floats
from calibrant._core._checks import check_finite, positions_of
from calibrant._core._errors import DataError, ParameterError
from calibrant.calibrators import ScoreKind

METHODS = ("auto", "decision_function", "predict_proba", "log_odds")


def check_scored(estimator: Any) -> None:
    """Refuse what is no learner."""
    if isinstance(estimator, type) or not callable(getattr(estimator, "fit", None)):
        came = (
            f"the class {estimator.__name__}; pass an object of it, {estimator.__name__}()"
            if isinstance(estimator, type)
            else f"{type(estimator).__name__}, which has no fit; pass a classifier"
        )
        raise ParameterError(f"estimator must be an object with fit; got {came}")


def hint_at_unused_probabilities(estimator: Any, method: str) -> None:
    """Say that a support vector machine need not train probabilities of its own, which nobody looks at."""
    while hasattr(estimator, "steps") and estimator.steps:  # a pipeline is what it ends with
        estimator = estimator.steps[-1][1]
    trains = getattr(estimator, "probability", False) is True and hasattr(estimator, "decision_function")
    if trains and method in ("auto", "decision_function"):
        name = type(estimator).__name__
        warnings.warn(
            f"{name}(probability=True) trains probabilities that nobody uses, as its margins are calibrated; "
            f"leave it out: {name}() gives the same answers sooner",
            UserWarning,
            stacklevel=3,
        )


def choose_method(estimator: Any, method: str) -> str:
    """Settle which method of a fitted learner gives its score."""
    if method != "auto":
        source = "predict_log_proba" if method == "log_odds" else method
        if not hasattr(estimator, source):
            raise ParameterError(
                f"response_method={method!r} needs a learner with {source}; "
                f"{type(estimator).__name__} has none; choose another response_method or learner"
            )
        return method
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name):
            return name
    raise ParameterError(
        "estimator must have decision_function or predict_proba, as its scores are calibrated; "
        f"{type(estimator).__name__} has neither; choose another learner"
    )


def kind_of(method: str) -> ScoreKind:
    """What the scores of a method are."""
    return "probability" if method == "predict_proba" else "margin"


def score(estimator: Any, X: Any, method: str, classes: Array) -> tuple[Float64Array, BoolArray]:
    """Score rows by a fitted learner, in the columns of all classes."""
    raw = _per_class(_response(estimator, X, method), estimator, method)
    place = positions_of(np.asarray(estimator.classes_), classes)
    known = np.zeros(len(classes), dtype=bool)
    known[place] = True
    if known.all() and np.array_equal(place, np.arange(len(classes))):
        return raw, known
    scores = np.zeros((len(raw), len(classes)))
    scores[:, place] = raw
    return scores, known


def _response(estimator: Any, X: Any, method: str) -> Float64Array:
    source = "predict_log_proba" if method == "log_odds" else method
    name = f"{source} of {type(estimator).__name__}"
    response = np.asarray(as_floats(getattr(estimator, source)(X), name), dtype=np.float64)
    if method == "log_odds":
        response = _log_odds(response)
    check_finite(response, name)
    return response


def _per_class(response: Float64Array, estimator: Any, method: str) -> Float64Array:
    """One column per class that the learner knows; a lone margin speaks for and against."""
    n_known = len(estimator.classes_)
    if response.ndim == 1:
        response = response[:, None]
    if response.shape[1] == 1 and n_known == 2:
        return np.hstack([-response, response])
    if response.shape[1] != n_known:
        raise DataError(
            f"{method} must give one score per class, {n_known} in all; {type(estimator).__name__} gave "
            f"{response.shape[1]} columns; choose another response_method"
            + (
                ", or set decision_function_shape='ovr'"
                if hasattr(estimator, "decision_function_shape")
                else ""
            )
        )
    return response


def _log_odds(log_proba: Float64Array) -> Float64Array:
    """Log-odds of every class, from logarithms, so that the order is kept where p rounds to 0 or 1."""
    against = np.empty_like(log_proba)
    for column in range(log_proba.shape[1]):
        against[:, column] = logsumexp(np.delete(log_proba, column, axis=1), axis=1)
    return log_proba - against
