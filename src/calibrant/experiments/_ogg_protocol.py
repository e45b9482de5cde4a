"""The protocol of O'Brien, Gupta and Gray: what every rule costs on rows that nothing was learned from.

One job is one repetition of a randomised ten-fold cross-validation. In every fold the estimates of the nine
training parts are made out of fold, by nine inner folds; rules are learned on these, and applied to what a
learner of all nine parts says about the tenth. All estimates serve both kinds of costs and every rule.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._errors import ScoreDirectionWarning
from calibrant.calibrators import OneVsAllCalibrator, PAVCalibrator
from calibrant.classifiers import average_estimates
from calibrant.decisions import DecisionRule, decide, new_rule, random_costs, rarity_costs
from calibrant.experiments._data_preparation import CategoryCodes
from calibrant.experiments._datasets import Mixed, read_table
from calibrant.learners import RegularizedQDA

N_FOLDS = 10
N_INNER_FOLDS = 9
#: Models whose estimates are made at once; it bounds memory and changes no number.
MODELS_AT_ONCE = 10
#: The rules that are learned from out-of-fold estimates; Mossman's needs three classes.
RULES = ("parallel", "lachiche_flach", "mossman")
#: The paper's isotonic regression, which may be certain.
PAV = PAVCalibrator(clip=0)
#: What the library's choice chooses from: how the estimates are calibrated, and how they are decided by.
CHOICES = (
    (None, "expected"),
    (None, "parallel"),
    (None, "lachiche_flach"),
    (PAV, "expected"),
    (PAV, "parallel"),
)
N_CHOICE_FOLDS = 3


class ManyModels(Protocol):
    """A learner that is trained on the same rows again and again, each time with other weights."""

    def estimates(
        self, X: Any, position: IntArray, weightings: Float64Array, asked: Any, k: int
    ) -> Iterator[Float64Array]:
        """Train once per row of `weightings`; yield what each model says about the rows asked."""


class NaiveBayesModels:
    """`CategoricalNaiveBayes` on whole numbers, for many weightings of its rows at once.

    Counting is a product of the weights with indicators of the values, and so is the sum of the logarithms:
    a hundred models cost a few products of matrices. The numbers are those of the learner.
    """

    def estimates(
        self, X: IntArray, position: IntArray, weightings: Float64Array, asked: IntArray, k: int
    ) -> Iterator[Float64Array]:
        """Train once per row of `weightings`; yield what each model says about the rows asked."""
        n_values = np.maximum(X.max(axis=0), asked.max(axis=0)) + 1
        starts = np.concatenate([[0], np.cumsum(n_values)[:-1]])
        known, unknown = _indicators(X, starts, n_values.sum()), _indicators(asked, starts, n_values.sum())
        of_class = position == np.arange(k)[:, np.newaxis]
        for first in range(0, len(weightings), MODELS_AT_ONCE):
            weights = weightings[first : first + MODELS_AT_ONCE]
            by_class = weights[:, np.newaxis, :] * of_class
            counts = (by_class.reshape(-1, len(position)) @ known).reshape(len(weights), k, -1)
            log_prob = _log_prob(counts, starts, n_values)
            totals = by_class.sum(axis=2)
            with np.errstate(divide="ignore"):
                log_prior = np.log(totals / totals.sum(axis=1, keepdims=True))
            for of_model, prior in zip(log_prob, log_prior, strict=True):
                joint = unknown @ of_model.T + prior
                yield np.exp(log_softmax(joint, axis=1))


def _indicators(X: IntArray, starts: IntArray, width: int) -> Float64Array:
    indicators = np.zeros((len(X), width))
    np.put_along_axis(indicators, X + starts, 1.0, axis=1)
    return indicators


def _log_prob(counts: Float64Array, starts: IntArray, n_values: IntArray) -> Float64Array:
    """Laplace's estimates; a value that a model has not seen says nothing, and is none of its values."""
    seen = counts.sum(axis=1) > 0
    values_seen = np.add.reduceat(seen, starts, axis=1, dtype=np.float64)
    of_feature = np.add.reduceat(counts, starts, axis=2) + values_seen[:, np.newaxis, :]
    log_prob = np.log((counts + 1) / np.repeat(of_feature, n_values, axis=2))
    return np.where(seen[:, np.newaxis, :], log_prob, 0.0)


