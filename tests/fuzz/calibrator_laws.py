"""Calibrators against the formulas of their definitions, in exact arithmetic or by a slow solver."""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, product
from math import floor
from statistics import median

import numpy as np
from hypothesis import strategies as st
from scipy.special import expit

from calibrant import (
    AccuracyTableCalibrator,
    BinningCalibrator,
    OneVsAllCalibrator,
    PAVCalibrator,
    RankedLogisticCalibrator,
    SigmoidCalibrator,
)
from fuzz.hostile import LAYOUTS, alphabets, floats, labelled_scores, laid_out
from fuzz.laws import law, may_refuse


def points(scores, y, weight):
    """Total weight and share of positives at every distinct score, ascending; rows of weight 0 are absent."""
    totals = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for score, label, each in zip(scores, y, weight or [1.0] * len(y), strict=True):
        if each:
            totals[float(score)][0] += Fraction(each)
            totals[float(score)][1] += Fraction(each) * label
    return [(Fraction(score), total, positive) for score, (total, positive) in sorted(totals.items())]


def isotonic(found):
    """The isotonic fit by its closed form: the greatest over a of the least over b of the means of a to b."""
    n = len(found)
    mean = {}
    for a in range(n):
        total = positive = Fraction(0)
        for b in range(a, n):
            total, positive = total + found[b][1], positive + found[b][2]
            mean[a, b] = positive / total
    return [max(min(mean[a, b] for b in range(i, n)) for a in range(i + 1)) for i in range(n)]


def blocks(found, values):
    """Runs of equal value: where each begins and ends, its value, and its weight."""
    runs = []
    for (score, total, _), value in zip(found, values, strict=True):
        if runs and runs[-1][2] == value:
            runs[-1][1] = score
            runs[-1][3] += total
        else:
            runs.append([score, score, value, total])
    return runs


def step(runs, query, between):
    """The value at a score, by the gap rules; all values that rounding of the midpoint permits."""
    place = max((i for i, run in enumerate(runs) if run[0] <= query), default=0)
    _, high, value, _ = runs[place]
    if query <= high or place + 1 == len(runs):
        return {value}
    after, next_value = runs[place + 1][0], runs[place + 1][2]
    if between == "nearest":
        middle = (high + after) / 2
        near = abs(query - middle) <= Fraction(float(np.spacing(abs(float(middle)))))
        return {value, next_value} if near else {value if query <= middle else next_value}
    share = {"linear": (query - high) / (after - high), "average": Fraction(1, 2), "lower": 0, "upper": 1}
    return {value + (next_value - value) * share[between]}


@law(
    "numbers",
    few=150,
    rows=labelled_scores(),
    layout=LAYOUTS,
    between=st.sampled_from(["nearest", "linear", "average", "lower", "upper"]),
    increasing=st.booleans(),
    asked=alphabets(),
)
def pav_is_the_max_min_formula(rows, layout, between, increasing, asked):
    scores, y, weight = laid_out(rows["scores"], layout), np.array(rows["y"], dtype=bool), rows["weight"]
    model = PAVCalibrator(between, increasing=increasing, clip=0).fit(scores, y, weight)
    found = points(scores, y if increasing else ~y, weight)
    values = isotonic(found)
    runs = blocks(found, values if increasing else [1 - value for value in values])
    for query in [float(score) for score, _, _ in found] + asked:
        got = model.predict_proba([query])[0, 1]
        wanted = [float(each) for each in step(runs, Fraction(query), between)]
        near = [abs(got - each) <= 1e-9 * max(abs(each), 1e-3) for each in wanted]
        assert any(near), f"at {query} got {got}, want {wanted}"


@law("numbers", few=100, rows=labelled_scores(wide=False), laplace=st.booleans())
def pav_blocks_are_the_runs_of_equal_values(rows, laplace):
    y = np.array(rows["y"], dtype=bool)
    fitted = PAVCalibrator(laplace=laplace).fit(rows["scores"], y, rows["weight"]).blocks_
    found = points(rows["scores"], y, rows["weight"])
    runs = blocks(found, isotonic(found))
    assert [float(run[0]) for run in runs] == fitted.lo.tolist()
    assert [float(run[1]) for run in runs] == fitted.hi.tolist()
    np.testing.assert_allclose([float(run[3]) for run in runs], fitted.weight, rtol=1e-12)
    soft = {0: lambda n: 1 / (n + 2), 1: lambda n: (n + 1) / (n + 2)} if laplace else {}
    wanted = [float(soft[v](n)) if v in soft else float(v) for _, _, v, n in runs]
    np.testing.assert_allclose(fitted.value, wanted, rtol=1e-12)


