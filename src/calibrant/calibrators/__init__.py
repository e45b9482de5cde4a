"""One score, or one row of scores, to probabilities. One method per file, and the registry of them.

- `METHODS`: all methods by name; `new_calibrator` makes one, `named_method` one made fit for new rows.
- `SigmoidCalibrator`, `BetaCalibrator`, `PAVCalibrator`, `VennAbersCalibrator`, `BinningCalibrator`: two
  classes, one score per row; `IdentityCalibrator` leaves it as it is.
- `OneVsAllCalibrator`: any number of classes, one score per class, by the two-class methods;
  `CodeCalibrator`: one score per column of a code matrix.
- `AccuracyTableCalibrator`, `RankedLogisticCalibrator`: any number of classes, from the ranked scores of a
  row; `score_status_correlation` shows which of them matter.
- `TemperatureCalibrator`, `VectorCalibrator`, `MatrixCalibrator`, `StackCalibrator`: all scores of a row
  together, two classes or many.
- `GroupEffects`: what sets groups of rows apart, as `ScoreModel.fit(..., by=...)` learns it.
- `top_candidates`, `likely_errors`: what a person who checks predictions wants to see first.
- For a method of one's own, see the guide: the bases `ScoreCalibrator` and `RowCalibrator`; what its
  parameters may be (`Record` of `Number`, `Whole`, `Flag`, `Choice`, `Maybe`); what it may ask (`Isotonic`,
  `EqualBins`, `LogisticRegression`, `Several`, and `Sums` under the decorator `travels`, of `Cases`); the
  maps that it may make (`Logistic`, `Softmax`, `Steps`, `Lines`, `Constant`, or a `Map` of its own).

What needs scikit-learn is imported when it is first used.
"""

from typing import TYPE_CHECKING

from calibrant._core._lazy import at_home, lazily
from calibrant.calibrators._registry import (
    ALIASES as ALIASES,
    AUTO as AUTO,
    DEFAULT as DEFAULT,
    KINDS as KINDS,
    METHODS,
    ScoreKind as ScoreKind,
)

if TYPE_CHECKING:
    from calibrant._core._field_groups import Record
    from calibrant._core._fields import Choice, Flag, Maybe, Number, Whole
    from calibrant.calibrators._accuracy_table import AccuracyTableCalibrator
    from calibrant.calibrators._auto import is_auto as is_auto, report_of as report_of
    from calibrant.calibrators._base import (
        Calibrator as Calibrator,
        CalibratorBase as CalibratorBase,
        as_taken as as_taken,
        fit_copies as fit_copies,
        fit_plan as fit_plan,
        fit_rows as fit_rows,
        n_scores_of as n_scores_of,
        needs_probabilities as needs_probabilities,
        proba_of as proba_of,
        proba_of_copies as proba_of_copies,
        takes_of as takes_of,
    )
    from calibrant.calibrators._beta import BetaCalibrator
    from calibrant.calibrators._binning import BinningCalibrator, Bins
    from calibrant.calibrators._candidates import (
        Candidates,
        ErrorsFound,
        LikelyErrors,
        likely_errors,
        top_candidates,
    )
    from calibrant.calibrators._code import (
        CodeCalibrator,
        OneVsAllCalibrator,
        calibrator_for as calibrator_for,
    )
    from calibrant.calibrators._columns import (
        ColumnsCalibrator as ColumnsCalibrator,
        ConstantAnswer,
    )
    from calibrant.calibrators._correlation import RankCorrelation, score_status_correlation
    from calibrant.calibrators._direction import (
        warn_of_columns as warn_of_columns,
        warn_of_direction as warn_of_direction,
    )
    from calibrant.calibrators._group_fit import (
        cross_fitted_effects as cross_fitted_effects,
        fit_group_effects as fit_group_effects,
    )
    from calibrant.calibrators._group_pass import group_effects_plan as group_effects_plan
    from calibrant.calibrators._groups import GroupEffects, Grouping as Grouping, in_groups as in_groups
    from calibrant.calibrators._identity import IdentityCalibrator
    from calibrant.calibrators._joint import JointCalibrator as JointCalibrator
    from calibrant.calibrators._kinds import calibrator_kinds as calibrator_kinds
    from calibrant.calibrators._matrix import MatrixCalibrator
    from calibrant.calibrators._method import (
        Method as Method,
        RowCalibrator,
        ScoreCalibrator,
        half_a_row as half_a_row,
    )
    from calibrant.calibrators._names import (
        calibrator_of_kind as calibrator_of_kind,
        can_only_rise as can_only_rise,
        made_for as made_for,
        named_method,
        names_for as names_for,
        names_taking as names_taking,
        needs_all_scores as needs_all_scores,
        new_calibrator,
    )
    from calibrant.calibrators._pav import PAVCalibrator
    from calibrant.calibrators._ranked import RankEstimates, check_n_ranks as check_n_ranks
    from calibrant.calibrators._ranked_logistic import RankedLogisticCalibrator, RankMap
    from calibrant.calibrators._ranking import lead as lead
    from calibrant.calibrators._sigmoid import SigmoidCalibrator
    from calibrant.calibrators._stack import StackCalibrator
    from calibrant.calibrators._table import AccuracyTable
    from calibrant.calibrators._temperature import TemperatureCalibrator
    from calibrant.calibrators._vector import VectorCalibrator
    from calibrant.calibrators._venn_abers import VennAbersCalibrator
    from calibrant.maps import Constant, Lines, Logistic, Map, Softmax, Steps
    from calibrant.passes import (
        Blocks,
        Cases,
        EqualBins,
        Isotonic,
        Learning,
        LogisticRegression,
        Several,
        Sums,
        travels,
    )

