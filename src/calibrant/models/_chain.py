"""How a `ScoreModel` is saved: its calibrator, its costs, its rule, and what it remembers of the training."""

from typing import Any

import numpy as np

from calibrant import calibrators, decisions
from calibrant._core._arrays import Array
from calibrant._core._field_groups import (
    ListOf,
    Matrix,
    Numbers,
    Record,
    check_keys,
    check_length,
    object_schema,
)
from calibrant._core._fields import PROBABILITY, Choice, Maybe, Number, Schema, Text, Whole
from calibrant._core._fitted import check_fitted
from calibrant._core._kinds import Kind, one_of
from calibrant._core._label_field import Labels
from calibrant._core._names import NamedColumns
from calibrant._core._place import Place
from calibrant.calibrators import (
    KINDS,
    Calibrator,
    ScoreCalibrator,
    calibrator_kinds,
    n_scores_of,
    takes_of,
)
from calibrant.models._costs import Costs
from calibrant.models._head import CLASSES, check_head
from calibrant.models._score_model import ScoreModel
from calibrant.models._summary import FitMetrics, TrainingSummary

ACTIONS = Labels(1, "str", "int", "float", "bool", "mixed")
#: What a row of scores is, by what the calibrator takes.
FORMS = {"score": "one_per_row", "row": "one_per_class", "columns": "one_per_column_of_the_code"}
SCORES = Choice(*FORMS.values())
SCORE_KIND = Choice(*KINDS)
COST = Matrix()
GROUPS = Record(
    column=Maybe(Text("the name of a column", r"[\s\S]{1,1000}")),
    names=ListOf(Text("the name of a group", r"[\s\S]*"), least=1, naming="group"),
    intercepts=Matrix(),
    slopes=Numbers(Number()),
    spreads=ListOf(Number(0.0), least=2),
)

SCORE_COLUMNS = ListOf(Text("the name of a column", r"[\s\S]{1,1000}"), least=1, naming="column")
#: The fields that a file may have.
OPTIONAL = {"score_kind": SCORE_KIND, "groups": GROUPS}
_METRIC = Maybe(Number(infinite=True))
TRAINING = Maybe(
    Record(
        n_rows=Whole(1),
        weight=Number(above=0.0),
        base_rates=Numbers(PROBABILITY, least_length=2),
        n_folds=Whole(0),
        n_measured=Whole(0),
        score_columns=Maybe(SCORE_COLUMNS),
        metrics=Record(FitMetrics, **dict.fromkeys(FitMetrics.__dataclass_fields__, _METRIC)),
    )
)


class ScoreModelKind(Kind):
    """The chain: parts of other kinds under names of their own."""

    keys = ("kind", "scores", "calibrator", "decision")

    def __init__(self) -> None:
        self.type: Any = ScoreModel
        self.name, self.parameters, self.fitted = "score_model", Record(), None

    def write(self, model: ScoreModel) -> dict[str, Any]:
        """Take a fitted model apart."""
        check_fitted(model, "classes_")
        calibrator = model.calibrator_
        written = calibrator_kinds().of(calibrator).write(calibrator)
        decision = None
        if model.cost_ is not None:
            rule = None if model.rule_ is None else decisions.rule_kinds().of(model.rule_).write(model.rule_)
            decision = {
                "actions": ACTIONS.write(model.actions_),
                "cost": COST.write(model.cost_),
                "rule": rule,
            }
        plain = {
            "kind": self.name,
            "scores": form_of_scores(calibrator),
            "calibrator": written,
            "decision": decision,
        }
        if model.declared_kind != "margin":
            plain["score_kind"] = SCORE_KIND.write(model.declared_kind)
        if model.groups_ is not None:
            plain["groups"] = GROUPS.write(model.groups_)
        return plain

    def put_together(self, plain: dict[str, Any], at: Place) -> ScoreModel:
        """Make the fitted model of a document."""
        check_head(plain, self.keys[1:], OPTIONAL, at)
        classes: Array = CLASSES.read(plain["classes"], at / "classes")
        declared = SCORE_KIND.read(plain["score_kind"], at / "score_kind") if "score_kind" in plain else None
        training = TRAINING.read(plain["training"], at / "training")
        scores = SCORES.read(plain["scores"], at / "scores")
        costs = rule = summary = None
        groups = _read_groups(plain["groups"], at / "groups", classes) if "groups" in plain else None
        if training is not None:
            columns = training["score_columns"]
            summary = TrainingSummary(**training | {"score_columns": columns and tuple(columns)})
        kind = calibrator_kinds().named(plain["calibrator"], at / "calibrator", fitted=True)
        if issubclass(kind.type, ScoreCalibrator):
            check_length(
                classes, 2, at / "classes" / "values", "as a calibrator of one score has two classes"
            )
        calibrator: Any = kind.read(plain["calibrator"], at / "calibrator", classes)
        n_scores, form = n_scores_of(calibrator), FORMS[calibrator.takes]
        if scores != form:
            (at / "scores").refuse(f"be {form!r} for this calibrator", scores)
        if plain["decision"] is not None:
            costs, rule = _read_decision(plain["decision"], at / "decision", classes)
        model = ScoreModel._of_parts(calibrator, classes, costs, rule, summary, declared, groups)
        if summary is not None:
            place = at / "training"
            check_length(summary.base_rates, len(classes), place / "base_rates", "one per class")
            if summary.score_columns is not None:
                check_length(summary.score_columns, n_scores, place / "score_columns", "one per column")
                NamedColumns.name_columns(model, summary.score_columns)
        return model

    def variants(self) -> list[dict[str, Schema]]:
        """The schemas of the fields."""
        rules = [{"$ref": f"#/$defs/{name}"} for name in decisions.rule_kinds().by_name]
        calibrators = [{"$ref": f"#/$defs/{name}"} for name in calibrator_kinds().by_name]
        decision = {
            "actions": ACTIONS.schema(),
            "cost": COST.schema(),
            "rule": {"anyOf": [{"type": "null"}, *rules]},
        }
        return [
            {
                "kind": {"const": self.name},
                "scores": SCORES.schema(),
                "calibrator": one_of(calibrators),
                "decision": {"anyOf": [{"type": "null"}, object_schema(decision)]},
            }
        ]

    def definitions(self) -> dict[str, Schema]:
        """Nothing that others refer to."""
        return {}


