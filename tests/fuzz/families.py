"""All laws: to import this is to know them."""

from fuzz import (  # noqa: F401
    calibrator_laws,
    classifier_laws,
    code_laws,
    command_laws,
    damage_laws,
    decision_laws,
    learner_laws,
    metric_laws,
    model_laws,
    pass_laws,
)

#: What is tried: numbers against slow oracles, the command on hostile files, model files, damaged files.
FAMILIES = ("numbers", "command", "models", "damage")
