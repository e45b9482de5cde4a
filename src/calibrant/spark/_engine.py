"""The engine of a cluster: every pass of a plan is one job over the partitions of a frame."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, functions as F

from calibrant._core._arrays import Array
from calibrant._core._errors import DataError
from calibrant._core._mix import mix
from calibrant._core._names import label_text, names_by_label
from calibrant.passes import PassOptions, Plan, Rows, Summary, Task, reduce_rows
from calibrant.spark._columns import ScoreColumns, check_columns, quoted, score_columns, usable_weight
from calibrant.spark._partition import (
    ARROW_SUMMARIES,
    SUMMARIES,
    Layout,
    TaskText,
    absorb_in_order,
    content_hashes,
    leaf_summaries,
    merge_summaries,
    reduce_partition,
)
from calibrant.spark._survey import check_known, find_classes, group_names, survey

T = TypeVar("T")
#: Rows that the driver looks at to begin from.
SAMPLE_ROWS = 1 << 17
#: Summaries of so many partitions come to the driver as they are; of more, so many at once are merged before.
FEW_PARTITIONS, FAN_IN = 4, 8
#: Bins of all columns together, and of one at least: about 25 bytes each on their way to be merged.
MOST_BINS_IN_ALL, LEAST_BINS = 1 << 22, 1 << 10
#: Rows that come to the driver, of all columns together.
MOST_FETCHED = 1 << 22
#: Scores of all rows, if all of them come: a pass on the executors costs more than it takes the driver.
MOST_COMING = 1 << 22
#: Rows for a bin, as in files; and bins that cost nothing, however few rows there are.
ROWS_PER_BIN, MANY_FOR_FEW_ROWS = 40, 1 << 14


@dataclass(frozen=True, eq=False)
class FrameRows:
    """The rows of a Spark frame, as a plan of `calibrant.files` needs them.

    Made by `FrameRows.of`.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels of the classes.
    n_rows : int
        How many rows have a known label and a weight.
    n_scores : int
        How many scores of a row are used.
    n_partitions : int
        How many partitions there are, about.
    frame : DataFrame
        The columns that are used, and nothing else.
    layout : Layout
        How they are to be read.
    sample : Rows
        Some rows.
    is_whole : bool
        Whether these are all rows.
    comes : bool
        Whether the rows are few enough to come to the driver, where all passes are made.
    """

    classes: Array
    n_rows: int
    n_scores: int
    n_partitions: int
    frame: DataFrame
    layout: Layout
    sample: Rows
    is_whole: bool
    comes: bool

    @property
    def groups(self) -> Callable[[], tuple[str, ...]] | None:
        """What gives the names of the groups; None without groups."""
        return None if self.layout.group is None else lambda: self.layout.groups

    @classmethod
    def of(
        cls,
        frame: DataFrame,
        *,
        labelCol: str = "label",
        rawPredictionCol: str = "rawPrediction",
        scoresCols: Sequence[str] | None = None,
        weightCol: str | None = None,
        keyCol: str | None = None,
        groupCol: str | None = None,
        classes: Sequence[object] | None = None,
        coded: bool = False,
        paired: bool = False,
        skip: bool = False,
        maxRows: int | None = None,
    ) -> "FrameRows":
        """Look at a frame and prepare its passes.

        Parameters
        ----------
        frame : DataFrame
            The frame, of a classic session or of Spark Connect.
        labelCol : str, default="label"
            The column of the labels.
        rawPredictionCol : str, default="rawPrediction"
            The column of the scores: numbers, vectors or arrays.
        scoresCols : sequence of str, optional
            Several numeric columns of scores, instead of that.
        weightCol : str, optional
            The column of the weights.
        keyCol : str, optional
            A column that says which rows belong together where rows are split into folds.
        groupCol : str, optional
            The column of the groups.
        classes : sequence, optional
            The labels in order.
        coded : bool, default=False
            Whether the scores are those of the columns of a code.
        paired : bool, default=False
            Whether both of two scores in a vector are needed. Otherwise the second is taken alone if there
            are two classes, as MLlib's vectors hold the same score for one class and against the other.
        skip : bool, default=False
            Whether rows that cannot be used are left out; otherwise they are an error.
        maxRows : int, optional
            How many rows may come to the driver.

        Returns
        -------
        FrameRows
            The rows.
        """
        columns = score_columns(frame, rawPredictionCol, scoresCols)
        check_columns(frame, [labelCol, weightCol, keyCol, groupCol])
        _check_uses([*columns.names, labelCol, weightCol, keyCol])
        _check_uses([*columns.names, labelCol, weightCol, groupCol])
        weight = None if weightCol is None else quoted(weightCol).cast("double")
        if skip:
            frame = frame.filter(_usable(frame, columns, labelCol, weightCol, keyCol))
        seen = survey(frame, columns, labelCol, weight)
        alone = columns.packed and seen.width == 2 and not coded and not paired
        n_scores = None if alone else len(seen.known) if coded else seen.width
        labels = find_classes(seen, classes, n_scores, labelCol, packed=columns.packed)
        _check_width(seen.width, labels, columns, coded=coded, alone=alone)
        if not columns.packed and not coded:
            columns = replace(columns, names=names_by_label(columns.names, labels, "scoresCols"))
        if not skip:
            check_known(seen, labels, labelCol)
        layout = Layout(
            scores=columns.names,
            width=seen.width if columns.packed else None,
            pick=1 if alone else 0 if columns.packed and seen.width == 1 else None,
            label=labelCol,
            weight=weightCol,
            key=keyCol,
            group=groupCol,
            groups=() if groupCol is None else group_names(frame, groupCol),
            classes=labels,
            skips=skip,
            repeated=np.empty(0, dtype=np.uint64),
        )
        chosen = _chosen(frame, columns, labelCol, weightCol, keyCol, groupCol)
        texts = {label_text(value) for value in labels}
        n_rows = sum(count for text, count in seen.known.items() if text in texts)
        n_there = sum(seen.labels.values())
        n_used = 1 if alone else seen.width
        sample = _draw(chosen, layout, n_there, SAMPLE_ROWS, seed=0)
        return cls(
            classes=labels,
            n_rows=n_rows,
            n_scores=n_used,
            n_partitions=seen.n_partitions,
            frame=chosen,
            layout=replace(layout, repeated=_repeated(sample)),
            sample=sample,
            is_whole=n_there <= SAMPLE_ROWS,
            comes=n_there * n_used <= MOST_COMING and (maxRows is None or n_there <= maxRows),
        )

    def run(self, plan: Plan[T]) -> T:
        """Run a plan.

        Parameters
        ----------
        plan : generator
            What asks for passes.

        Returns
        -------
        object
            What the plan returns.

        Notes
        -----
        Partitions are summarised where they are, and their summaries are merged in the order of the
        partitions. So a pass gives the same bits again whenever the partitions hold the same rows in the same
        order, as those of files and of cached frames do, however often tasks had to be tried; counts do not
        depend on the order.

        Rows that may come to the driver all together come once, and passes are made there, partition by
        partition as on the executors, with the same bits: a pass through their Python costs more than rows.
        """
        summary: Summary | None = None
        try:
            while True:
                summary = self.reduce(plan.send(summary))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def reduce(self, task: Task) -> Summary:
        """Make one pass.

        Parameters
        ----------
        task : Task
            What to find out.

        Returns
        -------
        Summary
            The summary of all rows.
        """
        if self.is_whole or task.rows_needed is not None:
            return reduce_rows(task, [self.sample])
        text, layout = TaskText.of(task), self.layout
        if self.comes:
            return _put_together(task, self._merged_here(text))

        def reduce_here(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            context = TaskContext.get()
            return reduce_partition(batches, text, layout, 0 if context is None else context.partitionId())

        summaries = self.frame.mapInArrow(reduce_here, SUMMARIES)
        return _put_together(task, self._merged(summaries, text).toArrow())

    def _merged(self, summaries: DataFrame, text: TaskText) -> DataFrame:
        """Merge summaries on the executors until a few of every part are left for the driver."""

        def merge_here(table: pa.Table) -> pa.Table:
            return merge_summaries(table, text)

        for span in self._spans:
            branch = F.floor(F.col("partition") / span)
            summaries = summaries.groupBy("part", branch).applyInArrow(merge_here, SUMMARIES)
        return summaries

    @property
    def _spans(self) -> Iterator[int]:
        """Of how many partitions summaries are merged, round by round."""
        left, span = self.n_partitions, 1
        while left > FEW_PARTITIONS:
            span *= FAN_IN
            yield span
            left = -(-left // FAN_IN)

    @cached_property
    def _partitions(self) -> dict[int, list[pa.RecordBatch]]:
        """The rows of every partition, in the batches that its executor would get."""
        table: pa.Table = self.frame.select("*", F.spark_partition_id().alias("partition")).toArrow()
        found: dict[int, list[pa.RecordBatch]] = {}
        for batch in table.to_batches():
            rows = batch.select(batch.schema.names[:-1])
            found.setdefault(batch.column(batch.num_columns - 1)[0].as_py(), []).append(rows)
        return dict(sorted(found.items()))

    def _merged_here(self, text: TaskText) -> pa.Table:
        """The same on the driver."""
        summaries = [
            summary
            for partition, batches in self._partitions.items()
            for summary in reduce_partition(iter(batches), text, self.layout, partition)
        ]
        table = pa.Table.from_batches(summaries, ARROW_SUMMARIES)
        for span in self._spans:
            branches = np.stack(
                [table.column("part").to_numpy(), table.column("partition").to_numpy() // span]
            )
            groups, group_of = np.unique(branches, axis=1, return_inverse=True)
            table = pa.concat_tables(
                merge_summaries(table.filter(pa.array(group_of == group)), text)
                for group in range(groups.shape[1])
            )
        return table

    def draw(self, n_rows: int, seed: int) -> Rows:
        """Bring rows to the driver, drawn at random if there are more than wanted.

        Parameters
        ----------
        n_rows : int
            How many, about.
        seed : int
            How they are drawn.

        Returns
        -------
        Rows
            The rows, in an order that depends on nothing but what is in them.
        """
        return _draw(self.frame, self.layout, self.n_rows, n_rows, seed)

    def options(self, n_problems: int, n_bins: int | None = None, max_rows: int | None = None) -> PassOptions:
        """How much memory a fit of so many columns of scores may use.

        Parameters
        ----------
        n_problems : int
            How many columns are fitted in the same passes.
        n_bins, max_rows : int, optional
            The user's own settings.

        Returns
        -------
        PassOptions
            How many bins there are for every column, and how many of its rows may be fetched.
        """
        fitting = max(MANY_FOR_FEW_ROWS, self.n_rows // ROWS_PER_BIN)
        most = max(LEAST_BINS, min(MOST_BINS_IN_ALL // max(n_problems, 1), fitting))
        fetched = max(LEAST_BINS, MOST_FETCHED // max(n_problems, 1))
        return PassOptions(n_bins=n_bins or most, max_rows=max_rows or fetched)


def _put_together(task: Task, table: pa.Table) -> Summary:
    """The summary of all rows, from those of some of them."""
    failures = sorted(text for text in table.column("failure").to_pylist() if text is not None)
    if failures:
        raise DataError(failures[0])
    summary = task.empty()
    for number, leaf in enumerate(leaf_summaries(summary)):
        absorb_in_order(leaf, table, number)
    return summary


def _chosen(frame: DataFrame, columns: ScoreColumns, *others: str | None) -> DataFrame:
    """The columns that are used, each once, known by their numbers."""
    chosen: dict[str, Column] = dict(zip(columns.names, columns.values(frame), strict=True))
    for name in others:
        if name is not None and name not in chosen:
            chosen[name] = quoted(name)
    return frame.select(*(column.alias(f"c{number}") for number, column in enumerate(chosen.values())))


def _usable(
    frame: DataFrame, columns: ScoreColumns, label: str, weight: str | None, key: str | None
) -> Column:
    """Which rows can be learned from, as far as Spark can tell; unknown labels come to light later."""
    usable = columns.usable(frame) & quoted(label).isNotNull()
    if weight is not None:
        usable = usable & usable_weight(weight)
    if key is not None:
        usable = usable & quoted(key).isNotNull()
    return usable


def _check_width(width: int, classes: Array, columns: ScoreColumns, *, coded: bool, alone: bool) -> None:
    if coded or alone or width == len(classes) or (width == 1 and len(classes) == 2):
        return
    where = (
        f"the column {columns.names[0]!r}" if columns.packed else f"the columns {', '.join(columns.names)}"
    )
    raise DataError(
        f"{where} must hold one score per class, {len(classes)} in all, or one score of two classes; got "
        f"{width}; name the columns of all classes, or give the classes"
    )


def _check_uses(names: Sequence[str | None]) -> None:
    """Refuse a column that is to be two things: a score that is the label knows the truth."""
    used = [name for name in names if name is not None]
    twice = [name for place, name in enumerate(used) if name in used[:place]]
    if twice:
        raise DataError(f"a column must have one use; got {twice[0]!r} for two; choose another")


def _draw(frame: DataFrame, layout: Layout, n_rows: int, wanted: int, seed: int) -> Rows:
    """Rows of all partitions, in an order that does not depend on how they came."""
    if n_rows > wanted:
        frame = frame.sample(fraction=wanted / n_rows, seed=seed)
    table: pa.Table = frame.toArrow()
    batches = list(layout.rows(table.to_batches(), 0, "the frame"))
    if not batches:
        return Rows(np.empty((0, 1)), np.empty(0, dtype=np.intp))
    rows = Rows.joined(batches)
    return rows.take(np.lexsort((rows.keys(), content_hashes(rows))))


def _repeated(sample: Rows) -> Any:
    """Hashes of rows that came more than once among a few."""
    hashes, count = np.unique(mix(content_hashes(sample)), return_counts=True)
    return hashes[count > 1]
