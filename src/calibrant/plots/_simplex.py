"""The simplex of three classes: what is decided where (O'Brien, Gupta & Gray 2008), and where rows lie."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray, as_array, as_floats
from calibrant._core._checks import check_class_labels, check_same_length, class_labels
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import by_label
from calibrant.decisions import cost_matrix, equal_risk_point
from calibrant.plots._axes import FRAME, axes_or_new, is_framed
from calibrant.plots._style import COLORS, HATCHES, MARKERS, nth, tint
from calibrant.plots._triangle import CORNERS, HEIGHT, least_risk_regions, simplex_coordinates

#: The sides are divided at these probabilities.
TICKS = (0.2, 0.4, 0.6, 0.8)
#: More points than this are drawn as an image where the figure is otherwise made of lines.
MOST_VECTORS = 5000


def simplex_diagram(
    rule: Any = None,
    proba: object = None,
    y: object = None,
    *,
    classes: Sequence[object] | None = None,
    actions: Sequence[object] | None = None,
    ax: Any = None,
    **points: Any,
) -> Any:
    """Draw the triangle of three probabilities: what is decided where, and where the rows lie.

    Every point of the triangle is a forecast. At a corner one class is certain; on the opposite side it is
    impossible; its probability is read from the side that bears its name, along the lines. Regions of
    different colour and hatching are decided differently. At the circle all three decisions cost the same.

    Parameters
    ----------
    rule : array-like of shape (3, 3) or (a, 3), mapping, frame, or fitted rule, optional
        Costs, where ``cost[i, j]`` is the cost of deciding i when the truth is j, in any form that
        `calibrant.decisions.cost_matrix` takes; or a fitted rule such as
        `calibrant.decisions.ParallelPartitionRule`. Without it nothing is decided.
    proba : array-like of shape (n, 3), optional
        Probabilities to draw as points.
    y : array-like of shape (n,), optional
        Their true classes, which give the points colour and shape.
    classes : sequence of 3 labels, optional
        The names of the classes, in the order of the columns; by default 0, 1 and 2.
    actions : sequence of labels, optional
        The names of the decisions, if they are not the classes.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    **points : dict
        Passed to `Axes.scatter` for the points, such as s or alpha.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on. All that is drawn has a label: call ``ax.legend()``.

    See Also
    --------
    simplex_coordinates : To draw something else into the triangle.
    calibrant.decisions.equal_risk_point : The circle.
    calibrant.decisions.boundary_segment : Where two regions meet.

    Notes
    -----
    The regions are exact: the triangle is cut along the lines on which two decisions cost the same.
    That of `calibrant.decisions.MossmanRule` is drawn as the matrix that comes within 1e-6 of it.

    Examples
    --------
    >>> from calibrant.plots import simplex_diagram
    >>> cost = [[0, 1, 10], [2, 0, 5], [1, 4, 0]]
    >>> ax = simplex_diagram(cost, classes=["mild", "severe", "grave"])
    >>> [patch.get_label() for patch in ax.patches]
    ['decide mild', 'decide severe', 'decide grave']
    """
    names = _three_names(classes)
    coordinates, truth = _check_points(proba, y, classes)
    matrix, decisions = _matrix_of(rule, names, actions)
    ax = axes_or_new(ax, (5.6, 5.2))
    if not is_framed(ax):
        _draw_triangle(ax, [str(name) for name in names.tolist()])
    if matrix is not None:
        _draw_regions(ax, matrix, decisions)
        _draw_equal_risk(ax, matrix)
    if coordinates is not None:
        _draw_points(ax, coordinates, truth, names, points)
    return ax


def _three_names(classes: Sequence[object] | None) -> Array:
    names = np.arange(3) if classes is None else as_array(classes, "classes")
    if names.shape != (3,):
        raise ParameterError(f"classes must be three labels; got {names.tolist()}; a triangle has 3 corners")
    return names


def _check_points(
    proba: object, y: object, classes: Sequence[object] | None
) -> tuple[Float64Array | None, IntArray | None]:
    """Where the points lie, and the numbers of their true classes."""
    if proba is None:
        if y is not None:
            raise ParameterError("y must come with proba; got y alone; pass proba=")
        return None, None
    numbers = as_floats(proba, "proba")
    if classes is not None or y is not None:
        numbers = by_label(proba, numbers, lambda: class_labels(y, 3, classes), "proba")
    coordinates = simplex_coordinates(numbers)
    if y is None:
        return coordinates, None
    truth = check_class_labels(y, 3, classes)
    check_same_length(proba=coordinates, labels=truth)
    return coordinates, truth


def _matrix_of(
    rule: Any, names: Array, actions: Sequence[object] | None
) -> tuple[Float64Array | None, list[str]]:
    """The matrix whose least risk decides, and what its rows are called."""
    if rule is None:
        return None, []
    matrix = getattr(rule, "matrix_", None)
    if matrix is None:
        if hasattr(rule, "decide"):
            raise DataError(f"rule must be fitted; got {type(rule).__name__} without matrix_; call fit first")
        n_rows = len(rule) if actions is None and hasattr(rule, "__len__") else 0
        if actions is None and n_rows != 3:
            actions = [*names.tolist(), *(f"action {row}" for row in range(3, n_rows))]
        matrix = cost_matrix(rule, names, actions)
    elif np.shape(matrix) != (3, 3):
        raise DataError(f"rule must be of three classes; got {len(matrix)}; a triangle has three corners")
    decisions = names.tolist() if actions is None else list(actions)
    return matrix, [str(decision) for decision in decisions]


def _draw_triangle(ax: Any, names: list[str]) -> None:
    ax.set_aspect("equal")
    ax.spines[:].set_visible(False)
    ax.patch.set_visible(False)
    ax.set(xticks=[], yticks=[], xlim=(-0.17, 1.17), ylim=(-0.16, HEIGHT + 0.1))
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color="black", linewidth=1.2, zorder=3, gid=FRAME)
    ax.text(-0.03, -0.03, names[0], ha="right", va="top", fontweight="bold")
    ax.text(1.03, -0.03, names[1], ha="left", va="top", fontweight="bold")
    ax.text(0.5, HEIGHT + 0.04, names[2], ha="center", va="bottom", fontweight="bold")
    # The side on which the probability of a class is read begins where the class is impossible.
    for of, start, turn in ((0, 2, 60), (1, 0, 0), (2, 1, -60)):
        _draw_scale(ax, of, start, names[of], turn)


def _draw_scale(ax: Any, of: int, start: int, name: str, turn: float) -> None:
    """The probability of one class along a side: ticks, numbers, its name, and lines of equal probability."""
    other = 3 - of - start
    outward = CORNERS[[of, start]].mean(axis=0) - CORNERS.mean(axis=0)
    outward /= np.linalg.norm(outward)
    along = CORNERS[start] - CORNERS[other]  # the direction in which this probability does not change
    for share in TICKS:
        here = (1 - share) * CORNERS[start] + share * CORNERS[of]
        there = (1 - share) * CORNERS[other] + share * CORNERS[of]
        ax.plot(*np.stack([here, there], axis=1), color="black", linewidth=0.4, alpha=0.25, zorder=2)
        ax.plot(*np.stack([here, here + 0.018 * along], axis=1), color="black", linewidth=0.8, zorder=3)
        ax.text(*(here + 0.045 * along), f"{share:g}", ha="center", va="center", fontsize="x-small")
    middle = CORNERS[[of, start]].mean(axis=0) + 0.105 * outward
    ax.text(
        *middle,
        f"probability of {name}",
        ha="center",
        va="center",
        rotation=turn,
        rotation_mode="anchor",
        fontsize="small",
    )


def _draw_regions(ax: Any, matrix: Float64Array, decisions: list[str]) -> None:
    from matplotlib import patches  # noqa: PLC0415

    for number, (region, name) in enumerate(zip(least_risk_regions(matrix), decisions, strict=True)):
        if len(region):
            color = nth(COLORS, number)
            ax.add_patch(
                patches.Polygon(
                    region @ CORNERS,
                    closed=True,
                    facecolor=tint(number),
                    edgecolor="black",
                    hatch=nth(HATCHES, number),
                    hatchcolor=(*_rgb(color), 0.35),
                    linewidth=1.2,
                    zorder=1,
                    label=f"decide {name}",
                )
            )


def _rgb(color: str) -> tuple[float, float, float]:
    from matplotlib import colors  # noqa: PLC0415

    return colors.to_rgb(color)


def _draw_equal_risk(ax: Any, matrix: Float64Array) -> None:
    if len(matrix) != 3:
        return
    point = equal_risk_point(matrix).point
    if point is not None and (point >= 0).all():
        ax.plot(
            *(point @ CORNERS),
            "o",
            markersize=9,
            color="black",
            markerfacecolor="white",
            markeredgewidth=1.8,
            linestyle="",
            zorder=5,
            label="equal risk",
        )


def _draw_points(
    ax: Any, coordinates: Float64Array, truth: IntArray | None, names: Array, given: dict[str, Any]
) -> None:
    style = {"s": 22, "linewidths": 0.5, "edgecolors": "white", "zorder": 4}
    style |= {"clip_on": False, "rasterized": len(coordinates) > MOST_VECTORS}
    if truth is None:
        ax.scatter(*coordinates.T, label="rows", **{"color": "0.25", **style, **given})
        return
    for number, name in enumerate(names.tolist()):
        ax.scatter(
            *coordinates[truth == number].T,
            label=f"true {name}",
            **{"color": nth(COLORS, number), "marker": nth(MARKERS, number), **style, **given},
        )
