"""The fitted chain that travels: scores to probabilities to decisions; save and load.

- `ScoreModel`: the chain in one object; `TrainingSummary` and `FitMetrics` are what it remembers.
- `save`, `load`: one JSON file; `to_document`, `from_document`: the same as plain data; `schema`: what it
  may hold; `describe`: what it holds.
- `export`: the same numbers as ONNX, SQL or Python, in a file; `to_onnx`, `to_sql`, `to_python`: without one.
- `register_skl2onnx`: the same behind a learner that skl2onnx converts.
- `compare_methods`, `compare_forecasts`: which method to use; `named_method`: the methods compared.
"""

from calibrant._core._lazy import at_home
from calibrant._core._place import ModelFileError
from calibrant.calibrators import named_method
from calibrant.maps import ExportError, OnnxExportError
from calibrant.models._advice import advise as advise
from calibrant.models._chain import form_of_scores as form_of_scores
from calibrant.models._comparison import (
    MOST_GROUPS as MOST_GROUPS,
    MethodComparison,
    MethodResult,
    Trial as Trial,
    compare_forecasts,
    compare_methods,
    compare_rows as compare_rows,
    ranked as ranked,
)
from calibrant.models._contest import Contest as Contest
from calibrant.models._costs import label_array as label_array, read_costs as read_costs
from calibrant.models._description import ModelDescription, describe
from calibrant.models._document import from_document, to_document
from calibrant.models._export import TARGETS as TARGETS, export, exported as exported
from calibrant.models._files import load, parse as parse, save
from calibrant.models._onnx import save_onnx, to_onnx
from calibrant.models._plan import (
    Predictions as Predictions,
    look_at as look_at,
    stratified_folds as stratified_folds,
)
from calibrant.models._python import to_python
from calibrant.models._schema import schema
from calibrant.models._score_model import ScoreModel, check_rule as check_rule
from calibrant.models._skl2onnx import register_skl2onnx
from calibrant.models._sql import names_of_results as names_of_results, to_sql
from calibrant.models._sql_dialects import DIALECTS as DIALECTS
from calibrant.models._summary import FitMetrics, TrainingSummary, measure as measure
from calibrant.models._text import to_text as to_text

__all__ = [
    "ExportError",
    "FitMetrics",
    "MethodComparison",
    "MethodResult",
    "ModelDescription",
    "ModelFileError",
    "OnnxExportError",
    "ScoreModel",
    "TrainingSummary",
    "compare_forecasts",
    "compare_methods",
    "describe",
    "export",
    "from_document",
    "load",
    "named_method",
    "register_skl2onnx",
    "save",
    "save_onnx",
    "schema",
    "to_document",
    "to_onnx",
    "to_python",
    "to_sql",
]

__dir__ = at_home(__name__)
