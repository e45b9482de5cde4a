"""One fitted model, at least, of every kind that can be saved."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant.calibrators import (
    METHODS,
    AccuracyTableCalibrator,
    BinningCalibrator,
    CodeCalibrator,
    IdentityCalibrator,
    OneVsAllCalibrator,
    PAVCalibrator,
    RankedLogisticCalibrator,
    SigmoidCalibrator,
)
from calibrant.codes import Coupling, LeastSquares, Normalize, all_pairs, one_vs_all
from calibrant.decisions import (
    ExpectedCostRule,
    LachicheFlachRule,
    MossmanRule,
    ParallelPartitionRule,
)
from calibrant.models import ScoreModel

#: The methods of the house; tests of methods of one's own may have registered more.
OURS = {name: each for name, each in METHODS.items() if each.__module__.startswith("calibrant.")}
COST3 = np.array([[0.0, 1.0, 10.0], [2.0, 0.0, 5.0], [1.0, 4.0, 0.0]])
NAMES = np.array(["ant", "bée", "cat"])
MIXED_COST = {1: {1: 0, 2: 5, 7: 9}, 2: {1: 1, 2: 0, 7: 3}, 7: {1: 4, 2: 1, 7: 0}, "ask": {1: 1, 2: 1, 7: 1}}


def one_score(n_rows=120, seed=0):
    """Scores of two classes, with ties."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.4
    return (rng.normal(size=n_rows) + 1.5 * y).round(2), y


def class_scores(n_rows=150, k=3, seed=0):
    """One score per class, and labels from 0."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(k), rng.integers(0, k, n_rows - k))
    return rng.normal(size=(n_rows, k)) + 1.5 * np.eye(k)[y], y


def pair_scores(n_rows=150, k=3, seed=0):
    """One score per pair of classes."""
    scores, y = class_scores(n_rows, k, seed)
    first, second = np.triu_indices(k, 1)
    return scores[:, first] - scores[:, second], y


def squashed(scores):
    """Scores as probabilities, one by one."""
    return 1 / (1 + np.exp(-scores))


def with_columns(model):
    """As the command leaves it, with the names of the score columns."""
    model.summary_ = replace(model.summary_, score_columns=tuple(f"s_{name}" for name in model.classes_))
    return model


def quietly(model, *data):
    """Fit without the warnings about fits that have no optimum."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data)


def softmax(scores):
    """Scores of the classes as probabilities."""
    proba = np.exp(scores - scores.max(axis=1, keepdims=True))
    return proba / proba.sum(axis=1, keepdims=True)


