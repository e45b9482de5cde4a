"""What a fit may ask of rows, and who answers: arrays in memory, or batches that are read in passes.

- `Question`: `Isotonic`, `VennAbers`, `EqualBins`, `LogisticRegression`, `InUnitInterval`,
  `DistinctRows`, `EveryRow`, `Several`, and `Sums` for questions of one's own. A fit is a `Learning`, a
  generator that yields questions; `learn_from_cases` and `learning_plan` are who answers.
- A *plan* is a generator that asks for passes by a `Task`, plain data; `reduce_rows` makes a `Summary` of
  rows, summaries merge and travel as Arrow tables (`read_summary`), and a task travels as JSON
  (`task_from_json`). `run_plan` is the engine of this process; `together` runs several plans at once.
- `Rows`: scores, numbers of classes, weights and keys of a batch; `Problem` cuts two classes out of them.
"""

from typing import TYPE_CHECKING

from calibrant._core._lazy import lazily

if TYPE_CHECKING:
    from calibrant.passes._bins_pass import BinCounts as BinCounts, CountBins as CountBins
    from calibrant.passes._class_pass import (
        ClassCounts as ClassCounts,
        CountClasses as CountClasses,
        count_classes as count_classes,
    )
    from calibrant.passes._direction_pass import ScoreSurvey as ScoreSurvey, surveyed as surveyed
    from calibrant.passes._distinct_rows import DistinctRows as DistinctRows, KeptRows as KeptRows
    from calibrant.passes._driver import (
        Progress as Progress,
        RowsOfPass as RowsOfPass,
        reduce_rows as reduce_rows,
        run_plan as run_plan,
    )
    from calibrant.passes._equal_bins import (
        BinTotals as BinTotals,
        EqualBins as EqualBins,
        SortedRows as SortedRows,
    )
    from calibrant.passes._gather import gather as gather
    from calibrant.passes._grid import ScoreGrid as ScoreGrid, grid_from_sample as grid_from_sample
    from calibrant.passes._hashing import (
        fold_of as fold_of,
        hash_floats as hash_floats,
        hash_integers as hash_integers,
    )
    from calibrant.passes._isotonic import Isotonic as Isotonic, IsotonicFit as IsotonicFit
    from calibrant.passes._logistic import LogisticFit as LogisticFit
    from calibrant.passes._logistic_fast import MOST_FOR_SURE as MOST_FOR_SURE, fit_fast as fit_fast
    from calibrant.passes._logistic_pass import Featured as Featured
    from calibrant.passes._logistic_plan import (
        MOST_STEPS as MOST_STEPS,
        search as search,
        standardise as standardise,
    )
    from calibrant.passes._logistic_question import (
        LogisticAnswer as LogisticAnswer,
        LogisticRegression as LogisticRegression,
        class_totals as class_totals,
        flat_fit as flat_fit,
        platt_targets as platt_targets,
        targets as targets,
    )
    from calibrant.passes._options import PassOptions as PassOptions
    from calibrant.passes._points import Points as Points
    from calibrant.passes._pooling import Blocks as Blocks, pool_points as pool_points
    from calibrant.passes._problem import (
        AllScores as AllScores,
        Problem as Problem,
        Reading as Reading,
        cases_in_memory as cases_in_memory,
        problems_of as problems_of,
    )
    from calibrant.passes._questions import (
        Cases as Cases,
        EveryRow as EveryRow,
        Learning as Learning,
        Question as Question,
        RowsInPasses as RowsInPasses,
        Several as Several,
        Sums as Sums,
        learn_from_cases as learn_from_cases,
        learning_plan as learning_plan,
    )
    from calibrant.passes._range_pass import InUnitInterval as InUnitInterval, Probabilities as Probabilities
    from calibrant.passes._rows import Fold as Fold, Rows as Rows
    from calibrant.passes._sample_pass import Sample as Sample, TakeSample as TakeSample
    from calibrant.passes._screen import open_points as open_points
    from calibrant.passes._summary import (
        NoRowsError as NoRowsError,
        Plan as Plan,
        Summary as Summary,
        Task as Task,
        Totals as Totals,
        read_summary as read_summary,
        task_from_json as task_from_json,
    )
    from calibrant.passes._together import Parts as Parts, Together as Together, together as together
    from calibrant.passes._travel import (
        from_document as from_document,
        modules_of as modules_of,
        to_document as to_document,
        travels as travels,
    )
    from calibrant.passes._venn_abers import VennAbers as VennAbers, VennAbersFit as VennAbersFit

