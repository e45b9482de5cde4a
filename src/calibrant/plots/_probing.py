"""Probing: the thresholds that were asked about, where the rows ended up, and how the loss fell."""

from typing import Any, Literal

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._checks import check_option
from calibrant.classifiers import Ladder, ProbingCurve
from calibrant.plots._axes import axes_or_new, expect
from calibrant.plots._style import BLUE, VERMILION, series, tint

#: Up to so many thresholds are written beside their rungs, and so many shares on their bars.
MOST_TEXTS = 12
#: What the losses are called.
LOSSES = {"cross_entropy": "cross entropy", "squared_error": "squared error"}


def probing_ladder(ladder: Ladder, *, ax: Any = None) -> Any:
    """Draw the thresholds that were probed, and the share of the rows that ended up between them.

    Above, every probe is a rung, the first one on top: it reaches over the interval that was split, and
    the point on it is the threshold that was asked about. Below, every bar is an interval that is left,
    and its height the share of the reference rows in it; the mark on it is the probability that these rows
    are given.

    Parameters
    ----------
    ladder : Ladder
        One of the ``ladders_`` of a fitted `calibrant.ProbingClassifier`.
    ax : matplotlib.axes.Axes, optional
        Where to draw the bars; the rungs stand on top of them, as an inset. By default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes of the bars; those of the rungs are its only ``child_axes``.

    See Also
    --------
    probing_convergence : How many probes are enough.

    Examples
    --------
    >>> from calibrant import ProbingClassifier
    >>> from calibrant.plots import probing_ladder
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import Perceptron
    >>> X, y = make_classification(200, random_state=0)
    >>> model = ProbingClassifier(Perceptron(), n_probes=5, random_state=0).fit(X, y)
    >>> probing_ladder(model.ladders_[0]).get_ylabel()
    'share of the rows'
    """
    expect(ladder, Ladder, "ladder", "ProbingClassifier, as ladders_[0],")
    ax = axes_or_new(ax, (6.4, 5.2))
    _draw_shares(ax, ladder)
    rungs = ax.inset_axes((0.0, 0.45, 1.0, 0.55), sharex=ax)
    _draw_rungs(rungs, ladder)
    return ax


def _draw_shares(ax: Any, ladder: Ladder) -> None:
    low, high = ladder.intervals.T
    share = ladder.counts / ladder.counts.sum()
    ax.bar(low, share, high - low, align="edge", color=tint(0), edgecolor=BLUE, linewidth=0.8)
    size = 4 if len(share) <= MOST_TEXTS else 2
    ax.plot(ladder.estimates, share, "D", color=BLUE, markersize=size, label="estimate", clip_on=False)
    # The bars have the lower part of the axes, the rungs the upper one.
    top = float(share.max()) / 0.36
    ax.set(xlim=(0, 1), ylim=(0, top), xlabel=f"probability of {ladder.positive}", ylabel="share of the rows")
    _tick(ax, 0.0, float(share.max()), n_ticks=4)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")
    ax.yaxis.set_label_coords(-0.11, 0.2)
    if len(share) <= MOST_TEXTS:
        for middle, height in zip((low + high) / 2, share, strict=True):
            ax.annotate(
                f"{height:.0%}",
                (middle, height),
                (0, 4),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize="small",
            )


def _tick(ax: Any, low: float, high: float, n_ticks: int) -> None:
    """Round numbers on the vertical axis, none of them outside what is drawn."""
    from matplotlib import ticker  # noqa: PLC0415

    ticks = ticker.MaxNLocator(n_ticks, steps=[1, 2, 5, 10], integer=low == 1).tick_values(low, high)
    ax.set_yticks([tick for tick in ticks if low <= tick <= high])


def _draw_rungs(ax: Any, ladder: Ladder) -> None:
    low, high = split_intervals(ladder.thresholds)
    number = np.arange(1, len(ladder.thresholds) + 1)
    ax.hlines(number, low, high, color="0.6", linewidth=2 if len(number) <= MOST_TEXTS else 1)
    ax.vlines(ladder.thresholds, number, len(number) + 1, color="0.85", linewidth=0.6, zorder=0)
    ax.plot(ladder.thresholds, number, "o", color=VERMILION, markersize=5 if len(number) <= MOST_TEXTS else 3)
    ax.set(ylim=(1.02 * len(number) + 0.8, 0.2 - 0.02 * len(number)), ylabel="probe")
    ax.tick_params(labelbottom=False)
    _tick(ax, 1.0, float(len(number)), n_ticks=7)
    ax.yaxis.set_label_coords(-0.11, 0.5)
    if len(number) <= MOST_TEXTS:
        for threshold, rung in zip(ladder.thresholds, number, strict=True):
            ax.annotate(
                f"{threshold:.2g}",
                (threshold, rung),
                (0, 4),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize="small",
                color=VERMILION,
            )


def split_intervals(thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
    """The ends of the interval that every threshold split, in the order of probing."""
    ends = np.array([0.0, 1.0])
    low, high = np.empty(len(thresholds)), np.empty(len(thresholds))
    for probe, threshold in enumerate(thresholds):
        place = np.searchsorted(ends, threshold)
        low[probe], high[probe] = ends[place - 1], ends[place]
        ends = np.insert(ends, place, threshold)
    return low, high


def probing_convergence(
    curve: ProbingCurve,
    *,
    loss: Literal["cross_entropy", "squared_error"] = "cross_entropy",
    ax: Any = None,
    label: str | None = None,
    **line: Any,
) -> Any:
    """Draw how the loss falls with the number of probes, as in figure 1 of Langford & Zadrozny (2005).

    Parameters
    ----------
    curve : ProbingCurve
        What `calibrant.classifiers.probing_curve` gives.
    loss : {"cross_entropy", "squared_error"}, default="cross_entropy"
        Which loss to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    label : str, optional
        Name of the curve, for a legend.
    **line : dict
        Passed to `Axes.plot`, such as color or linestyle.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    See Also
    --------
    probing_ladder : What was probed.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.classifiers import ProbingCurve
    >>> from calibrant.plots import probing_convergence
    >>> curve = ProbingCurve(np.arange(3), np.array([0.69, 0.55, 0.5]), np.array([0.25, 0.2, 0.19]))
    >>> probing_convergence(curve).get_xlabel()
    'number of probes'
    """
    expect(curve, ProbingCurve, "curve", "probing_curve")
    check_option("loss", loss, tuple(LOSSES))
    ax = axes_or_new(ax, (6.0, 4.0))
    ax.plot(curve.n_probes, getattr(curve, loss), label=label, **series(ax, line, marker=False))
    ax.set(xlabel="number of probes", ylabel=LOSSES[loss])
    ax.set_xlim(left=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    return ax
