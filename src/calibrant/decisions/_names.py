"""The ready-made rules by name."""

from functools import cache
from typing import Any

from calibrant._core._checks import not_among
from calibrant._core._errors import ParameterError
from calibrant._core._estimator import clone
from calibrant._core._kinds import Kinds
from calibrant.decisions._expected import ExpectedCostRule
from calibrant.decisions._lachiche_flach import LachicheFlachRule
from calibrant.decisions._mossman import MossmanRule
from calibrant.decisions._parallel import ParallelPartitionRule
from calibrant.decisions._rule import DecisionRule

RULES: dict[str, type[DecisionRule]] = {
    rule.name: rule for rule in (ExpectedCostRule, ParallelPartitionRule, LachicheFlachRule, MossmanRule)
}


@cache
def rule_kinds() -> Kinds:
    """The rules that can be saved."""
    return Kinds(rule.kind_in_file() for rule in RULES.values())


def takes_any(rule: object) -> bool:
    """Whether a rule, or the one of this name, can take other decisions than the classes."""
    return bool(getattr(RULES.get(rule, rule) if isinstance(rule, str) else rule, "any_decisions", False))


def new_rule(rule: object) -> Any:
    """Give a new, unfitted rule: by its name, or a copy of the one given.

    Parameters
    ----------
    rule : {"expected", "parallel", "lachiche_flach", "mossman"} or object
        A name, or an object with ``fit(proba, y, cost, sample_weight)`` and ``decide(proba)``.

    Returns
    -------
    object
        The rule.

    Examples
    --------
    >>> from calibrant.decisions import new_rule
    >>> new_rule("parallel")
    ParallelPartitionRule()
    """
    if isinstance(rule, str):
        if rule not in RULES:
            raise not_among("rule", rule, RULES, otherwise=", or an object")
        return RULES[rule]()
    if isinstance(rule, type) or not (hasattr(rule, "fit") and hasattr(rule, "decide")):
        raise ParameterError(
            "rule must be a name or an object with fit(proba, y, cost, sample_weight) and decide(proba); "
            f"got {rule!r}"
        )
    return clone(rule)