#: Where they are at home.
HOMES = {
    "AllScores": "calibrant.passes._problem",
    "BinCounts": "calibrant.passes._bins_pass",
    "BinTotals": "calibrant.passes._equal_bins",
    "Blocks": "calibrant.passes._pooling",
    "Cases": "calibrant.passes._questions",
    "ClassCounts": "calibrant.passes._class_pass",
    "CountBins": "calibrant.passes._bins_pass",
    "CountClasses": "calibrant.passes._class_pass",
    "DistinctRows": "calibrant.passes._distinct_rows",
    "EqualBins": "calibrant.passes._equal_bins",
    "EveryRow": "calibrant.passes._questions",
    "Featured": "calibrant.passes._logistic_pass",
    "Fold": "calibrant.passes._rows",
    "InUnitInterval": "calibrant.passes._range_pass",
    "Isotonic": "calibrant.passes._isotonic",
    "IsotonicFit": "calibrant.passes._isotonic",
    "KeptRows": "calibrant.passes._distinct_rows",
    "Learning": "calibrant.passes._questions",
    "LogisticAnswer": "calibrant.passes._logistic_question",
    "LogisticFit": "calibrant.passes._logistic",
    "LogisticRegression": "calibrant.passes._logistic_question",
    "MOST_FOR_SURE": "calibrant.passes._logistic_fast",
    "MOST_STEPS": "calibrant.passes._logistic_plan",
    "NoRowsError": "calibrant.passes._summary",
    "Parts": "calibrant.passes._together",
    "PassOptions": "calibrant.passes._options",
    "Plan": "calibrant.passes._summary",
    "Points": "calibrant.passes._points",
    "Probabilities": "calibrant.passes._range_pass",
    "Problem": "calibrant.passes._problem",
    "Progress": "calibrant.passes._driver",
    "Question": "calibrant.passes._questions",
    "Reading": "calibrant.passes._problem",
    "Rows": "calibrant.passes._rows",
    "RowsInPasses": "calibrant.passes._questions",
    "RowsOfPass": "calibrant.passes._driver",
    "Sample": "calibrant.passes._sample_pass",
    "ScoreGrid": "calibrant.passes._grid",
    "ScoreSurvey": "calibrant.passes._direction_pass",
    "Several": "calibrant.passes._questions",
    "SortedRows": "calibrant.passes._equal_bins",
    "Summary": "calibrant.passes._summary",
    "Sums": "calibrant.passes._questions",
    "TakeSample": "calibrant.passes._sample_pass",
    "Task": "calibrant.passes._summary",
    "Together": "calibrant.passes._together",
    "Totals": "calibrant.passes._summary",
    "VennAbers": "calibrant.passes._venn_abers",
    "VennAbersFit": "calibrant.passes._venn_abers",
    "cases_in_memory": "calibrant.passes._problem",
    "class_totals": "calibrant.passes._logistic_question",
    "count_classes": "calibrant.passes._class_pass",
    "fit_fast": "calibrant.passes._logistic_fast",
    "flat_fit": "calibrant.passes._logistic_question",
    "fold_of": "calibrant.passes._hashing",
    "from_document": "calibrant.passes._travel",
    "gather": "calibrant.passes._gather",
    "grid_from_sample": "calibrant.passes._grid",
    "hash_floats": "calibrant.passes._hashing",
    "hash_integers": "calibrant.passes._hashing",
    "learn_from_cases": "calibrant.passes._questions",
    "learning_plan": "calibrant.passes._questions",
    "modules_of": "calibrant.passes._travel",
    "open_points": "calibrant.passes._screen",
    "platt_targets": "calibrant.passes._logistic_question",
    "pool_points": "calibrant.passes._pooling",
    "problems_of": "calibrant.passes._problem",
    "read_summary": "calibrant.passes._summary",
    "reduce_rows": "calibrant.passes._driver",
    "run_plan": "calibrant.passes._driver",
    "search": "calibrant.passes._logistic_plan",
    "standardise": "calibrant.passes._logistic_plan",
    "surveyed": "calibrant.passes._direction_pass",
    "targets": "calibrant.passes._logistic_question",
    "task_from_json": "calibrant.passes._summary",
    "to_document": "calibrant.passes._travel",
    "together": "calibrant.passes._together",
    "travels": "calibrant.passes._travel",
}

__getattr__ = lazily("calibrant.passes", HOMES)
