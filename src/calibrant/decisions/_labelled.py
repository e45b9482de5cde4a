"""Costs by label, so that nobody transposes them or mixes up their order by accident."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from calibrant._core._arrays import Float64Array, as_array, open_frame
from calibrant._core._checks import plain
from calibrant._core._errors import DataError
from calibrant.decisions._matrix import check_cost

#: Costs by name: first the decision, then the truth.
NamedCosts = dict[object, dict[object, object]]


def cost_matrix(cost: object, classes: object, actions: object = None) -> Float64Array:
    """Bring costs that are given by label into the order of the classes.

    ``cost[i, j]`` is the cost of deciding i when the truth is j.

    Parameters
    ----------
    cost : mapping of mappings, frame or array-like
        ``{decision: {truth: cost}}``; or a frame of pandas, polars or pyarrow whose columns are named by
        the truths, and whose rows by the decisions, in its index or in its first column. An array has no
        names: its rows are taken in the order of `actions`, its columns in that of `classes`.
    classes : array-like of shape (k,)
        The labels of the classes, in the order of the columns of a matrix of probabilities.
    actions : array-like of shape (a,), optional
        The names of the decisions, in the order that is wanted. By default the decisions are the classes.

    Returns
    -------
    ndarray of shape (a, k)
        The costs, in the order of `actions` and `classes`.

    See Also
    --------
    decide : Takes this matrix.

    Notes
    -----
    Names beyond `actions` and `classes` are an error, except for classes that are named both as a
    decision and as a truth: those do not occur in the data at hand, and are left out. The names of a
    frame are compared as text, because that is all that the header of a file can hold.

    Examples
    --------
    The order in which the costs are written down does not matter:

    >>> from calibrant.decisions import cost_matrix
    >>> cost = {
    ...     "release": {"spam": 1.0, "mail": 0.0},
    ...     "delete": {"spam": 0.0, "mail": 20.0},
    ...     "ask": {"spam": 2.0, "mail": 2.0},
    ... }
    >>> cost_matrix(cost, classes=["mail", "spam"], actions=["release", "delete", "ask"])
    array([[ 0.,  1.],
           [20.,  0.],
           [ 2.,  2.]])
    """
    truths = _names(classes, "classes")
    decisions = truths if actions is None else _names(actions, "actions")
    if isinstance(cost, Mapping):
        named = _from_mapping(cost)
    elif hasattr(cost, "columns"):
        decisions, truths = [str(name) for name in decisions], [str(name) for name in truths]
        named = costs_of_frame(cost, set(truths))
    else:
        return _positional(cost, len(decisions), len(truths))
    _refuse_unknown(named, decisions, truths)
    rows = [[_entry(named, decision, truth) for truth in truths] for decision in decisions]
    return check_cost(rows, len(truths), allow_any=True)


def _names(labels: object, name: str) -> list[object]:
    """The labels as Python's own objects, so that they match the keys of a mapping."""
    array = as_array(labels, name)
    names: list[object] = array.tolist()
    if (
        array.ndim != 1
        or not all(isinstance(each, Hashable) for each in names)
        or len(set(names)) < max(1, len(names))
    ):
        raise DataError(f"{name} must be one row of distinct labels; got {names}")
    return names


def _from_mapping(cost: Mapping[Any, Any]) -> NamedCosts:
    for decision, row in cost.items():
        if not isinstance(row, Mapping):
            raise DataError(
                "cost must be a mapping of mappings, {decision: {truth: cost}}; got "
                f"{type(row).__name__} for decision {plain(decision)!r}"
            )
    return {plain(i): {plain(j): value for j, value in row.items()} for i, row in cost.items()}


def costs_of_frame(cost: Any, truths: set[object]) -> NamedCosts:
    """A frame as a mapping of mappings, with text for names."""
    import narwhals as nw  # noqa: PLC0415  (only those who pass frames pay for it)

    frame = open_frame(cost, "cost")
    if frame is None or not frame.columns:
        raise DataError("cost must be a frame with a column for every truth; got none")
    header = [str(name) for name in frame.columns]
    columns = [frame[:, number].to_list() for number in range(len(header))]
    index = nw.maybe_get_index(frame)
    counted = index is None or list(index) == list(range(len(frame)))
    if counted and header[0] not in truths:
        decisions, header, columns = columns[0], header[1:], columns[1:]
    elif index is not None:
        decisions = list(index)
    else:
        raise DataError(
            f"the first column of cost must hold the decisions; got the column {header[0]!r} of a truth; put "
            "a column with the names of the decisions before it"
        )
    names = [str(plain(decision)) for decision in decisions]
    if len(set(names)) < len(names) or len(set(header)) < len(header):
        raise DataError(f"cost must name every decision and every truth once; got {names} and {header}")
    rows = zip(*columns, strict=True)
    return {name: dict(zip(header, row, strict=True)) for name, row in zip(names, rows, strict=True)}


def _refuse_unknown(named: NamedCosts, decisions: Sequence[object], truths: Sequence[object]) -> None:
    """Refuse names that nobody asked for, unless they are classes that merely do not occur."""
    columns = {truth for row in named.values() for truth in row}
    absent = (columns & named.keys()) - set(truths) - set(decisions)
    for kind, given, wanted in (("decision", set(named), decisions), ("truth", columns, truths)):
        unknown = given - set(wanted) - absent
        if unknown:
            name = min(unknown, key=str)
            raise DataError(
                f"cost must name only decisions {list(decisions)} and truths {list(truths)}; got the {kind} "
                f"{name!r}; remove it" + (", or pass actions=" if kind == "decision" else "")
            )


def _entry(named: NamedCosts, decision: object, truth: object) -> object:
    if decision not in named or truth not in named[decision]:
        raise DataError(
            f"cost must name every decision and every truth; got none for deciding {decision!r} when the "
            f"truth is {truth!r}; add it, zero if it is free"
        )
    return named[decision][truth]


def _positional(cost: object, n_actions: int, n_classes: int) -> Float64Array:
    matrix = check_cost(cost, n_classes, allow_any=True)
    if matrix.shape != (n_actions, n_classes):
        raise DataError(
            f"cost must have one row per decision and one column per class, shape ({n_actions}, "
            f"{n_classes}); got shape {matrix.shape}"
        )
    return matrix
