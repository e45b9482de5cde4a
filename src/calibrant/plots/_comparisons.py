"""Rules and methods side by side, with how much chance there is in it."""

import math
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant.decisions import RuleComparison
from calibrant.metrics import Estimate
from calibrant.models import MethodComparison
from calibrant.plots._axes import axes_or_new, expect
from calibrant.plots._style import BLUE


def saving_diagram(comparison: RuleComparison, *, ax: Any = None) -> Any:
    """Draw how much every rule saves against the plain rule of least expected cost.

    The point is the saving in all folds together, with its interval of 95% for these rows; the small strokes
    are the folds, and scatter as what is learned from other rows does. Left of the line a rule does harm.

    Parameters
    ----------
    comparison : RuleComparison
        What `calibrant.decisions.compare_rules` gives.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.decisions import compare_rules
    >>> from calibrant.plots import saving_diagram
    >>> rng = np.random.default_rng(0)
    >>> right = rng.dirichlet([1, 1, 1], size=500)
    >>> y = (rng.random(500)[:, None] > right.cumsum(axis=1)).sum(axis=1)
    >>> ax = saving_diagram(compare_rules(right, y, [[0, 1, 10], [2, 0, 5], [1, 4, 0]]))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['expected', 'parallel', 'lachiche_flach', 'mossman']
    """
    expect(comparison, RuleComparison, "comparison", "compare_rules")
    results = comparison.results
    ax = axes_or_new(ax, (6.4, 1.2 + 0.5 * len(results)))
    ax.axvline(0, color="0.55", linestyle=(0, (4, 3)), linewidth=1, zorder=1)
    for row, result in enumerate(results):
        if math.isnan(result.saving):
            ax.text(0, row, "  the plain rule costs nothing", va="center", color="0.3")
            continue
        ax.plot(
            result.fold_savings,
            np.full(len(result.fold_savings), row),
            "|",
            color="0.55",
            markersize=11,
            markeredgewidth=1,
            zorder=2,
        )
        ax.errorbar(
            result.saving,
            row,
            xerr=_arms(result.saving),
            fmt="o",
            color=BLUE,
            markersize=7,
            elinewidth=2,
            capsize=4,
            zorder=3,
        )
    _name_rows(ax, [result.name for result in results])
    ax.set_xlabel("saving against the plain rule, percent of its cost")
    return ax


def ranking_diagram(comparison: MethodComparison, *, ax: Any = None) -> Any:
    """Draw how far behind the best every method is.

    The best method stands on top, at zero. The bars are the intervals of the difference on the same rows;
    one that reaches the line may be as good. The number on the right says in how many of a hundred
    resamples of the rows the method comes first. The name in bold is the one that the advice is to use.

    Parameters
    ----------
    comparison : MethodComparison
        What `calibrant.models.compare_methods` or `calibrant.models.compare_forecasts` gives.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from calibrant.models import compare_methods
    >>> from calibrant.plots import ranking_diagram
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = compare_methods(-X[:, 0], y)  # the radius
    >>> ax = ranking_diagram(found)
    >>> len(ax.get_yticklabels()) == len(found.results)
    True
    """
    expect(comparison, MethodComparison, "comparison", "compare_methods or compare_forecasts")
    results = comparison.results
    ax = axes_or_new(ax, (6.4, 1.2 + 0.4 * len(results)))
    ax.axvline(0, color="0.55", linestyle=(0, (4, 3)), linewidth=1, zorder=1)
    for row, result in enumerate(results):
        ax.errorbar(
            result.difference,
            row,
            xerr=_arms(result.difference),
            fmt="D" if row == 0 else "o",
            color=BLUE,
            markersize=7,
            markerfacecolor=BLUE if row == 0 else "white",
            elinewidth=1.6,
            capsize=4,
            zorder=3,
        )
        beside = {"va": "center", "transform": ax.get_yaxis_transform()}
        ax.text(1.02, row, f"{result.share_best:.0%}", **beside)
    ax.text(1.02, -0.75, "first in", fontsize="small", **beside)
    _name_rows(ax, [result.name for result in results])
    for name in ax.get_yticklabels():
        name.set_fontweight("bold" if name.get_text() == comparison.recommended else "normal")
    ax.set_xlabel(f"{comparison.measure} above that of the best method")
    return ax


def _arms(value: Estimate) -> Array | None:
    """How far the interval reaches to either side; None where there is none."""
    return None if math.isnan(value.low) else np.array([[value - value.low], [value.high - value]])


def _name_rows(ax: Any, names: list[str]) -> None:
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["left", "right", "top"]].set_visible(False)
