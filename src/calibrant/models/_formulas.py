"""The fitted chain in symbols: scores to probabilities to decisions, whatever they are written for."""

from typing import Any

from calibrant._core._fitted import check_fitted
from calibrant.calibrators import (
    Calibrator,
    CalibratorBase,
    ColumnsCalibrator,
    ConstantAnswer,
    Method,
    RowCalibrator,
    calibrator_kinds,
)
from calibrant.decisions import RULES, least_risk_in_symbols
from calibrant.maps import Chain, ExportError, Map, Program, Target, answers, answers_of_rows
from calibrant.models._combine import combine
from calibrant.models._score_model import ScoreModel, refuse_groups

#: What a row of scores is, by what the calibrator takes.
MEANINGS = {
    "score": "the score of the positive class, which is the second",
    "row": "one score per class, as in the metadata",
    "columns": "one score per column of the code",
}


def calibrator_of(model: Any, name: str, error: type[ExportError] = ExportError) -> CalibratorBase:
    """The calibrator of a chain, or the model itself, to be written for a target of this name."""
    if type(model) is ScoreModel:
        check_fitted(model, "calibrator_")
    calibrator = model.calibrator_ if type(model) is ScoreModel else model
    refuse_groups(model, f"written as {name}", "use the file of `save`, or fit without by", error)
    if not (isinstance(calibrator, CalibratorBase) and calibrator_kinds().has(calibrator)):
        if hasattr(model, "to_score_model"):
            raise error(
                f"only the calibration of a {type(model).__name__} can be written as {name}, not its "
                "learner; got both; pass model.to_score_model()"
            )
        raise error(
            "a model must be a ScoreModel or a calibrator, and the calibrator one of calibrant's own or of "
            f"the registry, to be written as {name}; got a {type(calibrator).__name__}, whose map is not "
            "known; fit one of calibrant's calibrators to its scores, or register it"
        )
    check_fitted(calibrator, "classes_")
    return calibrator


def chain_of(model: Any, name: str, *, loops: bool = False) -> Chain:
    """A fitted model as a program, to be printed as something of this name."""
    calibrator = calibrator_of(model, name)
    program = Program(calibrator.n_scores, name, loops=loops)
    proba = proba_in(program, calibrator, declared=is_declared(model))
    decision = None if calibrator is model else decision_in(proba, model).steps[0]
    return Chain(program, proba.steps, decision)


def is_declared(model: Any) -> bool:
    """Whether scores are declared to be probabilities, whatever the map would take."""
    return type(model) is ScoreModel and model.declared_kind == "probability"


def proba_in(target: Target, calibrator: CalibratorBase, *, declared: bool = False) -> Any:
    """Probabilities of the classes; none for rows that the library refuses."""
    scores = target.scores
    if isinstance(calibrator, ColumnsCalibrator):
        maps = [_map_of(each, target) for each in calibrator.calibrators_]
        columns = answers(scores, maps) if len(maps) > 1 else answers(scores.as_vector(), maps).as_column()
        how = calibrator.combining
        proba = combine(columns, how.combiner, how.code, how.weights)
        return target.refusing(proba, [declared or each.takes_probabilities for each in maps])
    fitted = _map_of(calibrator, target)
    refused = [declared or fitted.takes_probabilities] * target.n_columns
    if isinstance(calibrator, RowCalibrator):
        return target.refusing(answers_of_rows(scores, fitted), refused)
    positive = answers(scores.as_vector(), [fitted])
    return target.refusing(target.beside([(1.0 - positive).as_column(), positive.as_column()]), refused)


def decision_in(proba: Any, model: ScoreModel) -> Any:
    """What a chain decides, as a number."""
    rule = model.rule_
    if rule is None:
        return proba.first_greatest() if model.cost_ is None else least_risk_in_symbols(proba, model.cost_)
    if type(rule) not in RULES.values():
        target = proba.target
        target.refuse(
            f"a rule must be one of calibrant's own to be written as {target.name}; got a "
            f"{type(rule).__name__}, whose decisions are not known; use {', '.join(map(repr, RULES))}, or "
            "export the calibrator and decide by its probabilities"
        )
    return rule.decide_in_symbols(proba)


def _map_of(calibrator: Calibrator | ConstantAnswer, target: Target) -> Map:
    """The map of a fitted calibrator, of which a column may have one that is not ours."""
    if isinstance(calibrator, ConstantAnswer):
        return calibrator.map_
    if not (isinstance(calibrator, Method) and calibrator_kinds().has(calibrator)):
        target.refuse(
            f"a two-class calibrator must be one of calibrant's own or of the registry to be written as "
            f"{target.name}; got a {type(calibrator).__name__}, whose map is not known; fit one of "
            "calibrant's in its place"
        )
    return calibrator.map_
