"""From probabilities to the decision that costs least.

`cost[i, j]` is the cost of deciding i when the truth is j: rows are decisions, columns are truths, in every
function of this room. Many libraries use the transpose.

==================  ====================================================================================
deciding            `decide`; `cost_matrix` for costs by label
what it costs       `realised_cost`, `expected_cost`
ready-made costs    `rarity_costs`, `random_costs`
geometry            `two_class_threshold`, `equal_risk_point`, `boundary_segment`
properties          `reasonable`, `scale_costs`, `add_to_column`, `zero_diagonal`, `add_to_row`,
                    `row_shift_bounds`, `multiply_column`, `column_scale_point`, `multiply_row`
learned rules       `ExpectedCostRule`, `ParallelPartitionRule`, `LachicheFlachRule`, `MossmanRule`;
                    `new_rule` by name, `compare_rules` side by side, `DecisionRule` for one's own
their matrices      `partition_matrix`, `weight_matrix`, `mossman_matrix`
money               `mailing_costs`, `profit_curve`
==================  ====================================================================================
"""

from typing import TYPE_CHECKING

from calibrant._core._lazy import at_home, lazily

if TYPE_CHECKING:
    from calibrant.decisions._boundaries import boundary_segment, two_class_threshold
    from calibrant.decisions._comparison import RuleComparison, RuleResult, compare_rules
    from calibrant.decisions._cost_table import CostTable, expected_cost, realised_cost
    from calibrant.decisions._decide import (
        decide,
        least_risk as least_risk,
        least_risk_in_symbols as least_risk_in_symbols,
    )
    from calibrant.decisions._equal_risk import EqualRiskPoint, equal_risk_point
    from calibrant.decisions._estimates import check_estimates as check_estimates
    from calibrant.decisions._expected import ExpectedCostRule
    from calibrant.decisions._labelled import cost_matrix, costs_of_frame as costs_of_frame
    from calibrant.decisions._lachiche_flach import LachicheFlachRule, weight_matrix
    from calibrant.decisions._ledger import (
        Ledger as Ledger,
        saved_share as saved_share,
        saving_estimate as saving_estimate,
    )
    from calibrant.decisions._mailing import ProfitCurve, mailing_costs, profit_curve
    from calibrant.decisions._matrix import (
        check_cost as check_cost,
        reasonable,
        refuse_unreasonable as refuse_unreasonable,
        too_cheap as too_cheap,
    )
    from calibrant.decisions._mossman import MossmanRule, mossman_matrix
    from calibrant.decisions._names import (
        RULES as RULES,
        new_rule,
        rule_kinds as rule_kinds,
        takes_any as takes_any,
    )
    from calibrant.decisions._parallel import ParallelPartitionRule, partition_matrix
    from calibrant.decisions._properties import (
        MovedPoint,
        add_to_column,
        add_to_row,
        column_scale_point,
        multiply_column,
        multiply_row,
        row_shift_bounds,
        scale_costs,
        zero_diagonal,
    )
    from calibrant.decisions._ready_costs import random_costs, rarity_costs
    from calibrant.decisions._rule import DecisionRule

#: Where they are at home.
_HOME = {
    "CostTable": "calibrant.decisions._cost_table",
    "DecisionRule": "calibrant.decisions._rule",
    "EqualRiskPoint": "calibrant.decisions._equal_risk",
    "ExpectedCostRule": "calibrant.decisions._expected",
    "LachicheFlachRule": "calibrant.decisions._lachiche_flach",
    "Ledger": "calibrant.decisions._ledger",
    "MossmanRule": "calibrant.decisions._mossman",
    "MovedPoint": "calibrant.decisions._properties",
    "ParallelPartitionRule": "calibrant.decisions._parallel",
    "ProfitCurve": "calibrant.decisions._mailing",
    "RULES": "calibrant.decisions._names",
    "RuleComparison": "calibrant.decisions._comparison",
    "RuleResult": "calibrant.decisions._comparison",
    "add_to_column": "calibrant.decisions._properties",
    "add_to_row": "calibrant.decisions._properties",
    "boundary_segment": "calibrant.decisions._boundaries",
    "check_cost": "calibrant.decisions._matrix",
    "check_estimates": "calibrant.decisions._estimates",
    "column_scale_point": "calibrant.decisions._properties",
    "compare_rules": "calibrant.decisions._comparison",
    "cost_matrix": "calibrant.decisions._labelled",
    "costs_of_frame": "calibrant.decisions._labelled",
    "decide": "calibrant.decisions._decide",
    "equal_risk_point": "calibrant.decisions._equal_risk",
    "expected_cost": "calibrant.decisions._cost_table",
    "least_risk": "calibrant.decisions._decide",
    "least_risk_in_symbols": "calibrant.decisions._decide",
    "mailing_costs": "calibrant.decisions._mailing",
    "mossman_matrix": "calibrant.decisions._mossman",
    "multiply_column": "calibrant.decisions._properties",
    "multiply_row": "calibrant.decisions._properties",
    "new_rule": "calibrant.decisions._names",
    "partition_matrix": "calibrant.decisions._parallel",
    "profit_curve": "calibrant.decisions._mailing",
    "random_costs": "calibrant.decisions._ready_costs",
    "rarity_costs": "calibrant.decisions._ready_costs",
    "realised_cost": "calibrant.decisions._cost_table",
    "reasonable": "calibrant.decisions._matrix",
    "refuse_unreasonable": "calibrant.decisions._matrix",
    "too_cheap": "calibrant.decisions._matrix",
    "row_shift_bounds": "calibrant.decisions._properties",
    "rule_kinds": "calibrant.decisions._names",
    "saved_share": "calibrant.decisions._ledger",
    "saving_estimate": "calibrant.decisions._ledger",
    "scale_costs": "calibrant.decisions._properties",
    "takes_any": "calibrant.decisions._names",
    "two_class_threshold": "calibrant.decisions._boundaries",
    "weight_matrix": "calibrant.decisions._lachiche_flach",
    "zero_diagonal": "calibrant.decisions._properties",
}

__all__ = [
    "CostTable",
    "DecisionRule",
    "EqualRiskPoint",
    "ExpectedCostRule",
    "LachicheFlachRule",
    "MossmanRule",
    "MovedPoint",
    "ParallelPartitionRule",
    "ProfitCurve",
    "RuleComparison",
    "RuleResult",
    "add_to_column",
    "add_to_row",
    "boundary_segment",
    "column_scale_point",
    "compare_rules",
    "cost_matrix",
    "decide",
    "equal_risk_point",
    "expected_cost",
    "mailing_costs",
    "mossman_matrix",
    "multiply_column",
    "multiply_row",
    "new_rule",
    "partition_matrix",
    "profit_curve",
    "random_costs",
    "rarity_costs",
    "realised_cost",
    "reasonable",
    "row_shift_bounds",
    "scale_costs",
    "two_class_threshold",
    "weight_matrix",
    "zero_diagonal",
]

__getattr__ = lazily("calibrant.decisions", _HOME)
__dir__ = at_home(__name__)
