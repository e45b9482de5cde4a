"""Refuses scores that point the wrong way, and score columns of classes that never occur."""

import warnings
from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError, ScoreDirectionWarning
from calibrant._core._names import label_text
from calibrant._core._words import OPTIONS, option
from calibrant.files._classes import ClassesOf
from calibrant.files._source import shown
from calibrant.metrics import Direction, directions_of, mostly_wrong, wrong_columns
from calibrant.passes import Rows

if TYPE_CHECKING:
    from calibrant.passes import ScoreSurvey


class ScoreCheck:
    """What must hold of the scores of a file.

    Parameters
    ----------
    name : str
        What the file is called.
    said : ClassesOf
        The columns, and what is said about their classes.
    classes : ndarray of shape (k,)
        The labels.
    learns : bool
        Whether something is learned from the scores. Otherwise they are probabilities to be measured, of
        which those of a class may be missing, and those of named classes are measured, be they good or bad.

    Notes
    -----
    What was guessed is an error; what the user has said draws a warning.
    """

    def __init__(self, name: str, said: ClassesOf, classes: Array, *, learns: bool = True) -> None:
        self._name, self._said, self._classes, self._learns = name, said, classes, learns
        self._columns = said.chosen.columns

    def rows(self, rows: Rows, code: Array | None = None) -> None:
        """Look at rows in memory."""
        mass = np.bincount(rows.truth, rows.weight, len(self._classes)).astype(np.float64)
        fits = code is not None or not self._said.coded  # if a code does not, the fit says so
        self(mass, directions_of(rows.scores, rows.truth, rows.weight, code) if fits else [])

    def survey(self, seen: "ScoreSurvey") -> None:
        """Look at what passes have found."""
        self(seen.mass, seen.directions)

    def __call__(self, mass: Float64Array, directions: Sequence[Direction]) -> None:
        """Look at the weights of the classes, and at how the columns rank them."""
        coded, alone = self._said.coded, self._said.alone
        if self._learns and self._said.given is None and not alone and not coded:
            self._refuse_absent(mass)
        if not directions:
            return
        if alone:
            problem = self._of_one(directions[0]) if wrong_columns(directions) else None
        else:
            problem = self._of_many() if mostly_wrong(directions, one_per_class=not coded) else None
        if problem is not None and not self._is_said():
            raise DataError(problem)
        wrong = [self._columns[place] for place in wrong_columns(directions)]
        if problem is not None or wrong:
            warnings.warn(problem or self._of_some(wrong), ScoreDirectionWarning, stacklevel=4)

    def _is_said(self) -> bool:
        """Whether the user has said what the scores speak for."""
        if self._said.coded or self._said.positive is not None:
            return True
        return self._said.given is not None and (self._said.alone or not self._learns)

    def _refuse_absent(self, mass: Float64Array) -> None:
        absent = np.flatnonzero(mass == 0)
        if 0 < len(absent) < len(mass):
            column, label = self._columns[absent[0]], label_text(self._classes[absent[0]])
            raise DataError(
                f"every score column must be that of a class that occurs; got {column!r} of {self._name}, "
                f"and no row has the label {label!r}; leave the column out of {option('scores')}, or name "
                f"all classes in {option('classes')} if this one is only missing here"
            )

    def _of_one(self, found: Direction) -> str:
        other, positive = (str(label_text(label)) for label in self._classes)
        if self._said.given is None:
            remedy = f"--positive {quote(other)}" if OPTIONS.get() else f"positive={other!r}"
        else:
            labels = f"{positive},{other}"
            remedy = f"--classes {quote(labels)}" if OPTIONS.get() else f"classes={[positive, other]!r}"
        return (
            f"the scores in {self._columns[0]!r} of {self._name} must be higher for {positive!r} than for "
            f"{other!r}; they are lower (AUC {found.area:.3f}, beyond chance); pass {remedy} if a high score "
            f"stands for {other!r}"
        )

    def _of_many(self) -> str:
        return (
            f"the scores of {self._name} must be higher for rows of their class; most are lower, beyond "
            f"chance: {shown(self._columns)}; negate them if they are distances or losses, and see that "
            "every column has the name of its class"
        )

    def _of_some(self, wrong: list[str]) -> str:
        return (
            f"every score column of {self._name} must rank the rows of its class above the others; beyond "
            f"chance these do not: {shown(wrong)}; see that every column has the name of its class"
        )
