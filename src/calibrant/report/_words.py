"""Numbers in words and figures, the same everywhere in a report."""

import math
import re

from calibrant.metrics import Estimate


def percent(share: float) -> str:
    """A share for reading: 97.3%, and never 100% for less than all."""
    if math.isnan(share):
        return "unknown"
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.999 < share < 1:
        return "more than 99.9%"
    return f"{100 * share:.1f}%".replace(".0%", "%")


def points(gap: float) -> str:
    """A difference of two percentages."""
    size = 100 * gap
    if size < 0.1:
        return "less than 0.1 points"
    text = f"{size:.0f}" if size >= 9.95 else f"{size:.1f}".removesuffix(".0")
    return f"{text} point" if text == "1" else f"{text} points"


def number(value: float, digits: int = 6) -> str:
    """A number with so many digits that count, and commas between thousands."""
    if not math.isfinite(value):
        return "unknown" if math.isnan(value) else ("infinite" if value > 0 else "-infinite")
    rounded = float(f"{value:.{digits}g}")
    if rounded != 0 and (abs(rounded) < 1e-4 or abs(rounded) >= 1e15):
        return f"{rounded:.{digits}g}"
    if rounded == int(rounded):
        return f"{int(rounded):,}"
    whole, _, decimals = f"{rounded:,.12f}".rstrip("0").partition(".")
    return f"{whole}.{decimals}"


def decimal(value: float) -> str:
    """A measure with four decimals."""
    if not math.isfinite(value):
        return "none" if math.isnan(value) else ("infinite" if value > 0 else "-infinite")
    return f"{value:.4f}"


def estimate(value: Estimate) -> tuple[str, str]:
    """A measure with as many decimals as its interval allows, and the interval; "" where there is none."""
    text, _, interval = str(value).partition(" ")
    return (text, interval) if interval else (decimal(value), "")


def percent_estimate(share: Estimate) -> tuple[str, str]:
    """The same of a share, in percent."""
    low, high = (100 * end for end in (share.low, share.high))
    text, _, interval = re.sub(r"[\d.]+", r"\g<0>%", str(Estimate(100 * share, low, high))).partition(" ")
    return (text, interval) if interval else (percent(share), "")


def chance(p_value: float) -> str:
    """How probable something is by chance alone."""
    if p_value < 0.01:
        return "less than 1%"
    return f"about {percent(p_value)}"


def names(labels: list[str], most: int = 5) -> str:
    """Labels in a sentence."""
    shown = [f"“{label}”" for label in labels[:most]]
    if len(labels) > most:
        return ", ".join(shown) + f" and {len(labels) - most} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
