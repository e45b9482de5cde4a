"""Which method to use: all on the user's own rows, each measured on rows that it was not fitted to."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._chance import Seed
from calibrant._core._checks import check_flag, shown
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import by_label
from calibrant.calibrators import (
    ScoreKind,
    half_a_row,
    warn_of_columns,
)
from calibrant.metrics import Forecasts, directions_of, read_forecasts
from calibrant.models._contest import Contest
from calibrant.models._plan import Arrays, answered, dealt
from calibrant.models._ranking import MethodComparison, Trial, ranked
from calibrant.models._read_rows import read_rows
from calibrant.passes import Rows


def compare_methods(
    scores: object,
    y: object,
    *,
    sample_weight: object = None,
    methods: Sequence[str] | Mapping[str, object] | None = None,
    classes: Sequence[object] | None = None,
    combine: object = None,
    kind: ScoreKind = "margin",
    code: object = None,
    cv: int = 5,
    random_state: Seed = 0,
    part_intervals: bool = False,
) -> MethodComparison:
    """Compare calibration methods on one's own scores, each on rows that it was not fitted to.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, k)
        One score per row, of the positive of two classes; or one per class; or with a code one per column of
        it.
    y : array-like of shape (n,)
        The labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    methods : sequence of str, or mapping of str to calibrator, optional
        The methods by name, see `named_method`; or calibrators of one's own, under names of one's own. By
        default all that take such scores.
    classes : array-like of shape (k,), optional
        The labels of the columns in order; by default the sorted labels of `y`.
    combine : {"normalize", "least_squares", "coupling"} or object, optional
        How the answers of two-class methods become one distribution, where there are several scores; by
        default what suits the code, see `calibrant.codes.combination_for`.
    kind : {"margin", "probability"}, default="margin"
        What the scores are. Probabilities are tried as they are too.
    code : {"all_pairs", "one_vs_all", "exhaustive", "ordinal"} or array-like of shape (k, l), optional
        The code matrix behind the scores: declared, never guessed, as three classes have as many pairs.
    cv : int, default=5
        Number of folds: stratified, shuffled. Classes with fewer rows are spread over as many folds as they
        have rows.
    random_state : int, Generator, RandomState or None, default=0
        How rows are shuffled and resampled.
    part_intervals : bool, default=False
        Whether calibration and refinement have intervals too, which takes some hundredths of a second for
        every class and method.

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

    The advice is to use the method of least loss, and says which others can be as good: those that are no
    more than two standard errors behind. A method that called something impossible that then happened is
    never recommended. What is recommended is fitted by ``ScoreModel(name, kind=kind, code=code,
    combine=combine)`` exactly as it was ranked.

    Examples
    --------
    >>> from calibrant.models import compare_methods
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = compare_methods(-X[:, 0], y)  # the radius of the tumour
    >>> for each in found.results[:3]:
    ...     print(f"{each.name:8} {each.log_loss:.3f} {each.difference:.3f} +- {each.difference.error:.3f}")
    sigmoid  0.295 0.000 +- 0.000
    vector   0.297 0.001 +- 0.002
    matrix   0.297 0.002 +- 0.002
    >>> print(found.advice)
    Use sigmoid: its log loss on 569 rows is the least, 0.2954. That is not sure: vector, matrix, stack,
    binning and pav can be as good. vector is only 0.0015 behind (standard error 0.0020), which can be chance.
    """
    wanted = check_flag("part_intervals", part_intervals)
    contest = Contest(methods, kind, code, combine, cv, random_state, wanted)
    rows = read_rows(scores, y, sample_weight, classes, coded=contest.coded).present()
    if not contest.coded:
        rows = replace(rows, scores=by_label(scores, rows.scores, lambda: rows.classes, "scores"))
    found = compare_rows(rows, contest)
    if contest.any_can_only_rise():
        code = contest.columns_of(len(rows.classes))
        directions = directions_of(rows.scores, rows.truth, rows.weight, code)
        warn_of_columns(directions, None if contest.coded else rows.classes, stacklevel=3)
    return found


def compare_rows(rows: Rows, contest: Contest) -> MethodComparison:
    """Compare methods on checked rows in memory, without a word about the direction of their scores."""
    rows = rows.present()
    if len(rows) < 2:
        raise DataError(f"scores must have at least two rows to compare methods; got {len(rows)}")
    folds = contest.folds(len(rows))
    answers = Arrays(dealt(rows, len(folds), contest.random_state))
    limit = half_a_row(len(rows))
    trials = {
        name: Trial.of(answered(answers.judge(calibrator, folds)).proba, rows, limit)
        for name, calibrator in contest.contestants(rows.scores.ndim, len(rows.classes)).items()
    }
    return ranked(
        trials,
        len(rows),
        len(folds),
        limit,
        contest.random_state,
        part_intervals=contest.part_intervals,
    )


def compare_forecasts(
    y: object,
    forecasts: Mapping[str, object],
    *,
    sample_weight: object = None,
    classes: Sequence[object] | None = None,
    random_state: Seed = 0,
    part_intervals: bool = False,
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
    part_intervals : bool, default=False
        Whether calibration and refinement have intervals too, which takes some hundredths of a second for
        every class and method.

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
    limit = half_a_row(len(rows))
    wanted = check_flag("part_intervals", part_intervals)
    trials = {name: Trial.of(matrix, rows, limit) for name, matrix in matrices.items()}
    return ranked(trials, len(rows), 0, limit, random_state, part_intervals=wanted)


def _both_columns(proba: Float64Array) -> Float64Array:
    return np.column_stack([1.0 - proba, proba]) if proba.shape[1] == 1 else proba
