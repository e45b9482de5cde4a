"""The monitor behind the service: forecasts as they are given, outcomes as they come in."""

import os
from pathlib import Path
from typing import Any

from calibrant._core._arrays import Float64Array
from calibrant._core._errors import DataError
from calibrant._core._whole_files import write_whole
from calibrant.models import ScoreModel
from calibrant.monitor import CalibrationMonitor


class Watch:
    """A monitor whose state is a file.

    Parameters
    ----------
    path : str or path
        The state; a file that is there is gone on with.
    model : ScoreModel
        The model, whose classes and costs a new monitor has.
    """

    def __init__(self, path: str | os.PathLike[str], model: ScoreModel) -> None:
        self._path = Path(path)
        if self._path.exists():
            self.monitor = CalibrationMonitor.from_json(self._path.read_text(encoding="utf-8"))
        else:
            self.monitor = CalibrationMonitor(classes=model.classes_, cost=model.cost_)
        self._changed = True
        self.save()

    def forecast(self, proba: Float64Array, keys: list[Any]) -> None:
        """Take forecasts, which wait for their outcomes."""
        if keys:
            self.monitor.update(proba, [None] * len(keys), key=keys)
            self._changed = True

    def outcomes(self, keys: list[Any], labels: list[Any]) -> int:
        """Give forecasts their outcomes; the number of alarms so far."""
        if not keys:
            raise DataError("there must be at least one outcome; got none")
        self.monitor.add_labels(keys, labels)
        self._changed = True
        return len(self.monitor.alarms)

    def save(self) -> None:
        """Write the state, if it is another than before."""
        if self._changed:
            write_whole(self._path, self.monitor.to_json().encode())
            self._changed = False
