"""Runs on real data: the demo, and the tables and figures of the papers.

`EXPERIMENTS` has every experiment by its name; `calibrant reproduce` runs them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.experiments._experiment import Experiment

    EXPERIMENTS: dict[str, Experiment]


def __getattr__(name: str) -> Any:
    """Collect the experiments when they are asked for: their modules import every room."""
    if name == "EXPERIMENTS":
        from calibrant.experiments._registry import all_experiments  # noqa: PLC0415

        return all_experiments()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
