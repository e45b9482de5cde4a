"""The scikit-learn estimators against plain rewrites around the same learner."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from scipy.special import rel_entr
from sklearn.model_selection import PredefinedSplit

from calibrant import CalibratedClassifier, MetaCostClassifier, PAVCalibrator, ProbingClassifier, ScoreModel
from calibrant.decisions import decide
from calibrant.learners import CategoricalNaiveBayes
from fuzz.calibrator_laws import score_matrices
from fuzz.laws import law
from fuzz.learner_laws import categories

TWO_CLASSES = st.just(2)


@law(
    "numbers",
    few=30,
    data=categories(),
    draws=st.lists(st.lists(st.integers(0, 10**6), min_size=2, max_size=8), min_size=1, max_size=4),
    costs=st.lists(st.integers(1, 9), min_size=9, max_size=9),
    hard=st.booleans(),
    use_all=st.booleans(),
)
def metacost_relabels_by_the_mean_of_its_resamples(data, draws, costs, hard, use_all):
    X, y, k = np.array(data["X"]), np.array(data["y"]), data["k"]
    cost = np.array(costs).reshape(3, 3)[:k, :k] * (1 - np.eye(k))
    resamples = [np.array(draw) % len(y) for draw in draws]
    model = MetaCostClassifier(
        CategoricalNaiveBayes(), cost, resamples=resamples, hard=hard, use_all=use_all
    ).fit(X, y)
    total, count = np.zeros((len(y), k)), np.zeros(len(y))
    every = np.zeros((len(y), k))
    for rows in resamples:
        present = np.unique(y[rows])
        said = np.zeros((len(y), k))
        said[:, present] = CategoricalNaiveBayes().fit(X[rows], y[rows]).predict_proba(X)
        if hard:
            said = np.eye(k)[said.argmax(axis=1)]
        unseen = np.full(len(y), True) if use_all else ~np.isin(np.arange(len(y)), rows)
        total[unseen] += said[unseen]
        count += unseen
        every += said
    wanted = np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], every / len(resamples))
    np.testing.assert_allclose(model.training_proba_, wanted, rtol=1e-9, atol=1e-12)
    risk = wanted @ cost.T
    chosen = risk[np.arange(len(y)), model.training_labels_]
    np.testing.assert_allclose(chosen, risk.min(axis=1), rtol=1e-9, atol=1e-9)


def safest(low, high):
    """Where both ends regret a forecast alike, by bisection, and how much."""

    def divergence(p, q):
        return float(rel_entr(p, q) + rel_entr(1 - p, 1 - q))

    left, right = low, high
    for _ in range(200):
        middle = (left + right) / 2
        if divergence(low, middle) < divergence(high, middle):
            left = middle
        else:
            right = middle
    return middle, max(divergence(low, middle), divergence(high, middle))


@law("numbers", few=20, data=categories(TWO_CLASSES), n_probes=st.integers(0, 6), squared=st.booleans())
def probing_splits_where_most_can_be_lost(data, n_probes, squared):
    X, y = np.array(data["X"]), np.array(data["y"])
    loss = "squared_error" if squared else "cross_entropy"
    model = ProbingClassifier(CategoricalNaiveBayes(), n_probes, loss, weighting="weights").fit(X, y)
    cuts, votes, probed = [], np.zeros(len(y), dtype=int), []

    def judged(low, high):
        return ((low + high) / 2, ((high - low) / 2) ** 2) if squared else safest(low, high)

    for _ in range(n_probes):
        ends = [0.0, *cuts, 1.0]
        found = [judged(low, high) for low, high in pairwise(ends)]
        scores = [np.sum(votes == i) * regret for i, (_, regret) in enumerate(found)]
        chosen = next(i for i, score in enumerate(scores) if score >= (1 - 1e-9) * max(scores))
        point = found[chosen][0]
        weight = np.where(y == 1, (1 - point) / point, 1.0) / max(1.0, (1 - point) / point)
        said = CategoricalNaiveBayes().fit(X, y, sample_weight=weight).predict_proba(X)
        if np.abs(said[:, 0] - said[:, 1]).min() < 1e-9:
            return  # a vote that rounding decides
        votes = votes + said.argmax(axis=1)
        probed.append(point)
        cuts = sorted([*cuts, point])
    np.testing.assert_allclose(model.ladders_[0].thresholds, probed, rtol=1e-6)
    ends = [0.0, *cuts, 1.0]
    wanted = [judged(ends[vote], ends[vote + 1])[0] for vote in votes]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], wanted, rtol=1e-6)


@law(
    "numbers",
    few=20,
    data=categories(TWO_CLASSES),
    folds=st.lists(st.integers(0, 1), min_size=12, max_size=12),
)
def a_calibrated_classifier_is_fitted_out_of_fold(data, folds):
    X, y = np.array(data["X"]), np.array(data["y"])
    folds = np.array(folds[: len(y)])
    if any(len(np.unique(y[folds == fold])) < 2 for fold in (0, 1)):
        return
    learner = CategoricalNaiveBayes()
    scores = np.empty(len(y))
    for fold in (0, 1):
        part = folds == fold
        scores[part] = learner.fit(X[~part], y[~part]).predict_proba(X[part])[:, 1]
    final = learner.fit(X, y).predict_proba(X)[:, 1]
    wanted = PAVCalibrator().fit(scores, y).predict_proba(final)
    model = CalibratedClassifier(
        CategoricalNaiveBayes(), "pav", cv=PredefinedSplit(folds), response_method="predict_proba"
    )
    np.testing.assert_allclose(model.fit(X, y).predict_proba(X), wanted, rtol=0, atol=1e-9)


@law("numbers", few=30, data=score_matrices(), method=st.sampled_from(["pav", "binning"]))
def a_score_model_decides_by_its_probabilities(data, method):
    scores, y = np.array([row[0] for row in data["rows"]]), [row[1] for row in data["rows"]]
    k = data["k"]
    if len(set(y)) < k:
        return
    cost = np.arange(k * k).reshape(k, k) * (1 - np.eye(k))
    model = ScoreModel(method, cost).fit(scores, y)
    proba = model.predict_proba(scores)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.decide(scores), decide(proba, cost))
