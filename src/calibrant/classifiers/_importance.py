"""Examples that matter differently, for learners that take weights and for learners that do not.

A classifier that minimises the error weighted by i_p(1) = (1 - p)/p, i_p(0) = 1 says "positive" exactly where
the probability exceeds p. (Langford and Zadrozny 2005 speak of inverting their equation 1; what they invert
is D > 1/(1 + w).) A learner that takes no weights learns the same from a sample:

- *rejection*: every example is kept with probability i/Z, where Z is the greatest importance. Nothing is
  drawn twice (Zadrozny, Langford and Abe 2003).
- *flip*: every example is kept, and with probability (1 - i/Z)(k - 1)/k its label is exchanged for another
  one, so that the classes of greatest weighted and of greatest noisy probability are the same. For two
  classes and the importance above this is Halck's (2002) label noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant._core._checks import check_option
from calibrant._core._errors import ParameterError


def threshold_importance(is_positive: BoolArray, threshold: float) -> Float64Array:
    """Importance that moves the decision to the threshold: (1 - p)/p for positives, 1 for negatives."""
    return np.where(is_positive, (1 - threshold) / threshold, 1.0)


def acceptance(importance: Float64Array) -> Float64Array:
    """Importance over the greatest one: the probability that rejection sampling keeps an example."""
    return np.asarray(importance / importance.max())


def flip_chance(accepted: Float64Array, n_classes: int) -> Float64Array:
    """Probability that an example gets another label, uniformly chosen, instead of a weight."""
    return np.asarray((1 - accepted) * (n_classes - 1) / n_classes)


@dataclass(frozen=True, slots=True)
class Sample:
    """What a learner is given instead of examples of different importance.

    Attributes
    ----------
    rows : ndarray or None
        The rows kept; None means all of them.
    position : ndarray
        The number of the class of each.
    weights : ndarray or None
        Their weights, where the learner takes weights.
    """

    rows: IntArray | None
    position: IntArray
    weights: Float64Array | None


def as_weights(position: IntArray, importance: Float64Array, _n_classes: int, _rng: Any) -> Sample:
    """All examples, their importance as weights."""
    return Sample(None, position, importance)


def by_rejection(position: IntArray, importance: Float64Array, _n_classes: int, rng: Any) -> Sample:
    """A sample without duplicates, in which an example is as likely as it is important."""
    rows = np.flatnonzero(rng.random(len(position)) < acceptance(importance))
    return Sample(rows, position[rows], None)


def by_flipping(position: IntArray, importance: Float64Array, n_classes: int, rng: Any) -> Sample:
    """All examples, the labels of the less important ones exchanged by chance."""
    flipped = rng.random(len(position)) < flip_chance(acceptance(importance), n_classes)
    another = (position + rng.integers(1, n_classes, size=len(position))) % n_classes
    return Sample(None, np.where(flipped, another, position), None)


WEIGHTINGS: dict[str, Callable[[IntArray, Float64Array, int, Any], Sample]] = {
    "weights": as_weights,
    "rejection": by_rejection,
    "flip": by_flipping,
}


#: What may be amiss with metadata routing.
_UNASKED = " unless set_fit_request(sample_weight=True) asks for it"


def _routes() -> bool:
    return bool(get_config()["enable_metadata_routing"])


def weight_parameter(estimator: Any) -> str | None:
    """The parameter of `fit` by which a learner takes weights; of a pipeline, that of its last step.

    With metadata routing a learner that has declined them takes none, and a pipeline none that no step has
    asked for.
    """
    if isinstance(estimator, Pipeline):
        if _routes():
            consumed = get_routing_for_object(estimator).consumes("fit", ["sample_weight"])
            return "sample_weight" if consumed else None
        name, last = estimator.steps[-1]
        inner = weight_parameter(last)
        return None if inner is None else f"{name}__{inner}"
    takes_weights = has_fit_parameter(estimator, "sample_weight") and not _has_declined(estimator)
    return "sample_weight" if takes_weights else None


def _has_declined(estimator: Any) -> bool:
    """Whether a learner, with metadata routing, wants no weights; one that has not said may get them."""
    if not _routes():
        return False
    routing = get_routing_for_object(estimator)
    own = getattr(routing, "_self_request", routing)  # a learner that wraps others routes to them as well
    return own.fit.requests.get("sample_weight") is False


def _grows_a_tree(estimator: Any) -> bool:
    """Whether a learner, or the last step of a pipeline, is a decision tree.

    A tree that is grown to its leaves fits every row whatever its weight, and so answers alike at all
    thresholds; samples differ. Langford and Zadrozny (2005) sample for their trees too.
    """
    if isinstance(estimator, Pipeline):
        return _grows_a_tree(estimator.steps[-1][1])
    return isinstance(estimator, BaseDecisionTree)


def choose_weighting(estimator: Any, weighting: str) -> str:
    """Settle how a learner is told what matters: by weights if they serve it, else by rejection."""
    check_option("weighting", weighting, ("auto", *WEIGHTINGS))
    takes_weights = weight_parameter(estimator) is not None
    if weighting == "auto":
        return "weights" if takes_weights and not _grows_a_tree(estimator) else "rejection"
    if weighting == "weights" and not takes_weights:
        raise ParameterError(
            "weighting='weights' needs a learner whose fit takes sample_weight; "
            f"{type(estimator).__name__}.fit takes none{_UNASKED if _routes() else ''}; pass "
            "weighting='rejection'"
        )
    return weighting
