"""The axes to draw on, and matplotlib only when someone draws."""

from typing import Any

from calibrant._core._errors import MissingExtraError


def axes_or_new(ax: Any) -> Any:
    """Give the axes passed in, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("matplotlib", "plots") from error
    return plt.figure(figsize=(5, 5), layout="constrained").add_subplot()
