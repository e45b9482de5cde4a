"""Which method to use: all of them on the user's own rows, each judged on rows that it was not fitted to."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._chance import Seed, generator
from calibrant._core._checks import check_number, check_option, shown
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import by_label
from calibrant.calibrators import (
    ScoreKind,
    calibrator_for,
    can_only_rise,
    half_a_row,
    named_method,
    names_taking,
    new_calibrator,
    warn_of_columns,
)
from calibrant.metrics import (
    Forecasts,
    brier_decomposition,
    brier_score,
    directions_of,
    error_rate,
    read_forecasts,
)
from calibrant.models._advice import advise
from calibrant.models._plan import Answers, Arrays, answered, cross_fit, dealt
from calibrant.models._read_rows import read_rows
from calibrant.models._summary import MOST_FOR_DECOMPOSITION
from calibrant.passes import Fold, Rows

#: Resamples of the rows, and groups of rows that stand for single rows where these are more.
N_RESAMPLES, MOST_GROUPS = 1000, 2000


@dataclass(frozen=True, slots=True)
class MethodResult:
    """How one method did.

    Attributes
    ----------
    name : str
        The method.
    log_loss : float
        Mean negative logarithm of the probability of the true class, which counts as at least
        `MethodComparison.limit`.
    brier : float
        Mean squared error: of the positive class for two classes, summed over the classes for more.
    calibration, refinement : float
        The parts of the Brier score, by isotonic regression; `nan` for more than five million numbers.
    error : float
        Share of rows whose most probable class is not the true one.
    difference : float
        Its log loss minus that of the best, on the same rows.
    difference_error : float
        The standard error of that difference.
    share_best : float
        The share of resamples of the rows in which it comes first.
    impossible : int
        Number of rows whose true class it gave probability 0. Without the limit, a single one of them makes
        the log loss infinite.
    """

    name: str
    log_loss: float
    brier: float
    calibration: float
    refinement: float
    error: float
    difference: float
    difference_error: float
    share_best: float
    impossible: int


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
    recommended : str
        The method that the advice names: the best, or a simpler one that ties with it.
    limit : float
        The least probability that counts: half a row, ``1/(2 n_rows)``.
    """

    results: tuple[MethodResult, ...]
    measure: str
    n_rows: int
    n_folds: int
    best: str
    advice: str
    recommended: str
    limit: float

    def __str__(self) -> str:
        width = max(len("method"), *(len(result.name) for result in self.results))
        heads = ("log loss", "Brier", "calibr.", "refinem.", "error", "behind", "+-", "first")
        lines = [f"{'method':<{width}}" + "".join(f"  {head:>8}" for head in heads)]
        for each in self.results:
            numbers = (each.log_loss, each.brier, each.calibration, each.refinement, each.error)
            behind = f"  {each.difference:>8.4f}  {each.difference_error:>8.4f}  {each.share_best:>8.0%}"
            lines.append(
                f"{each.name:<{width}}" + "".join(f"  {number:>8.4f}" for number in numbers) + behind
            )
        return "\n".join([*lines, "", self.advice])


