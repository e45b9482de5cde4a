"""A pass that counts the rows of every class."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.passes._rows import Fold, Rows
from calibrant.passes._summary import Plan, Task, Totals
from calibrant.passes._travel import travels


@travels
@dataclass(frozen=True, eq=False)
class CountClasses(Task):
    """Number of rows, and total weight of every class.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    left_out : Fold, optional
        The fold whose rows take no part.
    """

    n_classes: int
    left_out: Fold | None = None

    def empty(self) -> "ClassCounts":
        """Give the counts of no rows."""
        return ClassCounts(self, 1 + self.n_classes)


class ClassCounts(Totals):
    """Number of rows, and the weights of the classes."""

    def update(self, rows: Rows) -> None:
        """Count rows."""
        rows = rows.outside(self.task.left_out)
        self.sums[0] += len(rows)
        self.sums[1:] += np.bincount(rows.truth, rows.weight, minlength=self.task.n_classes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sums[0])

    @property
    def mass(self) -> Float64Array:
        """Total weight of every class."""
        return self.sums[1:]


def count_classes(n_classes: int, left_out: Fold | None = None) -> Plan[ClassCounts]:
    """Count the rows of every class."""
    counts: ClassCounts = yield CountClasses(n_classes, left_out)
    return counts
