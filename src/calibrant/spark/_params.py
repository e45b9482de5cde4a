"""Parameters that several stages share, with the getters and setters that Spark's own stages have."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from pyspark import keyword_only
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasWeightCol,
)

from calibrant._core._checks import check_option
from calibrant.calibrators import AUTO, DEFAULT, KINDS, METHODS

T = TypeVar("T", bound=type)


def with_accessors(kind: T) -> T:
    """Give a class of parameters a getter and a setter for each of them that has none."""
    for name in dir(kind):
        param = getattr(kind, name)
        if isinstance(param, Param):
            title = name[0].upper() + name[1:]
            for accessor in (_getter(param, f"get{title}"), _setter(param, f"set{title}")):
                if not hasattr(kind, accessor.__name__):
                    accessor.__qualname__, accessor.__module__ = (
                        f"{kind.__name__}.{accessor.__name__}",
                        __name__,
                    )
                    setattr(kind, accessor.__name__, accessor)
    return kind


def _getter(param: Any, name: str) -> Callable[[Any], Any]:
    def get(self: Any) -> Any:
        return self.getOrDefault(param.name)

    get.__name__ = name
    get.__doc__ = f"""Give the value of ``{param.name}``.

        Returns
        -------
        object
            The value: {param.doc.rstrip(".")}.
        """
    return get


def _setter(param: Any, name: str) -> Callable[[Any, Any], Any]:
    def set_(self: Any, value: Any) -> Any:
        return self._set(**{param.name: value})

    set_.__name__ = name
    set_.__doc__ = f"""Set ``{param.name}``.

        Parameters
        ----------
        value : object
            The value: {param.doc.rstrip(".")}.

        Returns
        -------
        Self
            The stage.
        """
    return set_


def one_of(name: str, options: tuple[str, ...]) -> Callable[[Any], str]:
    """A converter for a parameter that has a few values."""

    def convert(value: Any) -> str:
        check_option(name, value, options)
        return str(value)

    return convert


def new_param(name: str, doc: str, converter: Any = TypeConverters.toString) -> Any:
    """A parameter."""
    return Param(Params._dummy(), name, doc, typeConverter=converter)


def _plain(value: Any) -> Any:
    """A label or number as Python's own, which JSON can keep."""
    return value.item() if isinstance(value, np.generic) else value


def _to_labels(value: Any) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise TypeError(f"classes must be a list of labels; got {value!r}")
    return [_plain(label) for label in value]


def _to_costs(value: Any) -> Any:
    """Costs as JSON can keep them: a list of rows, or labels with such a list."""
    if isinstance(value, Mapping) and set(value) == {"decisions", "truths", "matrix"}:
        return dict(value)
    if isinstance(value, Mapping):
        rows = {
            _plain(decision): {
                _plain(truth): cost if isinstance(cost, str) else float(cost) for truth, cost in row.items()
            }
            for decision, row in value.items()
        }
        truths = list(dict.fromkeys(truth for row in rows.values() for truth in row))
        matrix = [[row.get(truth) for truth in truths] for row in rows.values()]
        return {"decisions": list(rows), "truths": truths, "matrix": matrix}
    return np.asarray(value, dtype=np.float64).tolist()


def _to_code(value: Any) -> Any:
    """The name of a code, or its matrix as a list of rows."""
    return value if isinstance(value, str) else np.asarray(value).tolist()


def _to_settings(value: Any) -> dict[str, Any]:
    return {str(name): _plain(setting) for name, setting in dict(value).items()}


class SettableParams(Params):
    """Parameters that are set by keyword."""

    _input_kwargs: dict[str, Any]

    @keyword_only
    def setParams(self, **given: Any) -> Self:
        """Set parameters by keyword.

        Parameters
        ----------
        **given : object
            The parameters.

        Returns
        -------
        Self
            The stage.
        """
        del given
        return self._set_given()

    def _set_given(self) -> Self:
        """Set what the constructor or `setParams` was given; None leaves a parameter as it was."""
        return self._set(**{name: value for name, value in self._input_kwargs.items() if value is not None})  # type: ignore[no-any-return]

    def _given(self, name: str) -> Any:
        """The value of a parameter; None if it has none."""
        param = self.getParam(name)
        return self.getOrDefault(param) if self.isDefined(param) else None


