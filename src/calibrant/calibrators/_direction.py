"""Says once per fit that scores point the wrong way, where the map that was fitted cannot turn them."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

from calibrant._core._arrays import Array
from calibrant._core._checks import plain
from calibrant._core._errors import ScoreDirectionWarning
from calibrant.calibrators._base import Calibrator, CalibratorBase
from calibrant.metrics import NO_DIRECTION, Direction, normal_tail, wrong_columns

#: Columns that a warning names.
MOST_NAMED = 5


def warn_of_direction(calibrator: Calibrator, n_learners: int = 1, stacklevel: int = 3) -> None:
    """Warn if a fitted calibrator, or one of its columns, was given scores that point the wrong way.

    Scores of a cross-validation come from several learners; `stacklevel` says whose line the warning shows.
    """
    if not isinstance(calibrator, CalibratorBase):
        return
    directions = calibrator.directions()
    if any(each is not NO_DIRECTION for each in directions):
        labels = None if calibrator.takes == "columns" else calibrator.classes_
        warn_of_columns(directions, labels, n_learners, stacklevel + 1)


def warn_of_columns(
    directions: Sequence[Direction],
    classes: Array | None,
    n_learners: int = 1,
    stacklevel: int = 2,
) -> None:
    """Warn of scores that point the wrong way, if a map that can only rise is fitted to them."""
    wrong = wrong_columns([_among(each, n_learners) for each in directions])
    if not wrong:
        return
    if len(directions) == 1 and classes is not None:
        below, above = classes
        message = (
            f"scores must rank {plain(above)!r} above {plain(below)!r}; they rank it below "
            f"(AUC {directions[0].area:.3f}), and a map that can only rise makes nearly a constant of such a "
            "score; set increasing=False, or pass classes= with the other label second"
        )
    else:
        names = [f"column {place}" if classes is None else repr(plain(classes[place])) for place in wrong]
        named = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        message = (
            f"scores must rank the rows of their class above the others; those of {named} rank them below, "
            "and a map that can only rise makes nearly a constant of such a score; negate these scores, set "
            "increasing=False if all point that way, or see that classes= names the columns in their order"
        )
    warnings.warn(message, ScoreDirectionWarning, stacklevel=stacklevel)


def _among(found: Direction, n_learners: int) -> Direction:
    """The same with the chance that it has if several learners gave the scores."""
    if n_learners == 1 or found.spread == 0:
        return found
    chance = normal_tail(-found.shift / (found.spread * math.sqrt(n_learners)))
    return replace(found, chance=max(found.chance, chance))
