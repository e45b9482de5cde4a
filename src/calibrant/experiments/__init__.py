"""Runs on real data: the demo, and the tables and figures of the papers.

`EXPERIMENTS` has every experiment by its name; `calibrant reproduce` runs them.
"""

from typing import TYPE_CHECKING, Any

from calibrant._core._lazy import lazily

if TYPE_CHECKING:
    from calibrant.experiments._cache import Cache as Cache
    from calibrant.experiments._demo import (
        N_DEMO_STEPS as N_DEMO_STEPS,
        DemoForecasts as DemoForecasts,
        DemoLine as DemoLine,
        demo_forecasts as demo_forecasts,
        write_demo_reports as write_demo_reports,
    )
    from calibrant.experiments._document import (
        to_document as to_document,
        write_document as write_document,
    )
    from calibrant.experiments._experiment import Experiment as Experiment, Scale as Scale
    from calibrant.experiments._layout import HELD as HELD, blocks as blocks, row_names as row_names
    from calibrant.experiments._runner import Outcome as Outcome, run_experiment as run_experiment

    EXPERIMENTS: dict[str, Experiment]

#: Where they are at home. Imported when they are first used: experiments import every room.
_HOME = {
    "Cache": "calibrant.experiments._cache",
    "DemoForecasts": "calibrant.experiments._demo",
    "DemoLine": "calibrant.experiments._demo",
    "Experiment": "calibrant.experiments._experiment",
    "HELD": "calibrant.experiments._layout",
    "N_DEMO_STEPS": "calibrant.experiments._demo",
    "Outcome": "calibrant.experiments._runner",
    "Scale": "calibrant.experiments._experiment",
    "blocks": "calibrant.experiments._layout",
    "demo_forecasts": "calibrant.experiments._demo",
    "row_names": "calibrant.experiments._layout",
    "run_experiment": "calibrant.experiments._runner",
    "to_document": "calibrant.experiments._document",
    "write_demo_reports": "calibrant.experiments._demo",
    "write_document": "calibrant.experiments._document",
}


_find = lazily("calibrant.experiments", _HOME)


def __getattr__(name: str) -> Any:
    if name == "EXPERIMENTS":
        from calibrant.experiments._registry import all_experiments  # noqa: PLC0415

        return all_experiments()
    return _find(name)
