"""Fitted maps as values: one formula each, for NumPy and in symbols; plain fields for the model file.

- `Steps`, `Bounds`, `Lines`, `Logistic`, `Constant`, `Identity`: one score to the probability of the
  positive class.
- `Softmax`, `Pool`: from all scores of a row to the probabilities of the classes.
- `Map`: the base of them and of maps of one's own; `Operations`: what a formula may do; `FEATURES`: what of a
  score logistic and softmax maps are linear in.
"""

from typing import TYPE_CHECKING

from calibrant._core._lazy import lazily
from calibrant.maps._features import (
    FEATURES as FEATURES,
    Features as Features,
    features_named as features_named,
    features_of as features_of,
)
from calibrant.maps._intervals import IntervalLookup as IntervalLookup
from calibrant.maps._map import BLOCK as BLOCK, MAPS as MAPS, AnyMap as AnyMap, Map as Map
from calibrant.maps._operations import (
    LOG_CLIP as LOG_CLIP,
    LOG_TINY as LOG_TINY,
    NUMPY as NUMPY,
    SYMBOLS as SYMBOLS,
    Operations as Operations,
)
from calibrant.maps._row_maps import Softmax as Softmax, softmax as softmax
from calibrant.maps._score_maps import (
    Bounds as Bounds,
    Constant as Constant,
    Identity as Identity,
    Lines as Lines,
    Logistic as Logistic,
    Steps as Steps,
)

if TYPE_CHECKING:
    from calibrant.maps._graph import answers as answers, answers_of_rows as answers_of_rows
    from calibrant.maps._onnx_graph import (
        Graph as Graph,
        OnnxExportError as OnnxExportError,
        OnnxTensor as OnnxTensor,
    )
    from calibrant.maps._pool import Linear as Linear, Pool as Pool, Stairs as Stairs
    from calibrant.maps._pool_row import (
        HALVES as HALVES,
        Basis as Basis,
        Entry as Entry,
        Row as Row,
        Start as Start,
        mixed as mixed,
    )
    from calibrant.maps._program import Chain as Chain, Program as Program
    from calibrant.maps._program_steps import Loop as Loop, Step as Step, n_uses as n_uses
    from calibrant.maps._tensor import ExportError as ExportError, Target as Target, Tensor as Tensor

#: Where they are at home.
_HOME = {
    "Basis": "calibrant.maps._pool_row",
    "Chain": "calibrant.maps._program",
    "Entry": "calibrant.maps._pool_row",
    "ExportError": "calibrant.maps._tensor",
    "Graph": "calibrant.maps._onnx_graph",
    "HALVES": "calibrant.maps._pool_row",
    "Linear": "calibrant.maps._pool",
    "Loop": "calibrant.maps._program_steps",
    "OnnxExportError": "calibrant.maps._onnx_graph",
    "OnnxTensor": "calibrant.maps._onnx_graph",
    "Pool": "calibrant.maps._pool",
    "Program": "calibrant.maps._program",
    "Row": "calibrant.maps._pool_row",
    "Stairs": "calibrant.maps._pool",
    "Start": "calibrant.maps._pool_row",
    "Step": "calibrant.maps._program_steps",
    "Target": "calibrant.maps._tensor",
    "Tensor": "calibrant.maps._tensor",
    "answers": "calibrant.maps._graph",
    "answers_of_rows": "calibrant.maps._graph",
    "mixed": "calibrant.maps._pool_row",
    "n_uses": "calibrant.maps._program_steps",
}

__getattr__ = lazily("calibrant.maps", _HOME)
