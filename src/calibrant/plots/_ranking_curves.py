"""Curves of scores that rank: ROC curves, and the errors found by checking the least certain rows first."""

from typing import Any

import numpy as np

from calibrant.metrics import DetectionCurve, RocCurve
from calibrant.plots._axes import axes_or_new, expect, frame_unit_square, say
from calibrant.plots._style import BLACK, series


def roc_diagram(
    curve: RocCurve, *, hull: RocCurve | None = None, ax: Any = None, label: str | None = None, **line: Any
) -> Any:
    """Draw a ROC curve, and its convex hull, which is what isotonic calibration makes of it.

    Every point is a threshold: the share of the positives that are above it against the share of the
    negatives. A threshold that is not on the hull is never the best one, whatever mistakes cost.

    Parameters
    ----------
    curve : RocCurve
        What `calibrant.metrics.roc_points` gives.
    hull : RocCurve, optional
        The curve of the same rows after `calibrant.PAVCalibrator` was fitted to them: the convex hull.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    label : str, optional
        Name of the curve, for a legend.
    **line : dict
        Passed to `Axes.plot` for the curve, such as color or linestyle.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from calibrant import PAVCalibrator
    >>> from calibrant.metrics import roc_points
    >>> from calibrant.plots import roc_diagram
    >>> scores, y = [1, 2, 3, 4, 5, 6], [0, 1, 0, 0, 1, 1]
    >>> pooled = PAVCalibrator().fit(scores, y).predict_proba(scores)
    >>> ax = roc_diagram(roc_points(y, scores), hull=roc_points(y, pooled))
    >>> ax.get_ylabel()
    'share of the positives above the threshold'
    """
    expect(curve, RocCurve, "curve", "roc_points")
    if hull is not None:
        expect(hull, RocCurve, "hull", "roc_points")
    ax = axes_or_new(ax)
    frame_unit_square(
        ax,
        xlabel="share of the negatives above the threshold",
        ylabel="share of the positives above the threshold",
    )
    if np.isnan(curve.fpr).any() or np.isnan(curve.tpr).any():
        say(ax, "one class only: no curve")
        return ax
    if hull is not None:
        ax.plot(
            hull.fpr,
            hull.tpr,
            color=BLACK,
            linestyle=(0, (4, 2)),
            linewidth=1,
            marker="o",
            markersize=4,
            markerfacecolor="white",
            zorder=2.5,
            label="convex hull (isotonic)",
        )
    ax.plot(curve.fpr, curve.tpr, label=label, **series(ax, line, marker=False))
    return ax


def detection_diagram(
    curve: DetectionCurve,
    *,
    baseline: DetectionCurve | None = None,
    ax: Any = None,
    label: str | None = None,
    **line: Any,
) -> Any:
    """Draw the share of the errors that are found by checking the least certain rows first.

    The higher a curve, the fewer rows a person has to look at. The diagonal is checking at random.

    Parameters
    ----------
    curve : DetectionCurve
        What `calibrant.metrics.detection_curve` gives, or ``curve`` of `calibrant.likely_errors`.
    baseline : DetectionCurve, optional
        Another one to hold it against, usually that of the raw score: ``curve_by_score`` of
        `calibrant.likely_errors`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    label : str, optional
        Name of the curve, for a legend.
    **line : dict
        Passed to `Axes.plot` for the curve, such as color or linestyle.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from calibrant.metrics import detection_curve
    >>> from calibrant.plots import detection_diagram
    >>> curve = detection_curve([True, False, True, False], [0.9, 0.4, 0.8, 0.6])
    >>> detection_diagram(curve).get_xlabel()
    'share of the rows checked'
    """
    expect(curve, DetectionCurve, "curve", "detection_curve or likely_errors with labels")
    if baseline is not None:
        expect(baseline, DetectionCurve, "baseline", "detection_curve or likely_errors with labels")
    ax = axes_or_new(ax)
    frame_unit_square(
        ax, xlabel="share of the rows checked", ylabel="share of the errors found", diagonal="at random"
    )
    if np.isnan(curve.share).any():
        say(ax, "no errors: nothing to find")
        return ax
    (drawn,) = _from_origin(ax, curve, label=label, **series(ax, line, marker=False))
    if baseline is not None:
        _from_origin(
            ax,
            baseline,
            label="raw score",
            color=drawn.get_color(),
            linestyle=(0, (1, 1)),
            linewidth=1.6,
            zorder=1.5,
        )
    return ax


def _from_origin(ax: Any, curve: DetectionCurve, **style: Any) -> Any:
    """Before the first row nothing is found."""
    return ax.plot(np.append(0.0, curve.coverage), np.append(0.0, curve.share), **style)
