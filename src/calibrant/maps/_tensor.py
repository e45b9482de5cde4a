"""Formulas in symbols: what they are written with, whatever they are written for.

A `Target` is what a formula becomes: an ONNX graph, or a program of the numbers of a row, which is printed as
SQL or as Python. A `Tensor` is a value of every row that it computes: a vector with one number of each row,
or a matrix with several. Operations broadcast as in NumPy. A further target is one more of both, and has all
maps at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn, Self, Union

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import CalibrantError

#: What an operation takes: a tensor, or numbers, of which those of an array belong to the columns.
Operand = Union["Tensor", Array, float]


class ExportError(CalibrantError, NotImplementedError):
    """A part of a model has no exact counterpart where it is to run."""

    __module__ = "calibrant.models"  # where users find it


class Tensor(ABC):
    """A value of every row that is computed somewhere."""

    __slots__ = ()
    __array_ufunc__ = None  # so that an array on the left leaves the operation to the tensor

    @property
    @abstractmethod
    def target(self) -> "Target":
        """Where it is computed."""

    @abstractmethod
    def __add__(self, other: Operand) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Operand) -> Self: ...

    @abstractmethod
    def __rsub__(self, other: Operand) -> Self: ...

    @abstractmethod
    def __mul__(self, other: Operand) -> Self: ...

    @abstractmethod
    def __truediv__(self, other: Operand) -> Self: ...

    @abstractmethod
    def __rtruediv__(self, other: Operand) -> Self: ...

    @abstractmethod
    def is_above(self, other: Operand) -> Self:
        """Whether entries are greater."""

    @abstractmethod
    def is_at_least(self, other: Operand) -> Self:
        """Whether entries are greater or equal."""

    @abstractmethod
    def is_at_most(self, other: Operand) -> Self:
        """Whether entries are less or equal."""

    @abstractmethod
    def is_equal(self, other: Operand) -> Self:
        """Whether entries are equal."""

    @abstractmethod
    def at_least(self, low: Operand) -> Self:
        """The greater of both."""

    @abstractmethod
    def at_most(self, high: Operand) -> Self:
        """The less of both."""

    @abstractmethod
    def choose(self, if_true: Operand, if_false: Operand) -> Self:
        """One operand where this is true, the other elsewhere."""

    @abstractmethod
    def exp(self) -> Self:
        """Exponentials."""

    @abstractmethod
    def log(self) -> Self:
        """Logarithms of positive numbers."""

    @abstractmethod
    def sqrt(self) -> Self:
        """Square roots."""

    @abstractmethod
    def floor(self) -> Self:
        """The greatest whole number that is not above."""

    @abstractmethod
    def size(self) -> Self:
        """The number without its sign."""

    @abstractmethod
    def intervals(self, edges: Sequence[Array]) -> Self:
        """Number the interval of every entry, those of a column after those of the columns before it.

        An edge belongs to the interval below it.
        """

    @abstractmethod
    def intervals_of_all(self, edges: Array) -> Self:
        """Number the interval of every entry by the same edges for all columns."""

    @abstractmethod
    def as_whole(self) -> Self:
        """Whole numbers as such."""

    @abstractmethod
    def in_table(self, values: Array) -> "Tensor":
        """The entries of an array at these places."""

    @abstractmethod
    def columns(self, places: Sequence[int] | Array) -> Self:
        """Some columns of a matrix, in this order."""

    @abstractmethod
    def column(self, place: int) -> Self:
        """One column of a matrix, as a vector."""

    @abstractmethod
    def as_vector(self) -> Self:
        """A matrix of one column as a vector."""

    @abstractmethod
    def as_column(self) -> Self:
        """A vector as a matrix of one column."""

    @abstractmethod
    def times(self, matrix: Float64Array) -> Self:
        """Rows times a matrix."""

    @abstractmethod
    def row_sums(self) -> Self:
        """Sums over the columns, as a matrix of one column."""

    @abstractmethod
    def row_max(self) -> Self:
        """The greatest entry of every row, as a matrix of one column."""

    @abstractmethod
    def row_min(self) -> Self:
        """The least entry of every row, as a matrix of one column."""

    @abstractmethod
    def divided_by_sum(self, instead: Operand) -> Self:
        """Every row divided by its sum; rows of nothing but zeros get something else."""

    @abstractmethod
    def running_sums(self, *, exclusive: bool = False) -> Self:
        """Sums of the columns up to every one; without itself where they are exclusive."""

    @abstractmethod
    def first_true(self) -> Self:
        """The number of the first column of every row that is true."""

    @abstractmethod
    def first_greatest(self) -> Self:
        """The number of the first column of greatest value of every row."""

    @abstractmethod
    def n_true(self) -> Self:
        """How many columns of every row are true, as a matrix of one column."""

    @abstractmethod
    def ranked(self, n_ranks: int) -> tuple["Tensor", "Tensor"]:
        """The greatest entries of every row in falling order, and their columns; of equal ones the first."""

    @abstractmethod
    def gathered(self, places: Any) -> "Tensor":
        """The entries at some columns of every row."""

    @abstractmethod
    def scattered(self, places: Any, values: Any) -> Self:
        """The same matrix with other values at some columns of every row."""


class Target(ABC):
    """What formulas are written for.

    Attributes
    ----------
    n_columns : int
        How many scores a row has.
    """

    #: What it is called.
    name: ClassVar[str]
    #: What is raised for a part that has no counterpart.
    error: ClassVar[type[ExportError]] = ExportError
    #: Tables of cells of up to so many cells are written in full.
    most_dense: ClassVar[int]

    n_columns: int

    @property
    @abstractmethod
    def scores(self) -> Tensor:
        """The scores, as a matrix."""

    @abstractmethod
    def beside(self, tensors: Sequence[Any]) -> Tensor:
        """Matrices side by side."""

    @abstractmethod
    def spread(self, columns: Array) -> Tensor:
        """A matrix with a row for every row of scores, all equal to this one."""

    @abstractmethod
    def refusing(self, proba: Any, probabilities: Sequence[bool]) -> Tensor:
        """Probabilities, but none for rows that the library refuses: some scores must lie in [0, 1]."""

    @abstractmethod
    def iterated(
        self, state: Sequence[Any], step: Callable[[list[Any]], tuple[list[Any], Any]], most: int
    ) -> list[Any]:
        """Matrices after so many steps at most; a row is done once a step says that it needs no other."""

    def refuse(self, message: str) -> NoReturn:
        """Raise the error of this target."""
        raise self.error(message)
