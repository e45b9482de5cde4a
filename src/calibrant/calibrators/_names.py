"""Calibrators by name."""

from typing import Any

from calibrant._core._checks import check_option, not_among
from calibrant._core._errors import ParameterError
from calibrant._core._estimator import clone
from calibrant.calibrators._auto import auto_method, is_auto
from calibrant.calibrators._base import Calibrator
from calibrant.calibrators._joint import JointCalibrator
from calibrant.calibrators._method import Method
from calibrant.calibrators._registry import ALIASES, AUTO, KINDS, METHODS, ScoreKind


def new_calibrator(calibrator: object) -> Calibrator:
    """Make a new, unfitted calibrator.

    Parameters
    ----------
    calibrator : str or object
        Its name, or a calibrator to copy.

    Returns
    -------
    object
        The calibrator.

    Examples
    --------
    >>> from calibrant.calibrators import new_calibrator
    >>> new_calibrator("sigmoid")
    SigmoidCalibrator()
    """
    found = named_or_given(calibrator)
    copied: Any = found if isinstance(calibrator, str) else clone(found)
    return copied  # type: ignore[no-any-return]


def named_or_given(calibrator: object) -> Calibrator:
    """The calibrator of a name, or the very one that is given."""
    if isinstance(calibrator, str):
        _check_name(calibrator)
        return METHODS[calibrator]()
    if isinstance(calibrator, type) or not (
        hasattr(calibrator, "fit") and hasattr(calibrator, "predict_proba")
    ):
        raise ParameterError(
            "calibrator must be a name or an object with fit(scores, y, sample_weight) and "
            f"predict_proba(scores); got {calibrator!r}"
        )
    given: Any = calibrator
    return given  # type: ignore[no-any-return]


def calibrator_of_kind(calibrator: object, kind: ScoreKind) -> Calibrator:
    """Make a new, unfitted calibrator; one that is named, and must know what its scores are, is told so.

    Parameters
    ----------
    calibrator : str or object
        Its name, or a calibrator to copy, which has its own say.
    kind : {"margin", "probability"}
        What the scores are.

    Returns
    -------
    object
        The calibrator.
    """
    if isinstance(calibrator, str):
        _check_name(calibrator, auto=True)
    if is_auto(calibrator):
        return auto_method(kind)
    new = new_calibrator(calibrator)
    if isinstance(calibrator, str) and isinstance(new, Method) and "kind" in new.parameters.fields:
        new.set_params(kind=kind)
    return new


def made_for(calibrator: object, kind: ScoreKind) -> Calibrator:
    """Make a new, unfitted calibrator: of a name that which `named_method` gives, else a copy."""
    if isinstance(calibrator, str):
        _check_name(calibrator, auto=True)
        return named_method(calibrator, kind)
    check_option("kind", kind, KINDS)
    return new_calibrator(calibrator)


def named_method(name: str, kind: ScoreKind = "margin") -> Method:
    """Give the calibrator that a comparison tries, and the command fits, under a name.

    Parameters
    ----------
    name : str
        A method of the registry `METHODS`, or "auto".
    kind : {"margin", "probability"}, default="margin"
        What the scores are.

    Returns
    -------
    object
        The unfitted calibrator. It is the one of that name, made fit for new rows: bins are estimated by
        ``(Y + 1)/(W + 2)``, ranked logistic regression has Platt's targets; and on probabilities both
        logistic methods work on the log-odds.

    See Also
    --------
    calibrant.models.compare_methods : Which of them to use.

    Examples
    --------
    >>> from calibrant.calibrators import named_method
    >>> named_method("binning")
    BinningCalibrator(smoothing='laplace')
    """
    method = METHODS.get(name) if isinstance(name, str) else None
    check_option("kind", kind, KINDS)
    if is_auto(name):
        return auto_method(kind)
    if method is None:
        raise not_among("method", name, (AUTO, *METHODS), aliases=ALIASES)
    if kind not in method.kinds:
        raise ParameterError(
            f"scores of {name!r} must be probabilities, and declared so; got kind={kind!r}; pass "
            f"kind='probability' if they are, or use another method"
        )
    return method.for_new_rows(kind)


def _check_name(name: str, *, auto: bool = False) -> None:
    """Refuse what names no method; the choice may be left to us where it says so."""
    names = (AUTO, *METHODS) if auto else tuple(METHODS)
    if name not in names and name not in ALIASES:
        raise not_among("calibrator", name, names, otherwise=", or an object", aliases=ALIASES)


def can_only_rise(calibrator: object) -> bool:
    """Whether a calibrator, or the method of a name, makes nothing of a score that points the wrong way."""
    if isinstance(calibrator, str) and calibrator not in METHODS:
        return False
    return bool(getattr(named_or_given(calibrator), "can_only_rise", False))


def needs_all_scores(name: str) -> bool:
    """Whether the method of a name takes one score per class, and no other form."""
    method = METHODS.get(name)
    return method is not None and method.takes == "row" and not issubclass(method, JointCalibrator)


def names_for(n_dimensions: int, kind: ScoreKind, *, coded: bool = False) -> tuple[str, ...]:
    """The methods for one score of two classes, for one per class, or for one per column of a code."""
    takes = ("score",) if n_dimensions == 1 or coded else ("score", "row")
    return tuple(
        name
        for name, method in METHODS.items()
        if kind in method.kinds and (method.takes in takes or issubclass(method, JointCalibrator))
    )


def names_taking(*takes: str, kind: ScoreKind) -> tuple[str, ...]:
    """The methods that take such scores, of such a kind."""
    return tuple(name for name, method in METHODS.items() if method.takes in takes and kind in method.kinds)
