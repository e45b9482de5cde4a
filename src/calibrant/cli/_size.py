"""Whether the rows of an input go into memory, or are read in passes."""

import os
from pathlib import Path

from calibrant.cli._reading import NUMBER_BYTES, Labelled, RowsDoNotFit, read_labelled
from calibrant.cli._wanted import Wanted, choose_scores
from calibrant.files import COMPRESSIONS, Source

#: Rows may take so many bytes in memory, and this share of what the machine has; work on them takes several
#: times as much.
MOST_BYTES, SHARE_OF_MEMORY = 1 << 28, 1 / 16
#: Rows of a sample, for a page or to learn a rule from.
SAMPLE_ROWS = 200_000


def read_unless_large(source: Source, wanted: Wanted, path: str, in_passes: bool | None) -> Labelled | None:
    """Read all rows into memory; None if they must be read in passes, as the user or their number says."""
    if in_passes or (in_passes is None and _is_large(source, wanted, path)):
        return None
    try:
        return read_labelled(source, wanted, most_bytes=most_bytes() if in_passes is None else None)
    except RowsDoNotFit:
        return None


def read_or_sample(source: Source, wanted: Wanted, path: str, in_passes: bool | None) -> Labelled:
    """Read all rows into memory, or if there are too many a random sample of them."""
    rows = read_unless_large(source, wanted, path, in_passes)
    return read_labelled(source, wanted, most=SAMPLE_ROWS) if rows is None else rows


def most_bytes() -> int:
    """How many bytes the rows may take in memory."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return MOST_BYTES
    return min(MOST_BYTES, int(installed * SHARE_OF_MEMORY))


def _is_large(source: Source, wanted: Wanted, path: str) -> bool:
    """Whether the rows take too much memory, as far as that is known before they are read.

    It is known of formats that count their rows, and about as much as a text file takes on disk. A compressed
    file or a pipe may be larger than it seems, and is found out about while it is read.
    """
    n_columns = len(choose_scores(source, wanted).columns) + len(wanted.others)
    if source.n_rows is not None:
        return source.n_rows * n_columns * NUMBER_BYTES > most_bytes()
    file = Path(path)
    if not file.is_file() or file.suffix.lower() in COMPRESSIONS:
        return False
    return file.stat().st_size > most_bytes()
