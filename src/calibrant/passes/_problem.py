"""A two-class problem cut out of rows of many classes: one column of scores, and the sides of the classes."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array
from calibrant.passes._questions import Cases
from calibrant.passes._rows import Fold, Rows
from calibrant.passes._travel import travels


@travels
@dataclass(frozen=True, eq=False)
class Problem:
    """Which rows take part in a two-class problem, and which of them are positive.

    Parameters
    ----------
    column : int
        Which column of the scores it is about.
    sides : ndarray of int8 of shape (k,)
        For every class +1, -1, or 0 if its rows take no part.
    left_out : Fold, optional
        The fold whose rows take no part.
    """

    column: int
    sides: Array
    left_out: Fold | None = None

    def cases(self, rows: Rows) -> Cases:
        """Cut the problem out of a batch."""
        rows = rows.outside(self.left_out)
        if not self.sides.all():
            rows = rows.once(("sides", self.sides.tobytes()), lambda: self._taking_part(rows))
        return Cases(rows.column(self.column), (self.sides > 0).take(rows.position), rows.weight)

    def _taking_part(self, rows: Rows) -> Rows:
        return rows.where((self.sides != 0).take(rows.position))


def problems_of(code: Array, left_out: Fold | None = None) -> list[Problem]:
    """The problems of the columns of a code matrix.

    Parameters
    ----------
    code : ndarray of shape (k, l)
        The code matrix.
    left_out : Fold, optional
        The fold whose rows take no part.

    Returns
    -------
    list of Problem
        One problem per column.
    """
    sides = np.ascontiguousarray(np.asarray(code, dtype=np.int8).T)
    return [Problem(column, side, left_out) for column, side in enumerate(sides)]
