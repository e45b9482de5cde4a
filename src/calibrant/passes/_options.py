"""How much memory a fit in passes may take, and where its bins are."""

from dataclasses import dataclass, replace

from calibrant._core._checks import check_number, check_option

#: Bins of one problem, and of all problems of a pass together: 32 bytes each.
MOST_BINS, MOST_BINS_IN_ALL = 1 << 21, 1 << 22
#: Rows that should fall into a bin, and bins that are made however few rows there are.
ROWS_PER_BIN, LEAST_BINS = 40, 256
#: Rows that are fetched at once, of all problems of a pass together: 32 bytes each.
MOST_ROWS = 1 << 23


@dataclass(frozen=True, slots=True)
class PassOptions:
    """Settings of a fit in passes. They change its time and its memory, not its result.

    Parameters
    ----------
    n_bins : int, optional
        Number of bins for every column of scores. By default one for 40 rows, as far as the number of rows is
        known, up to two million for a column and four million for all; each takes 32 bytes.
    edges : {"quantile", "uniform"}, default="quantile"
        Whether bins follow the quantiles of the first rows, or divide the range of these evenly.
    max_rows : int, optional
        How many rows may be fetched and kept; if there would be more, finer bins are tried first, in one more
        pass. By default eight million for all columns together; each takes 32 bytes.
    """

    n_bins: int | None = None
    edges: str = "quantile"
    max_rows: int | None = None

    def __post_init__(self) -> None:
        check_option("edges", self.edges, ("quantile", "uniform"))
        for name in ("n_bins", "max_rows"):
            value = getattr(self, name)
            if value is not None:
                check_number(name, value, "None or a whole number from 1", lambda n: n >= 1 and n == int(n))

    def at_most(self, n_rows: int | None) -> "PassOptions":
        """Give settings for a part of the rows, which needs no more bins than it has use for.

        Parameters
        ----------
        n_rows : int or None
            About how many rows it has.

        Returns
        -------
        PassOptions
            The settings.
        """
        if n_rows is None or self.n_bins is None:
            return self
        return replace(self, n_bins=min(self.n_bins, max(LEAST_BINS, n_rows // ROWS_PER_BIN)))

    def for_problems(self, n_problems: int, n_rows: int | None) -> "PassOptions":
        """Fill in what was left open.

        Parameters
        ----------
        n_problems : int
            Number of two-class problems in the same passes.
        n_rows : int or None
            About how many rows there are.

        Returns
        -------
        PassOptions
            The settings of each problem.
        """
        most = max(1, min(MOST_BINS, MOST_BINS_IN_ALL // max(n_problems, 1)))
        fitting = most if n_rows is None else min(most, max(LEAST_BINS, n_rows // ROWS_PER_BIN))
        return PassOptions(
            n_bins=int(self.n_bins or fitting),
            edges=self.edges,
            max_rows=int(self.max_rows or max(1, MOST_ROWS // max(n_problems, 1))),
        )
