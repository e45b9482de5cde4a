"""How the ways to combine answers are saved: parameters alone, as nothing is fitted."""

from typing import Any

from calibrant._core._fields import Choice, Flag, ListOf, Maybe, Number, Record, Whole
from calibrant._core._place import Place
from calibrant.codes import Coupling, LeastSquares, Normalize, check_combiner
from calibrant.models._kinds import Kind, Kinds, Unfitted
from calibrant.models._two_class import PROBABILITY

#: More iterations than this never end for those who wait.
MOST_ITERATIONS = 1_000_000


class _NormalizeKind(Kind):
    """Normalisation wants its prior with one fallback and not with the other."""

    def read_unfitted(self, plain: Any, at: Place) -> Any:
        """A combiner with the parameters of the file."""
        given = self.parameters.read(plain, at)
        if (given["fallback"] == "prior") != (given["prior"] is not None):
            (at / "prior").refuse("be given with fallback 'prior', and only then", given["prior"])
        if given["prior"] is not None and abs(sum(given["prior"]) - 1) > 1e-6:
            (at / "prior").fail(f"must sum to one; got a sum of {sum(given['prior']):.6g}")
        return Normalize(given["fallback"], None if given["prior"] is None else tuple(given["prior"]))


NORMALIZE = _NormalizeKind(
    name="normalize",
    type=Normalize,
    parameters=Record(fallback=Choice("uniform", "prior"), prior=Maybe(ListOf(PROBABILITY, least=2))),
)

LEAST_SQUARES = Kind(
    name="least_squares",
    type=LeastSquares,
    parameters=Record(weighted=Flag(), sum_constraint=Flag()),
)

COUPLING = Kind(
    name="coupling",
    type=Coupling,
    parameters=Record(
        algorithm=Choice("mm", "published"),
        eps=Number(1e-15, below=0.5),
        tol=Number(above=0.0),
        max_iter=Whole(1, MOST_ITERATIONS),
    ),
)

COMBINERS = Kinds([NORMALIZE, LEAST_SQUARES, COUPLING])
COMBINER = Unfitted(COMBINERS, check_combiner)
