"""Where the rows live: arrays, files in batches, any frame; and summaries that merge.

Files:

- `open_source`: rows from a file, a folder, a pipe or a frame, in batches, as often as needed (`Source`).
- `open_sink`: rows into a file that is complete or absent (`Sink`).
- `choose_columns`: scores by name or pattern, with the classes that the names tell (`Chosen`).

Fits in passes, for rows that do not fit into memory:

- `rows_of`: scores, labels and weights of a source (`TableRows`, batches of `Rows`).
- `fit_in_passes`: the same models as in memory; `PassOptions` for its memory, `Progress` for whoever waits.
- `apply_in_batches`: probabilities and decisions, batch by batch.
- `evaluate_in_passes`: how good probabilities are (`Evaluation`); `compare_in_passes`: which method to use.

The seam, for other engines: a plan (`calibrator_plan`, `ScoreModel.plan`) asks for passes by a `Task`, plain
data; `reduce_rows` makes a `Summary` of rows, summaries merge and travel as Arrow tables (`read_summary`), and
a task travels as JSON (`task_from_json`). `run_plan` is the engine of this process.
"""

from typing import TYPE_CHECKING

from calibrant._core._lazy import lazily
from calibrant.files._bytes import COMPRESSIONS as COMPRESSIONS, layout_of as layout_of
from calibrant.files._columns import (
    Chosen,
    choose_columns,
    label_codes as label_codes,
    label_values as label_values,
    lenient_numbers as lenient_numbers,
    match_classes as match_classes,
    place_finder as place_finder,
    read_label_texts as read_label_texts,
    read_numbers as read_numbers,
    texts_that_occur as texts_that_occur,
)
from calibrant.files._open import STANDARD as STANDARD, open_source
from calibrant.files._plain import chosen_rows as chosen_rows
from calibrant.files._sink import Sink, open_sink
from calibrant.files._source import (
    Columns as Columns,
    Source,
    first_twice as first_twice,
    shown as shown,
)

if TYPE_CHECKING:
    from calibrant.files._apply import apply_in_batches
    from calibrant.files._compare import (
        any_can_only_rise as any_can_only_rise,
        compare_in_passes,
        comparison_plan as comparison_plan,
    )
    from calibrant.files._evaluate import (
        Evaluation,
        evaluate_in_passes,
        evaluation_plan as evaluation_plan,
    )
    from calibrant.files._fit import (
        calibrator_plan,
        fit_in_passes,
    )
    from calibrant.files._forecast import GivenForecast as GivenForecast
    from calibrant.files._metric_pass import MetricSums as MetricSums, SumMetrics as SumMetrics
    from calibrant.files._table_rows import BatchReader as BatchReader, TableRows, rows_of
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
    "BatchReader": "calibrant.files._table_rows",
    "Evaluation": "calibrant.files._evaluate",
    "GivenForecast": "calibrant.files._forecast",
    "MetricSums": "calibrant.files._metric_pass",
    "PassOptions": "calibrant.passes",
    "Progress": "calibrant.passes",
    "Rows": "calibrant.passes",
    "SumMetrics": "calibrant.files._metric_pass",
    "Summary": "calibrant.passes",
    "TableRows": "calibrant.files._table_rows",
    "Task": "calibrant.passes",
    "any_can_only_rise": "calibrant.files._compare",
    "apply_in_batches": "calibrant.files._apply",
    "calibrator_plan": "calibrant.files._fit",
    "compare_in_passes": "calibrant.files._compare",
    "comparison_plan": "calibrant.files._compare",
    "evaluate_in_passes": "calibrant.files._evaluate",
    "evaluation_plan": "calibrant.files._evaluate",
    "fit_in_passes": "calibrant.files._fit",
    "read_summary": "calibrant.passes",
    "reduce_rows": "calibrant.passes",
    "rows_of": "calibrant.files._table_rows",
    "run_plan": "calibrant.passes",
    "task_from_json": "calibrant.passes",
}

__all__ = [
    "Chosen",
    "Evaluation",
    "PassOptions",
    "Progress",
    "Rows",
    "Sink",
    "Source",
    "Summary",
    "TableRows",
    "Task",
    "apply_in_batches",
    "calibrator_plan",
    "choose_columns",
    "compare_in_passes",
    "evaluate_in_passes",
    "fit_in_passes",
    "open_sink",
    "open_source",
    "read_summary",
    "reduce_rows",
    "rows_of",
    "run_plan",
    "task_from_json",
]

__getattr__ = lazily("calibrant.files", _HOME)