def compare_methods(
    scores: object,
    y: object,
    *,
    sample_weight: object = None,
    methods: Sequence[str] | Mapping[str, object] | None = None,
    classes: Sequence[object] | None = None,
    combine: object = "normalize",
    kind: ScoreKind = "margin",
    cv: int = 5,
    random_state: Seed = 0,
) -> MethodComparison:
    """Compare calibration methods on one's own scores, each on rows that it was not fitted to.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, k)
        One score per row, of the positive of two classes; or one per class.
    y : array-like of shape (n,)
        The labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    methods : sequence of str, or mapping of str to calibrator, optional
        The methods by name, see `named_method`; or calibrators of one's own, under names of one's own. By
        default all that take such scores.
    classes : array-like of shape (k,), optional
        The labels of the columns in order; by default the sorted labels of `y`.
    combine : {"normalize", "least_squares", "coupling"} or object, default="normalize"
        How the answers of two-class methods become one distribution, where there is a score for every class.
    kind : {"margin", "probability"}, default="margin"
        What the scores are. Probabilities are tried as they are too, under the name "identity".
    cv : int, default=5
        Number of folds: stratified, shuffled. Classes with fewer rows are spread over as many folds as they
        have rows.
    random_state : int, Generator, RandomState or None, default=0
        How rows are shuffled and resampled.

    Returns
    -------
    MethodComparison
        The methods, the best first; and which to use, why, and how sure that is.

    See Also
    --------
    compare_forecasts : For probabilities that are there already.

    Notes
    -----
    Methods are ranked by log loss. A probability of 0 for what then happens would make it infinite, and a
    single such row would decide the ranking; n rows cannot speak for less than about half a row in n. So
    a true class counts with a probability of at least ``1/(2 n)``, the number of rows that were nevertheless
    called impossible is reported, and the methods that can say 0 are tried in the form that stays half a
    row away from it, which is also the form that the command fits.

    Two methods tie if they differ by no more than two standard errors of their difference. Of methods that
    tie, the advice is to use the simplest.

    Examples
    --------
    >>> from calibrant.models import compare_methods
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = compare_methods(-X[:, 0], y)  # the radius of the tumour
    >>> for each in found.results:
    ...     print(f"{each.name:8} {each.log_loss:.3f} {each.difference:.3f} +- {each.difference_error:.3f}")
    sigmoid  0.295 0.000 +- 0.000
    binning  0.306 0.011 +- 0.006
    pav      0.314 0.019 +- 0.010
    >>> print(found.advice)
    Use sigmoid: its log loss on 569 rows is the least, 0.2954. That is not sure: binning and pav can be as
    good. binning is only 0.0108 behind (standard error 0.0060), which can be chance.
    """
    check_option("kind", kind, ("margin", "probability"))
    rows = read_rows(scores, y, sample_weight, classes)
    rows = replace(rows, scores=by_label(scores, rows.scores, lambda: rows.classes, "scores"))
    must = "a whole number from 2"
    n_folds = int(check_number("cv", cv, must, lambda number: number >= 2 and number == int(number)))
    if len(rows) < 2:
        raise DataError(f"scores must have at least two rows to compare methods; got {len(rows)}")
    n_folds = min(n_folds, len(rows))
    chosen = methods_of(methods, rows.scores.ndim, kind)
    if any(map(can_only_rise, chosen.values())):
        warn_of_columns(directions_of(rows.scores, rows.truth, rows.weight), rows.classes, stacklevel=3)
    answers, folds = Arrays(dealt(rows, n_folds, random_state)), [Fold(n, n_folds) for n in range(n_folds)]
    forecasts = {
        name: _cross_fitted(name, given, answers, combine, kind, folds) for name, given in chosen.items()
    }
    return _rank(forecasts, rows, n_folds, random_state)


def compare_forecasts(
    y: object,
    forecasts: Mapping[str, object],
    *,
    sample_weight: object = None,
    classes: Sequence[object] | None = None,
    random_state: Seed = 0,
) -> MethodComparison:
    """Compare probabilities that are there already.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    forecasts : mapping of str to array-like of shape (n,) or (n, k)
        Probabilities under names: of the positive class, or of every class.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    classes : array-like of shape (k,), optional
        The labels of the columns in order.
    random_state : int, Generator, RandomState or None, default=0
        How rows are resampled.

    Returns
    -------
    MethodComparison
        The forecasts, the best first.

    See Also
    --------
    compare_methods : For scores that are to be calibrated.

    Examples
    --------
    >>> from calibrant.models import compare_forecasts
    >>> y = [0, 0, 1, 0, 1, 1] * 20
    >>> timid, bold = [0.4, 0.4, 0.6, 0.4, 0.6, 0.6] * 20, [0.1, 0.1, 0.9, 0.1, 0.9, 0.9] * 20
    >>> compare_forecasts(y, {"timid": timid, "bold": bold}).best
    'bold'
    """
    if not isinstance(forecasts, Mapping):
        raise ParameterError(f"forecasts must be a mapping of names to forecasts; got {shown(forecasts)}")
    if not forecasts:
        raise ParameterError("forecasts must hold at least one forecast; got none")
    read: dict[str, Forecasts] = {}
    for name, proba in forecasts.items():
        try:
            read[str(name)] = read_forecasts(y, proba, sample_weight, classes)
        except DataError as error:
            raise DataError(f"forecasts[{name!r}]: {error}") from error
    first = next(iter(read.values()))
    matrices = {name: _both_columns(each.proba) for name, each in read.items()}
    for name, matrix in matrices.items():
        if matrix.shape != (len(first.truth), first.n_classes):
            raise DataError(
                f"forecasts[{name!r}]: proba must have the rows and classes of the first, shape "
                f"{(len(first.truth), first.n_classes)}; got shape {matrix.shape}"
            )
    weights = None if sample_weight is None else first.weights
    rows = Rows(first.proba, first.truth, weights, classes=np.arange(first.n_classes))
    return _rank(matrices, rows, 0, random_state)


