"""Metrics against their definitions, written out row by row in exact arithmetic."""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from calibrant.metrics import (
    accuracy_by_threshold,
    auc,
    brier_decomposition,
    brier_score,
    cross_entropy,
    detection_curve,
    error_rate,
    log_loss,
    mailing_profit,
    reliability_at_rank,
    reliability_bins,
    reliability_by_coverage,
    rescale_margin,
    rms_error,
)
from fuzz.calibrator_laws import isotonic, points
from fuzz.hostile import LAYOUTS, alphabets, floats, labelled_scores, laid_out, simplex, weights
from fuzz.laws import law, may_refuse


def mean(values, mass):
    """Weighted mean, exactly."""
    return sum(v * m for v, m in zip(values, mass, strict=True)) / sum(mass)


def masses(weight, n):
    """Weights as fractions."""
    return [Fraction(1)] * n if weight is None else [Fraction(each) for each in weight]


def close(got, wanted, atol=1e-12):
    np.testing.assert_allclose(got, np.array([float(w) for w in np.atleast_1d(wanted)]), rtol=1e-9, atol=atol)


@law("numbers", few=150, rows=labelled_scores(), layout=LAYOUTS)
def auc_is_the_share_of_pairs_in_order(rows, layout):
    scores = laid_out(rows["scores"], layout)
    got = auc(np.array(rows["y"], dtype=bool), scores, sample_weight=rows["weight"])
    mass = masses(rows["weight"], len(rows["y"]))
    each = [(float(s), y, m) for s, y, m in zip(scores, rows["y"], mass, strict=True)]
    total = won = Fraction(0)
    for s, y, m in each:
        for other, z, n in each:
            if y > z:
                total += m * n
                won += m * n * (2 if s > other else s == other) / 2
    if total:
        close(got, won / total, atol=0)
    else:
        assert math.isnan(got)


@st.composite
def forecasts(draw):
    """Probabilities of classes, a label and a weight of every row; few distinct forecasts."""
    k = draw(st.integers(2, 4))
    letters = draw(st.lists(simplex(k), min_size=1, max_size=4))
    row = st.tuples(st.sampled_from(letters), st.integers(0, k - 1), weights())
    proba, y, weight = map(list, zip(*draw(st.lists(row, min_size=1, max_size=10)), strict=True))
    if not any(weight):
        weight[0] = 1.0
    return {"k": k, "proba": proba, "y": y, "weight": weight if draw(st.booleans()) else None}


@law("numbers", few=100, given=forecasts(), layout=LAYOUTS)
def losses_are_means_over_rows(given, layout):
    k, y, weight = given["k"], given["y"], given["weight"]
    proba = [[Fraction(each) for each in row] for row in given["proba"]]
    mass = masses(weight, len(y))
    laid = laid_out(given["proba"], layout)
    options = {"sample_weight": weight, "classes": range(k)}
    square = [
        sum((each - (j == label)) ** 2 for j, each in enumerate(row))
        for row, label in zip(proba, y, strict=True)
    ]
    close(brier_score(y, laid, convention="sum", **options), mean(square, mass))
    close(brier_score(y, laid, convention="mean", **options), mean(square, mass) / k)
    truth = [row[label] for row, label in zip(proba, y, strict=True)]
    absurd = any(p == 0 and m for p, m in zip(truth, mass, strict=True))
    wanted = math.inf if absurd else float(mean([-Fraction(math.log(p)) if p else 0 for p in truth], mass))
    close(log_loss(y, laid, **options), wanted)
    if k == 2:
        wrong = [(row[1] > Fraction(1, 2)) != bool(label) for row, label in zip(proba, y, strict=True)]
        one = [row[1] for row in given["proba"]]
        happened = np.array(y, dtype=bool)
        close(cross_entropy(happened, one, sample_weight=weight), wanted)
        residual = mean([(row[1] - label) ** 2 for row, label in zip(proba, y, strict=True)], mass)
        close(rms_error(happened, one, sample_weight=weight) ** 2, residual)
    else:
        wrong = [row.index(max(row)) != label for row, label in zip(proba, y, strict=True)]
    close(error_rate(y, laid, **options), mean(wrong, mass))