def bins(scores, n_bins):
    """Equal-frequency bins as lists of rows in order of their scores; a cut slides right over ties."""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    n, n_bins = len(order), min(n_bins, len(order))
    cuts, place = set(), 0
    for j in range(n_bins - 1):
        place += n // n_bins + (j < n % n_bins)
        end = place
        while end < n and scores[order[end - 1]] == scores[order[end]]:
            end += 1
        cuts |= {end} - {n}
    ends = [0, *sorted(cuts), n]
    return [order[a:b] for a, b in pairwise(ends)]


@law(
    "numbers",
    few=150,
    rows=labelled_scores(),
    layout=LAYOUTS,
    n_bins=st.integers(1, 6),
    smoothing=st.sampled_from([None, "laplace", "m"]),
)
def binning_counts_its_bins(rows, layout, n_bins, smoothing):
    given, y, weight = laid_out(rows["scores"], layout), rows["y"], rows["weight"]
    model = BinningCalibrator(n_bins, smoothing).fit(given, np.array(y, dtype=bool), weight)
    kept = [i for i in range(len(y)) if weight is None or weight[i]]
    scores = [float(given[i]) for i in kept]
    mass = [Fraction(1 if weight is None else weight[i]) for i in kept]
    hits = [each * y[i] for each, i in zip(mass, kept, strict=True)]
    more, total = {None: (0, 0), "laplace": (1, 2), "m": (10 * sum(hits) / sum(mass), 10)}[smoothing]
    for rows_of_bin in bins(scores, n_bins):
        positive, all_of_it = (sum(each[i] for i in rows_of_bin) for each in (hits, mass))
        wanted = float((positive + more) / (all_of_it + total))
        got = model.predict_proba([scores[i] for i in rows_of_bin])[:, 1]
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


def platt_targets(positive, negative, smooth=True):
    """What the positive and the negative rows are fitted to."""
    return ((positive + 1) / (positive + 2), 1 / (negative + 2)) if smooth else (1.0, 0.0)


COUNTS = st.integers(0, 12) | st.sampled_from([100, 300, 2840, 10_000, 1_000_000])


@law(
    "numbers",
    few=150,
    low=st.tuples(COUNTS, COUNTS),
    high=st.tuples(COUNTS, COUNTS),
    scale=st.integers(-300, 300),
    shift=st.sampled_from([0.0, 1.0, -1.0, 1e3, 1e-3]),
    layout=LAYOUTS,
)
def a_sigmoid_of_two_scores_is_their_mean_targets(low, high, scale, shift, layout):
    """Given negatives and positives at two scores; the optimum passes through both means."""
    if not (sum(low) and sum(high)) or not (low[0] + high[0] and low[1] + high[1]):
        return
    scores = laid_out([shift * 10.0**scale, (shift + 1) * 10.0**scale] * 2, layout)
    counts = [low[0], high[0], low[1], high[1]]
    ends = float(scores[0]), float(scores[1])
    spread = ends[1] - ends[0]
    if not spread:
        return
    with may_refuse(spread < 1e-290 or max(map(abs, ends)) > 1e290):
        model = SigmoidCalibrator().fit(scores, np.array([0, 0, 1, 1], dtype=bool), counts)
        got = model.predict_proba(scores[:2])[:, 1]
    hit, miss = platt_targets(low[1] + high[1], low[0] + high[0])
    wanted = [(n * miss + p * hit) / (n + p) for n, p in (low, high)]
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-9)
    assert model.converged_


def logistic_loss(z, target, weight):
    """The loss of logits; z is the logit of the negative class."""
    with np.errstate(all="ignore"):
        return float(weight @ (target * np.logaddexp(0, z) + (1 - target) * np.logaddexp(0, -z)))


def rounding_of(slopes, intercept, features):
    """How far off log-odds may be, and so losses, since a map is two numbers or more of 53 bits each."""
    sizes = np.abs(features) @ np.abs(slopes) + np.abs(intercept)
    return 2 * np.finfo(float).eps * float(sizes.max())


def that_vary(features):
    """Features of which those that differ by rounding alone are constant."""
    low, high = features.min(axis=0), features.max(axis=0)
    varies = high - low > 2.0**-48 * np.maximum(np.abs(low), np.abs(high))
    return np.where(varies, features, low)


