"""The one reader of rows with labels: batch by batch, as often as a fit needs them, or all at once."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._chance import generator
from calibrant._core._checks import check_option
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import label_text
from calibrant._core._words import option
from calibrant.calibrators import KINDS, ScoreKind
from calibrant.files._ahead import ahead
from calibrant.files._batch import BatchReader, Roles
from calibrant.files._classes import ClassesOf, Numbered, choose_scores, sorted_texts, text_of
from calibrant.files._columns import label_codes, label_values, read_label_texts, texts_that_occur
from calibrant.files._open import open_source
from calibrant.files._source import FEW_ROWS, Source, how_far
from calibrant.passes import Progress, Rows

#: Rows may take so many bytes in memory, and this share of what the machine has; work on them takes several
#: times as much.
MOST_BYTES, SHARE_OF_MEMORY, NUMBER_BYTES = 1 << 28, 1 / 16, 8
#: Rows of a sample, for a page or to learn a rule from.
SAMPLE_ROWS = 200_000


def labelled(
    where: Any,
    *,
    scores: str | Sequence[str],
    label: str,
    weight: str | None = None,
    key: str | None = None,
    by: str | None = None,
    classes: Sequence[object] | None = None,
    positive: object = None,
    coded: bool = False,
    kind: ScoreKind = "margin",
    handle_invalid: str = "error",
    batch_rows: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> "LabelledRows":
    """Take rows with scores and labels from a file, a folder, a database or a frame.

    Parameters
    ----------
    where : Source, str, path, or frame
        Where the rows are: whatever `open_source` opens.
    scores : str or sequence of str
        The columns of the scores: a name, a pattern such as ``"s_*"`` in which the star stands for the class,
        several of either with commas between; or a sequence of names. A single one is the score of the
        positive of two classes.
    label : str
        The column of the labels.
    weight : str, optional
        The column of the weights.
    key : str, optional
        A column that says which rows belong together where rows are split into folds, such as a customer's
        number. By default the rows are numbered, and every row stands for itself.
    by : str, optional
        A column of groups that are to be told apart; the group of a row is its number in
        `LabelledRows.groups`.
    classes : sequence of shape (k,), optional
        The labels of the columns in order, where their names do not tell them; for a single score the
        positive class is the second, for the columns of a code they are its rows.
    positive : object, optional
        With a single score: the label that a high score stands for. By default the one that the star of the
        pattern stands for, or else the greater label.
    coded : bool, default=False
        Whether the columns are those of a code, and not of the classes.
    kind : {"margin", "probability"}, default="margin"
        What the scores are. Probabilities are checked to be some.
    handle_invalid : {"error", "skip"}, default="error"
        What happens to a row with a missing or infinite score or weight, a negative weight, no label, an
        unknown label, or no key: an error that names the row, or it is left out.
    batch_rows : int, optional
        The greatest number of rows in a batch. By default there are fewer the more columns are read.
    progress : callable, optional
        Called after every batch with a `Progress`.

    Returns
    -------
    LabelledRows
        The rows: call it for a pass over batches of `Rows`, or `LabelledRows.read` them all.

    See Also
    --------
    fit, evaluate, compare : What to do with them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant.files import labelled
    >>> table = pa.table({"s_no": [2.0, 1.0, 0.5], "s_yes": [0.1, 1.5, 3.0], "answer": ["no", "yes", "yes"]})
    >>> rows = labelled(table, scores="s_*", label="answer")
    >>> rows.classes
    array(['no', 'yes'], dtype='<U3')
    >>> rows.read().truth
    array([0, 1, 1])
    """
    check_option("kind", kind, KINDS)
    check_option("handle_invalid", handle_invalid, ("error", "skip"))
    source = where if isinstance(where, Source) else open_source(where)
    if weight is not None and weight == label:
        raise ParameterError(
            f"a column must have one use; got {label!r} for {option('label')} and {option('weight')}"
        )
    chosen = choose_scores(source, scores, [label, weight, key, by])
    given = None if classes is None else [str(label_text(each)) for each in classes]
    said = ClassesOf(chosen, text_of(positive), given, coded).checked()
    return LabelledRows(
        source, said, label, weight, key, by, kind, handle_invalid == "skip", batch_rows, progress
    )


class LabelledRows:
    """Rows of a source with their labels, made by `labelled`.

    Parameters
    ----------
    source : Source
        Where the rows are.
    said : ClassesOf
        The columns of the scores, and what is said about their classes.
    label, weight, key, by, kind : str or None
        As in `labelled`.
    skips : bool
        Whether rows that cannot be used are left out.
    batch_rows, progress : object
        As in `labelled`.

    Attributes
    ----------
    source : Source
        Where the rows are.
    columns : tuple of str
        The columns of the scores.
    label, weight, key, by : str or None
        The columns of labels, weights, keys and groups.
    kind : {"margin", "probability"}
        What the scores are.
    groups : list of str
        The names of the groups that were found so far.
    n_skipped : int
        Rows that the last pass has left out.
    n_read : int
        Rows of the last pass that can be used.
    memory : Rows or None
        All rows, once they were loaded into memory.
    """

    def __init__(
        self,
        source: Source,
        said: ClassesOf,
        label: str,
        weight: str | None,
        key: str | None,
        by: str | None,
        kind: ScoreKind,
        skips: bool,
        batch_rows: int | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.source, self.said, self.columns = source, said, said.chosen.columns
        self.label, self.weight, self.key, self.by, self.kind = label, weight, key, by, kind
        self._roles = Roles(self.columns, label, weight, key, said.alone)
        self.skips, self.batch_rows, self._progress = skips, batch_rows, progress
        self.n_skipped = self.n_read = self._n_checked = 0
        self.memory: Rows | None = None
        self._labels = None if said.known is None else Numbered(said.known)
        self._groups = Numbered()
        self._classes: Array | None = None

    @property
    def n_rows(self) -> int | None:
        """Number of rows that will be used, if it is known before they are read."""
        return self.source.n_rows if self.weight is None and not self.skips else None

    @property
    def groups(self) -> list[str]:
        """The names of the groups that were found so far."""
        return self._groups.texts

    @property
    def classes(self) -> Array:
        """The labels, in the order of the numbers in the rows; looked for if only the rows tell them."""
        if self._classes is None:
            self._find_classes()
        assert self._classes is not None
        return self._classes

    def __call__(self) -> Iterator[Rows]:
        """Read all rows once, batch by batch.

        Yields
        ------
        Rows
            Checked rows.
        """
        if self._classes is None:
            self._find_classes()
        return ahead(self._batches()) if self.source.any_thread else self._batches()

    def read(self, *, most_bytes: int | None = None) -> Rows | None:
        """Read all rows into memory.

        Parameters
        ----------
        most_bytes : int, optional
            How many bytes they may take.

        Returns
        -------
        Rows or None
            The rows; None if they would take more.
        """
        gathered = _Gathered(None)
        for rows in self._watched(self._batches(find=True), "reading"):
            gathered.add(rows)
            if most_bytes is not None and self.n_read * self._n_columns * NUMBER_BYTES > most_bytes:
                return None
        return self._finished(gathered)

    def sample(self, n_rows: int | None = None) -> Rows:
        """Read all rows, and keep a fair sample of them, always the same one, in the order read.

        Parameters
        ----------
        n_rows : int, optional
            How many rows to keep at most; by default 200,000.

        Returns
        -------
        Rows
            The rows.
        """
        gathered = _Gathered(SAMPLE_ROWS if n_rows is None else n_rows)
        for rows in self._watched(self._batches(find=True, named=True), "reading"):
            gathered.add(rows)
        return self._finished(gathered)

    def load(self, in_passes: bool | None = None) -> Rows | None:
        """Read all rows into memory, unless the user or their number says that they are read in passes.

        Parameters
        ----------
        in_passes : bool, optional
            What the user says; without effect once they are in memory.

        Returns
        -------
        Rows or None
            The rows; None if they are to be read in passes.
        """
        if self.memory is None and not (in_passes or (in_passes is None and self._is_large())):
            self.memory = self.read(most_bytes=most_bytes() if in_passes is None else None)
        return self.memory

    def load_or_sample(self, in_passes: bool | None = None) -> Rows:
        """Read all rows into memory, or of too many a sample.

        Parameters
        ----------
        in_passes : bool, optional
            What the user says: True for a sample.

        Returns
        -------
        Rows
            The rows, or some of them.
        """
        rows = self.load(in_passes)
        return self.sample() if rows is None else rows

    def no_weight(self) -> DataError:
        """Say that there must be a row that counts.

        Returns
        -------
        DataError
            What to raise.
        """
        return DataError(
            f"the column {self.weight!r} of {self.source.name} must not be all zero; got zero for every row"
        )

    @property
    def _n_columns(self) -> int:
        return len(self._roles.names(self.by))

    def _is_large(self) -> bool:
        """Whether the rows take too much memory, as far as that is known before they are read.

        It is known of formats that count their rows, and about as much as a text file takes on disk. A
        compressed file, a query or a pipe is found out about while it is read.
        """
        if self.source.n_rows is not None:
            return self.source.n_rows * self._n_columns * NUMBER_BYTES > most_bytes()
        return (self.source.n_bytes or 0) > most_bytes()

    def progress(self, come: Progress) -> None:
        """Pass on how far a pass has come, to whoever waits.

        Parameters
        ----------
        come : Progress
            How far.
        """
        if self._progress is not None:
            self._progress(how_far(self.source, come.rows, come.what, come.number))

    def _watched(self, batches: Iterator[Rows], what: str) -> Iterator[Rows]:
        for rows in batches:
            self.progress(Progress(0, self.n_read, what))
            yield rows

    def _batches(self, *, find: bool = False, named: bool = False) -> Iterator[Rows]:
        """All rows once; labels that are not known yet are numbered as they come, if they are to be found."""
        if find and self._classes is None and self._labels is None:
            self._labels = Numbered()
        assert self._labels is not None
        self.n_skipped = self.n_read = first = 0
        self._label_type: pa.DataType = pa.string()
        for batch in self.source.batches(self._roles.names(self.by), self.batch_rows):
            self._label_type = batch.column(self.label).type
            rows = self._rows(batch, first, named)
            self.n_read += len(rows.truth)
            first += batch.num_rows
            self.n_skipped = first - self.n_read
            yield rows
        self._refuse_no_rows(first)

    def _rows(self, batch: pa.RecordBatch, first: int, named: bool) -> Rows:
        assert self._labels is not None
        reader = BatchReader(batch, self.source, first, self.skips)
        scores = None
        if self.kind == "probability" and first >= self._n_checked:
            scores = reader.probabilities(self.columns, sums=not self.said.coded)
            self._n_checked = first + batch.num_rows
        rows = replace(reader.rows(self._roles, self._labels, scores), classes=self._classes)
        if self.by is None:
            return rows
        group: Any = reader.names(self.by) if named else reader.groups(self.by, self._groups)
        return replace(rows, group=group if reader.usable is None else group[reader.usable])

    def _refuse_no_rows(self, n_there: int) -> None:
        """Refuse a file of which no row can be used."""
        if n_there == 0:
            under = " under its header" if self.source.as_text else ""
            raise DataError(f"{self.source.name} must have at least one row{under}; it has none")
        if self.n_read == 0:
            raise DataError(
                f"{self.source.name} must have a row that can be used; all {n_there:,} were left out; see "
                f"what is wrong with them by {option('handle_invalid')} error"
            )

    def _finished(self, gathered: "_Gathered") -> Rows:
        """What was gathered, with the classes in their order and the groups numbered."""
        rows = gathered.rows()
        if rows.weight is not None and not rows.weight.any():
            raise self.no_weight()
        assert self._labels is not None
        truth = rows.truth
        if not self._labels.fixed:
            texts = self.said.in_order(
                sorted_texts(self._labels.texts, self._label_type, self.source.as_text)
            )
            truth = self._labels.places_in(texts)[truth]
            self._labels = Numbered(texts)
        if self._classes is None:
            self._classes = label_values(self._labels.texts, self._label_type, self.source.as_text)
        group = rows.group
        if group is not None and group.dtype == object:
            names, group = np.unique(group.astype(np.str_), return_inverse=True)
            self._groups = Numbered(names.tolist())
        return replace(rows, truth=truth, group=group, classes=self._classes, first=0)

    def _find_classes(self) -> None:
        """Find the classes, and the type of their labels, in a pass that ends as soon as it can."""
        known = self.said.known
        # A third label, which a single score cannot have, is an error with its row when a pass comes to it.
        enough = 2 if self.said.alone and not self.skips else sys.maxsize
        needed = 0 if known is not None else enough
        found: dict[str, None] = {}
        label_type, first = pa.string(), 0
        for batch in self.source.batches([self.label], FEW_ROWS):
            column = batch.column(0)
            label_type = column.type
            lenient = self.skips or not needed
            read = (
                label_codes(column, self.label, self.source)
                if lenient
                else read_label_texts(column, self.label, self.source, first)
            )
            found |= dict.fromkeys(texts_that_occur(*read))
            first += batch.num_rows
            self.progress(Progress(0, first, "looking for labels"))
            if len(found) >= needed:
                break
        self.n_read = max(len(found), int(needed == 0))
        self._refuse_no_rows(first)
        texts = known
        if texts is None:
            ordered = sorted_texts(list(found)[:needed], label_type, self.source.as_text)
            texts = self.said.in_order(ordered)
        self._labels = Numbered(texts)
        self._classes = label_values(texts, label_type, self.source.as_text)


class _Gathered:
    """Rows of all batches; or a fair sample of them, always the same one, in the order read."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._parts: list[Rows] = []
        #: Of a sample the random numbers of its rows, and where they come from.
        self._numbers: list[Float64Array] = []
        self._random = None if most is None else generator(0)

    def add(self, rows: Rows) -> None:
        """Take the rows of a batch; of a sample those of the least random numbers stay."""
        self._parts.append(rows)
        if self._most is not None and self._random is not None:
            self._numbers.append(self._random.random(len(rows)))
            if self.n_rows > 2 * self._most:
                self._thin(self._most)

    @property
    def n_rows(self) -> int:
        """How many rows are kept."""
        return sum(map(len, self._parts))

    def _thin(self, most: int) -> None:
        rows, numbers = Rows.joined(self._parts), np.concatenate(self._numbers)
        if len(numbers) > most:
            kept = np.sort(np.argpartition(numbers, most)[:most])
            rows, numbers = rows.take(kept), numbers[kept]
        self._parts, self._numbers = [rows], [numbers]

    def rows(self) -> Rows:
        """All that was kept."""
        if self._most is not None:
            self._thin(self._most)
        return Rows.joined(self._parts)


def most_bytes() -> int:
    """How many bytes the rows may take in memory."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return MOST_BYTES
    return min(MOST_BYTES, int(installed * SHARE_OF_MEMORY))