def split(groups, happened, chance, mass):
    """The parts of the Brier score of one event, by groups of rows."""
    total, base = sum(mass), mean(happened, mass)
    parts = defaultdict(Fraction, uncertainty=base * (1 - base))
    members = defaultdict(list)
    for row, group in enumerate(groups):
        if mass[row]:
            members[group].append(row)
    for rows in members.values():
        m = [mass[i] for i in rows]
        share = sum(m) / total
        p, q = mean([chance[i] for i in rows], m), mean([happened[i] for i in rows], m)
        parts["calibration"] += share * (p - q) ** 2
        parts["refinement"] += share * q * (1 - q)
        parts["resolution"] += share * (q - base) ** 2
        parts["within_bin_variance"] += share * mean([(chance[i] - p) ** 2 for i in rows], m)
        inner = mean([(happened[i] - q) * (chance[i] - p) for i in rows], m)
        parts["within_bin_covariance"] += 2 * share * inner
    return parts


@law(
    "numbers",
    few=100,
    given=forecasts(),
    how=st.sampled_from(["joint", "classwise", "edges", "isotonic"]),
)
def brier_splits_are_sums_over_groups(given, how):
    k, y = given["k"], given["y"]
    mass = masses(given["weight"], len(y))
    options = {"sample_weight": given["weight"], "classes": range(k)}
    options["mode"] = "joint" if how == "joint" else "classwise"
    if how == "edges":
        options["edges"] = [0, 0.25, 0.6, 1]
    elif how == "isotonic":
        options["isotonic"] = True
    laid = given["proba"] if k > 2 else [row[1] for row in given["proba"]]
    got = brier_decomposition(y, laid, **options)
    wanted = defaultdict(Fraction)
    for j in range(k) if k > 2 else [1]:
        chance = [Fraction(row[j]) for row in given["proba"]]
        happened = [int(label == j) for label in y]
        groups = list(map(tuple, given["proba"])) if how == "joint" else chance
        if how == "edges":
            groups = [sum(each >= e for e in (Fraction(0.25), Fraction(0.6))) for each in chance]
        if how == "isotonic":
            fitted = points(map(float, chance), happened, given["weight"])
            repaired = dict(zip([s for s, _, _ in fitted], isotonic(fitted), strict=True))
            best = mean([(repaired.get(c, 0) - h) ** 2 for c, h in zip(chance, happened, strict=True)], mass)
            brier = mean([(c - h) ** 2 for c, h in zip(chance, happened, strict=True)], mass)
            parts = {"calibration": brier - best, "refinement": best}
        else:
            parts = split(groups, happened, chance, mass)
        for name, part in parts.items():
            wanted[name] += part
    for name, part in wanted.items():
        close(getattr(got, name), part)
    whole = got.calibration + got.refinement + got.within_bin_variance - got.within_bin_covariance
    close(got.brier, whole)


@law(
    "numbers",
    few=100,
    rows=st.lists(
        st.tuples(floats(0, 1) | st.integers(0, 20).map(lambda i: i / 20), st.integers(0, 1), weights()),
        min_size=1,
        max_size=12,
    ),
    width=st.sampled_from([0.1, 0.15, 0.08, 0.5, 1.0]),
)
def reliability_bins_count_their_rows(rows, width):
    score, y, weight = map(list, zip(*rows, strict=True))
    weight[0] = weight[0] or 1.0
    got = reliability_bins(np.array(y, dtype=bool), score, width=width, sample_weight=weight)
    n_bins = math.ceil(1 / width - 1e-9)
    members = defaultdict(list)
    for i, each in enumerate(score):
        if weight[i]:
            members[min(math.floor(each / width + 1e-9), n_bins - 1)].append(i)
    found = sorted(members.items())
    assert got.count.tolist() == [len(rows) for _, rows in found]
    mass = [[Fraction(weight[i]) for i in rows] for _, rows in found]
    close(got.left, [place * width for place, _ in found])
    close(got.right, [min((place + 1) * width, 1) for place, _ in found])
    close(got.weight, [sum(m) for m in mass])
    each = [[Fraction(score[i]) for i in rows] for _, rows in found]
    close(got.mean_score, [mean(s, m) for s, m in zip(each, mass, strict=True)])
    hits = [[y[i] for i in rows] for _, rows in found]
    close(got.frac_pos, [mean(h, m) for h, m in zip(hits, mass, strict=True)])


@law("numbers", few=60, given=forecasts(), rank=st.integers(1, 4))
def reliability_at_a_rank_is_that_of_its_class(given, rank):
    k, rank = given["k"], min(rank, given["k"])
    proba = np.array(given["proba"])
    order = np.argsort(-proba, axis=1, kind="stable")[:, rank - 1]
    got = reliability_at_rank(given["y"], proba, rank, sample_weight=given["weight"], classes=range(k))
    chosen = proba[np.arange(len(proba)), order]
    wanted = reliability_bins(order == np.array(given["y"]), chosen, sample_weight=given["weight"])
    np.testing.assert_array_equal(got.count, wanted.count)
    np.testing.assert_allclose(got.frac_pos, wanted.frac_pos)