def _cases():
    scores, y = one_score()
    weights = np.random.default_rng(1).gamma(1, size=len(y)) + 0.01
    matrix, label = class_scores()
    pairs, _ = pair_scores()
    rules = softmax(matrix), label, COST3
    cases = {
        "pav": (PAVCalibrator().fit(scores, y), scores),
        "pav_linear": (PAVCalibrator("linear", clip=0.01).fit(scores, np.where(y, "yes", "no")), scores),
        "pav_average": (PAVCalibrator("average", laplace=True).fit(scores, y.astype(int)), scores),
        "pav_falling": (PAVCalibrator("upper", increasing=False).fit(-scores, y, weights), scores),
        "sigmoid": (SigmoidCalibrator().fit(scores, np.where(y, 1.0, -1.0)), scores),
        "sigmoid_logit": (SigmoidCalibrator(transform="logit").fit(squashed(scores), y), squashed(scores)),
        "binning": (BinningCalibrator(7, "m").fit(scores, y, weights), scores),
        "binning_cv": (BinningCalibrator("cv", candidates=range(2, 6)).fit(scores, y), scores),
        "identity": (IdentityCalibrator().fit(squashed(scores), y), squashed(scores)),
        "one_vs_all": (OneVsAllCalibrator().fit(matrix, NAMES[label]), matrix),
        "one_vs_all_coupling": (OneVsAllCalibrator("sigmoid", "coupling").fit(matrix, label), matrix),
        "one_vs_all_prior": (
            OneVsAllCalibrator(PAVCalibrator(), Normalize("prior", (0.5, 0.3, 0.2))).fit(matrix, label),
            matrix,
        ),
        "code": (CodeCalibrator("all_pairs", "pav", "coupling").fit(pairs, NAMES[label]), pairs),
        "code_constant": (
            CodeCalibrator("all_pairs", "sigmoid", LeastSquares(weighted=True), classes=range(3)).fit(
                pairs[label < 2], label[label < 2]
            ),
            pairs,
        ),
        "code_one_vs_all": (CodeCalibrator("one_vs_all", "binning", "normalize").fit(matrix, label), matrix),
        "accuracy_table": (AccuracyTableCalibrator().fit(matrix, label), matrix),
        "accuracy_table_nan": (
            AccuracyTableCalibrator(
                [1, 2, 3], n_cells=(4, 5, 6), smoothing="median", fallback="nan", max_rank=1
            ).fit(matrix, label, np.linspace(0, 2, len(label))),
            matrix,
        ),
        "accuracy_table_aic": (
            AccuracyTableCalibrator("C", width="aic", smoothing="none", max_rank=None).fit(matrix, label),
            matrix,
        ),
        "accuracy_table_lidstone": (
            AccuracyTableCalibrator([[1, 2], [1]], n_cells=8, smoothing="lidstone").fit(matrix, label),
            matrix,
        ),
        "ranked_logistic": (quietly(RankedLogisticCalibrator(), matrix, NAMES[label]), matrix),
        "ranked_logistic_shared": (
            quietly(
                RankedLogisticCalibrator("B", smooth=True, max_rank=1, transform="logit"),
                softmax(matrix),
                label,
            ),
            softmax(matrix),
        ),
        "normalize": (Normalize(), None),
        "least_squares": (LeastSquares(sum_constraint=False), None),
        "coupling": (Coupling(max_iter=50), None),
        "expected": (ExpectedCostRule().fit(*rules), rules[0]),
        "parallel": (ParallelPartitionRule(passes=2, restarts=1, random_state=3).fit(*rules), rules[0]),
        "parallel_free": (ParallelPartitionRule(family="free").fit(*rules), rules[0]),
        "parallel_actions": (
            ParallelPartitionRule(passes=2).fit(*rules[:2], [*COST3, [0.6, 0.6, 0.9], [3, 0.3, 0.3]]),
            rules[0],
        ),
        "lachiche_flach": (LachicheFlachRule("incremental").fit(*rules), rules[0]),
        "mossman": (MossmanRule((2, 0, 1)).fit(*rules), rules[0]),
        "model_binary": (ScoreModel("pav").fit(scores, np.where(y, "yes", "no")), scores),
        "model_binary_cost": (
            ScoreModel("sigmoid", [[0, 3], [1, 0]], "parallel").fit(scores, y, weights),
            scores,
        ),
        "model_multiclass": (
            with_columns(ScoreModel("pav", COST3, "lachiche_flach").fit(matrix, NAMES[label])),
            matrix,
        ),
        "model_ranked": (
            quietly(ScoreModel("ranked_logistic", COST3, "mossman"), matrix, label),
            matrix,
        ),
        "model_actions": (ScoreModel("sigmoid", MIXED_COST).fit(matrix, np.array([1, 2, 7])[label]), matrix),
        "model_rule_actions": (
            ScoreModel("sigmoid", MIXED_COST, "parallel").fit(matrix, np.array([1, 2, 7])[label]),
            matrix,
        ),
        "model_rows_of_costs": (
            ScoreModel("binning", [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0.4, 0.4, 0.4]]).fit(matrix, label),
            matrix,
        ),
        "model_code": (
            ScoreModel("sigmoid", COST3, "expected", code=all_pairs(3), combine="least_squares").fit(
                pairs, label
            ),
            pairs,
        ),
        "model_groups": (
            ScoreModel("sigmoid").fit(scores, y, by=np.where(y + np.arange(len(y)) % 3 > 1, "a", "b")),
            scores,
        ),
        "model_parts": (ScoreModel.from_fitted(PAVCalibrator().fit(scores, y)), scores),
        "model_table": (ScoreModel("accuracy_table").fit(matrix, label.astype(float)), matrix),
    }
    return cases | {name: case for name, case in _methods() if name not in cases}


def _methods():
    """Every method of the registry, by itself and, if it takes one score, on a column for every class."""
    scores, y = one_score()
    matrix, label = class_scores()
    for name, method in OURS.items():
        margin = method.kinds[0] == "margin"
        calibrator = method.for_new_rows(method.kinds[0])
        columns = matrix if margin else softmax(matrix)
        if method.takes == "row":
            yield name, (quietly(calibrator, columns, label), columns)
            continue
        column = scores if margin else squashed(scores)
        yield f"one_vs_all_{name}", (quietly(OneVsAllCalibrator(calibrator), columns, label), columns)
        yield name, (quietly(calibrator, column, y), column)


CASES = _cases()


def answers(model, data):
    """All that a model says about some rows: arrays to be compared bit by bit."""
    if data is None:
        code, given = all_pairs(3), [[0.2, 0.9, 0.4], [0.5, 0.1, 1.0]]
        if not isinstance(model, Coupling):
            code = one_vs_all(3)
        return [model(code, given, [3, 1, 2])]
    if hasattr(model, "cost_after_"):
        return [model.decide(data), model.matrix_]
    said = [model.predict_proba(data)]
    if isinstance(model, ScoreModel):
        best = model.top_candidates(data, n=2)
        said += [model.decide(data), best.label, best.probability]
    if hasattr(model, "predict_by_rank"):
        ranked = model.predict_by_rank(data)
        said += [ranked.estimate, ranked.label, model.rank_accuracy_]
    return said


def assert_same_answers(one, other, data):
    """Two models say the same, to the last bit."""
    for first, second in zip(answers(one, data), answers(other, data), strict=True):
        assert first.shape == second.shape
        np.testing.assert_array_equal(first, second)
