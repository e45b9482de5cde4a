"""Reliability diagrams: what was forecast against what came."""

from typing import Any

from calibrant.metrics import ReliabilityBins
from calibrant.plots._axes import axes_or_new


def reliability_diagram(
    bins: ReliabilityBins, *, ax: Any = None, label: str | None = None, counts: bool = False, **line: Any
) -> Any:
    """Draw the share of positives in every bin against its mean score.

    Points of believable probabilities lie on the diagonal, up to chance; above it the forecasts were
    too low, below it too high.

    Parameters
    ----------
    bins : ReliabilityBins
        What `calibrant.metrics.reliability_bins` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    label : str, optional
        Name of the line, for a legend.
    counts : bool, default=False
        Write the number of rows beside every point, as Zadrozny & Elkan (2002) do in figures 1 and 2.
    **line : dict
        Passed to `Axes.plot`, such as color or marker.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from calibrant.metrics import reliability_bins
    >>> from calibrant.plots import reliability_diagram
    >>> bins = reliability_bins([0, 0, 1, 1, 0, 1], [0.1, 0.1, 0.2, 0.8, 0.9, 0.9], width=0.5)
    >>> reliability_diagram(bins).get_xlabel()
    'mean forecast in the bin'
    """
    ax = axes_or_new(ax)
    if not ax.lines:
        ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set(xlabel="mean forecast in the bin", ylabel="observed frequency")
    ax.plot(bins.mean_score, bins.frac_pos, label=label, **{"marker": "o", "clip_on": False, **line})
    if counts:
        for x, y, count in zip(bins.mean_score, bins.frac_pos, bins.count, strict=True):
            ax.annotate(str(count), (x, y), xytext=(4, -10), textcoords="offset points", fontsize="small")
    return ax
