"""Which bins can hold a corner of the isotonic solution, and which cannot."""

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import BoolArray, Float64Array
from calibrant.passes._points import Points

#: Twice the unit roundoff of double precision.
EPSILON = float(np.finfo(np.float64).eps)


def open_points(points: Points) -> BoolArray:
    r"""Find the points whose rows must be told apart for an exact isotonic regression.

    Notes
    -----
    *The picture.* Put the distinct scores in ascending order, and draw the path of cumulative sums: after
    each score a vertex at (weight of all rows so far, weight of the positive ones among them). The isotonic
    solution is the slope of the greatest convex minorant of that path, and its blocks end where the minorant
    has corners; a corner is always a vertex of the path.

    *What is known.* The vertices at the borders of the points, but not those inside. Let :math:`G` be the
    convex minorant of all vertices. Pool the points into blocks, by isotonic regression or in any other way,
    and let :math:`L` be the polyline through the vertices at the ends of the blocks. At these :math:`G` is
    not higher, and between them :math:`G` is convex and :math:`L` straight: :math:`G \le L`.

    *The screen.* Let a point hold the weight :math:`w`, of it :math:`s` positive. On it :math:`L` is a line;
    let :math:`p` be its slope and :math:`g` the height of the path above it at the left border. A vertex
    inside the point comes after rows of weight :math:`a \le s` of the positives and :math:`b \le w - s` of
    the negatives, in whatever order they come, and its height above the line is

    .. math:: g + a - p (a + b) = g + a (1 - p) - p b \ge g - p (w - s),

    because :math:`0 \le p \le 1`. So if :math:`g \ge p (w - s)`, every vertex inside the point lies on or
    above :math:`L`. Call such a point *closed*. Closed are also a point of one single score, which has no
    vertex inside, and a point whose rows are all of one class: the path inside it is straight from border to
    border, and no convex function below its ends is above it.

    *Why that is enough.* Let :math:`G'` be the minorant of the known vertices and of those inside the points
    that are not closed. The argument above holds for it as well, :math:`G' \le L`, so it lies below the
    vertices inside closed points too. It is then a convex function below all vertices, and as :math:`G` is
    the greatest such, :math:`G' \le G`. Fewer vertices leave a higher minorant, so :math:`G \le G'`. They are
    equal. The corners of :math:`G'` are at borders or inside open points: none is inside a closed point,
    whose rows therefore have one value, and may stay together. Nothing in this depends on where the borders
    are, nor on how the blocks were rounded; and a point once closed stays closed when others are divided.

    *Rounding.* Sums of counts are exact, and only the height is rounded, by a few units in the last place of
    the weight of the block. Sums of other weights carry an error of at most (number of additions) times the
    unit roundoff times what is summed. The screen asks for more than the bound of all these errors together:
    a point that is called open without need costs time, one called closed without right would cost exactness.
    """
    if len(points) == 0:
        return np.zeros(0, dtype=bool)
    slope, height, scale = _above_blocks(points.positive, points.weight)
    additions = 8.0 if points.exact else 8.0 + 4.0 * (len(points) + float(points.count.max(initial=0)))
    margin = additions * EPSILON * scale
    can_dip = (points.positive > 0) & (points.negative > 0) & (points.lo < points.hi)
    return can_dip & ~points.settled & (height < slope * points.negative + margin)


def _above_blocks(
    positive: Float64Array, weight: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Slope of every point's block, height of the path above it at the left border, and size of the sums."""
    starts = late.optimize.isotonic_regression(positive / weight, weights=weight).blocks[:-1]
    sizes = np.diff(np.append(starts, len(weight)))
    slope = np.repeat(np.add.reduceat(positive, starts) / np.add.reduceat(weight, starts), sizes)
    before_weight, before_positive = (np.append(0.0, np.cumsum(each)[:-1]) for each in (weight, positive))
    at_start = np.repeat(starts, sizes)
    height = (before_positive - before_positive[at_start]) - slope * (before_weight - before_weight[at_start])
    end = np.repeat(np.append(starts[1:], len(weight)) - 1, sizes)
    return slope, height, (before_weight + weight)[end]
