"""What a comparison tries, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._chance import Seed
from calibrant._core._checks import check_number, check_option, shown
from calibrant._core._errors import ParameterError
from calibrant.calibrators import (
    KINDS,
    Calibrator,
    ScoreKind,
    calibrator_for,
    can_only_rise,
    named_method,
    names_for,
    new_calibrator,
    takes_of,
)
from calibrant.codes import check_code
from calibrant.passes import Fold


@dataclass(frozen=True)
class Contest:
    """What a comparison tries, and how.

    Parameters
    ----------
    methods : sequence of str, mapping of str to calibrator, or None
        The methods by name, or calibrators of one's own; None for all that take such scores.
    kind : {"margin", "probability"}
        What the scores are.
    code : str, array-like or None
        The code behind the scores.
    combine : str, object or None
        How the answers of two-class methods become one distribution; None for what suits the code.
    cv : int
        Number of folds.
    random_state : int, Generator, RandomState or None
        How rows are shuffled and resampled.
    part_intervals : bool
        Whether the parts of the Brier score have intervals.
    """

    methods: Any = None
    kind: ScoreKind = "margin"
    code: object = None
    combine: object = None
    cv: int = 5
    random_state: Seed = 0
    part_intervals: bool = False

    def __post_init__(self) -> None:
        check_number("cv", self.cv, "a whole number from 2", lambda number: number >= 2 and number % 1 == 0)
        check_option("kind", self.kind, KINDS)

    @property
    def coded(self) -> bool:
        """Whether scores are those of the columns of a code: ours, or those of calibrators of one's own."""
        own = self.methods.values() if isinstance(self.methods, Mapping) else ()
        return self.code is not None or any(takes_of(each) == "columns" for each in own)

    def folds(self, n_rows: int) -> list[Fold]:
        """The folds whose rows are left out in turn."""
        n_folds = min(int(self.cv), n_rows)
        return [Fold(number, n_folds) for number in range(n_folds)]

    def columns_of(self, n_classes: int) -> Array | None:
        """The code matrix behind the scores, if one is declared."""
        return None if self.code is None else np.asarray(check_code(self.code, n_classes))

    def any_can_only_rise(self) -> bool:
        """Whether one of the methods makes nothing of scores that point the wrong way."""
        if self.methods is None:
            return True
        chosen = self.methods.values() if isinstance(self.methods, Mapping) else self.methods
        return any(map(can_only_rise, chosen))

    def contestants(self, n_dimensions: int, n_classes: int) -> dict[str, Calibrator]:
        """The unfitted calibrators by name, for scores of some form."""
        self.columns_of(n_classes)  # a code that is none is refused before anything is fitted
        return {
            name: calibrator_for(method, n_dimensions, self.code, self.combine, self.kind)
            for name, method in self._methods(n_dimensions).items()
        }

    def _methods(self, n_dimensions: int) -> dict[str, Calibrator]:
        """A method of ours is made fit for new rows, an object of one's own is copied."""
        methods = self.methods
        if isinstance(methods, Mapping):
            chosen = {str(name): method for name, method in methods.items()}
        elif methods is None:
            chosen = {name: name for name in names_for(n_dimensions, self.kind, coded=self.code is not None)}
        elif isinstance(methods, str):
            raise ParameterError(
                f"methods must be a sequence of names; got the text {methods!r}; put it in a list"
            )
        elif isinstance(methods, Sequence) and all(isinstance(name, str) for name in methods):
            chosen = {name: name for name in methods}
        else:
            raise ParameterError(
                "methods must be a sequence of names, or a mapping of names to calibrators; "
                f"got {shown(methods)}"
            )
        if not chosen:
            raise ParameterError("methods must hold at least one method; got none")
        return {
            name: named_method(given, self.kind) if isinstance(given, str) else new_calibrator(given)
            for name, given in chosen.items()
        }