@dataclass(frozen=True, slots=True)
class QdaModels:
    """`RegularizedQDA`, trained once per weighting."""

    learner: RegularizedQDA = field(default_factory=RegularizedQDA)

    def estimates(
        self, X: Float64Array, position: IntArray, weightings: Float64Array, asked: Float64Array, k: int
    ) -> Iterator[Float64Array]:
        """Train once per row of `weightings`; yield what each model says about the rows asked."""
        for weights in weightings:
            model = clone(self.learner).fit(X, position, sample_weight=weights)
            proba = np.zeros((len(asked), k))
            proba[:, model.classes_] = model.predict_proba(asked)
            yield proba


LEARNERS: dict[str, ManyModels] = {"NB": NaiveBayesModels(), "QDA": QdaModels()}


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """The rows of one outer fold, as the learner takes them, with the classes of the training rows."""

    models: ManyModels
    X: Any
    position: IntArray
    X_test: Any
    k: int

    def out_of_fold(self, seed: int) -> Float64Array:
        """Estimates for the training rows, each by a model of the eight inner parts that lack it."""
        weightings = np.ones((N_INNER_FOLDS, len(self.position)))
        for weights, rows in zip(weightings, folds(self.position, N_INNER_FOLDS, seed), strict=True):
            weights[rows] = 0
        proba = np.empty((len(self.position), self.k))
        models = self.models.estimates(self.X, self.position, weightings, self.X, self.k)
        for weights, estimates in zip(weightings, models, strict=True):
            proba[weights == 0] = estimates[weights == 0]
        return proba

    def test_estimates(self, position: IntArray | None = None) -> Float64Array:
        """Estimates for the test rows by a model of all training rows, under other labels if given."""
        labels = self.position if position is None else position
        return next(self.models.estimates(self.X, labels, np.ones((1, len(labels))), self.X_test, self.k))

    def bagged(self, n_resamples: int, seed: int) -> dict[str, Float64Array]:
        """MetaCost's estimates for the training rows: by all models, and by those that lack the row."""
        rng = np.random.default_rng(seed)
        n = len(self.position)
        resamples = [rng.integers(n, size=n) for _ in range(n_resamples)]
        weightings = np.array([np.bincount(rows, minlength=n) for rows in resamples], dtype=np.float64)
        estimates = list(self.models.estimates(self.X, self.position, weightings, self.X, self.k))
        return {
            name: average_estimates(estimates, resamples, (n, self.k), use_all=use_all)
            for name, use_all in (("metacost_all", True), ("metacost_others", False))
        }


def folds(position: IntArray, n_folds: int, seed: int) -> list[IntArray]:
    """Shuffle the rows and deal them out class by class, so that no class is lost from training."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(position))
    by_class = shuffled[np.argsort(position[shuffled], kind="stable")]
    return [by_class[first::n_folds] for first in range(n_folds)]


def outer_folds(table: Mixed, learner: str, seed: int) -> Iterator[tuple[Fold, IntArray, IntArray, int]]:
    """The outer folds of a repetition: the fold, the classes of its test rows, those in training, a seed."""
    classes, position = np.unique(table.y, return_inverse=True)
    for number, test in enumerate(folds(position, N_FOLDS, seed)):
        train = np.setdiff1d(np.arange(len(position)), test)
        X, X_test = _as_learner_takes(learner, table, train, test)
        fold = Fold(LEARNERS[learner], X, position[train], X_test, len(classes))
        counts = np.bincount(position[train], minlength=len(classes))
        yield fold, position[test], counts, seed * N_FOLDS + number


def repetition(
    data: str, learner: str, seed: int, n_resamples: int, kinds: Sequence[str], choice: bool
) -> dict[str, Any]:
    """Run one repetition of the cross-validation, with MetaCost and the library's choice if so wished."""
    sizes, rows, paid = [], [], {kind: Paid() for kind in kinds}
    for fold, y_test, counts, fold_seed in outer_folds(read_table(data), learner, seed):
        estimates = Estimates.of(fold, y_test, n_resamples, fold_seed)
        sizes.append(float(np.exp(np.log(counts).mean())))
        rows.append(np.bincount(y_test, minlength=len(counts)))
        for kind in kinds:
            paid[kind].add(estimates, costs(kind, counts, seed), choice=choice)
    of_classes = np.sum(rows, axis=0)
    return {
        "n_rows": int(of_classes.sum()),
        "n_classes": len(of_classes),
        "smallest_class": int(of_classes.min()),
        "class_size": float(np.mean(sizes)),
        **{kind: of_kind.plain() for kind, of_kind in paid.items()},
    }


