"""The stack: its laws to the last bit, its left-out predictions against refits, and what it is worth."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import expit, log_softmax
from sklearn.linear_model import LogisticRegression

from calibrant import (
    CalibrantError,
    MatrixCalibrator,
    StackCalibrator,
    TemperatureCalibrator,
    VectorCalibrator,
)
from calibrant.calibrators import _stack
from calibrant.calibrators._joint_rows import joint_rows
from calibrant.calibrators._linear_members import LINEAR, Features, _prices
from calibrant.calibrators._softmax_fit import _root, fit_softmax, softmax_in_place
from calibrant.calibrators._stairs import dealt_out
from calibrant.calibrators._start import FLOORS, TRIED, _best_scales, _good_scales, _true_first
from calibrant.maps import NUMPY, Start
from calibrant.passes import Cases, learn_from_cases
from calibrators.joint_rows import log_loss_of, three_ways_wrong
from models.onnx_cases import proba_of

KINDS = ("probability", "margin")


def mixture(n_rows, k=4, seed=0):
    """Margins of a bad model of clusters: what is near a row says more than its own scores do."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(3 * k, 2)) * 3
    cluster = rng.integers(0, 3 * k, n_rows)
    x = centres[cluster] + rng.normal(size=(n_rows, 2)) * 0.4
    means = np.array([centres[j::k].mean(axis=0) for j in range(k)])
    margins = -((x[:, None] - means) ** 2).sum(axis=2) / 4
    y = cluster % k
    y[:k] = np.arange(k)
    return np.exp(log_softmax(margins, axis=1)), y


# Laws that hold to the last bit.


@pytest.mark.parametrize("n_rows", [60, 700, 30_000])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [True, False])
def test_neither_the_order_of_rows_nor_labels_matter(n_rows, k, kind, weighted):
    """Equal bits: the same rows in the same order go through the same operations."""
    scores, y = three_ways_wrong(n_rows, k, kind=kind)
    rng = np.random.default_rng(0)
    weight = rng.choice([0.3, 1.0, 2.5], n_rows) if weighted else None
    query = three_ways_wrong(100, k, seed=5, kind=kind)[0]
    said = StackCalibrator(kind=kind).fit(scores, y, weight).predict_proba(query)
    rows, classes = rng.permutation(n_rows), rng.permutation(k)
    moved = StackCalibrator(kind=kind).fit(
        scores[rows][:, classes], np.argsort(classes)[y[rows]], None if weight is None else weight[rows]
    )
    np.testing.assert_array_equal(moved.predict_proba(query[:, classes]), said[:, classes])


@pytest.mark.parametrize("n_rows", [80, 12_000])
@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_weight_is_copies(n_rows, kind):
    scores, y = three_ways_wrong(n_rows, 4, kind=kind)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, n_rows)
    weight[:4] = 1
    weighted = StackCalibrator(kind=kind).fit(scores, y, weight)
    order = rng.permutation(weight.sum())
    copied = StackCalibrator(kind=kind).fit(
        np.repeat(scores, weight, axis=0)[order], np.repeat(y, weight)[order]
    )
    np.testing.assert_array_equal(weighted.predict_proba(scores), copied.predict_proba(scores))
    assert weighted.weights_ == copied.weights_
    assert weighted.losses_ == copied.losses_


