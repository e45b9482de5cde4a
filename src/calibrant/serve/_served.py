"""The model that is served, and its file, which may be replaced at any time."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibrant._core._checks import plain
from calibrant._core._errors import CalibrantError, DataError
from calibrant.models import ModelDescription, ScoreModel, describe, load


@dataclass(frozen=True, slots=True)
class Version:
    """A model as it was loaded; a request keeps the one that it began with."""

    model: ScoreModel
    description: ModelDescription
    classes: list[Any]


class Served:
    """A model file, and the version of it that is in use.

    Attributes
    ----------
    now : Version
        The version in use.
    n_reloads : int
        How often a new one has taken its place.
    refused : str or None
        Why the file as it is now is not in use.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._seen = self._look()
        self.now = _load(self._path)
        self.n_reloads, self.refused = 0, None

    refused: str | None

    def reload(self, *, keep_classes: bool = False) -> bool:
        """Take a new file, if there is one that can be used; else all stays as it is.

        Parameters
        ----------
        keep_classes : bool, default=False
            Whether a model of other classes is refused, as a monitor knows those of before.

        Returns
        -------
        bool
            Whether the file has changed.
        """
        seen = self._look()
        if seen is None or seen == self._seen:
            return False
        self._seen = seen
        try:
            new = _load(self._path)
            if keep_classes and new.model.classes_.tolist() != self.now.model.classes_.tolist():
                raise DataError("a new model must have the classes that are monitored; it has others")
        except CalibrantError as error:
            self.refused = str(error)
        else:
            self.now, self.refused = new, None
            self.n_reloads += 1
        return True

    def _look(self) -> tuple[int, int, int] | None:
        """What changes with the file; None while there is none."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _load(path: Path) -> Version:
    model = load(path)
    if not hasattr(model, "predict_proba"):
        raise DataError(
            f"{path} must hold a model that turns scores into probabilities; it holds a "
            f"{type(model).__name__}; make one with calibrant fit"
        )
    chain = model if isinstance(model, ScoreModel) else ScoreModel.from_fitted(model)
    return Version(chain, describe(path), [plain(label) for label in chain.classes_.tolist()])
