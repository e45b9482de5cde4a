"""Features of scores, each one formula for every surface: what logistic and softmax maps are linear in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._checks import check_probabilities, not_among
from calibrant.maps._operations import LOG_CLIP, LOG_TINY, NUMPY, Operations


@dataclass(frozen=True)
class Features:
    """What a map looks at.

    Attributes
    ----------
    formula : callable
        From scores, and the operations to use, to a tuple of features of their shape.
    of_probabilities : bool
        Whether the scores must lie in [0, 1].
    """

    formula: Callable[[Any, Operations], tuple[Any, ...]]
    of_probabilities: bool


def _kept(proba: Any, ops: Operations) -> Any:
    return ops.clip(proba, LOG_CLIP, 1 - LOG_CLIP)


def _logs(proba: Any, ops: Operations) -> tuple[Any, ...]:
    kept = _kept(proba, ops)
    return ops.log(kept), 0.0 - ops.log(1.0 - kept)


def _log_of_any(proba: Any, ops: Operations) -> Any:
    return ops.log(ops.clip(proba, LOG_TINY, 1.0))


#: The score itself; its log-odds; its logarithm; minus that of its complement; both of the latter.
#: Logarithm and log-odds again, of probabilities as small as they come.
FEATURES: dict[str, Features] = {
    "score": Features(lambda scores, ops: (scores,), False),  # noqa: ARG005
    "log_odds": Features(lambda scores, ops: (ops.log_odds(_kept(scores, ops)),), True),
    "log": Features(lambda scores, ops: (ops.log(_kept(scores, ops)),), True),
    "log_rest": Features(lambda scores, ops: (0.0 - ops.log(1.0 - _kept(scores, ops)),), True),
    "logs": Features(_logs, True),
    "any_log": Features(lambda scores, ops: (_log_of_any(scores, ops),), True),
    "any_log_odds": Features(
        lambda scores, ops: (_log_of_any(scores, ops) - _log_of_any(1.0 - scores, ops),), True
    ),
}


def features_named(name: str) -> Features:
    """The features of a name."""
    if name not in FEATURES:
        raise not_among("features", name, FEATURES)
    return FEATURES[name]


def features_of(scores: Float64Array, name: str) -> list[Float64Array]:
    """The features of scores, which are refused if they cannot have them."""
    features = features_named(name)
    if features.of_probabilities:
        scores = check_probabilities(scores, "scores")
    return [np.asarray(each) for each in features.formula(scores, NUMPY)]
