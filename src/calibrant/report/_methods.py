"""The ranking of methods: the part of a summary that says what to use."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray, as_floats
from calibrant._core._chance import Seed, generator
from calibrant._core._checks import shown
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import by_label
from calibrant.report._rows import Rows, forecast_matrix

if TYPE_CHECKING:
    from calibrant.models import MethodComparison

#: Under this name the probabilities of the report stand beside those of other methods.
SUBJECT = "this report"
#: The parts of the Brier score have intervals for at most so many classes, as these take their time.
MAX_PART_CLASSES = 26
#: Methods are ranked on at most so many rows, and fitted to raw scores on at most so many.
MAX_RANKED_ROWS = 100_000
MAX_FITTED_ROWS = 20_000


def rank_methods(
    rows: Rows,
    scores: object,
    methods: Mapping[str, object] | None,
    comparison: "MethodComparison | None",
    random_state: Seed,
) -> "tuple[MethodComparison | None, str]":
    """Rank what was given: a finished comparison, forecasts of other methods, or raw scores.

    With the name under which the forecasts of the report stand in the ranking, "" if they do not.
    """
    if comparison is not None:
        if methods is not None:
            raise ParameterError("methods must be None where comparison is given; got both; pass one of them")
        if not hasattr(comparison, "results"):
            raise ParameterError(f"comparison must be what compare_methods gives; got {shown(comparison)}")
        return comparison, ""
    if methods is not None and not isinstance(methods, Mapping):
        raise ParameterError(f"methods must be a mapping of names to forecasts; got {shown(methods)}")
    if methods is not None:
        return _rank_forecasts(rows, methods, random_state)
    return None if scores is None else _rank_by_fitting(rows, scores, random_state), ""


def _rank_forecasts(
    rows: Rows, methods: Mapping[str, object], random_state: Seed
) -> "tuple[MethodComparison, str]":
    from calibrant.models import compare_forecasts  # noqa: PLC0415  (scikit-learn)

    forecasts = {str(name): _read_forecasts(rows, str(name), proba) for name, proba in methods.items()}
    same = [name for name, proba in forecasts.items() if np.allclose(proba, rows.proba, rtol=0, atol=1e-12)]
    subject = same[0] if same else SUBJECT
    kept = _some_rows(rows, MAX_RANKED_ROWS, random_state)
    found = compare_forecasts(
        rows.truth[kept],
        {name: proba[kept] for name, proba in ({subject: rows.proba} | forecasts).items()},
        sample_weight=rows.weight[kept] if rows.weighted else None,
        classes=range(rows.n_classes),
        random_state=random_state,
        part_intervals=rows.n_classes <= MAX_PART_CLASSES,
    )
    return found, subject


def _read_forecasts(rows: Rows, name: str, proba: object) -> Float64Array:
    """The forecasts of another method, for the rows that count."""
    try:
        numbers = by_label(proba, as_floats(proba, "proba"), lambda: rows.classes, "proba")
        matrix = forecast_matrix(numbers)
    except DataError as error:
        raise DataError(f"methods[{name!r}]: {error}") from error
    if matrix.shape != (rows.n_given, rows.n_classes):
        raise DataError(
            f"methods[{name!r}] must have {rows.n_given} rows and {rows.n_classes} classes, as the forecasts "
            f"of the report have; got shape {matrix.shape}"
        )
    return matrix[rows.number]


def _rank_by_fitting(rows: Rows, scores: object, random_state: Seed) -> "MethodComparison":
    from calibrant.models import compare_methods  # noqa: PLC0415  (scikit-learn)

    numbers = by_label(scores, as_floats(scores, "scores"), lambda: rows.classes, "scores")
    n_there = len(numbers) if numbers.ndim else 0
    if n_there != rows.n_given:
        raise DataError(
            f"labels and scores must have the same number of rows; got {rows.n_given} and {n_there}"
        )
    kept = _some_rows(rows, MAX_FITTED_ROWS, random_state)
    return compare_methods(
        numbers[rows.number[kept]],
        rows.truth[kept],
        sample_weight=rows.weight[kept] if rows.weighted else None,
        classes=range(rows.n_classes),
        random_state=random_state,
        part_intervals=rows.n_classes <= MAX_PART_CLASSES,
    )


def _some_rows(rows: Rows, most: int, random_state: Seed) -> IntArray | slice:
    if len(rows) <= most:
        return slice(None)
    return np.sort(generator(random_state).choice(len(rows), most, replace=False))