def test_more_rows_than_are_used_are_chosen_by_their_scores_alone():
    """Of 300,000 rows of two classes 200,000 are: the same in every order, and of the other labels."""
    scores, y = three_ways_wrong(300_000, 2)
    order = np.random.default_rng(0).permutation(len(y))
    one = StackCalibrator(members=["start", "vector"]).fit(scores, y)
    other = StackCalibrator(members=["start", "vector"]).fit(scores[order][:, ::-1], 1 - y[order])
    np.testing.assert_array_equal(
        other.predict_proba(scores[:99, ::-1]), one.predict_proba(scores[:99])[:, ::-1]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_no_answer_is_zero_or_one(kind):
    y = np.repeat([0, 1, 2], 30)
    sure = np.eye(3)[y] * (1.0 if kind == "probability" else 800.0)
    query = np.vstack([sure, sure[:, ::-1], np.full((1, 3), 1 / 3)])
    if kind == "margin":
        query = np.vstack([query, [[1e300, -1e300, 0.0], [1e-300, 0.0, 0.0]]])
    said = StackCalibrator(kind=kind).fit(sure, y).predict_proba(query)
    assert ((said > 0) & (said < 1)).all()
    np.testing.assert_allclose(said.sum(axis=1), 1, atol=1e-12)


# Left-out predictions.


def problem(scores, y, kind="probability"):
    """The rows as the maps see them."""
    k = int(y.max()) + 1
    (rows,) = learn_from_cases([joint_rows(10**6, kind, k, None)], [Cases(scores, y, None)])
    return rows, Features.of_rows(rows, tuple(LINEAR))


@pytest.mark.parametrize(
    ("name", "within", "alike"),
    [("vector", 0.05, 0.999), ("shape", 0.1, 0.999), ("square", 0.15, 0.98), ("near", 0.25, 0.95)],
)
def test_left_out_predictions_are_nearly_those_of_refits(name, within, alike):
    """As a share of what the rows' own part in the fit makes of the loss; features and start stay."""
    rows, features = problem(*mixture(160, 3))
    design = features.design(features.row(rows), name, np.float64)
    penalty = LINEAR[name].penalty
    fit = fit_softmax(design, rows.y, rows.weight, penalty, precision=1e-15)
    places = np.arange(len(rows.y))
    inside = -np.log(softmax_in_place(design.scores(fit.numbers))[rows.y, places])
    quick = -np.log(fit.left_out(design, rows.y, rows.weight, 1.0)[rows.y, places])
    chosen, exact = places[::4], []
    for each in chosen:
        weight = rows.weight.copy()
        weight[each] -= 1
        there = np.flatnonzero(weight > 0)
        again = fit_softmax(design.some(there), rows.y[there], weight[there], penalty, precision=1e-15)
        said = softmax_in_place(design.some(np.array([each])).scores(again.numbers))
        exact.append(-np.log(said[rows.y[each], 0]))
    exact = np.array(exact)
    gap = exact.mean() - inside[chosen].mean()
    assert gap > 0
    assert abs(quick[chosen].mean() - exact.mean()) < max(within * gap, 0.02)
    assert np.corrcoef(quick[chosen], exact)[0, 1] > alike


def test_left_out_of_a_row_of_weight_three_is_that_of_three_copies():
    scores, y = three_ways_wrong(60, 3)
    rows, features = problem(scores, y)
    design = features.design(features.row(rows), "vector", np.float64)
    weight = np.where(np.arange(len(rows.y)) % 2, 3.0, 1.0)
    copies = np.repeat(np.arange(len(rows.y)), weight.astype(int))
    one = fit_softmax(design, rows.y, weight, LINEAR["vector"].penalty, precision=1e-15)
    said = one.left_out(design, rows.y, weight, 1.0)[:, copies]
    many = design.some(copies)
    other = one.left_out(many, rows.y[copies], np.ones(len(copies)), 1.0)
    np.testing.assert_allclose(other, said, atol=1e-12)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(2, 10), st.integers(0, 99))
@settings(max_examples=50)
def test_folds_deal_out_units_of_weight(weight, n_folds, seed):
    weight = np.array(weight, dtype=float)
    y = np.sort(np.random.default_rng(seed).integers(0, 3, len(weight)))
    shares = dealt_out(y, weight, n_folds)
    np.testing.assert_allclose(shares.sum(axis=0), weight)
    assert (shares == np.round(shares)).all()
    by_class = np.array([np.bincount(y, share, 3) for share in shares])
    assert (by_class.max(axis=0) - by_class.min(axis=0) <= 1).all()
    assert (shares.max(axis=0) - shares.min(axis=0) <= 1).all()


# What it is worth, and what it says of itself.


def test_what_is_near_is_found_where_it_matters_and_left_alone_where_not():
    scores, y = mixture(3000)
    model = StackCalibrator().fit(scores, y)
    new, label = mixture(5000, seed=1)
    alone = TemperatureCalibrator().fit(scores, y)
    assert log_loss_of(model.predict_proba(new), label) < 0.6 * log_loss_of(alone.predict_proba(new), label)
    assert model.weights_["near"] + model.weights_["square"] > 0.5
    scores, y = three_ways_wrong(3000)
    weights = StackCalibrator().fit(scores, y).weights_
    assert weights["vector"] + weights["shape"] > 0.5


