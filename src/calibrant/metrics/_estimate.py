"""A number that was estimated from rows, and the interval in which the truth is likely to be."""

import math
from dataclasses import fields, is_dataclass
from typing import Any, SupportsFloat

#: How often an interval covers what it is for, if its method is right.
LEVEL = 0.95
#: Where one arm of an interval is longer than the other by this factor, both ends are shown.
LOPSIDED = 1.5


class Estimate(float):
    """A float that knows its interval; it compares, computes and is written like a float.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        The ends of the interval; `nan` where there is none.
    error : float, optional
        The standard error, where the interval has one.
    level : float, default=0.95
        How often such an interval covers the truth.

    Attributes
    ----------
    low, high, error, level : float
        The same.

    Examples
    --------
    >>> from calibrant.metrics import Estimate
    >>> loss = Estimate(0.41234, 0.39939, 0.42529, error=0.0066)
    >>> print(loss)
    0.412 ± 0.013
    >>> print(f"{loss:.4f}", loss < 0.5, loss.high)
    0.4123 True 0.42529
    >>> print(Estimate(0.012, 0.0, 0.031))
    0.012 [0.000, 0.031]
    """

    __slots__ = ("error", "high", "level", "low")

    low: float
    high: float
    error: float
    level: float

    def __new__(
        cls,
        value: SupportsFloat,
        low: SupportsFloat = math.nan,
        high: SupportsFloat = math.nan,
        error: SupportsFloat = math.nan,
        level: SupportsFloat = LEVEL,
    ) -> "Estimate":
        made = super().__new__(cls, value)
        made.low, made.high = float(low), float(high)
        made.error, made.level = float(error), float(level)
        return made

    def __getnewargs__(self) -> tuple[float, float, float, float, float]:  # type: ignore[override]
        return float(self), self.low, self.high, self.error, self.level

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.__getnewargs__()

    def __repr__(self) -> str:
        return f"Estimate({float(self)!r}, low={self.low!r}, high={self.high!r})"

    def __str__(self) -> str:
        value, below, above = float(self), float(self) - self.low, self.high - float(self)
        half = max(below, above)
        if not math.isfinite(value) or not math.isfinite(half) or half <= 0:
            return f"{value:.4g}"
        digits = min(max(0, 1 - math.floor(math.log10(half))), 9)
        if half > LOPSIDED * min(below, above):
            return f"{value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"
        return f"{value:.{digits}f} ± {half:.{digits}f}"

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)


def plain_record(value: Any) -> Any:
    """Give records, arrays and estimates as what JSON has: what is not finite is None.

    Estimates are numbers; the record that they stand in gets `intervals`, the two ends of each by its name.
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, dict):
        record = {str(name): plain_record(each) for name, each in value.items()}
        intervals = {str(name): _interval(each) for name, each in value.items()}
        known = {name: each for name, each in intervals.items() if each is not None}
        return record | {"intervals": known} if known else record
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain_record(each) for each in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def _interval(value: Any) -> Any:
    """The ends of the interval of an estimate, or of several; None where there is none."""
    if isinstance(value, Estimate):
        return None if math.isnan(value.low) else [plain_record(value.low), plain_record(value.high)]
    if isinstance(value, list | tuple) and value and all(isinstance(each, Estimate) for each in value):
        return [_interval(each) for each in value]
    return None
