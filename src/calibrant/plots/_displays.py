"""Diagrams of labels and probabilities, and of an estimator: what they compute before they draw."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._checks import (
    check_binary_labels,
    check_class_labels,
    check_probabilities,
    check_same_length,
    check_weights,
)
from calibrant._core._errors import DataError
from calibrant.metrics import share_estimate

Draw = TypeVar("Draw", bound=Callable[..., Any])
#: Points of a curve at which its interval is computed.
MOST_POINTS = 201


class Forecasts(NamedTuple):
    """Whether an event came, and how probable it was said to be."""

    came: BoolArray
    proba: Float64Array
    weight: Float64Array | None


def of_positive(
    y: object, proba: object, classes: object, sample_weight: object, *, many: bool = True
) -> Forecasts:
    """Of two classes the second; of more the most probable one, where that makes sense."""
    matrix = check_probabilities(proba)
    if matrix.ndim == 1:
        came = np.asarray(check_binary_labels(y, classes=classes)[1])
        chance = matrix
    else:
        truth = check_class_labels(y, matrix.shape[1], classes)
        if matrix.shape[1] > 2 and not many:
            raise DataError(
                f"proba must be that of two classes; got {matrix.shape[1]}; draw one class against the "
                "others: pass y == label, and the column of that class"
            )
        chosen = matrix.argmax(axis=1) if matrix.shape[1] > 2 else np.ones(len(matrix), dtype=np.intp)
        check_same_length(labels=truth, proba=matrix)
        came, chance = truth == chosen, np.asarray(matrix[np.arange(len(matrix)), chosen])
    check_same_length(labels=came, proba=chance)
    return Forecasts(np.asarray(came, dtype=bool), chance, check_weights(sample_weight, len(chance)))


def of_decision(y: object, proba: object, classes: object, sample_weight: object) -> Forecasts:
    """The most probable class, also of two."""
    matrix = check_probabilities(proba)
    if matrix.ndim == 1:
        came, chance, weight = of_positive(y, matrix, classes, sample_weight)
        return Forecasts((chance > 0.5) == came, np.maximum(chance, 1 - chance), weight)
    truth = check_class_labels(y, matrix.shape[1], classes)
    check_same_length(labels=truth, proba=matrix)
    right = matrix.argmax(axis=1) == truth
    return Forecasts(right, matrix.max(axis=1), check_weights(sample_weight, len(right)))


def fill_interval(ax: Any, x: Float64Array, share: Float64Array, n: float, color: Any) -> None:
    """Draw Wilson's interval of a curve of shares of so many cases, pale and behind it."""
    places = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(np.intp))
    found = [share_estimate(float(each), n) for each in share[places]]
    low, high = [each.low for each in found], [each.high for each in found]
    ax.fill_between(x[places], low, high, facecolor=(color, 0.15), edgecolor="none", zorder=0.6)


def display(draw: Draw) -> Draw:
    """Give a diagram the two ways in that the displays of scikit-learn have."""

    def from_predictions(y: Any, proba: Any, *, ax: Any = None, **options: Any) -> Any:
        return draw(y, proba, ax=ax, **options)

    def from_estimator(estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Any:
        given = {"classes": np.asarray(estimator.classes_), "label": type(estimator).__name__} | options
        return draw(y, estimator.predict_proba(X), ax=ax, **given)

    for way, said in (
        (from_predictions, "labels and probabilities; the same as calling it with both."),
        (from_estimator, "a fitted classifier, the rows to ask it about, and their labels."),
    ):
        way.__doc__ = f"Draw `{draw.__name__}` of {said}"
        way.__module__, way.__qualname__ = draw.__module__, f"{draw.__name__}.{way.__name__}"
        setattr(draw, way.__name__, way)
    return draw
