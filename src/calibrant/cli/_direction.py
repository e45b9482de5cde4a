"""Refuses scores that point the wrong way, and score columns of classes that never occur."""

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

import click
import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.cli._reading import Labelled
from calibrant.cli._wanted import Wanted
from calibrant.files import shown
from calibrant.metrics import Direction, directions_of, mostly_wrong, wrong_columns

if TYPE_CHECKING:
    from calibrant.passes import ScoreSurvey


@dataclass(frozen=True, eq=False)
class ScoreCheck:
    """What must hold of the scores of a file, as the options want them.

    Parameters
    ----------
    name : str
        What the file is called.
    columns : tuple of str
        The score columns.
    classes : ndarray of shape (k,)
        The labels.
    wanted : Wanted
        What the options say.
    learns : bool
        Whether something is learned from the scores. Otherwise they are probabilities to be measured, of
        which those of a class may be missing, and those of named classes are measured, be they good or bad.

    Notes
    -----
    What the command has guessed is an error; what the user has said draws a warning.
    """

    name: str
    columns: tuple[str, ...]
    classes: Array
    wanted: Wanted
    learns: bool = True

    def rows(self, rows: Labelled, code: Array | None = None) -> None:
        """Look at rows in memory."""
        mass = np.bincount(rows.truth, rows.weights, len(rows.classes)).astype(np.float64)
        fits = code is not None or not self.wanted.coded  # if a code does not, the fit says so
        self(mass, directions_of(rows.scores, rows.truth, rows.weights, code) if fits else [])

    def survey(self, seen: "ScoreSurvey") -> None:
        """Look at what passes have found."""
        self(seen.mass, seen.directions)

    def __call__(self, mass: Float64Array, directions: Sequence[Direction]) -> None:
        """Look at the weights of the classes, and at how the columns rank them."""
        if self.learns and self.wanted.classes is None and len(self.columns) > 1 and not self.wanted.coded:
            self._refuse_absent(mass)
        if not directions:
            return
        if len(self.columns) == 1 and not self.wanted.coded:
            problem = self._of_one(directions[0]) if wrong_columns(directions) else None
        else:
            problem = (
                self._of_many() if mostly_wrong(directions, one_per_class=not self.wanted.coded) else None
            )
        if problem is not None and not self._is_said():
            raise DataError(problem)
        wrong = [self.columns[place] for place in wrong_columns(directions)]
        if problem is not None or wrong:
            click.echo(f"calibrant: warning: {problem or self._of_some(wrong)}", err=True)

    def _is_said(self) -> bool:
        """Whether the user has said what the scores speak for."""
        if self.wanted.coded or self.wanted.positive is not None:
            return True
        return self.wanted.classes is not None and (len(self.columns) == 1 or not self.learns)

    def _refuse_absent(self, mass: Float64Array) -> None:
        absent = np.flatnonzero(mass == 0)
        if 0 < len(absent) < len(mass):
            column, label = self.columns[absent[0]], label_text(self.classes[absent[0]])
            raise DataError(
                f"every score column must be that of a class that occurs; got {column!r} of {self.name}, and "
                f"no row has the label {label!r}; leave the column out of --scores, or name all classes in "
                "--classes if this one is only missing here"
            )

    def _of_one(self, found: Direction) -> str:
        other, positive = (str(label_text(label)) for label in self.classes)
        remedy = f"--positive {quote(other)}"
        if self.wanted.classes is not None:
            remedy = f"--classes {quote(f'{positive},{other}')}"
        return (
            f"the scores in {self.columns[0]!r} of {self.name} must be higher for {positive!r} than for "
            f"{other!r}; they are lower (AUC {found.area:.3f}, beyond chance); pass {remedy} if a high score "
            f"stands for {other!r}"
        )

    def _of_many(self) -> str:
        return (
            f"the scores of {self.name} must be higher for rows of their class; most are lower, beyond "
            f"chance: {shown(self.columns)}; negate them if they are distances or losses, and see that every "
            "column has the name of its class"
        )

    def _of_some(self, wrong: list[str]) -> str:
        return (
            f"every score column of {self.name} must rank the rows of its class above the others; beyond "
            f"chance these do not: {shown(wrong)}; see that every column has the name of its class"
        )