def least_logistic_loss(features, target, weight):
    """The least loss of all logistic maps, by Newton's method with damping until every step helps."""
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    design = np.column_stack([scaled, np.ones(len(scaled))])
    beta = np.zeros(design.shape[1])
    loss, damping = logistic_loss(design @ beta, target, weight), 1e-6
    with np.errstate(all="ignore"):
        for _ in range(500):
            chance = expit(-(design @ beta))
            slope = design.T @ (weight * (target - chance))
            curvature = (design * (weight * chance * (1 - chance))[:, None]).T @ design
            damped = curvature + damping * np.eye(len(beta)) * (np.trace(curvature) + 1e-9)
            tried = beta - np.linalg.solve(damped, slope)
            after = logistic_loss(design @ tried, target, weight)
            if after < loss:
                beta, loss, damping = tried, after, max(damping / 10, 1e-11)
            else:
                damping *= 10
            if damping > 1e12:
                break
    return loss


@law(
    "numbers",
    few=100,
    rows=st.lists(st.tuples(floats(-3, 3), COUNTS, COUNTS), min_size=2, max_size=8),
    outlier=st.sampled_from([None, 1e2, 1e5, 1e8, -1e8]),
    smooth=st.booleans(),
)
def a_sigmoid_has_the_least_loss(rows, outlier, smooth):
    """Given scores with the numbers of negatives and positives at each."""
    score = np.array([row[0] for row in rows] + [outlier] * (outlier is not None), dtype=float)
    score = np.tile(score, 2)
    count = np.array([row[1] for row in rows] + [1] * (outlier is not None) + [row[2] for row in rows])
    count = np.append(count, [0] * (outlier is not None)).astype(float)
    y = np.repeat([False, True], len(score) // 2)
    positive, negative = count[y].sum(), count[~y].sum()
    at_hit, at_miss = score[y & (count > 0)], score[~y & (count > 0)]
    if not (positive and negative):
        return
    if not smooth and (at_hit.min() >= at_miss.max() or at_hit.max() <= at_miss.min()):
        return  # there is no optimum
    model = SigmoidCalibrator(smooth=smooth).fit(score, y, count)
    hit, miss = platt_targets(positive, negative, smooth)
    kept = count > 0
    score, target, count = score[kept], np.where(y, hit, miss)[kept], count[kept]
    got = logistic_loss(model.A_ * score + model.B_, target, count)
    least = least_logistic_loss(that_vary(score[:, None]), target, count)
    held = count.sum() * rounding_of([model.A_], model.B_, score[:, None])
    assert got <= least + 1e-6 * max(1.0, least) + held, f"loss {got}, and {least} can be had"
    if smooth:
        assert model.converged_


def ranked(scores, y):
    """Every row's scores in descending order, and the place of its class among them; ties in order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(scores, order, axis=1), (order == np.asarray(y)[:, None]).argmax(axis=1)


@st.composite
def score_matrices(draw, most_classes=4, most=10, few_distinct=True):
    """Rows of one score per class and a label, with few distinct rows of many copies."""
    k = draw(st.integers(2, most_classes))
    grid = st.integers(-8, 8).map(lambda i: i / 4)
    row = st.tuples(st.lists(grid | floats(-2, 2), min_size=k, max_size=k), st.integers(0, k - 1), COUNTS)
    rows = [[list(scores), y, max(n, 1)] for scores, y, n in draw(st.lists(row, min_size=1, max_size=most))]
    return {"k": k, "rows": rows}


@law("numbers", few=60, data=score_matrices(), combination=st.sampled_from(["A", "single"]))
def ranked_logistic_maps_have_the_least_loss(data, combination):
    scores = np.array([row[0] for row in data["rows"]])
    y = [row[1] for row in data["rows"]]
    count = np.array([float(row[2]) for row in data["rows"]])
    model = RankedLogisticCalibrator(combination, smooth=True, classes=range(data["k"]))
    with may_refuse(too_close_together(scores)):
        model.fit(scores, y, count)
    in_order, place = ranked(scores, y)
    for rank, fitted in enumerate(model.maps_):
        axes = [rank] if combination == "single" else [0, max(rank, 1)]
        right = place == rank
        hit, miss = platt_targets(count[right].sum(), count[~right].sum())
        features, target = in_order[:, axes], np.where(right, hit, miss)
        got = logistic_loss(features @ fitted.A + fitted.B, target, count)
        if right.all() or not right.any():
            np.testing.assert_allclose(expit(-(features @ fitted.A + fitted.B)), target, rtol=1e-9)
        else:
            least = least_logistic_loss(that_vary(features), target, count)
            most = least + 1e-6 * max(1.0, least) + count.sum() * rounding_of(fitted.A, fitted.B, features)
            assert got <= most, f"rank {rank + 1}: {got}, and {least} can be had"


def too_close_together(scores):
    """Whether ranked scores differ by so little that a slope would not be finite."""
    spreads = np.ptp(np.sort(scores, axis=1) / 4, axis=0)
    return bool(((spreads > 0) & (spreads < 1e-290)).any())


def smoothed_cell(cells, place, smoothing, lam):
    """The estimate of a cell by the rules of the paper; None where the fall-back is due."""
    n, right = cells.get(place, (Fraction(0), Fraction(0)))
    if smoothing in ("laplace", "lidstone"):
        lam = 1 if smoothing == "laplace" else Fraction(lam)
        return (right + lam) / (n + 2 * lam)
    steps = product((-1, 0, 1), repeat=len(place)) if smoothing != "none" else [(0,) * len(place)]
    around = [tuple(a + b for a, b in zip(place, move, strict=True)) for move in steps]
    near = [cells[each] for each in around if each in cells]
    if not near:
        return None
    if smoothing == "ma_cov":
        return sum(r for _, r in near) / sum(n for n, _ in near)
    each = [r / n for n, r in near]
    return {"ma": lambda: sum(each) / len(each), "median": lambda: median(each), "none": lambda: each[0]}[
        smoothing
    ]()


@law(
    "numbers",
    few=100,
    data=score_matrices(),
    width=st.sampled_from([0.5, 1.0, 0.25, 3.0]),
    smoothing=st.sampled_from(["none", "laplace", "lidstone", "ma", "median", "ma_cov"]),
    axes=st.sampled_from([[1], [1, 2], [2, 1], [1, 2, 3, 4]]),
    fallback=st.sampled_from(["prior", "half"]),
)
def accuracy_tables_count_their_cells(data, width, smoothing, axes, fallback):
    scores = np.array([row[0] for row in data["rows"]])
    y, k = [row[1] for row in data["rows"]], data["k"]
    count = [float(row[2]) for row in data["rows"]]
    axes = [axis for axis in axes if axis <= k]
    model = AccuracyTableCalibrator(
        axes, width, smoothing=smoothing, lam=0.5, fallback=fallback, max_rank=None, classes=range(k)
    ).fit(scores, y, count)
    in_order, place = ranked(scores, y)
    asked = np.vstack([scores, scores + 0.75])
    got = model.predict_by_rank(asked).estimate

    def cell(row):
        return tuple(floor((row[axis - 1]) / width + 1e-9) for axis in axes)

    for rank in range(k):
        cells = defaultdict(lambda: (Fraction(0), Fraction(0)))
        for row, n, at in zip(in_order, count, place, strict=True):
            total, right = cells[cell(row)]
            cells[cell(row)] = total + Fraction(n), right + Fraction(n) * int(at == rank)
        cells = dict(cells)
        overall = sum(r for _, r in cells.values()) / sum(n for n, _ in cells.values())
        default = overall if fallback == "prior" else Fraction(1, 2)
        for row, said in zip(-np.sort(-asked, axis=1), got[:, rank], strict=True):
            estimate = smoothed_cell(cells, cell(row), smoothing, 0.5)
            wanted = float(default if estimate is None else estimate)
            assert abs(said - wanted) <= 1e-9, f"rank {rank + 1}, row {row}: got {said}, want {wanted}"


@law("numbers", few=60, data=score_matrices(), method=st.sampled_from(["pav", "binning", "sigmoid"]))
def one_vs_all_is_a_two_class_calibrator_per_column(data, method):
    scores = np.array([row[0] for row in data["rows"]])
    y, k = np.array([row[1] for row in data["rows"]]), data["k"]
    count = [float(row[2]) for row in data["rows"]]
    got = (
        OneVsAllCalibrator(method, "normalize", classes=range(k)).fit(scores, y, count).predict_proba(scores)
    )
    make = {"pav": PAVCalibrator, "binning": BinningCalibrator, "sigmoid": SigmoidCalibrator}[method]
    each = [make().fit(scores[:, j], y == j, count).predict_proba(scores[:, j])[:, 1] for j in range(k)]
    raw = np.column_stack(each)
    total = raw.sum(axis=1, keepdims=True)
    wanted = np.where(total > 0, raw / np.where(total > 0, total, 1), 1 / k)
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)
