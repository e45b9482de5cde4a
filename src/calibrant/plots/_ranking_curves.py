"""Curves of scores that rank: ROC curves, and the errors found by checking the least certain rows first."""

from typing import Any

import numpy as np

from calibrant.metrics import DetectionCurve, RocCurve, detection_curve, roc_points
from calibrant.plots._axes import axes_or_new, expect, frame_unit_square, say
from calibrant.plots._displays import display, fill_interval, of_decision, of_positive
from calibrant.plots._style import BLACK, series


@display
def roc_diagram(
    curve: Any,
    proba: object = None,
    *,
    sample_weight: object = None,
    classes: object = None,
    intervals: bool = True,
    hull: RocCurve | None = None,
    ax: Any = None,
    label: str | None = None,
    **line: Any,
) -> Any:
    """Draw a ROC curve, and its convex hull, which is what isotonic calibration makes of it.

    Every point is a threshold: the share of the positives that are above it against the share of the
    negatives. A threshold that is not on the hull is never the best one, whatever mistakes cost.

    Parameters
    ----------
    curve : RocCurve or array-like of shape (n,)
        What `calibrant.metrics.roc_points` gives; or labels, with their probabilities.
    proba : array-like of shape (n,) or (n, 2), optional
        Probabilities, of the second of two classes or of both; the first argument is then the
        true labels.
    sample_weight : array-like of shape (n,), optional
        How often every row counts; with probabilities only.
    classes : array-like of shape (2,), optional
        The labels of the columns of the probabilities, in order.
    intervals : bool, default=True
        Draw Wilson's interval of 95% of the share of the positives above every threshold; with probabilities
        only, as a curve does not say how many rows it is of.
    hull : RocCurve, optional
        The curve of the same rows after isotonic calibration was fitted to them: the convex hull.
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

    Notes
    -----
    As the displays of scikit-learn, it has ``roc_diagram.from_predictions(y, proba)`` and
    ``roc_diagram.from_estimator(estimator, X, y)``.

    Examples
    --------
    >>> from scipy.optimize import isotonic_regression
    >>> from calibrant.metrics import roc_points
    >>> from calibrant.plots import roc_diagram
    >>> scores, y = [1, 2, 3, 4, 5, 6], [0, 1, 0, 0, 1, 1]
    >>> pooled = isotonic_regression(y).x
    >>> ax = roc_diagram(roc_points(y, scores), hull=roc_points(y, pooled))
    >>> ax.get_ylabel()
    'share of the positives above the threshold'
    """
    n_positive = 0.0
    if proba is not None:
        came, chance, weight = of_positive(curve, proba, classes, sample_weight, many=False)
        curve = roc_points(came, chance, sample_weight=weight)
        n_positive = float(came.sum())
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
    (drawn,) = ax.plot(curve.fpr, curve.tpr, label=label, **series(ax, line, marker=False))
    if intervals and n_positive:
        fill_interval(ax, curve.fpr, curve.tpr, n_positive, drawn.get_color())
    return ax


@display
def detection_diagram(
    curve: Any,
    proba: object = None,
    *,
    sample_weight: object = None,
    classes: object = None,
    intervals: bool = True,
    baseline: DetectionCurve | None = None,
    ax: Any = None,
    label: str | None = None,
    **line: Any,
) -> Any:
    """Draw the share of the errors that are found by checking the least certain rows first.

    The higher a curve, the fewer rows a person has to look at. The diagonal is checking at random.

    Parameters
    ----------
    curve : DetectionCurve or array-like of shape (n,)
        What `calibrant.metrics.detection_curve` gives, or ``curve`` of `calibrant.likely_errors`; or labels,
        with their probabilities.
    proba : array-like of shape (n,) or (n, k), optional
        Probabilities, of the second of two classes or of every class; the first argument is then the
        true labels.
    sample_weight : array-like of shape (n,), optional
        How often every row counts; with probabilities only.
    classes : array-like of shape (k,), optional
        The labels of the columns of the probabilities, in order.
    intervals : bool, default=True
        Draw Wilson's interval of 95% of the share of the errors found.
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

    Notes
    -----
    As the displays of scikit-learn, it has ``detection_diagram.from_predictions(y, proba)`` and
    ``detection_diagram.from_estimator(estimator, X, y)``.

    Examples
    --------
    >>> from calibrant.metrics import detection_curve
    >>> from calibrant.plots import detection_diagram
    >>> curve = detection_curve([True, False, True, False], [0.9, 0.4, 0.8, 0.6])
    >>> detection_diagram(curve).get_xlabel()
    'share of the rows checked'
    """
    if proba is not None:
        right, chance, weight = of_decision(curve, proba, classes, sample_weight)
        curve = detection_curve(right, chance, sample_weight=weight)
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
    if intervals:
        fill_interval(ax, curve.coverage, curve.share, float(curve.errors[-1]), drawn.get_color())
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