def costs(kind: str, counts: IntArray, seed: int) -> Float64Array:
    """The costs of a fold; random ones are the same in all folds of a repetition."""
    if kind == "random":
        return random_costs(len(counts), random_state=seed)
    return rarity_costs(counts, rule="ratio" if kind == "ratio" else "inverse")


def _as_learner_takes(learner: str, table: Mixed, train: IntArray, test: IntArray) -> tuple[Any, Any]:
    if learner == "QDA":
        return table.X[train], table.X[test]
    codes = CategoryCodes(table.nominal).fit(table.X[train])
    # Naive Bayes for many weightings counts from 0, and what is missing has the code -1.
    return codes.transform(table.X[train]) + 1, codes.transform(table.X[test]) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """All that the rules of one fold learn from and decide by."""

    fold: Fold
    y: IntArray
    y_test: IntArray
    out_of_fold: Float64Array
    test: Float64Array
    bagged: dict[str, Float64Array]

    @classmethod
    def of(cls, fold: Fold, y_test: IntArray, n_resamples: int, seed: int) -> "Estimates":
        """Train all models that do not depend on costs."""
        bagged = fold.bagged(n_resamples, seed) if n_resamples else {}
        return cls(fold, fold.position, y_test, fold.out_of_fold(seed), fold.test_estimates(), bagged)

    def rules(self, cost: Float64Array) -> dict[str, DecisionRule]:
        """The rules, learned from the out-of-fold estimates of the training rows."""
        names = [name for name in RULES if name != "mossman" or len(cost) == 3]
        return {name: new_rule(name).fit(self.out_of_fold, self.y, cost) for name in names}

    def metacost_decisions(self, cost: Float64Array) -> dict[str, IntArray]:
        """What learners of the relabelled training rows say about the test rows."""
        return {
            name: self.fold.test_estimates(decide(proba, cost)).argmax(axis=1)
            for name, proba in self.bagged.items()
        }

    def chosen_decisions(self, cost: Float64Array) -> IntArray:
        """What the library's choice decides about the test rows."""
        calibrator, rule = choose(self.out_of_fold, self.y, cost)
        return _calibrated_decisions(calibrator, rule, self.out_of_fold, self.y, self.test, cost)


class Paid:
    """What the rules cost in all folds together."""

    def __init__(self) -> None:
        self.test: dict[str, float] = {}
        self.training = dict.fromkeys(("expected", "parallel", "lachiche_flach"), 0.0)
        self.n_raised = 0

    def add(self, estimates: Estimates, cost: Float64Array, *, choice: bool) -> None:
        """Add one fold."""
        rules = estimates.rules(cost)
        decided = {name: rule.decide(estimates.test) for name, rule in rules.items()}
        decided |= {"expected": decide(estimates.test, cost)} | estimates.metacost_decisions(cost)
        if choice:
            decided["chosen"] = estimates.chosen_decisions(cost)
        for name, decisions in decided.items():
            self.test[name] = self.test.get(name, 0.0) + float(cost[decisions, estimates.y_test].sum())
        before, after = rules["parallel"].cost_before_, rules["parallel"].cost_after_
        self.training["expected"] += before
        for name in ("parallel", "lachiche_flach"):
            self.training[name] += rules[name].cost_after_
        self.n_raised += int(after > before * (1 + 1e-12))

    def plain(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"test": self.test, "training": self.training, "n_raised": self.n_raised}


def choose(proba: Float64Array, y: IntArray, cost: Float64Array) -> tuple[PAVCalibrator | None, str]:
    """Choose how to decide, by cross-validation on estimates of training rows."""
    paid = []
    for calibrator, rule in CHOICES:
        total = 0.0
        for rows in folds(y, N_CHOICE_FOLDS, seed=0):
            others = np.setdiff1d(np.arange(len(y)), rows)
            decided = _calibrated_decisions(calibrator, rule, proba[others], y[others], proba[rows], cost)
            total += float(cost[decided, y[rows]].sum())
        paid.append(total)
    return CHOICES[int(np.argmin(paid))]


def _calibrated_decisions(
    calibrator: PAVCalibrator | None,
    rule: str,
    proba: Float64Array,
    y: IntArray,
    asked: Float64Array,
    cost: Float64Array,
) -> IntArray:
    if calibrator is not None:
        # Many are tried in folds; one that points the wrong way costs more, and needs no warning.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreDirectionWarning)
            fitted = OneVsAllCalibrator(calibrator, classes=range(len(cost))).fit(proba, y)
        proba, asked = fitted.predict_proba(proba), fitted.predict_proba(asked)
    return np.asarray(new_rule(rule).fit(proba, y, cost).decide(asked))