def test_it_says_what_it_took():
    model = StackCalibrator().fit(*three_ways_wrong())
    assert model.members_ == ["start", "vector", "shape", "square", "near", "steps"]
    assert list(model.weights_) == list(model.losses_) == model.members_
    assert sum(model.weights_.values()) == pytest.approx(1)
    best = min(model.losses_, key=model.losses_.get)
    assert model.report_.startswith("took ")
    assert f"rows left out: {best} {model.losses_[best]:.3f}" in model.report_


@pytest.mark.parametrize("k", [2, 3])
def test_members_can_be_chosen(k):
    scores, y = three_ways_wrong(300, k)
    names = ["matrix", "rate", "flat"]
    model = StackCalibrator(names).fit(scores, y)
    assert model.members_ == names
    assert model.weights_["matrix"] > 0.9
    one = StackCalibrator(["rate"]).fit(scores, y).predict_proba(scores)
    np.testing.assert_allclose(one, np.tile(one[0], (len(y), 1)))
    assert one[0] == pytest.approx(np.bincount(y) / len(y), abs=0.05)
    with pytest.raises(CalibrantError, match="members must be None or a list of one or more, each one of"):
        StackCalibrator(["best"]).fit(scores, y)
    with pytest.raises(CalibrantError, match="members must keep the order of the scores"):
        StackCalibrator(["near"], keep_order=True).fit(scores, y)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_is_kept_where_that_is_asked_for(kind):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=400) * 2
    falls = rng.random(400) < 1 / (1 + np.exp(np.where(scores > 0, scores, -scores)))  # not monotone at all
    for y in (falls, scores + rng.normal(size=400) > 0, scores + rng.normal(size=400) < 0):
        given_ = 1 / (1 + np.exp(-scores)) if kind == "probability" else scores
        model = StackCalibrator(keep_order=True, kind=kind).fit(given_, y)
        assert set(model.members_) == {"start", "vector", "steps", "flat"}
        said = model.predict_proba(np.sort(given_))[:, 1]
        assert (np.diff(said) >= -1e-15).all()
    scores, y = three_ways_wrong(300, 5, kind=kind)
    said = StackCalibrator(keep_order=True, kind=kind).fit(scores, y).predict_proba(scores)
    in_order = np.take_along_axis(said, scores.argsort(axis=1), axis=1)
    assert (np.diff(in_order, axis=1) >= -1e-15).all()