@with_accessors
class HasScores(HasRawPredictionCol, SettableParams):
    """Where the scores are."""

    scoresCols = new_param(
        "scoresCols",
        "numeric columns of scores, in the order of the classes or of the columns of the code; instead of "
        "rawPredictionCol.",
        TypeConverters.toListString,
    )


@with_accessors
class HasLabels(HasLabelCol, HasWeightCol, SettableParams):
    """Labels and weights."""


@with_accessors
class HasProbabilities(HasProbabilityCol, SettableParams):
    """The column of the probabilities."""


@with_accessors
class HasGroups(SettableParams):
    """The column of the groups."""

    groupCol = new_param(
        "groupCol",
        "a column of groups, such as regions, whose probabilities may differ; a model knows it from its fit.",
    )


@with_accessors
class HasDecisions(HasPredictionCol, SettableParams):
    """The column of the decisions, and what happens to rows that have none."""

    handleInvalid = new_param(
        "handleInvalid",
        "what happens to rows that cannot be used: error; skip, which leaves them out; or keep, which gives "
        "them no probabilities and no decision, and leaves them out of a fit.",
        one_of("handleInvalid", ("error", "skip", "keep")),
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(handleInvalid="error")


@with_accessors
class HasClasses(SettableParams):
    """The labels in order."""

    classes = new_param(
        "classes",
        "labels in the order of the scores or probabilities; of a single score the second is positive.",
        _to_labels,
    )


class HasCosts(SettableParams):
    """What decisions cost."""

    cost = new_param(
        "cost",
        "cost[i][j] is the cost of deciding class i when the truth is j; or {decision: {truth: cost}}.",
        _to_costs,
    )

    def getCost(self) -> Any:
        """Give the costs.

        Returns
        -------
        list, dict or None
            A list of rows, or a mapping of decisions to truths to costs, as they were given.
        """
        kept = self._given("cost")
        if not isinstance(kept, dict):
            return kept
        rows = zip(kept["decisions"], kept["matrix"], strict=True)
        return {
            decision: {
                truth: cost for truth, cost in zip(kept["truths"], row, strict=True) if cost is not None
            }
            for decision, row in rows
        }


with_accessors(HasCosts)


@with_accessors
class HasRule(SettableParams):
    """How decisions are made."""

    rule = new_param(
        "rule", "how decisions are made under the costs: expected, parallel, lachiche_flach or mossman."
    )


@with_accessors
class HasMethod(SettableParams):
    """How scores become probabilities."""

    method = new_param("method", f"the name of the method: {', '.join((AUTO, *METHODS))}.")
    methodParams = new_param(
        "methodParams", "settings of the method, by the names that its calibrator has.", _to_settings
    )
    kind = new_param("kind", f"what the scores are: {' or '.join(KINDS)}.", one_of("kind", KINDS))
    combine = new_param(
        "combine",
        "how the answers of several columns become one distribution: normalize, least_squares or coupling.",
    )
    code = new_param(
        "code",
        "the code matrix behind the scores, or its name; scores are then one per column of it.",
        _to_code,
    )
    keyCol = new_param(
        "keyCol", "a column that says which rows belong together where rows are split into folds."
    )
    numBins = new_param(
        "numBins",
        "bins of scores that a pass counts in, per column; changes time and memory, not the model.",
        TypeConverters.toInt,
    )
    maxRows = new_param(
        "maxRows",
        "rows that may come to the driver, per column; changes time and memory, not the model.",
        TypeConverters.toInt,
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(method=DEFAULT, kind="margin")
