"""Rows in files, frames and databases: one reader, one writer; fit, apply, evaluate, compare, decide on them.

- `open_source`: rows from a file, a folder, a pipe, a database or a frame, in batches, as often as needed
  (`Source`); `open_sink`: rows into a file that is complete or absent (`Sink`).
- `labelled`: rows with their scores, labels and weights, read once and for all checks (`LabelledRows`):
  all at once, or in passes of batches (`Rows`).
- `fit`, `compare`, `evaluate`: what to do with them, in memory or in passes; `PassOptions` for the memory of
  passes, `Progress` for whoever waits. `compare_versions`: is a new model better than the old
  one? `update`: a model fitted again to new rows, and what that changes (`Updated`).
- `apply`, `decide`: probabilities and decisions for the rows of a file, batch by batch.
- `monitor`: whether the forecasts of a log stay calibrated, in one pass (`Watched`); `follow`: a log that
  grows.

The seam, for other engines: a plan (`calibrator_plan`, `ScoreModel.plan`) asks for passes by a `Task`, plain
data; `reduce_rows` makes a `Summary` of rows, summaries merge and travel as Arrow tables (`read_summary`),
and a task travels as JSON (`task_from_json`). `run_plan` is the engine of this process.
"""

from typing import TYPE_CHECKING

from calibrant._core._lazy import at_home, lazily
from calibrant.files._bytes import layout_of as layout_of
from calibrant.files._columns import (
    Chosen,
    choose_columns,
    distinct_texts as distinct_texts,
    label_values as label_values,
)
from calibrant.files._open import STANDARD as STANDARD, open_source
from calibrant.files._sink import Sink, open_sink
from calibrant.files._source import Columns as Columns, Source, shown as shown

if TYPE_CHECKING:
    from calibrant.files._amounts import costs_of_rows as costs_of_rows, split_costs as split_costs
    from calibrant.files._apply import Applied as Applied, apply
    from calibrant.files._batch import (
        SUM_ROUNDING as SUM_ROUNDING,
        BatchReader as BatchReader,
        Roles as Roles,
        as_proba as as_proba,
    )
    from calibrant.files._classes import (
        ClassesOf as ClassesOf,
        Numbered as Numbered,
        choose_scores as choose_scores,
        sorted_texts as sorted_texts,
    )
    from calibrant.files._code_file import (
        CodeFile as CodeFile,
        code_table as code_table,
        read_code_file as read_code_file,
    )
    from calibrant.files._compare import compare, comparison_plan as comparison_plan
    from calibrant.files._cost_file import CostFile as CostFile, read_cost_file as read_cost_file
    from calibrant.files._decide import Decided as Decided, decide
    from calibrant.files._evaluate import evaluate, evaluation_plan as evaluation_plan
    from calibrant.files._fit import (
        MOST_GROUPS as MOST_GROUPS,
        calibrator_plan,
        code_of as code_of,
        fit,
    )
    from calibrant.files._follow import follow
    from calibrant.files._labelled import LabelledRows, labelled
    from calibrant.files._monitor import Watched, monitor
    from calibrant.files._score_check import ScoreCheck as ScoreCheck
    from calibrant.files._update import Updated, update
    from calibrant.files._versions import VersionComparison, Versions, compare_versions
    from calibrant.passes import (
        PassOptions,
        Progress,
        Rows,
        Summary,
        Task,
        read_summary,
        reduce_rows,
        run_plan,
        task_from_json,
    )

#: Imported when they are first used, as they need scikit-learn, and who only reads a file does not.
_HOME = {
    "Applied": "calibrant.files._apply",
    "BatchReader": "calibrant.files._batch",
    "ClassesOf": "calibrant.files._classes",
    "CodeFile": "calibrant.files._code_file",
    "CostFile": "calibrant.files._cost_file",
    "Decided": "calibrant.files._decide",
    "LabelledRows": "calibrant.files._labelled",
    "MOST_GROUPS": "calibrant.files._fit",
    "Numbered": "calibrant.files._classes",
    "PassOptions": "calibrant.passes",
    "Progress": "calibrant.passes",
    "Roles": "calibrant.files._batch",
    "Rows": "calibrant.passes",
    "SUM_ROUNDING": "calibrant.files._batch",
    "ScoreCheck": "calibrant.files._score_check",
    "Summary": "calibrant.passes",
    "Task": "calibrant.passes",
    "Updated": "calibrant.files._update",
    "VersionComparison": "calibrant.files._versions",
    "Versions": "calibrant.files._versions",
    "Watched": "calibrant.files._monitor",
    "apply": "calibrant.files._apply",
    "as_proba": "calibrant.files._batch",
    "calibrator_plan": "calibrant.files._fit",
    "choose_scores": "calibrant.files._classes",
    "code_of": "calibrant.files._fit",
    "code_table": "calibrant.files._code_file",
    "compare": "calibrant.files._compare",
    "compare_versions": "calibrant.files._versions",
    "comparison_plan": "calibrant.files._compare",
    "costs_of_rows": "calibrant.files._amounts",
    "decide": "calibrant.files._decide",
    "evaluate": "calibrant.files._evaluate",
    "evaluation_plan": "calibrant.files._evaluate",
    "fit": "calibrant.files._fit",
    "follow": "calibrant.files._follow",
    "labelled": "calibrant.files._labelled",
    "monitor": "calibrant.files._monitor",
    "read_code_file": "calibrant.files._code_file",
    "read_cost_file": "calibrant.files._cost_file",
    "read_summary": "calibrant.passes",
    "reduce_rows": "calibrant.passes",
    "run_plan": "calibrant.passes",
    "sorted_texts": "calibrant.files._classes",
    "split_costs": "calibrant.files._amounts",
    "task_from_json": "calibrant.passes",
    "update": "calibrant.files._update",
}

__all__ = [
    "Chosen",
    "LabelledRows",
    "PassOptions",
    "Progress",
    "Rows",
    "Sink",
    "Source",
    "Summary",
    "Task",
    "Updated",
    "VersionComparison",
    "Versions",
    "Watched",
    "apply",
    "calibrator_plan",
    "choose_columns",
    "compare",
    "compare_versions",
    "decide",
    "evaluate",
    "fit",
    "follow",
    "labelled",
    "monitor",
    "open_sink",
    "open_source",
    "read_summary",
    "reduce_rows",
    "run_plan",
    "task_from_json",
    "update",
]

__getattr__ = lazily("calibrant.files", _HOME)

__dir__ = at_home(__name__)
