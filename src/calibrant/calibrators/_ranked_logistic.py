"""Ranked logistic regression: how likely the class at a rank is to be right, from several ranked scores."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from calibrant import passes
from calibrant._core import _late as late
from calibrant._core._arrays import Array, Float64Array
from calibrant._core._field_groups import ListOf, Numbers, Record
from calibrant._core._fields import PROBABILITY, Flag, Maybe
from calibrant.calibrators._combinations import COMBINATION, RANK, Combination
from calibrant.calibrators._rank_fields import RANK_MAP
from calibrant.calibrators._rank_problem import Ranks
from calibrant.calibrators._rank_questions import RankLogistic, TrueRanks
from calibrant.calibrators._ranked import RankedCalibrator
from calibrant.calibrators._registry import ScoreKind
from calibrant.calibrators._sigmoid import FEATURES_OF, TRANSFORM
from calibrant.maps import NUMPY, SYMBOLS, Operations, Tensor, features_named

if TYPE_CHECKING:
    from calibrant.passes import Learning


@dataclass(frozen=True, slots=True, eq=False)
class RankMap:
    """The map ``P = 1/(1 + exp(sum_i A_i f_i + B))`` from ranked scores to the probability of being right.

    Attributes
    ----------
    scores : tuple of str
        The ranked scores f_i: "f1" is the highest score of a row. In a map that several ranks share, "fr"
        is the score of the class itself, "fr-1" and "fr+1" those before and after it.
    A : ndarray of shape (r,)
        Their slopes.
    B : float
        The intercept.
    n_iter : int
        Number of Newton steps taken.
    converged : bool
        Whether the optimum was reached.
    smoothed : bool
        Whether the targets were Platt's, asked for or in place of 0 and 1 that admit no optimum.
    transform : str
        What the scores go through first.
    """

    scores: tuple[str, ...]
    A: Float64Array
    B: float
    n_iter: int
    converged: bool
    smoothed: bool
    transform: str

    def estimate(self, scores: Sequence[Float64Array]) -> Float64Array:
        """Give the probability of being right.

        Parameters
        ----------
        scores : sequence of ndarray
            The values of the ranked scores, one array for each, broadcast against each other.

        Returns
        -------
        ndarray
            Probabilities.
        """
        with np.errstate(over="ignore"):  # far out the answer is 0 or 1
            return np.asarray(self._formula(scores, self.A, self.B, NUMPY))

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the scores that it uses."""
        return self.scores

    @property
    def takes_probabilities(self) -> bool:
        """Log-odds are those of probabilities."""
        return self.transform == "logit"

    @staticmethod
    def in_symbols(models: "Sequence[RankMap]", scores: Sequence[Tensor]) -> Tensor:
        """The same of several maps side by side, each given its column of every score.

        Parameters
        ----------
        models : sequence of RankMap
            The maps.
        scores : sequence of Tensor
            The values of the ranked scores; a map that uses fewer gives the others no slope.

        Returns
        -------
        Tensor
            Probabilities.
        """
        slopes = [
            np.array([each.A[place] if place < len(each.A) else 0.0 for each in models])
            for place in range(len(scores))
        ]
        found: Tensor = models[0]._formula(scores, slopes, np.array([each.B for each in models]), SYMBOLS)
        return found

    def _formula(self, scores: Sequence[Any], slopes: Any, intercept: Any, ops: Operations) -> Any:
        features = features_named(FEATURES_OF[self.transform])
        z = intercept
        for slope, score in zip(slopes, scores, strict=True):
            (feature,) = features.formula(score, ops)
            z = feature * slope + z
        return ops.falling_sigmoid(z)