#: Where they are at home.
_HOME = {
    "AccuracyTable": "calibrant.calibrators._table",
    "AccuracyTableCalibrator": "calibrant.calibrators._accuracy_table",
    "BetaCalibrator": "calibrant.calibrators._beta",
    "BinningCalibrator": "calibrant.calibrators._binning",
    "Bins": "calibrant.calibrators._binning",
    "Blocks": "calibrant.passes",
    "Calibrator": "calibrant.calibrators._base",
    "CalibratorBase": "calibrant.calibrators._base",
    "Candidates": "calibrant.calibrators._candidates",
    "Cases": "calibrant.passes",
    "Choice": "calibrant._core._fields",
    "CodeCalibrator": "calibrant.calibrators._code",
    "ColumnsCalibrator": "calibrant.calibrators._columns",
    "Constant": "calibrant.maps",
    "ConstantAnswer": "calibrant.calibrators._columns",
    "EqualBins": "calibrant.passes",
    "ErrorsFound": "calibrant.calibrators._candidates",
    "Flag": "calibrant._core._fields",
    "GroupEffects": "calibrant.calibrators._groups",
    "Grouping": "calibrant.calibrators._groups",
    "IdentityCalibrator": "calibrant.calibrators._identity",
    "Isotonic": "calibrant.passes",
    "JointCalibrator": "calibrant.calibrators._joint",
    "Learning": "calibrant.passes",
    "LikelyErrors": "calibrant.calibrators._candidates",
    "Lines": "calibrant.maps",
    "Logistic": "calibrant.maps",
    "LogisticRegression": "calibrant.passes",
    "Map": "calibrant.maps",
    "MatrixCalibrator": "calibrant.calibrators._matrix",
    "Maybe": "calibrant._core._fields",
    "Method": "calibrant.calibrators._method",
    "Number": "calibrant._core._fields",
    "OneVsAllCalibrator": "calibrant.calibrators._code",
    "PAVCalibrator": "calibrant.calibrators._pav",
    "RankCorrelation": "calibrant.calibrators._correlation",
    "RankEstimates": "calibrant.calibrators._ranked",
    "RankMap": "calibrant.calibrators._ranked_logistic",
    "RankedLogisticCalibrator": "calibrant.calibrators._ranked_logistic",
    "Record": "calibrant._core._field_groups",
    "RowCalibrator": "calibrant.calibrators._method",
    "ScoreCalibrator": "calibrant.calibrators._method",
    "Several": "calibrant.passes",
    "SigmoidCalibrator": "calibrant.calibrators._sigmoid",
    "Softmax": "calibrant.maps",
    "StackCalibrator": "calibrant.calibrators._stack",
    "Steps": "calibrant.maps",
    "Sums": "calibrant.passes",
    "TemperatureCalibrator": "calibrant.calibrators._temperature",
    "VectorCalibrator": "calibrant.calibrators._vector",
    "VennAbersCalibrator": "calibrant.calibrators._venn_abers",
    "Whole": "calibrant._core._fields",
    "as_taken": "calibrant.calibrators._base",
    "calibrator_for": "calibrant.calibrators._code",
    "calibrator_kinds": "calibrant.calibrators._kinds",
    "calibrator_of_kind": "calibrant.calibrators._names",
    "can_only_rise": "calibrant.calibrators._names",
    "check_n_ranks": "calibrant.calibrators._ranked",
    "cross_fitted_effects": "calibrant.calibrators._group_fit",
    "fit_copies": "calibrant.calibrators._base",
    "fit_group_effects": "calibrant.calibrators._group_fit",
    "fit_plan": "calibrant.calibrators._base",
    "fit_rows": "calibrant.calibrators._base",
    "group_effects_plan": "calibrant.calibrators._group_pass",
    "half_a_row": "calibrant.calibrators._method",
    "in_groups": "calibrant.calibrators._groups",
    "is_auto": "calibrant.calibrators._auto",
    "lead": "calibrant.calibrators._ranking",
    "likely_errors": "calibrant.calibrators._candidates",
    "made_for": "calibrant.calibrators._names",
    "n_scores_of": "calibrant.calibrators._base",
    "named_method": "calibrant.calibrators._names",
    "names_for": "calibrant.calibrators._names",
    "names_taking": "calibrant.calibrators._names",
    "needs_all_scores": "calibrant.calibrators._names",
    "needs_probabilities": "calibrant.calibrators._base",
    "new_calibrator": "calibrant.calibrators._names",
    "proba_of": "calibrant.calibrators._base",
    "proba_of_copies": "calibrant.calibrators._base",
    "report_of": "calibrant.calibrators._auto",
    "score_status_correlation": "calibrant.calibrators._correlation",
    "takes_of": "calibrant.calibrators._base",
    "top_candidates": "calibrant.calibrators._candidates",
    "travels": "calibrant.passes",
    "warn_of_columns": "calibrant.calibrators._direction",
    "warn_of_direction": "calibrant.calibrators._direction",
}

