"""The fitted chain that travels: scores to probabilities to decisions; save and load.

- `ScoreModel`: the chain in one object; `TrainingSummary` and `FitMetrics` are what it remembers.
- `save`, `load`: one JSON file; `to_document`, `from_document`: the same as plain data; `schema`: what it
  may hold; `describe`: what it holds.
- `export`: the same numbers as ONNX, SQL or Python, in a file; `to_onnx`, `to_sql`, `to_python`: without one.
- `register_skl2onnx`: the same behind a learner that skl2onnx converts.
- `compare_methods`, `compare_forecasts`: which method to use; `named_method`: the methods compared.
"""

from typing import TYPE_CHECKING

from calibrant._core._lazy import at_home, lazily

if TYPE_CHECKING:
    from calibrant._core._place import ModelFileError
    from calibrant.calibrators import named_method
    from calibrant.maps import ExportError, OnnxExportError
    from calibrant.models._advice import advise as advise
    from calibrant.models._chain import form_of_scores as form_of_scores
    from calibrant.models._comparison import (
        compare_forecasts,
        compare_methods,
        compare_rows as compare_rows,
    )
    from calibrant.models._contest import Contest as Contest
    from calibrant.models._costs import label_array as label_array, read_costs as read_costs
    from calibrant.models._description import ModelDescription, describe
    from calibrant.models._document import from_document, to_document
    from calibrant.models._export import TARGETS as TARGETS, export, exported as exported
    from calibrant.models._files import load, parse as parse, save, score_model_of as score_model_of
    from calibrant.models._forecast import CrossFitForecast as CrossFitForecast
    from calibrant.models._formulas import chain_of as chain_of
    from calibrant.models._learned import Learned as Learned, learn as learn
    from calibrant.models._onnx import save_onnx, to_onnx
    from calibrant.models._plan import (
        Arrays as Arrays,
        Predictions as Predictions,
        answered as answered,
        dealt as dealt,
        folds_for as folds_for,
        look_at as look_at,
    )
    from calibrant.models._python import to_python
    from calibrant.models._ranking import (
        MOST_GROUPS as MOST_GROUPS,
        MethodComparison,
        MethodResult,
        Trial as Trial,
        ranked as ranked,
    )
    from calibrant.models._read_rows import read_rows as read_rows
    from calibrant.models._schema import schema
    from calibrant.models._score_model import (
        ScoreModel,
        check_rule as check_rule,
        refuse_groups as refuse_groups,
    )
    from calibrant.models._skl2onnx import register_skl2onnx
    from calibrant.models._sql import names_of_results as names_of_results, to_sql
    from calibrant.models._sql_dialects import DIALECTS as DIALECTS
    from calibrant.models._summary import FitMetrics, TrainingSummary, measure as measure
    from calibrant.models._text import to_text as to_text

#: Where they are at home.
_HOME = {
    "Arrays": "calibrant.models._plan",
    "Contest": "calibrant.models._contest",
    "CrossFitForecast": "calibrant.models._forecast",
    "DIALECTS": "calibrant.models._sql_dialects",
    "ExportError": "calibrant.maps",
    "FitMetrics": "calibrant.models._summary",
    "Learned": "calibrant.models._learned",
    "MOST_GROUPS": "calibrant.models._ranking",
    "MethodComparison": "calibrant.models._ranking",
    "MethodResult": "calibrant.models._ranking",
    "ModelDescription": "calibrant.models._description",
    "ModelFileError": "calibrant._core._place",
    "OnnxExportError": "calibrant.maps",
    "Predictions": "calibrant.models._plan",
    "ScoreModel": "calibrant.models._score_model",
    "TARGETS": "calibrant.models._export",
    "TrainingSummary": "calibrant.models._summary",
    "Trial": "calibrant.models._ranking",
    "advise": "calibrant.models._advice",
    "answered": "calibrant.models._plan",
    "chain_of": "calibrant.models._formulas",
    "check_rule": "calibrant.models._score_model",
    "compare_forecasts": "calibrant.models._comparison",
    "compare_methods": "calibrant.models._comparison",
    "compare_rows": "calibrant.models._comparison",
    "dealt": "calibrant.models._plan",
    "describe": "calibrant.models._description",
    "export": "calibrant.models._export",
    "exported": "calibrant.models._export",
    "folds_for": "calibrant.models._plan",
    "form_of_scores": "calibrant.models._chain",
    "from_document": "calibrant.models._document",
    "label_array": "calibrant.models._costs",
    "learn": "calibrant.models._learned",
    "load": "calibrant.models._files",
    "look_at": "calibrant.models._plan",
    "measure": "calibrant.models._summary",
    "named_method": "calibrant.calibrators",
    "names_of_results": "calibrant.models._sql",
    "parse": "calibrant.models._files",
    "ranked": "calibrant.models._ranking",
    "read_costs": "calibrant.models._costs",
    "read_rows": "calibrant.models._read_rows",
    "refuse_groups": "calibrant.models._score_model",
    "register_skl2onnx": "calibrant.models._skl2onnx",
    "save": "calibrant.models._files",
    "save_onnx": "calibrant.models._onnx",
    "schema": "calibrant.models._schema",
    "score_model_of": "calibrant.models._files",
    "to_document": "calibrant.models._document",
    "to_onnx": "calibrant.models._onnx",
    "to_python": "calibrant.models._python",
    "to_sql": "calibrant.models._sql",
    "to_text": "calibrant.models._text",
}

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

__getattr__ = lazily("calibrant.models", _HOME)
__dir__ = at_home(__name__)