@law("numbers", few=100, rows=labelled_scores(), limits=alphabets())
def error_detection_counts_from_either_end(rows, limits):
    right, weight = np.array(rows["y"], dtype=bool), rows["weight"]
    kept = [i for i in range(len(right)) if weight is None or weight[i]]
    mass = masses(weight, len(right))
    total = sum(mass)
    shyest = sorted(kept, key=lambda i: rows["scores"][i])
    errors = sum(mass[i] for i in kept if not right[i])
    got = detection_curve(right, rows["scores"], sample_weight=weight)
    seen = [shyest[: m + 1] for m in range(len(shyest))]
    close(got.coverage, [sum(mass[i] for i in some) / total for some in seen])
    found = [sum(mass[i] for i in some if not right[i]) for some in seen]
    close(got.errors, found, atol=1e-12)
    close(got.share, [each / errors for each in found] if errors else [math.nan] * len(found))
    left = [[i for i in kept if rows["scores"][i] >= limit] for limit in limits]
    curve = accuracy_by_threshold(right, rows["scores"], limits, sample_weight=weight)
    close(curve.coverage, [sum(mass[i] for i in some) / total for some in left])
    close(
        curve.accuracy,
        [mean([int(right[i]) for i in some], [mass[i] for i in some]) if some else math.nan for some in left],
    )


CERTAINTY = floats(0, 1) | st.integers(0, 4).map(lambda i: i / 4)


@law(
    "numbers",
    few=60,
    scores=st.lists(CERTAINTY, min_size=12, max_size=12),
    y=st.lists(st.integers(0, 1), min_size=1, max_size=12),
    weight=st.none() | st.lists(weights(), min_size=12, max_size=12),
)
def coverage_curves_look_at_the_surest_first(scores, y, weight):
    if weight is not None:
        weight = [weight[0] or 1.0, *weight[1 : len(y)]]
    rows = {"scores": scores[: len(y)], "y": y, "weight": weight}
    right, weight = np.array(rows["y"], dtype=bool), rows["weight"]
    mass = masses(weight, len(right))
    kept = [i for i in range(len(right)) if mass[i]]
    got = reliability_by_coverage(right, rows["scores"], sample_weight=weight)
    surest = sorted(kept, key=lambda i: -rows["scores"][i])
    seen = [surest[: m + 1] for m in range(len(surest))]
    close(got.accuracy, [mean([int(right[i]) for i in s], [mass[i] for i in s]) for s in seen])
    said = [mean([Fraction(rows["scores"][i]) for i in s], [mass[i] for i in s]) for s in seen]
    close(got.mean_p, said)


@law(
    "numbers",
    few=100,
    scores=alphabets(),
    reference=st.none() | alphabets(),
    mode=st.sampled_from(["symmetric", "minmax"]),
)
def rescaled_margins_are_shares_of_the_range(scores, reference, mode):
    known = [Fraction(each) for each in (scores if reference is None else reference)]
    low, high = (
        (-max(map(abs, known)), max(map(abs, known))) if mode == "symmetric" else (min(known), max(known))
    )
    with may_refuse(high - low > Fraction(10) ** 307 or high - low < Fraction(1, 10**300)):
        got = rescale_margin(scores, reference=reference, mode=mode)
    wanted = [(Fraction(each) - low) / (high - low) if high > low else Fraction(1, 2) for each in scores]
    close(got, [min(max(each, 0), 1) for each in wanted])


@law(
    "numbers",
    few=60,
    rows=st.lists(
        st.tuples(st.integers(0, 16).map(lambda i: i / 16), st.integers(0, 40), st.integers(0, 40)),
        min_size=1,
    ),
    cost=st.sampled_from([0.68, 1.0, 0.0]),
)
def mail_goes_where_it_pays(rows, cost):
    chance, hoped, given = map(list, zip(*rows, strict=True))
    got = mailing_profit(chance, hoped, given, cost=cost)
    mailed = [Fraction(p) * a > Fraction(cost) for p, a in zip(chance, hoped, strict=True)]
    profit = sum(Fraction(g) - Fraction(cost) for g, m in zip(given, mailed, strict=True) if m)
    close(got.profit, profit, atol=1e-9)
