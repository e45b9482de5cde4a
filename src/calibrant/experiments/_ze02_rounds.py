"""Table 4 of Zadrozny & Elkan against the number of boosting rounds, which the paper does not give."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant.calibrators import PAVCalibrator
from calibrant.codes import normalize
from calibrant.experiments._datasets import read_numeric
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale, Series
from calibrant.experiments._ze02_multiclass import measures_of
from calibrant.learners import BoostedNaiveBayes, EqualWidthQuantizer

N_FOLDS = 5
#: What the paper prints for normalisation: MSE and error.
PAPER = {"raw": (0.0163, 0.0963), "PAV": (0.0150, 0.0946)}
KINDS = ("raw", "PAV", "PAV out of fold")


def rounds_curve(n_rounds: int) -> dict[str, list[list[float]]]:
    """MSE and error on Pendigits, with standard errors, after every round, raw and calibrated, normalised."""
    train, test = read_numeric("pendigits.train"), read_numeric("pendigits.test")
    levels = EqualWidthQuantizer().fit(train.X)
    X, X_test = levels.transform(train.X), levels.transform(test.X)
    classes = np.unique(train.y)
    # By round, row and class.
    own, new, out_of_fold = (np.empty((n_rounds, n, len(classes))) for n in (len(X), len(X_test), len(X)))
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, train.y))
    for place, label in enumerate(classes):
        y = train.y == label
        own[:, :, place], new[:, :, place] = _after_rounds(X, y, n_rounds, X, X_test)
        for learned, held in folds:
            (out_of_fold[:, held, place],) = _after_rounds(X[learned], y[learned], n_rounds, X[held])
    curves: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    for seen, held_out, asked in zip(own, out_of_fold, new, strict=True):
        calibrated = {"PAV": _pav(seen, train.y, classes, asked)}
        calibrated["PAV out of fold"] = _pav(held_out, train.y, classes, asked)
        for kind, answers in {"raw": asked, **calibrated}.items():
            curves[kind].append(measures_of(normalize(answers), test.y, classes))
    return curves


def _after_rounds(X: IntArray, y: BoolArray, n_rounds: int, *asked: IntArray) -> list[Float64Array]:
    """What boosting answers after every round, as `BoostedNaiveBayes` with so many rounds would."""
    model = BoostedNaiveBayes(n_rounds=n_rounds).fit(X, y)
    say = model.log_inverse_betas_[:, np.newaxis]
    found = []
    for rows in asked:
        answers = np.array([each.predict_proba(rows)[:, 1] for each in model.estimators_])
        after = expit(np.cumsum(2 * say * answers - say, axis=0))
        # Boosting that has stopped answers as it did.
        found.append(after[np.minimum(np.arange(n_rounds), len(after) - 1)])
    return found


def _pav(scores: Float64Array, y: Array, classes: Array, asked: Float64Array) -> Float64Array:
    columns = [
        clone(PAVCalibrator(clip=0)).fit(column, y == label).predict_proba(new)[:, 1]
        for column, new, label in zip(scores.T, asked.T, classes, strict=True)
    ]
    return np.column_stack(columns)


def _jobs(scale: Scale) -> list[Job]:
    return [Job(rounds_curve, {"n_rounds": 20 if scale == "full" else 6})]


def _collect(done: Sequence[Done]) -> Findings:
    if not done:
        return Findings(checks=_checks({}))
    curves: dict[str, Any] = done[0].answer
    rows = [
        Row(
            (str(number + 1), kind),
            tuple(curves[kind][number][:2]),
            PAPER.get(kind, ()),
            error=tuple(curves[kind][number][2:]),
        )
        for number in range(len(curves["raw"]))
        for kind in KINDS
    ]
    numbers = tuple(float(number + 1) for number in range(len(curves["raw"])))
    series = [
        Series(panel, kind, numbers, tuple(each[place] for each in curves[kind]))
        for place, panel in enumerate(("MSE", "error"))
        for kind in KINDS
    ]
    ends = (numbers[0], numbers[-1])
    series += [
        Series(panel, f"paper, {kind}", ends, (PAPER[kind][place],) * 2)
        for place, panel in enumerate(("MSE", "error"))
        for kind in PAPER
    ]
    return Findings(tuple(rows), _checks(curves), tuple(series))


def _checks(curves: dict[str, Any]) -> tuple[Check, ...]:
    near = "Some number of rounds has the paper's raw MSE, to four decimals within 0.0005"
    lowers = (
        "PAV on the training rows' scores lowers the MSE up to some number of rounds, and raises it beyond"
    )
    always = "PAV on scores out of fold lowers the MSE after every round"
    if not curves:
        return tuple(Check(statement, None) for statement in (near, lowers, always))
    mse = {kind: [each[0] for each in curves[kind]] for kind in KINDS}
    gaps = [abs(value - PAPER["raw"][0]) for value in mse["raw"]]
    best = int(np.argmin(gaps))
    helps = [ours < raw for ours, raw in zip(mse["PAV"], mse["raw"], strict=True)]
    n_helps = sum(helps)
    finding = f"lower after {n_helps} of {len(helps)} rounds: {_ranges(helps)}"
    honest = [ours < raw for ours, raw in zip(mse["PAV out of fold"], mse["raw"], strict=True)]
    return (
        Check(
            near, gaps[best] <= 0.0005, f"{mse['raw'][best]:.4f} after {best + 1} rounds, {PAPER['raw'][0]}"
        ),
        Check(lowers, 0 < n_helps < len(helps) and helps == sorted(helps, reverse=True), finding),
        Check(always, all(honest), f"after {sum(honest)} of {len(honest)} rounds"),
    )


def _ranges(held: Sequence[bool]) -> str:
    return ", ".join(str(number + 1) for number, each in enumerate(held) if each) or "none"


ROUNDS = Experiment(
    name="ze02-rounds",
    title="Pendigits: boosted naive Bayes against the number of rounds",
    conventions=(
        "The paper does not give the number of rounds; ze02-table4 takes ten. MSE is the Brier score divided "
        "by the number of classes, on test rows; one-vs-all, normalisation, 21 levels. PAV learns from the "
        "scores of the training rows, as in the paper, or out of fold. Every line has the paper's one number "
        "beside it; the standard errors are over the test rows, which show which number of rounds comes near "
        "the paper; nothing is chosen by it."
    ),
    labels=("rounds", "calibration"),
    measures=("MSE", "error"),
    jobs=_jobs,
    collect=_collect,
    axes={"x": "boosting rounds", "y": "MSE, or error"},
)
