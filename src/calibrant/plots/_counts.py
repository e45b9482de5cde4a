"""Numbers of rows beside the points of a diagram."""

from typing import Any

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant.metrics import ReliabilityBins
from calibrant.plots._style import halo

#: Marks the texts that others should not run into.
COUNT = "calibrant-count"
#: From the point to the nearest corner of the number, in points of the font's measure.
ASIDE, UP = 5.0, 4.0
#: Height of the numbers, and width of a digit, in the same measure.
SIZE, DIGIT = 8.3, 5.4

#: Sides of a point to try in turn, for one above the line that it is held against: right is 1, up is 1.
SIDES = ((-1, 1), (1, 1), (1, -1), (-1, -1))


def write_counts(ax: Any, bins: ReliabilityBins, color: Any, above: BoolArray) -> None:
    """Write the number of rows beside every point, where it meets neither an edge nor another number."""
    taken = [
        _box(ax, np.asarray(text.xy), text.get_text(), _side(text))
        for text in ax.texts
        if text.get_gid() == COUNT
    ]
    points = np.column_stack([bins.mean_score, bins.frac_pos])
    for point, count, higher in zip(points, bins.count, above, strict=True):
        sides = SIDES if higher else tuple((-across, -up) for across, up in SIDES)
        boxes = {side: _box(ax, point, str(count), side) for side in sides}
        free = [side for side, box in boxes.items() if _is_free(ax, box, taken)]
        across, up = side = free[0] if free else sides[0]
        taken.append(boxes[side])
        ax.annotate(
            str(count),
            point,
            xytext=(across * ASIDE, up * UP),
            textcoords="offset points",
            ha="left" if across > 0 else "right",
            va="bottom" if up > 0 else "top",
            fontsize=SIZE,
            color=color,
            path_effects=halo(),
            gid=COUNT,
        )


def _side(text: Any) -> tuple[int, int]:
    across, up = np.sign(text.get_position())
    return int(across), int(up)


def _box(ax: Any, point: Float64Array, text: str, side: tuple[int, int]) -> Float64Array:
    """Lower left and upper right corner of a number beside a point, in pixels."""
    scale = ax.figure.dpi / 72
    size = scale * np.array([DIGIT * len(text), SIZE])
    near = ax.transData.transform(point) + scale * np.array([ASIDE, UP]) * side
    return np.sort([near, near + size * side], axis=0)


def _is_free(ax: Any, box: Float64Array, taken: list[Float64Array]) -> bool:
    frame = ax.get_window_extent().get_points()
    inside = (box[0] >= frame[0]).all() and (box[1] <= frame[1]).all()
    return bool(inside) and not any(
        (box[0] < other[1]).all() and (other[0] < box[1]).all() for other in taken
    )
