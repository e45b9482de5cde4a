"""Colours, markers and lines that can be told apart by the colour-blind, and without colours at all.

The colours are those of Okabe and Ito (2008). No two series differ by colour alone.
"""

from typing import Any

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
ORANGE = "#E69F00"
SKY = "#56B4E9"
BLACK = "#000000"

COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (7, 1)), (0, (3, 1, 1, 1, 1, 1)), "-")
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "|||")

#: How much of its colour an area has, the rest being white: points stand out on it, and neighbours differ in
#: grey.
TINTS = (0.12, 0.25, 0.34, 0.16, 0.3, 0.22, 0.1)

#: Marks the lines that count as series.
SERIES = "calibrant-series"


def nth(choices: tuple[Any, ...], number: int) -> Any:
    """The choice for a number; they begin anew when they are used up."""
    return choices[number % len(choices)]


def series(ax: Any, given: dict[str, Any], *, marker: bool = True) -> dict[str, Any]:
    """The style of the next line on these axes, with what the user wants instead."""
    from matplotlib import cbook, lines  # noqa: PLC0415

    number = sum(line.get_gid() == SERIES for line in ax.lines)
    style = {
        "color": nth(COLORS, number),
        "marker": nth(MARKERS, number) if marker else "",
        "linestyle": nth(LINES, number),
        "linewidth": 1.6,
        "markersize": 5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.6,
        "gid": SERIES,
    }
    return style | cbook.normalize_kwargs(given, lines.Line2D)


def tint(number: int) -> tuple[float, float, float]:
    """A light shade of the colour for a number."""
    from matplotlib import colors  # noqa: PLC0415

    share = nth(TINTS, number)
    red, green, blue = (1 - share * (1 - part) for part in colors.to_rgb(nth(COLORS, number)))
    return red, green, blue


def halo() -> list[Any]:
    """A white rim for text, so that it can be read on lines."""
    from matplotlib import patheffects  # noqa: PLC0415

    return [patheffects.withStroke(linewidth=2.5, foreground="white")]
