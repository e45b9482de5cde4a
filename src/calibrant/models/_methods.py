"""The methods that are compared, by name: what `compare_methods` tries is what the command then fits."""

from typing import Any, Literal

from calibrant._core._checks import (
    check_option,
    is_whole,
    shown,
)
from calibrant._core._errors import ParameterError
from calibrant.calibrators import (
    AccuracyTableCalibrator,
    BinningCalibrator,
    IdentityCalibrator,
    PAVCalibrator,
    RankedLogisticCalibrator,
    SigmoidCalibrator,
)

ScoreKind = Literal["margin", "probability"]

#: By what they assume and how many numbers they learn, the simplest first.
METHODS = ("identity", "sigmoid", "pav", "binning", "ranked_logistic", "accuracy_table")
#: Those for a single score, and those for one score per class.
FOR_ONE_SCORE = ("pav", "sigmoid", "binning")
FOR_MANY_SCORES = ("pav", "sigmoid", "binning", "accuracy_table", "ranked_logistic")


def named_method(name: str, n_rows: int, kind: ScoreKind = "margin") -> Any:
    """Give the calibrator that a comparison tries, and the command fits, under a name.

    Parameters
    ----------
    name : {"pav", "sigmoid", "binning", "identity", "accuracy_table", "ranked_logistic"}
        The method.
    n_rows : int
        Number of rows that it will be fitted to.
    kind : {"margin", "probability"}, default="margin"
        What the scores are.

    Returns
    -------
    object
        The unfitted calibrator. It is the one of that name, made fit for new rows: isotonic regression stays
        half a row away from 0 and 1, that is ``1/(2 n_rows)``, bins are estimated by ``(Y + 1)/(W + 2)``,
        the logistic regression has Platt's targets; and on probabilities both logistic methods work on the
        log-odds.

    See Also
    --------
    compare_methods : Which of them to use.

    Examples
    --------
    >>> from calibrant.models import named_method
    >>> named_method("pav", 1000)
    PAVCalibrator(clip=0.0005)
    """
    check_option("kind", kind, ("margin", "probability"))
    if not isinstance(name, str) or name not in METHODS:
        raise ParameterError(f"method must be one of {', '.join(map(repr, METHODS))}; got {shown(name)}")
    if not is_whole(n_rows, 0, 2**63):
        raise ParameterError(f"n_rows must be a whole number, the number of rows; got {shown(n_rows)}")
    transform: Literal["identity", "logit"] = "logit" if kind == "probability" else "identity"
    made = {
        "identity": IdentityCalibrator(),
        "sigmoid": SigmoidCalibrator(transform=transform),
        "pav": PAVCalibrator(clip=half_a_row(n_rows)),
        "binning": BinningCalibrator(smoothing="laplace"),
        "ranked_logistic": RankedLogisticCalibrator(smooth=True, transform=transform),
        "accuracy_table": AccuracyTableCalibrator(),
    }
    return made[name]


def half_a_row(n_rows: int) -> float:
    """The least probability that so many rows can speak for."""
    return 1 / (2 * max(n_rows, 2))
