"""The figures of O'Brien, Gupta and Gray: estimates on the simplex of three classes, and its partitions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.neighbors import KNeighborsClassifier

from calibrant._core._arrays import Float64Array
from calibrant.decisions import (
    add_to_row,
    boundary_segment,
    decide,
    equal_risk_point,
    multiply_column,
    multiply_row,
)
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Scale, Series
from calibrant.learners import CategoricalNaiveBayes

ZERO_ONE = ((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))
#: The paper does not give its asymmetric costs; these make the third class dear to miss.
ASYMMETRIC = ((0.0, 1.0, 4.0), (2.0, 0.0, 6.0), (1.0, 1.0, 0.0))
PAIRS = ((0, 1), (0, 2), (1, 2))
AXES = {"x": "p2 + p3/2", "y": "height of p3", "shape": "simplex"}


def on_paper(proba: Any) -> Float64Array:
    """The place of probabilities in an equilateral triangle, whose corners are the classes."""
    return np.asarray(np.asarray(proba) @ np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]]))


def duplicated_feature(n_values: int, seed: int) -> dict[str, Any]:
    """Naive Bayes that sees one feature twice."""
    of_class = np.random.default_rng(seed).dirichlet(np.ones(n_values), size=3)
    rows = np.tile(np.arange(n_values), 3)
    # The weights are the probabilities themselves, so that nothing is left to chance.
    learner = CategoricalNaiveBayes(alpha=1e-9)
    learner.fit(np.column_stack([rows, rows]), np.repeat(np.arange(3), n_values), of_class.ravel())
    values = np.arange(n_values)
    true = (of_class / of_class.sum(axis=0)).T
    return {
        "true": true.tolist(),
        "estimated": learner.predict_proba(np.column_stack([values, values])).tolist(),
    }


def large_neighbourhoods(n_rows: int, n_neighbors: int, n_shown: int, seed: int) -> dict[str, Any]:
    """Nearest neighbours that are most of the rows."""
    rng = np.random.default_rng(seed)
    means = 2 * on_paper(np.eye(3))
    y, asked = rng.integers(3, size=n_rows), rng.integers(3, size=n_shown)
    X, shown = means[y] + rng.normal(size=(n_rows, 2)), means[asked] + rng.normal(size=(n_shown, 2))
    distances = ((shown[:, np.newaxis, :] - means) ** 2).sum(axis=2)
    learner = KNeighborsClassifier(n_neighbors).fit(X, y)
    return {
        "true": softmax(-distances / 2, axis=1).tolist(),
        "estimated": learner.predict_proba(shown).tolist(),
    }


def partitions() -> dict[str, Any]:
    """The cost matrices of figure 2."""
    return {
        "original": np.asarray(ASYMMETRIC).tolist(),
        "row addition": add_to_row(ASYMMETRIC, 1, -0.5).tolist(),
        "column multiple": multiply_column(ASYMMETRIC, 2, 2.0).tolist(),
        "row multiple": multiply_row(ASYMMETRIC, 1, 0.5).tolist(),
    }


def boundaries(panel: str, name: str, cost: Any) -> list[Series]:
    """The boundaries of the decisions about three classes, as lines of a figure."""
    segments = {pair: boundary_segment(cost, *pair) for pair in PAIRS}
    return [
        _series(panel, f"{name}: {i + 1} or {k + 1}" if name else f"{i + 1} or {k + 1}", segment, "line")
        for (i, k), segment in segments.items()
        if segment is not None
    ]


def _series(panel: str, name: str, proba: Any, style: Any) -> Series:
    places = on_paper(proba)
    return Series(panel, name, tuple(places[:, 0].tolist()), tuple(places[:, 1].tolist()), style)


def _estimates_findings(done: Sequence[Done], panel: str, statements: tuple[str, str]) -> Findings:
    if not done:
        return Findings(checks=tuple(Check(statement, None) for statement in statements))
    true, estimated = (np.array(done[0].answer[name]) for name in ("true", "estimated"))
    series = [_series(panel, "true", true, "points"), _series(panel, "estimated", estimated, "points")]
    for name, cost in (("costs 0 and 1", ZERO_ONE), ("asymmetric costs", ASYMMETRIC)):
        series += boundaries(panel, name, cost)
    changed = [
        float(np.mean(decide(true, cost) != decide(estimated, cost))) for cost in (ZERO_ONE, ASYMMETRIC)
    ]
    few = 0.0 if panel == "naive Bayes" else 0.05
    checks = (
        Check(statements[0], changed[0] <= few, f"{100 * changed[0]:.1f}% of {len(true)} change"),
        Check(statements[1], changed[1] > changed[0], f"{100 * changed[1]:.1f}% of {len(true)} change"),
    )
    return Findings(checks=checks, series=tuple(series))


def _collect_naive_bayes(done: Sequence[Done]) -> Findings:
    found = _estimates_findings(
        done,
        "naive Bayes",
        ("No decision under costs 0 and 1 changes", "Decisions under asymmetric costs change"),
    )
    statement = "The estimate is the squared probability, divided by the sum of squares"
    if not done:
        return Findings(checks=(*found.checks, Check(statement, None)))
    true, estimated = (np.array(done[0].answer[name]) for name in ("true", "estimated"))
    gap = float(np.abs(estimated - true**2 / (true**2).sum(axis=1, keepdims=True)).max())
    return Findings(
        checks=(*found.checks, Check(statement, gap < 1e-6, f"greatest difference {gap:.1e}")),
        series=found.series,
    )


def _collect_neighbours(done: Sequence[Done]) -> Findings:
    return _estimates_findings(
        done,
        "nearest neighbours",
        (
            "Few decisions under costs 0 and 1 change (at most 5%)",
            "More decisions change under asymmetric costs",
        ),
    )


def _collect_partitions(done: Sequence[Done]) -> Findings:
    statements = (
        "Adding to a row moves its boundaries parallel",
        "Multiplying a column moves the equal-risk point towards or away from that corner",
        "Multiplying a row leaves the boundary of the other two decisions on its line",
    )
    if not done:
        return Findings(checks=tuple(Check(statement, None) for statement in statements))
    costs = {name: np.array(cost) for name, cost in done[0].answer.items()}
    series = [line for name, cost in costs.items() for line in boundaries(name, "", cost)]
    original = costs["original"]
    gaps = (
        max(_angle(original, costs["row addition"], pair) for pair in ((0, 1), (1, 2))),
        _off_line(equal_risk_point(original).point, equal_risk_point(costs["column multiple"]).point),
        _angle(original, costs["row multiple"], (0, 2)),
    )
    checks = [
        Check(statement, gap < 1e-9, f"sine of the angle {gap:.1e}")
        for statement, gap in zip(statements, gaps, strict=True)
    ]
    return Findings(checks=tuple(checks), series=tuple(series))


def _angle(cost: Float64Array, other: Float64Array, pair: tuple[int, int]) -> float:
    """The sine of the angle between the boundaries of a pair of decisions under two costs."""
    directions = []
    for matrix in (cost, other):
        segment = boundary_segment(matrix, *pair)
        if segment is None:
            return float("nan")
        start, end = on_paper(segment)
        directions.append((end - start) / np.linalg.norm(end - start))
    first, second = directions
    return float(abs(first[0] * second[1] - first[1] * second[0]))


def _off_line(before: Any, after: Any) -> float:
    """The sine of the angle between the ways from the third corner to the two points."""
    corner, start, end = on_paper([[0.0, 0.0, 1.0], before, after])
    first, second = start - corner, end - corner
    cross = abs(first[0] * second[1] - first[1] * second[0])
    return float(cross / (np.linalg.norm(first) * np.linalg.norm(second)))


def _naive_bayes_jobs(scale: Scale) -> list[Job]:
    return [Job(duplicated_feature, {"n_values": 30 if scale == "quick" else 60, "seed": 0})]


def _neighbours_jobs(scale: Scale) -> list[Job]:
    n_shown = 100 if scale == "quick" else 300
    return [Job(large_neighbourhoods, {"n_rows": 3000, "n_neighbors": 2000, "n_shown": n_shown, "seed": 0})]


def _partitions_jobs(scale: Scale) -> list[Job]:  # noqa: ARG001
    return [Job(partitions, {})]


_COSTS = (
    "Costs of deciding a row when the truth is a column: asymmetric [[0, 1, 4], [2, 0, 6], [1, 1, 0]] (the "
    "paper does not give its own), and 0 and 1. The triangle has the classes 1, 2, 3 at its left, right and "
    "upper corner."
)
FIGURES = (
    Experiment(
        name="ogg-figure1a",
        title="Naive Bayes estimates where one feature is there twice",
        conventions=f"Three equally likely classes, exact frequencies. {_COSTS}",
        labels=(),
        measures=(),
        jobs=_naive_bayes_jobs,
        collect=_collect_naive_bayes,
        axes=AXES,
    ),
    Experiment(
        name="ogg-figure1b",
        title="Estimates of 2000 nearest neighbours among 3000 rows",
        conventions=(
            "Three equally likely Gaussians in the plane, with unit covariance and means 2 apart (the paper "
            f"does not give its own). {_COSTS}"
        ),
        labels=(),
        measures=(),
        jobs=_neighbours_jobs,
        collect=_collect_neighbours,
        axes=AXES,
    ),
    Experiment(
        name="ogg-figure2",
        title="Partitions of the simplex: original, row addition, column multiple, row multiple",
        conventions=f"Row 2 less 0.5; column 3 times 2; row 2 times 1/2. {_COSTS}",
        labels=(),
        measures=(),
        jobs=_partitions_jobs,
        collect=_collect_partitions,
        axes=AXES,
    ),
)
