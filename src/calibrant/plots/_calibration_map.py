"""What a calibrator learned, against what came: figures 3 to 5 of Zadrozny & Elkan (2002)."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.calibrators import Calibrator
from calibrant.metrics import ReliabilityBins
from calibrant.plots._axes import FRAME, UNIT, axes_or_new, draw_intervals, expect, expect_fields, is_framed
from calibrant.plots._counts import write_counts
from calibrant.plots._style import BLACK, series

#: Where the map rises by more than this between two scores, it is looked at in between.
RISE = 0.005
#: Scores that are looked at before that, and how often the distance is then halved.
N_SCORES, HALVINGS = 201, 14


def calibration_map(
    calibrator: Calibrator,
    bins: ReliabilityBins,
    *,
    ax: Any = None,
    label: str | None = None,
    counts: bool = False,
    **line: Any,
) -> Any:
    """Draw the map from scores to probabilities, and the frequencies of other rows beside it.

    Every frequency has its interval of 95%: where the map leaves many of these, it is not that of these rows.

    Parameters
    ----------
    calibrator : object
        A fitted calibrator of one score.
    bins : ReliabilityBins
        Scores and frequencies of rows that it was not fitted on, from
        `calibrant.metrics.reliability_bins` with `lo` and `hi` to suit the scores. The map is drawn over
        the range of these bins.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    label : str, optional
        Name of the map, for a legend.
    counts : bool, default=False
        Write the number of rows beside every point.
    **line : dict
        Passed to `Axes.plot` for the map, such as color or linestyle.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    See Also
    --------
    reliability_diagram : Whether probabilities can be believed.

    Notes
    -----
    On axes that have the points already only the map is added, so that several calibrators can be held
    against the same frequencies.

    Examples
    --------
    >>> from calibrant import ScoreModel
    >>> from calibrant.metrics import reliability_bins
    >>> from calibrant.plots import calibration_map
    >>> model = ScoreModel().fit([-2, -1, 0, 1, 2], [0, 0, 1, 0, 1])
    >>> bins = reliability_bins([0, 1, 0, 1], [-1.5, -0.5, 0.5, 1.5], lo=-2, hi=2, width=1)
    >>> calibration_map(model, bins).get_ylabel()
    'probability'
    """
    expect_fields(calibrator, ("predict_proba",), "calibrator", "the fit of a calibrator of one score")
    expect(bins, ReliabilityBins, "bins", "reliability_bins")
    scores, probability = trace(calibrator, float(bins.left[0]), float(bins.right[-1]))
    ax = axes_or_new(ax, (6.0, 4.0))
    if not is_framed(ax):
        ax.plot(
            bins.mean_score,
            bins.frac_pos,
            "o",
            color=BLACK,
            markerfacecolor="white",
            markersize=6,
            zorder=3,
            gid=FRAME,
            label="observed frequency",
        )
        draw_intervals(ax, bins, BLACK)
        ax.set(xlabel="score", ylabel="probability", xlim=(bins.left[0], bins.right[-1]), ylim=UNIT)
        if counts:
            learned = np.interp(bins.mean_score, scores, probability)
            write_counts(ax, bins, BLACK, above=bins.frac_pos >= learned)
    ax.plot(scores, probability, label=label, **series(ax, line, marker=False))
    return ax


def trace(calibrator: Calibrator, lo: float, hi: float) -> tuple[Float64Array, Float64Array]:
    """Scores from `lo` to `hi` and their probabilities, close together wherever the map jumps."""
    scores = np.linspace(lo, hi, N_SCORES)
    probability = np.asarray(calibrator.predict_proba(scores))[:, -1]
    for _ in range(HALVINGS):
        gaps = np.flatnonzero(np.abs(np.diff(probability)) > RISE)
        if not len(gaps):
            break
        between = (scores[gaps] + scores[gaps + 1]) / 2
        answers = np.asarray(calibrator.predict_proba(between))[:, -1]
        scores = np.insert(scores, gaps + 1, between)
        probability = np.insert(probability, gaps + 1, answers)
    return scores, probability
