"""An accuracy table as a heat map: table 2 of Takahashi, Takamura & Okumura."""

from typing import Any, Literal

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._checks import check_option
from calibrant._core._errors import DataError
from calibrant.calibrators import AccuracyTable
from calibrant.plots._axes import FRAME, axes_or_new, expect

#: Numbers are written into the cells if no axis has more of them than this.
MOST_CELLS = 16
#: No axis has more ticks than this.
MOST_TICKS = 10
#: What the colours stand for.
MEANINGS = {"value": "estimated accuracy", "accuracy": "accuracy", "count": "rows"}


def accuracy_heatmap(
    table: AccuracyTable,
    *,
    show: Literal["value", "accuracy", "count"] = "value",
    counts: bool = False,
    numbers: bool | None = None,
    ax: Any = None,
) -> Any:
    """Draw how often a candidate is right, given one ranked score or two.

    Cells that have never held a row are hatched, those that cannot hold one (the second score above the
    first) among them.

    Parameters
    ----------
    table : AccuracyTable
        One of the ``tables_`` of a fitted calibrator that has such tables, of one or two scores.
    show : {"value", "accuracy", "count"}, default="value"
        What to colour the cells by: the smoothed accuracy, which is the estimate; the plain one; or the
        number of rows.
    counts : bool, default=False
        Write the number of rows below the numbers.
    numbers : bool, optional
        Whether to write the numbers into the cells; by default if they are few enough to be read.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.calibrators import AccuracyTable
    >>> from calibrant.plots import accuracy_heatmap
    >>> lower = np.array([[2.0, 0.0], [2.0, 1.5]])  # cells that hold rows: from these scores, 0.5 wide
    >>> count, right = np.array([4.0, 8.0]), np.array([4.0, 5.0])
    >>> share = right / count
    >>> width = np.array([0.5, 0.5])
    >>> axes, origin = ("f1", "f2"), np.zeros(2)
    >>> table = AccuracyTable(
    ...     axes, origin, width, lower, lower + width, count, right, share, share, 9 / 12, None, {}
    ... )
    >>> ax = accuracy_heatmap(table)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('f1, the highest score', 'f2, the score at rank 2')
    """
    expect(table, AccuracyTable, "table", "a calibrator with accuracy tables, as tables_[0],")
    check_option("show", show, tuple(MEANINGS))
    n_axes = len(table.axes)
    if n_axes > 2:
        raise DataError(
            f"table must be of one or two scores; got {n_axes}: {', '.join(table.axes)}; a picture has no "
            "more room, read table.to_dict()"
        )
    lower, upper = _in_the_plane(table.lower, 0.0), _in_the_plane(table.upper, 1.0)
    n_cells = np.rint((upper.max(axis=0) - lower.min(axis=0)) / _in_the_plane(table.width[None], 1.0)[0])
    few = bool(n_cells.max() <= MOST_CELLS)
    ax = axes_or_new(ax, (7.0, 2.1) if n_axes == 1 else (6.8, 5.6))
    cells = _draw_cells(ax, lower, upper, getattr(table, show), show)
    _draw_scale(ax, cells, show)
    edges = [
        _ticks(*axis) for axis in zip(table.lower.T, table.upper.T, table.origin, table.width, strict=True)
    ]
    ax.set(xlabel=_meaning(table.axes[0]), xticks=edges[0])
    if n_axes == 2:
        ax.set(ylabel=_meaning(table.axes[1]), yticks=edges[1])
    else:
        ax.set_yticks([])
    if few if numbers is None else numbers:
        _write(ax, cells, (lower + upper) / 2, _texts(table, show, counts))
    return ax


def _meaning(axis: str) -> str:
    """The name of a ranked score, and what it is."""
    known = {"f1": "the highest score", "fr": "the score of the class itself"}
    return f"{axis}, {known.get(axis, f'the score at rank {axis[1:]}')}"


def _ticks(lower: Float64Array, upper: Float64Array, origin: float, width: float) -> Float64Array:
    """Where cells meet; not everywhere if they are many."""
    first, last = np.rint((np.array([lower.min(), upper.max()]) - origin) / width).astype(np.intp)
    steps = [step * 10**power for power in range(18) for step in (1, 2, 5)]
    step = next(step for step in steps if (last - first) // step <= MOST_TICKS)
    numbers = np.arange(first, last + 1)
    return np.asarray(origin + numbers[numbers % step == 0] * width)


def _draw_scale(ax: Any, cells: Any, show: str) -> None:
    from matplotlib import ticker  # noqa: PLC0415

    ticks = ticker.LogLocator(subs=(1, 2, 5)) if show == "count" else None
    scale = ax.figure.colorbar(cells, ax=ax, pad=0.02, ticks=ticks, format="%g")
    scale.set_label(MEANINGS[show], fontsize="small")
    scale.ax.minorticks_off()


def _in_the_plane(bounds: Float64Array, beyond: float) -> Float64Array:
    """Bounds of two axes: a table of one score is one unit high."""
    return np.column_stack([bounds, np.full(len(bounds), beyond)]) if bounds.shape[1] == 1 else bounds


def _draw_cells(ax: Any, lower: Float64Array, upper: Float64Array, values: Float64Array, show: str) -> Any:
    from matplotlib import collections, colors, patches  # noqa: PLC0415

    corners = np.stack([lower, np.column_stack([upper[:, 0], lower[:, 1]]), upper], axis=1)
    corners = np.insert(corners, 3, np.column_stack([lower[:, 0], upper[:, 1]]), axis=1)
    norm = colors.LogNorm(values.min(), values.max()) if show == "count" else colors.Normalize(0, 1)
    cells = collections.PolyCollection(
        list(corners), array=values, norm=norm, cmap="cividis", edgecolors="white", linewidths=0.5
    )
    ax.add_collection(cells)
    (left, bottom), (right, top) = lower.min(axis=0), upper.max(axis=0)
    empty = patches.Rectangle(
        (left, bottom),
        right - left,
        top - bottom,
        facecolor="0.97",
        edgecolor="0.75",
        hatch="////",
        linewidth=0,
        zorder=0,
        gid=FRAME,
        label="no rows",
    )
    ax.add_patch(empty)
    ax.set(xlim=(left, right), ylim=(bottom, top))
    return cells


def _texts(table: AccuracyTable, show: str, counts: bool) -> list[str]:
    texts = [f"{number:g}" if show == "count" else f"{number:.2f}" for number in getattr(table, show)]
    if counts and show != "count":
        return [f"{text}\n({count:g})" for text, count in zip(texts, table.count, strict=True)]
    return texts


def _write(ax: Any, cells: Any, middle: Float64Array, texts: list[str]) -> None:
    """Dark on light, light on dark."""
    for (x, y), text, (red, green, blue, _) in zip(
        middle, texts, cells.to_rgba(cells.get_array()), strict=True
    ):
        light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
        ax.text(x, y, text, ha="center", va="center", fontsize=7.6, color="black" if light else "white")