__all__ = [
    "METHODS",
    "AccuracyTable",
    "AccuracyTableCalibrator",
    "BetaCalibrator",
    "BinningCalibrator",
    "Bins",
    "Blocks",
    "Candidates",
    "Cases",
    "Choice",
    "CodeCalibrator",
    "Constant",
    "ConstantAnswer",
    "EqualBins",
    "ErrorsFound",
    "Flag",
    "GroupEffects",
    "IdentityCalibrator",
    "Isotonic",
    "Learning",
    "LikelyErrors",
    "Lines",
    "Logistic",
    "LogisticRegression",
    "Map",
    "MatrixCalibrator",
    "Maybe",
    "Number",
    "OneVsAllCalibrator",
    "PAVCalibrator",
    "RankCorrelation",
    "RankEstimates",
    "RankMap",
    "RankedLogisticCalibrator",
    "Record",
    "RowCalibrator",
    "ScoreCalibrator",
    "Several",
    "SigmoidCalibrator",
    "Softmax",
    "StackCalibrator",
    "Steps",
    "Sums",
    "TemperatureCalibrator",
    "VectorCalibrator",
    "VennAbersCalibrator",
    "Whole",
    "likely_errors",
    "named_method",
    "new_calibrator",
    "score_status_correlation",
    "top_candidates",
    "travels",
]

__getattr__ = lazily("calibrant.calibrators", _HOME)

__dir__ = at_home(__name__)
