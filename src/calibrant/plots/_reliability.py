"""Reliability diagrams: what was forecast against what came."""

from typing import Any

from calibrant._core._errors import ParameterError
from calibrant.metrics import IsotonicReliability, ReliabilityBins, isotonic_reliability
from calibrant.plots._axes import axes_or_new, draw_intervals, expect, frame_unit_square
from calibrant.plots._counts import write_counts
from calibrant.plots._displays import display, of_positive
from calibrant.plots._style import series


@display
def reliability_diagram(
    reliability: Any,
    proba: object = None,
    *,
    sample_weight: object = None,
    classes: object = None,
    ax: Any = None,
    label: str | None = None,
    intervals: bool = True,
    counts: bool = False,
    **line: Any,
) -> Any:
    """Draw how often things happened against how often they were forecast.

    Believable probabilities lie on the diagonal, up to chance; above it the forecasts were too low, below it
    too high. Bins are drawn as points, with the intervals that chance leaves their frequencies. A fit without
    bins is drawn as a line, with the band in which chance alone would leave it: where the line is outside,
    the forecasts are not to be believed.

    Parameters
    ----------
    reliability : ReliabilityBins, IsotonicReliability or array-like of shape (n,)
        What `calibrant.metrics.reliability_bins` or `calibrant.metrics.isotonic_reliability` gives; or
        labels, with their probabilities.
    proba : array-like of shape (n,) or (n, k), optional
        Probabilities, of the second of two classes or of every class;
        of more than two the most probable one is drawn; the first argument is then the
        true labels.
    sample_weight : array-like of shape (n,), optional
        How often every row counts; with probabilities only.
    classes : array-like of shape (k,), optional
        The labels of the columns of the probabilities, in order.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    label : str, optional
        Name of the line, for a legend.
    intervals : bool, default=True
        Draw Wilson's interval of 95% of every frequency, see `calibrant.metrics.ReliabilityBins.intervals`;
        for bins only.
    counts : bool, default=False
        Write the number of rows beside every point, as Zadrozny & Elkan (2002) do in figures 1 and 2; for
        bins only.
    **line : dict
        Passed to `Axes.plot`, such as color or marker.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    See Also
    --------
    calibration_map : What a calibrator learned, against what came.

    Notes
    -----
    As the displays of scikit-learn, it has ``reliability_diagram.from_predictions(y, proba)`` and
    ``reliability_diagram.from_estimator(estimator, X, y)``. Probabilities are drawn by
    `calibrant.metrics.isotonic_reliability`, without bins.

    Examples
    --------
    >>> from calibrant.metrics import reliability_bins
    >>> from calibrant.plots import reliability_diagram
    >>> bins = reliability_bins([0, 0, 1, 1, 0, 1], [0.1, 0.1, 0.2, 0.8, 0.9, 0.9], width=0.5)
    >>> reliability_diagram(bins).get_xlabel()
    'mean forecast in the bin'
    """
    if proba is not None:
        came, chance, weight = of_positive(reliability, proba, classes, sample_weight)
        reliability = isotonic_reliability(came, chance, sample_weight=weight)
    expect(
        reliability,
        (ReliabilityBins, IsotonicReliability),
        "reliability",
        "reliability_bins or isotonic_reliability",
    )
    if isinstance(reliability, ReliabilityBins):
        ax = _draw_bins(reliability, axes_or_new(ax), label, line)
        color = ax.lines[-1].get_color()
        if intervals:
            draw_intervals(ax, reliability, color)
        if counts:
            write_counts(ax, reliability, color, above=reliability.frac_pos >= reliability.mean_score)
        return ax
    if counts:
        raise ParameterError("counts must be False for a fit without bins; got True; use reliability_bins")
    return _draw_fit(reliability, axes_or_new(ax), label, line)


def _draw_bins(bins: ReliabilityBins, ax: Any, label: str | None, line: dict[str, Any]) -> Any:
    frame_unit_square(ax, xlabel="mean forecast in the bin", ylabel="observed frequency")
    ax.plot(bins.mean_score, bins.frac_pos, label=label, **series(ax, line))
    return ax


def _draw_fit(fit: IsotonicReliability, ax: Any, label: str | None, line: dict[str, Any]) -> Any:
    frame_unit_square(ax, xlabel="forecast", ylabel="observed frequency")
    (drawn,) = ax.plot(fit.score, fit.frequency, label=label, **series(ax, line, marker=False))
    if len(fit.band_score):
        name = f"{fit.level:.0%} consistency band"
        ax.fill_between(
            fit.band_score,
            fit.lower,
            fit.upper,
            facecolor=(drawn.get_color(), 0.18),
            edgecolor=(drawn.get_color(), 0.6),
            linestyle=drawn.get_linestyle(),
            linewidth=0.7,
            zorder=0.5,
            label=name if label is None else f"{name}, {label}",
        )
    return ax