def test_more_than_two_hundred_classes_have_no_kernel():
    rng = np.random.default_rng(0)
    y = np.append(np.arange(201), rng.integers(0, 201, 800))
    scores = rng.normal(size=(len(y), 201)) + 4 * np.eye(201)[y]
    model = StackCalibrator(kind="margin").fit(scores, y)
    assert model.members_ == ["start", "vector", "shape", "steps"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("single", [True, False])
def test_the_graph_of_all_maps_says_the_same(kind, k, single, monkeypatch):
    monkeypatch.setattr(_stack, "LEAST_WEIGHT", 0.0)
    scores, y = mixture(900, k) if kind == "probability" else three_ways_wrong(900, k, kind=kind)
    if single:
        scores, y = scores[:, 1], y == 1
    model = StackCalibrator(
        kind=kind, members=["start", "vector", "shape", "matrix", "square", "near", "steps"]
    )
    model.fit(scores, y)
    assert len(model.map_.linear) == 6
    np.testing.assert_allclose(proba_of(model, scores), model.predict_proba(scores), rtol=0, atol=1e-9)


def test_scores_of_any_unit_are_the_same():
    scores, y = three_ways_wrong(500, 3, kind="margin")
    one = StackCalibrator(kind="margin").fit(scores, y).predict_proba(scores)
    for unit in (1e-9, 1e9):
        other = StackCalibrator(kind="margin").fit(scores * unit, y).predict_proba(scores * unit)
        np.testing.assert_allclose(other, one, atol=0.02)


@pytest.mark.parametrize("method", [StackCalibrator, VectorCalibrator, MatrixCalibrator])
@pytest.mark.parametrize("k", [2, 4])
def test_margins_may_be_even_anywhere(method, k):
    """Credit scores from 300 to 850 are margins too: where 0 is, and what a point is, must not matter."""
    scores, y = three_ways_wrong(400, k, kind="margin")
    new, label = three_ways_wrong(4000, k, seed=9, kind="margin")
    if k == 2:
        (scores, new), y, label = (each[:, 1] - each[:, 0] for each in (scores, new)), y == 1, label == 1
    far = 10.0 if k == 2 else 10.0 * np.arange(k)
    at_zero = method(kind="margin").fit(scores, y).predict_proba(new)
    models = [method(kind="margin").fit(unit * (scores + far), y) for unit in (1, 50, 1e-3)]
    said = [
        model.predict_proba(unit * (new + far)) for unit, model in zip((1, 50, 1e-3), models, strict=True)
    ]
    for each in said:
        np.testing.assert_allclose(each, said[0], atol=2e-3)
        assert log_loss_of(each, label.astype(int)) < 1.02 * log_loss_of(at_zero, label.astype(int))


def test_the_start_of_margins_is_the_logistic_map_of_greatest_likelihood():
    scores, y = three_ways_wrong(600, 2, kind="margin")
    single, y = scores[:, 1] - scores[:, 0] + 7, y == 1
    start = VectorCalibrator(kind="margin").fit(single, y).map_.start
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(single[:, None], y)
    np.testing.assert_allclose(start.scale, peer.coef_[0, 0], rtol=0.02)
    np.testing.assert_allclose(start.bias[1] - start.bias[0], peer.intercept_[0], rtol=0.02)


@pytest.mark.parametrize("seed", range(6))
def test_the_start_is_not_caught_where_all_answers_are_sure(seed):
    """The share makes a valley of great scales, where answers are sure and wrong ones cost the same."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 70)
    scores = expit(300 * (1.2 * (2 * y - 1) + random.normal(size=70))[:, None] * [-1, 1])
    rows, features = problem(scores, y)
    given = rows.scores[:, rows.entry.order]

    def loss(start):
        return -np.log(start.formula(given, 2, NUMPY)[np.arange(len(rows.y)), rows.y]) @ rows.weight

    tried = [Start(scale, floor, 1 / 71) for scale in np.exp(np.arange(-6, 5, 0.2)) for floor in FLOORS]
    assert loss(features.start) < 1.001 * min(map(loss, tried))


@pytest.mark.parametrize("k", [2, 3, 6])
def test_no_floor_is_overlooked_by_trying_a_few_rows(k):
    """Of 6000 rows 500 are tried; floors differ by what the few cost that are sure and wrong."""
    for seed in range(4):
        scores, y = three_ways_wrong(6000, k, seed=seed)
        wrong = np.random.default_rng(seed).integers(0, len(y), 3 + 20 * seed)
        scores[wrong] = scores[wrong][:, ::-1] ** 6
        rows, features = problem(scores / scores.sum(axis=1, keepdims=True), y)
        true_first = _true_first(rows.entry.of_classes(rows.scores, NUMPY), rows.y)
        losses = []
        for floor in FLOORS:
            logs = np.log(true_first + floor)[:, None]
            begin = _good_scales(logs, rows.weight, 1 / 6001, TRIED)
            losses.append(_best_scales(logs, rows.weight, 1 / 6001, begin)[0])
        proba = features.start.formula(rows.scores[:, rows.entry.order], k, NUMPY)
        said = proba[np.arange(len(rows.y)), rows.y]
        assert -np.log(said) @ rows.weight < (1 + 1e-3 / k) * np.min(losses)


@pytest.mark.parametrize("seed", range(40))
def test_a_search_that_begins_at_its_end_stays_there(seed):
    """A step that is lost by rounding is none from which bounds must keep the search."""
    scores, y = mixture(100, 2, seed=seed)
    order = np.argsort(y)
    logs, weight = np.log(_true_first(scores[order], y[order]))[:, None], np.ones(len(y))
    loss, scale = _best_scales(logs, weight, 0.01, _good_scales(logs, weight, 0.01, TRIED))
    again = _best_scales(logs, weight, 0.01, scale)
    np.testing.assert_allclose(again, (loss, scale), rtol=1e-7)


def test_a_few_margins_far_from_all_others_do_not_hide_the_scale():
    """Logarithms of a naive Bayes, in billions for some rows: the mean unit says nothing of most."""
    scores, y = three_ways_wrong(300, 3)
    margins = np.log(scores + 1e-9)
    far = margins.copy()
    far[:3] *= 1e9
    _, features = problem(far, y, kind="margin")
    assert features.start.scale == pytest.approx(problem(margins, y, kind="margin")[1].start.scale, rel=0.2)


def test_what_rounding_took_from_a_curvature_is_made_up_for():
    vectors = np.random.default_rng(0).normal(size=(6, 4))
    level = vectors @ vectors.T
    for lost in (0.0, 1e-6, 1e-4):
        rounded = level - lost * np.trace(level) * np.eye(6)
        root = _root(rounded)
        np.testing.assert_allclose(root @ root.T, level, atol=10 * max(lost, 1e-6) * np.trace(level))


@pytest.mark.parametrize("k", [2, 3])
def test_rows_of_great_weight_are_fitted(k):
    scores, y = mixture(400, k)
    many = StackCalibrator().fit(scores, y, np.full(len(y), 1e9)).predict_proba(scores)
    assert log_loss_of(many, y) < log_loss_of(StackCalibrator().fit(scores, y).predict_proba(scores), y)


def test_the_fewer_rows_of_a_class_the_more_it_costs_to_be_near():
    """As many rows of each class pay the same, but for what all pay for few rows in all."""
    penalty = LINEAR["near"].penalty
    (few,), (many,) = (penalty.of_columns(0, 1, k, 300.0 * k)[2:] for k in (2, 10))
    np.testing.assert_allclose(few / (1 + 30 / 600), many / (1 + 30 / 3000))
    assert penalty.of_columns(0, 1, 10, 300.0)[2] > many > penalty.of_columns(0, 1, 10, 1e6)[2]


def test_few_rows_do_not_move_what_is_even_at_zero():
    scores, y = three_ways_wrong(40, 3, kind="margin")
    assert StackCalibrator(kind="margin").fit(scores, y).map_.start.bias is None


@pytest.mark.parametrize(
    "scores",
    [np.zeros((6, 3)), np.tile([3.0, 1.0, 0.0], (6, 1)), np.full((6, 3), 1e300)],
    ids=["zero", "same", "huge"],
)
def test_scores_that_say_nothing_give_base_rates_or_so(scores):
    said = StackCalibrator(kind="margin").fit(scores, [0, 1, 2, 0, 1, 2]).predict_proba(scores)
    np.testing.assert_allclose(said, said[:1].repeat(6, axis=0))
    assert (said > 0.05).all()


def test_equal_rows_are_one_and_copies_are_counted():
    scores, y = np.array([[0.2, 0.8], [0.2, 0.8], [0.7, 0.3]]), np.array([1, 1, 0])
    (rows,) = learn_from_cases([joint_rows(10, "probability", 2, None)], [Cases(scores, y, None)])
    assert sorted(rows.weight) == [1.0, 2.0]
    assert rows.total == 3


@pytest.mark.parametrize("spread", [0.0, 0.15, 0.3])
def test_the_penalty_of_biases_is_that_of_how_far_they_lie_apart(spread):
    """In the mean over draws the moments find the variance that biases were drawn with."""
    rng, k, n, variances = np.random.default_rng(3), 12, 3_000, []
    for _ in range(40):
        log_start = log_softmax(rng.normal(size=(k, n)), axis=0)
        told = log_softmax(log_start + spread * rng.normal(size=(k, 1)), axis=0)
        y = (np.exp(told).cumsum(axis=0) < rng.random(n)).sum(axis=0).clip(max=k - 1)
        bias, slope = _prices(log_start, y, np.ones(n))
        variances.append(0.5 / bias)
        assert slope > 0.5 / 0.3**2  # slopes are all alike
    if spread:
        assert np.mean(variances) == pytest.approx(spread**2, rel=0.4)
    else:
        assert np.mean(variances) < 0.02


def test_where_classes_differ_the_maps_may_follow():
    """Of scores made for other base rates biases cost less; `vector` and two classes always pay the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 2_000)
    logs = 2 * (rng.normal(size=(2_000, 4)) + np.eye(4)[y])
    moved = logs + np.array([0.0, 3.0, -3.0, 1.0])

    def penalty(name, logs, y):
        return problem(np.exp(log_softmax(logs, axis=1)), y)[1].penalty(name)

    for name in ("shape", "square", "near"):
        assert penalty(name, moved, y).bias < penalty(name, logs, y).bias / 10
    assert penalty("vector", moved, y) == penalty("vector", logs, y) == LINEAR["vector"].penalty
    assert penalty("near", moved[y < 2, :2], y[y < 2]) == LINEAR["near"].penalty
