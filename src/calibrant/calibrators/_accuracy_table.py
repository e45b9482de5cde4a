"""Accuracy tables: how often the class at a rank was right, by cells of several ranked scores."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from calibrant._core._field_groups import ListOf, Numbers, Record
from calibrant._core._fields import PROBABILITY, Choice, Either, Maybe, Number, Seed, Whole
from calibrant.calibrators._cell_choice import choose_lambda, held_out_loss, information
from calibrant.calibrators._cell_sizes import CELLS, CRITERION, WIDTH, CellSizes
from calibrant.calibrators._cells import Cells
from calibrant.calibrators._combinations import COMBINATION, RANK, Combination
from calibrant.calibrators._rank_fields import TABLE
from calibrant.calibrators._rank_problem import Ranks
from calibrant.calibrators._rank_questions import CellsByRank, CountedCells
from calibrant.calibrators._ranked import RankedCalibrator
from calibrant.calibrators._smoothing import SMOOTHINGS, Smoothing, lidstone
from calibrant.calibrators._table import Counted, TableModel

if TYPE_CHECKING:
    from calibrant._core._arrays import Array
    from calibrant.passes import Learning

Size = float | Sequence[float] | Literal["cv", "aic", "bic"]


class AccuracyTableCalibrator(RankedCalibrator, name="accuracy_table"):
    """Calibrate one score per class by smoothed accuracy tables of several ranked scores.

    How sure is the first guess? That depends on its score, and as much on how far the second is behind.
    So the plane of both is cut into cells, and the estimate of a cell is the share of training rows in it
    and around it whose first-ranked class was right. The classes at other ranks have tables of their own.

    Parameters
    ----------
    combination : {"A", "single", "B", "C"}, list of int, or list of lists of int, default="A"
        The ranked scores that are the axes of the tables. "A" takes the highest score and
        that of the class itself, and for the first rank the two highest; "single" only that of the class
        itself; "C" that and its neighbours by rank; "B" all down to it. Or a list of ranks from 1, used
        for every rank, or a list of such lists, for the first rank, the second, and so on.
    width : float, sequence of float, {"cv", "aic", "bic"} or None, default=None
        Width of the cells, for all axes or one per axis; their edges are multiples of it. Or how to choose
        it for every table. None leaves it to `n_cells`.
    n_cells : int, sequence of int or {"cv", "aic", "bic"}, default=30
        Number of cells into which the range of the training scores is divided, where `width` is None.
    smoothing : {"ma_cov", "ma", "median", "lidstone", "laplace", "none"}, default="ma_cov"
        How a cell with N rows, N_p of them right, is estimated: the accuracy of all rows in it and in the
        cells that touch it; the mean or the median of the accuracies of these cells; or from its own rows
        alone, ``(N_p + lam)/(N + 2 lam)``, ``(N_p + 1)/(N + 2)``, ``N_p/N``.
    lam : float or "cv", default="cv"
        Lidstone's parameter, or "cv" to choose it for every table by cross-validated cross entropy.
    fallback : {"prior", "half", "nan"}, default="prior"
        The estimate where neither the cell nor its neighbours hold rows: the overall accuracy of the rank,
        1/2, or no number.
    max_rank : int or None, default=3
        How many ranks get a table of their own; the ranks after these share one. None gives one to each.
    candidates : sequence of float, optional
        Widths or numbers of cells to choose from. By default the paper's widths 0.05, 0.1, 0.2, 0.3, 0.5,
        and 5 to 60 cells.
    cv : int, default=5
        Number of folds for "cv": stratified, shuffled. Where the class at a rank is right, or wrong, in
        fewer rows, as many folds as these; with less than two there is nothing to choose by, and the
        largest cells and lam = 1 are used.
    random_state : int, RandomState instance or None, default=0
        How the folds are shuffled.
    classes : array-like of shape (k,), optional
        The labels of the columns in order. By default the sorted labels of `y`, which must then be as many
        as there are columns.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels of the columns.
    tables_ : list of AccuracyTable
        The tables of the first ranks.
    shared_table_ : AccuracyTable or None
        The table of the ranks after these; None if there are none.
    rank_accuracy_ : ndarray of shape (k,)
        Share of training rows whose true class was at each rank.
    feature_names_in_ : ndarray of shape (k,)
        The names of the columns of scores, in the order of the model; only if it was fitted to a frame.

    See Also
    --------
    RankedLogisticCalibrator : The same question answered by logistic regression; better for low ranks.
    likely_errors : The rows to check first.

    Notes
    -----
    Fit on scores of rows that the model was not trained on; the paper pools those of five folds.

    A score f falls into cell ``floor((f - origin)/width + 1e-9)``, with origin 0, or the least training
    score where a number of cells was asked for, whose greatest then belongs to the last cell. A query
    outside the range of the training scores is treated as any other: it has an estimate if it touches a
    cell with rows, and else the fall-back. Under Laplace's and Lidstone's rule the formula itself gives 1/2
    for a cell without rows.

    The number of possible cells is that of one axis to the power of the number of scores, and must stay below
    2**50; those that hold rows are at most as many as the rows. Over one to three scores the cells that
    touch these are kept too, at most 2, 8 or 26 for each; over more only the cells with rows are, and the
    others are estimated when a query falls into them. Use few, wide cells there.

    Cells in which f_2 would exceed f_1 hold no rows and so are never neighbours. Estimates of exactly 0
    and 1 are possible except with "laplace" and "lidstone".

    The formulas of the smoothings are lost in the paper's text and are reconstructed. There, coverage
    weights (N/N_total) need a division by their sum to give a probability, and with it are nothing but the
    accuracy of all rows of the neighbourhood.

    Cross-validation keeps estimates within [0.001, 0.999], as one certain mistake would otherwise decide.
    AIC and BIC count the effective number of parameters of the smoothed table; they are faster, and
    answer a question that the paper leaves open. Of equally good sizes the largest cells are taken.

    References
    ----------
    K. Takahashi, H. Takamura and M. Okumura, "Direct estimation of class membership probabilities for
    multiclass classification using multiple scores", Knowledge and Information Systems 19, 2009.

    Examples
    --------
    The same highest score of 2, once with the second close behind, once far:

    >>> from calibrant import AccuracyTableCalibrator
    >>> scores = [[2.0, 1.9], [2.1, 1.8], [1.8, 2.0], [2.0, 0.1], [2.1, 0.2], [0.0, 2.1], [0.1, 2.0]]
    >>> y = [0, 1, 0, 0, 0, 1, 1]
    >>> table = AccuracyTableCalibrator(width=0.5).fit(scores, y)
    >>> table.predict_by_rank([[2.0, 1.9], [2.0, 0.1]], n_ranks=1).estimate.round(2)
    array([[0.33],
           [1.  ]])

    The table behind it:

    >>> for name, column in table.tables_[0].to_dict().items():
    ...     print(name, column)
    f1_from [2. 2.]
    f1_to [2.5 2.5]
    f2_from [0.  1.5]
    f2_to [0.5 2. ]
    count [4. 3.]
    right [4. 1.]
    accuracy [1.         0.33333333]
    value [1.         0.33333333]
    """

    def __init__(
        self,
        combination: Combination = "A",
        width: Size | None = None,
        n_cells: Size = 30,
        smoothing: Literal["ma_cov", "ma", "median", "lidstone", "laplace", "none"] = "ma_cov",
        lam: float | Literal["cv"] = "cv",
        fallback: Literal["prior", "half", "nan"] = "prior",
        max_rank: int | None = 3,
        candidates: Sequence[float] | None = None,
        cv: int = 5,
        random_state: object = 0,
        classes: Sequence[object] | None = None,
    ) -> None:
        self.combination = combination
        self.width = width
        self.n_cells = n_cells
        self.smoothing = smoothing
        self.lam = lam
        self.fallback = fallback
        self.max_rank = max_rank
        self.candidates = candidates
        self.cv = cv
        self.random_state = random_state
        self.classes = classes

    parameters = Record(
        combination=COMBINATION,
        width=Maybe(Either(WIDTH, ListOf(WIDTH, least=1), CRITERION)),
        n_cells=Either(CELLS, ListOf(CELLS, least=1), CRITERION),
        smoothing=Choice("ma_cov", "ma", "median", "lidstone", "laplace", "none"),
        lam=Either(Number(0.0), Choice("cv")),
        fallback=Choice("prior", "half", "nan"),
        max_rank=Maybe(RANK),
        candidates=Maybe(ListOf(WIDTH, least=1)),
        cv=Whole(2),
        random_state=Seed(),
    )
    fitted = Record(
        rank_accuracy=Numbers(PROBABILITY), tables=ListOf(TABLE, least=1), shared_table=Maybe(TABLE)
    )
    complexity = 6

    def check_parameters(self) -> None:
        for name in ("smoothing", "lam", "fallback", "cv"):
            self.parameters.fields[name].check(name, getattr(self, name))
        self._cell_sizes()  # says what is wrong with the sizes that are used; the others are looked at too
        self.parameters.fields["candidates"].check("candidates", self.candidates)

    def _learn_models(self, ranks: Ranks) -> "Learning[tuple[list[TableModel], Array]]":
        sizes = self._cell_sizes()
        chosen = "lam" if sizes.criterion != "cv" else "width" if sizes.is_width else "n_cells"
        must = "a number" if chosen == "lam" else "a number, or chosen by aic or bic,"
        by_folds = sizes.criterion == "cv" or (self.smoothing, self.lam) == ("lidstone", "cv")
        found: CountedCells = yield CellsByRank(
            ranks,
            sizes,
            (self.cv, self.random_state) if by_folds else None,
            f"{chosen} must be {must} where rows come in passes; got 'cv'; choose one on a sample in memory",
        )
        models = [
            self._table_of(by_size, sizes, ranks.axes(model)) for model, by_size in enumerate(found.by_size)
        ]
        return models, found.share

    def _keep(self, own: list[TableModel], shared: TableModel | None) -> None:
        self.tables_ = [model.table for model in own]
        self.shared_table_ = None if shared is None else shared.table

    def fitted_numbers(self) -> dict[str, Any]:
        """Give what is saved of the fit: the models behind the tables."""
        return {
            "rank_accuracy": self.rank_accuracy_,
            "tables": self.map_.own,
            "shared_table": self.map_.shared,
        }

    def _kept(self) -> tuple[Any, Any]:
        shared = () if self.shared_table_ is None else (self.shared_table_,)
        for model in (*self.tables_, *shared):  # the models, as a file gives them
            model.complete(self.smoothing)
        return self.tables_, self.shared_table_

    def _cell_sizes(self) -> CellSizes:
        return CellSizes.of(self.width, self.n_cells, self.candidates)

    def _table_of(self, by_size: dict[Any, Counted], sizes: CellSizes, axes: tuple[str, ...]) -> TableModel:
        """Choose a size of the cells, and smooth their estimates."""
        counted, criterion = by_size[sizes.sizes[0]], {}
        if sizes.criterion in ("aic", "bic") or (sizes.criterion == "cv" and counted.folded is not None):
            criterion = {size: self._criterion(sizes.criterion, each) for size, each in by_size.items()}
            counted = by_size[min(criterion, key=criterion.__getitem__)]
        smoothing, lam = self._smoothing(counted)
        return TableModel(counted, smoothing, self._default(counted.cells, lam), axes, lam, criterion)

    def _criterion(self, name: str, counted: Counted) -> float:
        """How bad a table with these cells would be."""
        smoothing, lam = self._smoothing(counted)
        if name == "cv" and counted.folded is not None:
            return held_out_loss(
                counted.folded, smoothing, counted.grid, lambda cells: self._default(cells, lam)
            )
        return information(counted.cells, smoothing, counted.grid, name)

    def _smoothing(self, counted: Counted) -> tuple[Smoothing, float | None]:
        """The smoothing, and the parameter of Laplace's and Lidstone's."""
        if self.smoothing not in ("laplace", "lidstone"):
            return SMOOTHINGS[self.smoothing], None
        if self.smoothing == "laplace" or (self.lam == "cv" and counted.folded is None):
            return lidstone(1.0), 1.0
        lam = choose_lambda(counted.folded)[0] if counted.folded and self.lam == "cv" else float(self.lam)
        return lidstone(lam), lam

    def _default(self, cells: Cells, lam: float | None) -> float:
        """The estimate where there are no rows; Lidstone's formula gives 1/2."""
        if lam or self.fallback == "half":
            return 0.5
        return cells.overall_accuracy if self.fallback == "prior" else math.nan