class RankedLogisticCalibrator(RankedCalibrator, name="ranked_logistic"):
    """Calibrate one score per class by logistic regression on several ranked scores.

    How likely is the second candidate? Its own score says less about that than the highest one does: where
    the first is sure, the second is wrong. So the class at every rank has a logistic map of its own, from
    the scores at several ranks to the probability that it is the true class.

    Parameters
    ----------
    combination : {"A", "single", "B", "C"}, list of int, or list of lists of int, default="A"
        The ranked scores that are used. "A" takes the highest score and that of the class itself, and for
        the first rank the two highest; "single" only that of the class itself; "B" all down to it; "C" its
        own and its neighbours by rank. Or a list of ranks from 1, used for every rank, or a list of such
        lists, for the first rank, the second, and so on, the last for all further ranks too.
    smooth : bool, default=False
        Fit to Platt's targets ``(N+ + 1)/(N+ + 2)`` and ``1/(N- + 2)`` instead of 1 and 0, where N+ and N-
        count the rows in which the class at the rank is right and wrong.
    max_rank : int or None, default=None
        How many ranks get a map of their own; the ranks after these share one. None gives one to each.
    transform : {"identity", "logit"}, default="identity"
        Fit on the scores themselves, or on their log-odds. The latter is for scores that are probabilities;
        they are first kept within ``[1e-12, 1 - 1e-12]``.
    classes : array-like of shape (k,), optional
        The labels of the columns in order. By default the sorted labels of `y`, which must then be as many
        as there are columns.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels of the columns.
    maps_ : list of RankMap
        The maps of the first ranks.
    shared_map_ : RankMap or None
        The map of the ranks after these; None if there are none.
    rank_accuracy_ : ndarray
        Share of training rows whose true class was at each of the first ranks.
    feature_names_in_ : ndarray of shape (k,)
        The names of the columns of scores, in the order of the model; only if it was fitted to a frame.

    Warns
    -----
    ConvergenceWarning
        If 0 and 1 as targets admit no optimum at some rank, because its class was always right, always
        wrong, or the scores tell the one from the other without error. Platt's targets are used there.

    See Also
    --------
    AccuracyTableCalibrator : The same question answered by counting; better for the first rank.
    score_status_correlation : Which score says most about which rank.

    Notes
    -----
    Fit on scores of rows that the model was not trained on; the paper pools those of five folds.

    Of the combinations the paper recommends A throughout; A and B coincide at the second rank. Their
    definitions, as the formula of the map, are reconstructed from a text that has lost them. A rank whose
    class is always right, or always wrong, has the constant estimate ``(N+ + 1)/(N + 2)``.

    Where ranks share a map, it is fitted to all classes at these ranks. It uses f_1, ..., f_m and f_r under
    B with `max_rank` m, and under C f_K in place of the score after it.

    References
    ----------
    K. Takahashi, H. Takamura and M. Okumura, "Direct estimation of class membership probabilities for
    multiclass classification using multiple scores", Knowledge and Information Systems 19, 2009.

    Examples
    --------
    The second candidate is more likely where it is close behind the first:

    >>> from calibrant import RankedLogisticCalibrator
    >>> scores = [[2, 1, 0], [3, 2, 1], [2, 1.5, 0], [0, 3, 1], [1, 2, 2], [3, 0, 2], [2, 0, 3], [2, 1, 1.5]]
    >>> y = ["a", "b", "b", "b", "c", "a", "c", "a"]
    >>> model = RankedLogisticCalibrator(smooth=True).fit(scores, y)
    >>> close_or_far = model.predict_by_rank([[3, 2.5, 0], [3, 1, 0]], n_ranks=2)
    >>> close_or_far.label
    array([['a', 'b'],
           ['a', 'b']], dtype='<U1')
    >>> close_or_far.estimate.round(2)
    array([[0.34, 0.66],
           [0.94, 0.06]])
    """

    def __init__(
        self,
        combination: Combination = "A",
        smooth: bool = False,
        max_rank: int | None = None,
        transform: Literal["identity", "logit"] = "identity",
        classes: Sequence[object] | None = None,
    ) -> None:
        self.combination = combination
        self.smooth = smooth
        self.max_rank = max_rank
        self.transform = transform
        self.classes = classes

    parameters = Record(combination=COMBINATION, smooth=Flag(), max_rank=Maybe(RANK), transform=TRANSFORM)
    fitted = Record(
        rank_accuracy=Numbers(PROBABILITY), maps=ListOf(RANK_MAP, least=1), shared_map=Maybe(RANK_MAP)
    )
    complexity = 5

    @classmethod
    def for_new_rows(cls, kind: ScoreKind = "margin") -> Self:
        """Have Platt's targets, and work on the log-odds of probabilities."""
        return cls(smooth=True, transform="logit" if kind == "probability" else "identity")

    @property
    def takes_probabilities(self) -> bool:
        """Log-odds are those of probabilities."""
        return self.transform == "logit"

    def check_parameters(self) -> None:
        for name in ("smooth", "transform"):
            self.parameters.fields[name].check(name, getattr(self, name))

    def _scores_are(self) -> str:
        return "scores with transform='logit'"

    def _learn_models(self, ranks: Ranks) -> "Learning[tuple[list[RankMap], Array]]":
        how = FEATURES_OF[self.transform], bool(self.smooth)
        questions = [RankLogistic(ranks, model, *how) for model in range(ranks.n_models)]
        share, *fits = yield passes.Several((TrueRanks(ranks), *questions))
        models = [
            RankMap(
                ranks.axes(model),
                fit.slope,
                fit.intercept,
                fit.n_iter,
                fit.converged,
                smoothed,
                self.transform,
            )
            for model, (fit, smoothed) in enumerate(fits)
        ]
        return models, share

    def _kept(self) -> tuple[list[RankMap], RankMap | None]:
        own = [_of_file(each, self.transform) for each in self.maps_]
        return own, None if self.shared_map_ is None else _of_file(self.shared_map_, self.transform)

    def _keep(self, own: list[RankMap], shared: RankMap | None) -> None:
        self.maps_, self.shared_map_ = own, shared
        if self.smooth:
            return
        ranks = [str(rank) for rank, each in enumerate(own, start=1) if each.smoothed]
        if shared is not None and shared.smoothed:
            ranks.append(f"those after {len(own)}")
        if ranks:
            message = (
                f"at rank {_listed(ranks)} the class was always right, always wrong, or the scores told the "
                "one from the other, so that targets of 0 and 1 have no best fit; Platt's smoothed targets "
                "were used there; pass smooth=True to use them at all ranks, or max_rank to have fewer ranks"
            )
            warnings.warn(message, late.exceptions.ConvergenceWarning, stacklevel=6)


def _of_file(given: Any, transform: str) -> RankMap:
    """A map as it stands in a file, which says once for all of them what scores go through."""
    return RankMap(**given, transform=transform)


def _listed(ranks: list[str]) -> str:
    """A list for people, without the middle of a long one."""
    if len(ranks) > 6:
        ranks = [*ranks[:3], "...", ranks[-1]]
    return ", ".join(ranks)
