"""What a fit may ask of rows, and who answers: arrays in memory, or batches that are read in passes.

- `Question`: `Isotonic`, `EqualBins`, `LogisticRegression`, `InUnitInterval`, `EveryRow`, `Several`, and
  `Sums` for questions of one's own. A fit is a `Learning`, a generator that yields questions;
  `learn_from_cases` and `learning_plan` are who answers.
- A *plan* is a generator that asks for passes by a `Task`, plain data; `reduce_rows` makes a `Summary` of
  rows, summaries merge and travel as Arrow tables (`read_summary`), and a task travels as JSON
  (`task_from_json`). `run_plan` is the engine of this process; `together` runs several plans at once.
- `Rows`: scores, numbers of classes, weights and keys of a batch; `Problem` cuts two classes out of them.
"""

from calibrant.passes._bins_pass import BinCounts, CountBins
from calibrant.passes._class_pass import ClassCounts, CountClasses, count_classes
from calibrant.passes._direction_pass import ScoreSurvey, surveyed
from calibrant.passes._driver import Progress, RowsOfPass, reduce_rows, run_plan
from calibrant.passes._equal_bins import BinTotals, EqualBins, SortedRows
from calibrant.passes._gather import gather
from calibrant.passes._grid import ScoreGrid, grid_from_sample
from calibrant.passes._hashing import Hashes, fold_of, hash_floats, hash_integers, mix
from calibrant.passes._isotonic import Isotonic, IsotonicFit
from calibrant.passes._logistic import LogisticFit
from calibrant.passes._logistic_fast import fit_fast
from calibrant.passes._logistic_pass import Featured
from calibrant.passes._logistic_plan import MOST_STEPS, search, standardise
from calibrant.passes._logistic_question import (
    LogisticAnswer,
    LogisticRegression,
    class_totals,
    flat_fit,
    platt_targets,
    targets,
)
from calibrant.passes._options import PassOptions
from calibrant.passes._points import Points
from calibrant.passes._pooling import Blocks, pool_points
from calibrant.passes._problem import AllScores, Problem, Reading, problems_of
from calibrant.passes._questions import (
    Cases,
    EveryRow,
    Learning,
    Question,
    RowsInPasses,
    Several,
    Sums,
    learn_from_cases,
    learning_plan,
)
from calibrant.passes._range_pass import InUnitInterval, Probabilities
from calibrant.passes._rows import Fold, Rows
from calibrant.passes._sample_pass import Sample, TakeSample
from calibrant.passes._screen import open_points
from calibrant.passes._summary import (
    NoRowsError,
    Plan,
    Summary,
    Task,
    Totals,
    read_summary,
    task_from_json,
)
from calibrant.passes._together import Parts, Together, together
from calibrant.passes._travel import from_document, modules_of, to_document, travels

__all__ = [
    "MOST_STEPS",
    "AllScores",
    "BinCounts",
    "BinTotals",
    "Blocks",
    "Cases",
    "ClassCounts",
    "CountBins",
    "CountClasses",
    "EqualBins",
    "EveryRow",
    "Featured",
    "Fold",
    "Hashes",
    "InUnitInterval",
    "Isotonic",
    "IsotonicFit",
    "Learning",
    "LogisticAnswer",
    "LogisticFit",
    "LogisticRegression",
    "NoRowsError",
    "Parts",
    "PassOptions",
    "Plan",
    "Points",
    "Probabilities",
    "Problem",
    "Progress",
    "Question",
    "Reading",
    "Rows",
    "RowsInPasses",
    "RowsOfPass",
    "Sample",
    "ScoreGrid",
    "ScoreSurvey",
    "Several",
    "SortedRows",
    "Summary",
    "Sums",
    "TakeSample",
    "Task",
    "Together",
    "Totals",
    "class_totals",
    "count_classes",
    "fit_fast",
    "flat_fit",
    "fold_of",
    "from_document",
    "gather",
    "grid_from_sample",
    "hash_floats",
    "hash_integers",
    "learn_from_cases",
    "learning_plan",
    "mix",
    "modules_of",
    "open_points",
    "platt_targets",
    "pool_points",
    "problems_of",
    "read_summary",
    "reduce_rows",
    "run_plan",
    "search",
    "standardise",
    "surveyed",
    "targets",
    "task_from_json",
    "to_document",
    "together",
    "travels",
]