def methods_of(
    methods: Sequence[str] | Mapping[str, object] | None, n_dimensions: int, kind: ScoreKind
) -> dict[str, object]:
    """What to try under which name: a name of ours, or an object."""
    if isinstance(methods, Mapping):
        chosen = {str(name): method for name, method in methods.items()}
    elif methods is None:
        takes = ("score",) if n_dimensions == 1 else ("score", "row")
        chosen = {name: name for name in names_taking(*takes, kind=kind)}
    elif isinstance(methods, str):
        raise ParameterError(
            f"methods must be a sequence of names; got the text {methods!r}; put it in a list"
        )
    elif isinstance(methods, Sequence) and all(isinstance(name, str) for name in methods):
        chosen = {name: name for name in methods}
    else:
        raise ParameterError(
            f"methods must be a sequence of names, or a mapping of names to calibrators; got {shown(methods)}"
        )
    if not chosen:
        raise ParameterError("methods must hold at least one method; got none")
    return chosen


def _cross_fitted(
    name: str, given: object, rows: Answers, combine: object, kind: ScoreKind, folds: Sequence[Fold]
) -> Float64Array:
    chosen = named_method(given, kind) if isinstance(given, str) else new_calibrator(given)
    calibrator = calibrator_for(chosen, rows.n_dimensions, None, combine)
    proba: Float64Array = answered(cross_fit(calibrator, rows, folds)).proba
    if np.isnan(proba).any():
        raise DataError(
            f"every method must give a probability to every row; {name!r} gave none to "
            f"{int(np.isnan(proba).any(axis=1).sum())}; use fallback='prior'"
        )
    return proba


def _both_columns(proba: Float64Array) -> Float64Array:
    return np.column_stack([1.0 - proba, proba]) if proba.shape[1] == 1 else proba


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Limited log losses of rows, one column per method, and the weights of the rows."""

    loss: Float64Array
    weights: Float64Array

    def means(self) -> Float64Array:
        return np.asarray(self.weights @ self.loss / self.weights.sum())

    def paired(self, one: int, other: int) -> tuple[float, float]:
        """Mean difference of two methods on the same rows, with its standard error."""
        difference = self.loss[:, one] - self.loss[:, other]
        total, n_rows = self.weights.sum(), len(difference)
        mean = float(self.weights @ difference / total)
        spread = float(np.sqrt(np.sum((self.weights * (difference - mean)) ** 2)) / total)
        return mean, spread * math.sqrt(n_rows / max(n_rows - 1, 1))

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


def _rank(
    forecasts: Mapping[str, Float64Array], rows: Rows, n_folds: int, random_state: Seed
) -> MethodComparison:
    limit = half_a_row(len(rows))
    chances = np.stack([proba[np.arange(len(rows)), rows.truth] for proba in forecasts.values()], axis=1)
    weights = np.ones(len(rows)) if rows.weight is None else rows.weight
    losses = Losses(-np.log(np.maximum(chances, limit)), weights)
    order = np.argsort(losses.means(), kind="stable")
    losses = Losses(losses.loss[:, order], weights)
    means, shares = losses.means(), losses.shares_best(generator(random_state))
    names = [list(forecasts)[place] for place in order]
    results = tuple(
        MethodResult(
            name,
            float(means[place]),
            *_measure(forecasts[name], rows),
            *losses.paired(place, 0),
            float(shares[place]),
            int((chances[:, order[place]] == 0).sum()),
        )
        for place, name in enumerate(names)
    )
    recommended, advice = advise(results, len(rows))
    return MethodComparison(results, "log loss", len(rows), n_folds, names[0], advice, recommended, limit)


def _measure(proba: Float64Array, rows: Rows) -> tuple[float, float, float, float]:
    """Brier score, calibration, refinement and error rate."""
    two = proba.shape[1] == 2
    forecast: Array = proba[:, 1] if two else proba
    how: dict[str, Any] = {"sample_weight": rows.weight, "classes": np.arange(proba.shape[1])}
    calibration = refinement = math.nan
    if proba.size <= MOST_FOR_DECOMPOSITION:
        parts = brier_decomposition(rows.truth, forecast, isotonic=True, mode="classwise", **how)
        calibration, refinement = parts.calibration, parts.refinement
    brier = brier_score(rows.truth, forecast, convention="positive" if two else "sum", **how)
    return brier, calibration, refinement, error_rate(rows.truth, forecast, **how)
