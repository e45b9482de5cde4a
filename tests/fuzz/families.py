"""All laws: to import this is to know them."""

from fuzz import calibrator_laws, command_laws, damage_laws, model_laws  # noqa: F401

#: What is tried: numbers against slow oracles, the command on hostile files, model files, damaged files.
FAMILIES = ("numbers", "command", "models", "damage")