SCORE_MODEL = ScoreModelKind()


def form_of_scores(calibrator: Calibrator) -> str:
    """What a row of scores is for this calibrator."""
    return FORMS[takes_of(calibrator)]


def _read_groups(plain: Any, at: Place, classes: Array) -> "calibrators.GroupEffects":
    """What sets groups apart, which fits the classes."""
    given = GROUPS.read(plain, at)
    names, intercepts = tuple(given["names"]), given["intercepts"]
    check_length(given["slopes"], len(names), at / "slopes", "one per group")
    check_length(given["spreads"], 2, at / "spreads", "of intercepts and slopes")
    if intercepts.shape != (len(names), len(classes)):
        (at / "intercepts").fail(
            f"must have one row per group and one column per class, shape {(len(names), len(classes))}; got "
            f"shape {intercepts.shape}"
        )
    spreads = float(given["spreads"][0]), float(given["spreads"][1])
    return calibrators.GroupEffects(names, intercepts, given["slopes"], spreads, given["column"])


def _read_decision(plain: Any, at: Place, classes: Array) -> tuple[Costs, Any]:
    """The costs and the fitted rule."""
    if type(plain) is not dict:
        at.refuse("be null or an object", plain)
    check_keys(plain, ("actions", "cost", "rule"), at)
    actions, cost = ACTIONS.read(plain["actions"], at / "actions"), COST.read(plain["cost"], at / "cost")
    shape = (len(actions), len(classes))
    if cost.shape != shape:
        (at / "cost").fail(
            f"must have one row per action and one column per class, shape {shape}; got shape {cost.shape}"
        )
    costs = Costs(cost, actions, actions.tolist() == classes.tolist())
    if costs.of_classes and not decisions.reasonable(cost):
        (at / "cost").fail("must make every class the cheapest decision when it is the truth; it does not")
    return costs, None if plain["rule"] is None else _read_rule(plain["rule"], at / "rule", costs)


def _read_rule(plain: Any, at: Place, costs: Costs) -> Any:
    """The fitted rule, which must be about these costs."""
    rule = decisions.rule_kinds().named(plain, at, fitted=True).read(plain, at, costs.actions)
    if not (costs.of_classes or decisions.takes_any(rule)):
        at.fail("must be 'expected' or 'parallel' where there are other actions than the classes; it is not")
    if rule.matrix_.shape != costs.matrix.shape:
        n_actions, n_classes = costs.matrix.shape
        among = f"{n_classes} classes" if costs.of_classes else f"{n_actions} actions of {n_classes} classes"
        at.fail(f"must decide among the {among}; it does not")
    if isinstance(rule, decisions.ExpectedCostRule) and not np.array_equal(rule.matrix_, costs.matrix):
        (at / "fitted" / "matrix").fail("must be the costs of the decision; it differs from them")
    return rule
