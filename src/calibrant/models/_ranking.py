"""Methods ranked by what they have lost on rows that they were not fitted to."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._chance import Seed, generator
from calibrant._core._errors import DataError
from calibrant.metrics import Estimate, EvaluationSums, LossMeasures, mean_of
from calibrant.models._advice import advise
from calibrant.passes import Rows

#: Resamples of the rows, and groups of rows that stand for single rows where these are more.
N_RESAMPLES, MOST_GROUPS = 1000, 2000


@dataclass(frozen=True, slots=True)
class MethodResult:
    """How one method did.

    Attributes
    ----------
    name : str
        The method.
    log_loss : Estimate
        Mean negative logarithm of the probability of the true class, which counts as at least
        `MethodComparison.limit`.
    brier_score : Estimate
        Mean squared error: of the positive class for two classes, summed over the classes for more.
    calibration, refinement : Estimate
        The parts of the Brier score, by isotonic regression; with intervals only if these were asked for.
    error_rate : Estimate
        Share of rows whose most probable class is not the true one.
    difference : Estimate
        Its log loss minus that of the best, on the same rows; its `error` is the standard error of that.
    share_best : float
        The share of resamples of the rows in which it comes first.
    certain_mistakes : int
        Number of rows whose true class it gave probability 0. Without the limit, a single one of them makes
        the log loss infinite.
    """

    name: str
    log_loss: Estimate
    brier_score: Estimate
    calibration: Estimate
    refinement: Estimate
    error_rate: Estimate
    difference: Estimate
    share_best: float
    certain_mistakes: int


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """Methods side by side; printed, it is a table with the advice below.

    Attributes
    ----------
    results : tuple of MethodResult
        The methods, the best first.
    measure : str
        What they are ranked by.
    n_rows : int
        Number of rows.
    n_folds : int
        Number of folds in which methods were fitted; 0 for given forecasts.
    best : str
        The method of least loss.
    advice : str
        Which method to use, why, and how sure that is.
    recommended : str or None
        The method that the advice names: the best of those that called nothing impossible that then happened;
        None if all did.
    limit : float
        The least probability that counts: half a row, ``1/(2 n_rows)``.
    """

    results: tuple[MethodResult, ...]
    measure: str
    n_rows: int
    n_folds: int
    best: str
    advice: str
    recommended: str | None
    limit: float

    def __str__(self) -> str:
        width = max(len("method"), *(len(result.name) for result in self.results))
        heads = ("log loss", "Brier", "calibr.", "refinem.", "error", "behind", "±", "first")
        lines = [f"{'method':<{width}}" + "".join(f"  {head:>8}" for head in heads)]
        for each in self.results:
            numbers = (each.log_loss, each.brier_score, each.calibration, each.refinement, each.error_rate)
            half = (each.difference.high - each.difference.low) / 2
            behind = f"  {each.difference:>8.4f}  {half:>8.4f}  {each.share_best:>8.0%}"
            lines.append(
                f"{each.name:<{width}}" + "".join(f"  {number:>8.4f}" for number in numbers) + behind
            )
        return "\n".join([*lines, "", self.advice])


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Limited log losses of rows, one column per method, and the weights of the rows."""

    loss: Float64Array
    weights: Float64Array
    grouped: bool = False

    def means(self) -> Float64Array:
        return np.asarray(self.weights @ self.loss / self.weights.sum())

    def mean(self, place: int) -> Estimate:
        """Mean loss of a method."""
        return mean_of(self.loss[:, place], self.weights, copies=not self.grouped)

    def difference(self, one: int, other: int) -> Estimate:
        """Mean difference of two methods on the same rows."""
        return mean_of(self.loss[:, one] - self.loss[:, other], self.weights, copies=not self.grouped)

    def shares_best(self, rng: np.random.Generator) -> Float64Array:
        """The share of resamples in which each method has the least loss; of equal ones the first.

        Very many rows are resampled in groups that chance has put together, which changes nothing but the
        time it takes.
        """
        n_groups = min(len(self.weights), MOST_GROUPS)
        group = rng.permutation(len(self.weights)) % n_groups
        weight = np.bincount(group, self.weights, n_groups)
        loss = np.stack([np.bincount(group, self.weights * each, n_groups) for each in self.loss.T], axis=1)
        drawn = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=N_RESAMPLES)
        first = np.argmin(drawn @ loss / (drawn @ weight)[:, None], axis=1)
        return np.bincount(first, minlength=self.loss.shape[1]) / N_RESAMPLES


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What a method has lost on rows that it was not fitted to.

    Attributes
    ----------
    sums : EvaluationSums
        All that is said of its probabilities.
    loss, weight : ndarray of shape (g,)
        Limited log loss and weight of every row, or of every group of rows.
    grouped : bool
        Whether they are those of groups.
    """

    sums: EvaluationSums
    loss: Float64Array
    weight: Float64Array
    grouped: bool = False

    @classmethod
    def of(cls, proba: Float64Array, rows: Rows, limit: float) -> "Trial":
        """From the probabilities of rows in memory; `nan` where there are none."""
        sums = EvaluationSums(proba.shape[1], proba.shape[1], exact=True)
        if not np.isnan(proba).any():
            sums.add(rows.truth, proba, rows.weight)
        chance = proba[np.arange(len(rows)), rows.truth]
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        return cls(sums, -np.log(np.maximum(chance, limit)), weight)


def ranked(
    trials: Mapping[str, Trial],
    n_rows: int,
    n_folds: int,
    limit: float,
    random_state: Seed,
    *,
    part_intervals: bool = False,
) -> MethodComparison:
    """Rank methods by what they have lost; calibration and refinement have intervals if these are wanted."""
    for name, trial in trials.items():
        if np.isnan(trial.loss).any():
            raise DataError(
                f"every method must give a probability to every row; {name!r} gave none to some; use "
                "fallback='prior'"
            )
    first = next(iter(trials.values()))
    losses = Losses(np.stack([trial.loss for trial in trials.values()], axis=1), first.weight, first.grouped)
    order = np.argsort(losses.means(), kind="stable")
    losses = replace(losses, loss=losses.loss[:, order])
    shares = losses.shares_best(generator(random_state))
    names = [list(trials)[place] for place in order]
    results = tuple(
        _result(name, trials[name].sums.losses(part_intervals=part_intervals), losses, place, shares[place])
        for place, name in enumerate(names)
    )
    recommended, advice = advise(results, n_rows)
    return MethodComparison(results, "log loss", n_rows, n_folds, names[0], advice, recommended, limit)


def _result(name: str, found: LossMeasures, losses: Losses, place: int, share: float) -> MethodResult:
    return MethodResult(
        name,
        losses.mean(place),
        found.brier_score,
        found.calibration,
        found.refinement,
        found.error_rate,
        losses.difference(place, 0),
        float(share),
        found.certain_mistakes,
    )
