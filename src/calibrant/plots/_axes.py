"""The axes to draw on, what they already show, and matplotlib only when someone draws."""

from typing import Any

from calibrant._core._errors import DataError, MissingExtraError
from calibrant.metrics import ReliabilityBins

#: Limits of an axis of shares: points at 0 and 1 are seen whole.
UNIT = (-0.02, 1.02)
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
#: Marks what is drawn once on axes, however often one draws there.
FRAME = "calibrant-frame"


def axes_or_new(ax: Any, size: tuple[float, float] = (5.0, 5.0)) -> Any:
    """Give the axes passed in, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("matplotlib", "plots") from error
    return plt.figure(figsize=size, layout="constrained").add_subplot()


def is_framed(ax: Any) -> bool:
    """Whether a diagram of ours is on the axes already."""
    return any(artist.get_gid() == FRAME for artist in ax.get_children())


def frame_unit_square(ax: Any, *, xlabel: str, ylabel: str, diagonal: str | None = None) -> None:
    """Draw the square of two shares and its diagonal, unless they are there."""
    if is_framed(ax):
        return
    ax.plot(
        [0, 1], [0, 1], color="0.55", linestyle=(0, (4, 3)), linewidth=1, zorder=1, gid=FRAME, label=diagonal
    )
    ax.set(xlim=UNIT, ylim=UNIT, aspect="equal", xlabel=xlabel, ylabel=ylabel)
    ax.set(xticks=TICKS, yticks=TICKS)


def say(ax: Any, text: str) -> None:
    """Write across axes that there is nothing to draw, and why."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.3")


def expect(value: object, kinds: type | tuple[type, ...], name: str, source: str) -> None:
    """Refuse what was not made by the function that makes such pictures' data."""
    if not isinstance(value, kinds):
        raise DataError(f"{name} must be what {source} gives; got {type(value).__name__}; call that first")


def expect_fields(value: object, fields: tuple[str, ...], name: str, source: str) -> None:
    """Refuse what lacks something that is drawn."""
    if not all(hasattr(value, field) for field in fields):
        raise DataError(f"{name} must be what {source} gives; got {type(value).__name__}; call that first")


def draw_intervals(ax: Any, bins: ReliabilityBins, color: Any) -> None:
    """Draw the intervals of frequencies, thin and pale, behind their points."""
    ax.vlines(bins.mean_score, *bins.intervals(), color=color, alpha=0.35, linewidth=1.4, zorder=1.2)
