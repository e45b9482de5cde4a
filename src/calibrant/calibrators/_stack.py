"""The stack: several maps of all scores of a row, weighed by what they say of rows not seen."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Float64Array
from calibrant._core._errors import ParameterError
from calibrant._core._field_groups import ListOf, Record
from calibrant._core._fields import Choice, Flag, Maybe
from calibrant.calibrators._joint import CODE, KIND, JointCalibrator
from calibrant.calibrators._joint_rows import JointRows, joint_rows
from calibrant.calibrators._linear_members import LINEAR, SHARE, Features
from calibrant.calibrators._one_thread import one_thread
from calibrant.calibrators._softmax_fit import fit_softmax
from calibrant.calibrators._stairs import left_out_stairs, sort_scores, stairs_of
from calibrant.maps import Linear, Map, Pool, Stairs, mixed

if TYPE_CHECKING:
    from calibrant.passes import Learning

#: All maps that there are; those of the default; and those that keep the order, of two classes and of more.
MEMBERS = ("start", "vector", "shape", "matrix", "square", "near", "steps", "rate", "flat")
DEFAULT_MEMBERS = ("start", "vector", "shape", "square", "near", "steps")
KEEP_TWO, KEEP_MANY = ("start", "vector", "steps", "flat"), ("start", "flat")
#: Of more classes than this there is no square and no near.
MOST_CLASSES, OF_FEW_CLASSES = 200, ("square", "near")
#: Scores that maps are fitted to, and that they are weighed by; rows that always are, and that are at most.
FIT_ENTRIES, HELD_ENTRIES, LEAST_ROWS, MOST_ROWS = 1_000_000, 40_000, 4000, 200_000
#: Every map has so many rows for it beforehand; these have them in full from so many rows on.
PRIOR, IN_FULL = 0.5, {"shape": 300, "square": 100, "near": 1000, "steps": 100}
#: The penalty of the logarithm of the power, and its bounds.
POWER_PENALTY, POWER_BOUND = 2.0, 0.7
#: Steps of the search for weights, and the change at which it ends.
MOST_STEPS, SMALL_STEP = 300, 1e-5
#: Maps of less weight than this are not kept.
LEAST_WEIGHT = 0.01


class StackCalibrator(JointCalibrator, name="stack"):
    """Calibrate all scores of a row by several maps, weighed by what each says of rows it has not seen.

    None of the ways to calibrate is best for all scores. The stack fits six, from temperature scaling to maps
    that look at the neighbourhood of a row among all others, finds what each would say of every row if it had
    not seen it, and mixes them by the weights that are best there. The weights are the choice: a map that is
    no good gets next to none.

    Parameters
    ----------
    members : list of str, optional
        The maps to choose from: "start" (temperature scaling), "vector" (a slope and a bias for every class),
        "shape" (curves of every class's own score), "square" (products of principal axes), "near" (a kernel
        on these), "steps" (isotonic steps of every class); and "matrix" (see `MatrixCalibrator`), "rate"
        (base rates), "flat" (equal chances). By default the first six.
    keep_order : bool, default=False
        Whether only maps are used that keep the order: of two classes a greater score never gets a lower
        probability, of more classes the order of the classes in a row stays.
    kind : {"probability", "margin"}, default="probability"
        What the scores are.
    code : {"all_pairs", "one_vs_all", "exhaustive", "ordinal"} or array-like of shape (k, l), optional
        The code matrix behind the scores, which then have one column per column of it, as in
        `CodeCalibrator`. Every class has the sum of the margins, or log-odds, of the columns by its row.
    classes : array-like of shape (k,), optional
        The labels of the columns in order. By default the sorted labels of `y`, which must then be as many
        as there are columns.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels of the columns.
    members_ : list of str
        The maps that were tried.
    weights_ : dict of str to float
        The weight of each.
    losses_ : dict of str to float
        The mean log loss of each on rows that it has not seen.
    report_ : str
        A line that says what was taken, and why.
    feature_names_in_ : ndarray of shape (k,)
        The names of the columns of scores, in the order of the model; only if it was fitted to a frame.

    See Also
    --------
    TemperatureCalibrator, VectorCalibrator, MatrixCalibrator : One of the maps alone.
    OneVsAllCalibrator : Every score by itself.

    Notes
    -----
    It learns from all scores of a row jointly, so that the most probable class may be another than that of
    the greatest score: often a better one. Where that must not be, there is `keep_order`.

    All maps begin from the same start, ``q = (1 - e) softmax(a log(p + d)) + e/k`` or that of margins, and
    are penalised for departing from it (see `VectorCalibrator`). They are fitted once. What they say of a row
    without one unit of its weight comes from one Newton step with the curvature that every class has for
    itself; the steps are fitted in ten folds, of more than 1000 rows in five. The weights maximise the
    likelihood of the mixture there, with half a row for every map beforehand, less for square and steps where
    there are fewer than 100 rows, for shape below 300 and for near below 1000. The fewer rows a class has in
    the mean, the more it costs near to depart from the start. Of three classes or more the biases and slopes
    of shape, square and near cost the less the more the classes differ, which the method of moments of
    DerSimonian and Laird tells of a first step from the start. Then all probabilities are taken to a power
    near 1, and 0.15/(W + 1) of rows of weight W is spread evenly, so that none is 0 or 1.

    Other labels, another order of the rows, and weights instead of copies change nothing, to the last bit.

    At most 1,000,000 scores are used for the maps, in 4,000 rows at least and 200,000 at most, and 50,000 to
    weigh them; which they are depends on nothing but the scores. Above 200 classes square and near are left
    out. Maps of weight below 0.01 are not kept in the fitted model.

    References
    ----------
    The maps are those of the classes above, and of J. Platt, "Probabilistic outputs for support vector
    machines", 1999, and B. Zadrozny and C. Elkan, KDD 2002. D. H. Wolpert, "Stacked generalization", Neural
    Networks 5, 1992. The left-out predictions follow K. R. Rad and A. Maleki, "A scalable estimate of the
    out-of-sample prediction error via approximate leave-one-out cross-validation", JRSS B 82, 2020, with the
    diagonal blocks of the Hessian alone. R. DerSimonian and N. Laird, "Meta-analysis in clinical trials",
    Controlled Clinical Trials 7, 1986.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import StackCalibrator
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 300)
    >>> margins = 3 * (rng.normal(size=(300, 3)) + np.eye(3)[y])
    >>> model = StackCalibrator(kind="margin").fit(margins, y)
    >>> model.predict_proba([[3, 0, 0], [9, 0, 0]]).round(2)
    array([[0.54, 0.22, 0.23],
           [0.86, 0.07, 0.07]])
    >>> model.members_
    ['start', 'vector', 'shape', 'square', 'near', 'steps']
    """

    map_: Pool

    def __init__(
        self,
        members: Sequence[str] | None = None,
        keep_order: bool = False,
        kind: str = "probability",
        code: object = None,
        classes: Sequence[object] | None = None,
    ) -> None:
        self.members = members
        self.keep_order = keep_order
        self.kind = kind
        self.code = code
        self.classes = classes

    parameters = Record(
        members=Maybe(ListOf(Choice(*MEMBERS), least=1)), keep_order=Flag(), kind=KIND, code=CODE
    )
    complexity = 6

    @property
    def members_(self) -> list[str]:
        """The maps that were tried."""
        return list(self.map_.names)

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each of them."""
        return dict(zip(self.map_.names, self.map_.weights.tolist(), strict=True))

    @property
    def losses_(self) -> dict[str, float]:
        """The mean log loss of each on rows that it has not seen."""
        return dict(zip(self.map_.names, self.map_.losses.tolist(), strict=True))

    @property
    def report_(self) -> str:
        """What was taken, and why."""
        names, weights, losses = self.map_.names, self.map_.weights, self.map_.losses
        by_weight, by_loss = np.argsort(-weights, kind="stable"), np.argsort(losses, kind="stable")
        taken = [f"{names[each]} {weights[each]:.2f}" for each in by_weight if weights[each] >= LEAST_WEIGHT]
        said = [f"{names[each]} {losses[each]:.3f}" for each in by_loss]
        return f"took {', '.join(taken)}; log losses on rows left out: {', '.join(said)}"

    def check_parameters(self) -> None:
        """Refuse options that cannot be."""
        super().check_parameters()
        self._names(2)

    def _names(self, n_classes: int) -> list[str]:
        """The maps that are tried."""
        may = KEEP_TWO if n_classes == 2 else KEEP_MANY
        names: tuple[str, ...]
        if self.members is None:
            names = may if self.keep_order else DEFAULT_MEMBERS
        else:
            names = tuple(dict.fromkeys(self.members))
            others = [name for name in names if name not in may]
            if self.keep_order and others:
                raise ParameterError(
                    f"members must keep the order of the scores, as {', '.join(map(repr, may))} do; got "
                    f"{others[0]!r} with keep_order=True; leave out one of them"
                )
        if n_classes > MOST_CLASSES:
            names = tuple(name for name in names if name not in OF_FEW_CLASSES) or ("start",)
        return list(names)

    def _learn(self, n_classes: int) -> "Learning[Map]":
        most = min(MOST_ROWS, max(FIT_ENTRIES // n_classes, LEAST_ROWS))
        rows = yield from joint_rows(most, self.kind, n_classes, self._matrix_of(n_classes))
        with one_thread():
            return fit_pool(rows, self._names(n_classes), rising=bool(self.keep_order))


def fit_pool(rows: JointRows, names: Sequence[str], *, rising: bool = False) -> Pool:
    """Fit maps, and weigh them by what they say of rows that they have not seen."""
    keeps_rows = rising and rows.entry.n_classes > 2
    features = Features.of_rows(rows, names, biased=not keeps_rows)
    row = features.row(rows)
    few = rows.thinned(HELD_ENTRIES, LEAST_ROWS)
    held = rows.some(few)
    held_row = row if few is None else features.row(held)
    k, share, places = rows.entry.n_classes, SHARE / (rows.total + 1), np.arange(len(held.y))
    scale = rows.weight.sum() / held.weight.sum()
    maps: dict[str, Linear | Stairs] = {}
    said: dict[str, Float64Array] = {}
    for name in names:
        if name in LINEAR:
            design = features.design(row, name)
            fit = fit_softmax(design, rows.y, rows.weight, features.penalty(name), rising=rising)
            maps[name] = features.linear(name, fit)
            said[name] = fit.left_out(design.some(few), held.y, held.weight, scale)
        elif name == "steps":
            maps[name] = stairs_of(sort_scores(row, rows.y), rows.weight, k)
            said[name] = left_out_stairs(held_row, held, rows.total)
        else:
            maps[name] = constant = _constant(name, rows)
            said[name] = constant.formula(held_row).T
    for name in names:
        said[name] = mixed(said[name], share, k)
    own = np.array([said[name][held.y, places] for name in names])
    prior = [PRIOR * min(1.0, rows.total / IN_FULL.get(name, rows.total)) for name in names]
    weights = _weights(own, held.weight, np.array(prior))
    pooled = sum(weight * said[name] for weight, name in zip(weights, names, strict=True))
    power = _power(np.log(np.asarray(pooled)), held)
    losses = -np.log(own) @ held.weight / held.weight.sum()
    kept = {name for weight, name in zip(weights, names, strict=True) if weight >= LEAST_WEIGHT}
    linear = [each for name, each in maps.items() if isinstance(each, Linear) and name in kept]
    stairs = [each for name, each in maps.items() if isinstance(each, Stairs) and name in kept]
    return Pool(
        rows.entry,
        features.start,
        features.basis_of(kept),
        linear,
        stairs[0] if stairs else None,
        list(names),
        weights,
        losses,
        power,
        share,
    )


def _constant(name: str, rows: JointRows) -> Linear:
    """The start as it is, or the same for all rows: base rates or equal chances."""
    k = rows.entry.n_classes
    if name == "start":
        return Linear(name, np.ones(k), np.zeros(k))
    mass = np.bincount(rows.y, rows.weight, k) if name == "rate" else np.ones(k)
    return Linear(name, np.zeros(k), np.log((mass + 1 / k) / (mass.sum() + 1)))


def _weights(own: Float64Array, weight: Float64Array, prior: Float64Array) -> Float64Array:
    """The mixture of greatest likelihood, by expectation and maximisation, begun at equal weights."""
    found = np.full(len(own), 1 / len(own))
    for _ in range(MOST_STEPS):
        next_ = found * (own @ (weight / (found @ own))) + prior
        next_ /= next_.sum()
        change = np.abs(next_ - found).max()
        found = next_
        if change < SMALL_STEP:
            break
    return found


def _power(logs: Float64Array, rows: JointRows) -> float:
    """The power of greatest likelihood on these rows, which pays for leaving 1."""
    places = np.arange(len(rows.y))
    below = logs - logs.max(axis=0)
    true = below[rows.y, places]

    def loss(log_power: float) -> float:
        power = math.exp(log_power)
        total = np.log(np.exp(power * below).sum(axis=0))
        return float(rows.weight @ (total - power * true)) + POWER_PENALTY * log_power * log_power

    bounds = (-POWER_BOUND, POWER_BOUND)
    best = late.optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 3e-3})
    return math.exp(best.x)
