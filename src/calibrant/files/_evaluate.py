"""How good the probabilities of a file are, in one pass over it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._checks import check_probabilities
from calibrant._core._errors import DataError
from calibrant._core._words import OPTIONS
from calibrant.files._checked_rows import checked_rows, labels_of
from calibrant.files._labelled import LabelledRows
from calibrant.files._score_check import ScoreCheck
from calibrant.metrics import Evaluation, EvaluationSums, direction_of_points
from calibrant.passes import NoRowsError, Plan, Progress, Rows, RowsOfPass, Summary, Task, run_plan, travels

#: Groups that are measured in a pass, at most.
MOST_GROUPS = 1000
#: The number of all rows together, among those of groups.
ALL = -1


def evaluate(
    rows: "LabelledRows | RowsOfPass",
    *,
    in_passes: bool | None = None,
    classes: object = None,
    progress: Callable[[Progress], None] | None = None,
) -> Evaluation:
    """Measure the probabilities of a file, a database, a frame, or of batches of one's own.

    Parameters
    ----------
    rows : LabelledRows or callable
        What ``labelled(..., kind="probability")`` gives; or a function that gives batches (`Rows`) whose
        scores are probabilities, of the second of two classes or of every class.
    in_passes : bool, optional
        Whether rows of `labelled` are read batch by batch, or into memory. By default batch by batch if they
        would take more than 256 MiB, or a sixteenth of the machine's memory.
    classes : array-like of shape (k,), optional
        For a function that gives batches: the labels.
    progress : callable, optional
        Called after every batch with a `Progress`; by default what `labelled` was given.

    Returns
    -------
    Evaluation
        What `calibrant.metrics.evaluate` gives; with ``labelled(..., by=...)`` its `groups` are the same of
        every group of rows, by name.

    See Also
    --------
    calibrant.metrics.evaluate : For arrays.

    Notes
    -----
    Rows are read once. Beyond about a million distinct probabilities in all columns, those that are nearly
    equal are pooled, see `calibrant.metrics.EvaluationSums`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant.files import evaluate, labelled
    >>> table = pa.table({"p_yes": [0.2, 0.7, 0.7, 0.9], "answer": ["no", "no", "yes", "yes"]})
    >>> found = evaluate(labelled(table, scores="p_yes", label="answer", kind="probability"))
    >>> float(found.error_rate), round(found.brier_score, 4), float(found.auc)
    (0.25, 0.1575, 0.875)
    """
    if not isinstance(rows, LabelledRows):
        labels = labels_of(classes, rows, None)
        found = run_plan(evaluation_plan(len(labels)), checked_rows(rows, len(labels)), progress)
        return found.result(labels)
    memory = rows.load(in_passes)
    n_classes, grouped = len(rows.classes), rows.by is not None
    if memory is None:
        try:
            found = run_plan(evaluation_plan(n_classes, grouped), _of_few_groups(rows), rows.progress)
        except NoRowsError:
            raise rows.no_weight() from None
    else:
        found = Evaluate(GivenForecast(), n_classes, grouped, exact=True).empty()
        found.update(memory.present())
    check = ScoreCheck(rows.source.name, rows.said, rows.classes, learns=False)
    check(found.overall.sums["truth"][0], found.directions())
    return found.result(rows.classes, rows.groups)


def _of_few_groups(rows: LabelledRows) -> RowsOfPass:
    """The rows, refused as soon as there are too many groups: what is kept of each takes memory."""

    def batches() -> Iterator[Rows]:
        for batch in rows():
            if len(rows.groups) > MOST_GROUPS:
                raise DataError(
                    f"the column {rows.by!r} of {rows.source.name} must have at most {MOST_GROUPS} groups to "
                    "be measured in passes; it has more; choose another, or pass "
                    f"{'--in-memory' if OPTIONS.get() else 'in_passes=False'}"
                )
            yield batch

    return batches


def evaluation_plan(n_classes: int, grouped: bool = False) -> Plan["Evaluated"]:
    """The plan of an evaluation: one pass."""
    found: Evaluated = yield Evaluate(GivenForecast(), n_classes, grouped)
    if not found.n_rows:
        raise NoRowsError
    return found


@travels
@dataclass(frozen=True, eq=False)
class GivenForecast:
    """The scores are probabilities: of the positive class, or one per class."""

    def rows(self, rows: Rows) -> Rows:
        """Give the rows with their probabilities in the place of scores."""
        return replace(rows, scores=check_probabilities(rows.scores, "scores"))


@travels
@dataclass(frozen=True, eq=False)
class Evaluate(Task):
    """What there is to say of probabilities of k classes.

    Parameters
    ----------
    forecast : object
        What gives rows with probabilities in the place of scores.
    n_classes : int
        Number of classes.
    grouped : bool
        Whether rows have groups, which are measured each for itself too.
    exact : bool
        Whether all distinct probabilities are kept apart.
    """

    forecast: Any
    n_classes: int
    grouped: bool = False
    exact: bool = False

    def empty(self) -> "Evaluated":
        """Nothing yet."""
        return Evaluated(self)


class Evaluated(Summary):
    """Sums over all rows, and over those of every group."""

    def __init__(self, task: Evaluate) -> None:
        super().__init__(task)
        self.sums: dict[int, EvaluationSums] = {}

    @property
    def overall(self) -> EvaluationSums:
        """The sums over all rows."""
        return self.sums[ALL]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.overall.sums["rows"][0]) if self.sums else 0

    def _of(self, number: int, n_columns: int) -> EvaluationSums:
        if number not in self.sums:
            self.sums[number] = EvaluationSums(self.task.n_classes, n_columns, exact=self.task.exact)
        return self.sums[number]

    def update(self, rows: Rows) -> None:
        """Add rows."""
        rows = self.task.forecast.rows(rows)
        if len(rows) == 0:
            return
        proba = rows.scores.reshape(len(rows), -1)
        number = rows.group if self.task.grouped else None
        keys = None if self.task.grouped else rows.keys()
        self._of(ALL, proba.shape[1]).add(rows.truth, proba, rows.weight, keys=keys)
        if number is None:
            return
        # All groups by one sort: looking for the rows of each would take as long for every one of them.
        order = np.argsort(number, kind="stable")
        truth, proba = rows.truth[order], proba[order]
        weights = None if rows.weight is None else rows.weight[order]
        groups, starts = np.unique(number[order], return_index=True)
        ends = np.append(starts[1:], len(order))
        for group, first, last in zip(groups.tolist(), starts, ends, strict=True):
            chosen = slice(first, last)
            weight = None if weights is None else weights[chosen]
            self._of(group, proba.shape[1]).add(truth[chosen], proba[chosen], weight)

    def columns(self) -> dict[str, Array]:
        """One table after the other, each with its group and its number of columns."""
        tables = []
        for number, sums in self.sums.items():
            table = sums.columns()
            n_rows = len(table["kind"])
            of = {"group": np.full(n_rows, number), "n_columns": np.full(n_rows, sums.n_columns)}
            tables.append(of | table)
        names = tables[0] if tables else {"group": None, "n_columns": None}
        return {
            name: np.concatenate([table[name] for table in tables]) if tables else np.empty(0, np.int64)
            for name in names
        }

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add the sums of another summary, or of several."""
        group = np.asarray(columns["group"])
        for number in np.unique(group).tolist():
            chosen = group == number
            n_columns = int(np.asarray(columns["n_columns"])[chosen][0])
            of = {name: np.asarray(values)[chosen] for name, values in columns.items()}
            self._of(number, n_columns).absorb(of)

    def directions(self) -> list[Any]:
        """Which way every column ranks its classes."""
        sums = self.overall
        whole = not sums.sums["rows"][2]
        squares = sums.sums["truth"][1]
        found = []
        two = self.task.n_classes == 2
        for place in range(1 if two else self.task.n_classes):
            points = sums.points[place].points()
            positive = squares[1 if two else place]
            both = None if whole else (float(positive), float(squares.sum() - positive))
            found.append(direction_of_points(points.pos, points.neg, both))
        return [found[0]] * sums.n_columns if two else found

    def result(self, classes: Array, groups: list[str] | None = None) -> Evaluation:
        """The evaluation of all rows, and of every group by its name."""
        labels = np.asarray(classes).tolist()
        overall = self.overall.result(labels)
        if not groups:
            return overall
        named = sorted((groups[number], sums) for number, sums in self.sums.items() if number != ALL)
        return replace(overall, groups={name: sums.result(labels) for name, sums in named})
