"""How the loss of Probing falls with the number of probes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._checks import shown
from calibrant._core._errors import ParameterError
from calibrant.classifiers._probing import ProbingClassifier
from calibrant.metrics import brier_score, log_loss


@dataclass(frozen=True, slots=True, eq=False)
class ProbingCurve:
    """Loss against the number of probes.

    Attributes
    ----------
    n_probes : ndarray of shape (m + 1,)
        0, 1, ..., m.
    cross_entropy : ndarray of shape (m + 1,)
        Mean log loss in nats after so many probes.
    squared_error : ndarray of shape (m + 1,)
        Mean squared error of a probability after so many probes; for two classes that of either.
    """

    n_probes: IntArray
    cross_entropy: Float64Array
    squared_error: Float64Array


def probing_curve(model: ProbingClassifier, X: Any, y: Any, *, sample_weight: Any = None) -> ProbingCurve:
    """Measure a fitted `ProbingClassifier` after every probe, as in figure 1 of the paper.

    Parameters
    ----------
    model : ProbingClassifier
        A fitted one.
    X : array-like, sparse matrix, frame or list of shape (n, ...)
        Rows that it was not trained on.
    y : array-like of shape (n,)
        Their labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    ProbingCurve
        The losses, from no probe at all to all of them.

    Notes
    -----
    Langford and Zadrozny find that the curves are flat after about 20 probes.

    Examples
    --------
    Without probes everyone gets 1/2, and the loss is log 2; most of the gain comes early:

    >>> from calibrant.classifiers import ProbingClassifier, probing_curve
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import Perceptron
    >>> X, y = make_classification(600, 5, flip_y=0.2, random_state=0)
    >>> model = ProbingClassifier(Perceptron(), n_probes=40, random_state=0).fit(X[:300], y[:300])
    >>> loss = probing_curve(model, X[300:], y[300:]).cross_entropy
    >>> round(float(loss[0]), 3)
    0.693
    >>> bool(loss[0] - loss[20] > 0.9 * (loss[0] - loss.min()))
    True
    """
    if not isinstance(model, ProbingClassifier):
        raise ParameterError(f"model must be a fitted ProbingClassifier; got {shown(model)}")
    entropies, squares = [], []
    for proba in model._stages(X):
        entropies.append(log_loss(y, proba, sample_weight=sample_weight, classes=model.classes_))
        squares.append(
            brier_score(y, proba, convention="mean", sample_weight=sample_weight, classes=model.classes_)
        )
    return ProbingCurve(np.arange(len(entropies)), np.array(entropies), np.array(squares))
