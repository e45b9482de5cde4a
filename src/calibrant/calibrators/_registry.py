"""The registry: the only list of methods."""

from typing import TYPE_CHECKING, Literal, get_args

from calibrant._core._registry import Registry

if TYPE_CHECKING:
    from calibrant.calibrators._columns import ColumnsCalibrator
    from calibrant.calibrators._method import Method


#: What methods are called elsewhere.
ALIASES = {"isotonic": "pav", "platt": "sigmoid"}


METHODS: "Registry[Method]" = Registry(
    "method",
    {
        name: f"calibrant.calibrators.{module}"
        for name, module in {
            "pav": "_pav",
            "sigmoid": "_sigmoid",
            "beta": "_beta",
            "venn_abers": "_venn_abers",
            "binning": "_binning",
            "identity": "_identity",
            "accuracy_table": "_accuracy_table",
            "ranked_logistic": "_ranked_logistic",
            "temperature": "_temperature",
            "vector": "_vector",
            "matrix": "_matrix",
            "stack": "_stack",
        }.items()
    },
    ALIASES,
)
#: The calibrators of columns, which are no methods themselves.
COLUMN_CALIBRATORS: "Registry[ColumnsCalibrator]" = Registry(
    "column calibrator", dict.fromkeys(("one_vs_all", "code"), "calibrant.calibrators._code")
)
#: What scores may be declared to be.
ScoreKind = Literal["margin", "probability"]
KINDS: tuple[ScoreKind, ...] = get_args(ScoreKind)
#: The name of a choice and of no method, see `_auto`; it is what is fitted where nothing else is asked for.
AUTO = DEFAULT = "auto"
#: What every column of several gets where nothing else is asked for.
OF_COLUMNS = "pav"
