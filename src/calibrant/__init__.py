"""Classifier scores into calibrated probabilities, and those into least-cost decisions.

The names below are imported when they are first used, so that `import calibrant` costs nothing.
"""

from importlib import import_module

_HOME = {
    "AccuracyTableCalibrator": "calibrators",
    "BetaCalibrator": "calibrators",
    "BinningCalibrator": "calibrators",
    "CalibrantError": "_core._errors",
    "CalibratedClassifier": "classifiers",
    "CalibrationMonitor": "monitor",
    "CodeCalibrator": "calibrators",
    "CostSensitiveClassifier": "classifiers",
    "CostingClassifier": "classifiers",
    "DataError": "_core._errors",
    "IdentityCalibrator": "calibrators",
    "MatrixCalibrator": "calibrators",
    "MetaCostClassifier": "classifiers",
    "MissingExtraError": "_core._errors",
    "OneVsAllCalibrator": "calibrators",
    "PAVCalibrator": "calibrators",
    "ParameterError": "_core._errors",
    "ProbingClassifier": "classifiers",
    "RankedLogisticCalibrator": "calibrators",
    "ScoreDirectionWarning": "_core._errors",
    "ScoreModel": "models",
    "SigmoidCalibrator": "calibrators",
    "StackCalibrator": "calibrators",
    "TemperatureCalibrator": "calibrators",
    "VectorCalibrator": "calibrators",
    "VennAbersCalibrator": "calibrators",
    "export": "models",
    "likely_errors": "calibrators",
    "load": "models",
    "save": "models",
    "top_candidates": "calibrators",
}
_ROOMS = (
    "calibrators",
    "classifiers",
    "codes",
    "decisions",
    "files",
    "learners",
    "metrics",
    "models",
    "monitor",
    "plots",
    "report",
    "serve",
)

__all__ = [
    "AccuracyTableCalibrator",
    "BetaCalibrator",
    "BinningCalibrator",
    "CalibrantError",
    "CalibratedClassifier",
    "CalibrationMonitor",
    "CodeCalibrator",
    "CostSensitiveClassifier",
    "CostingClassifier",
    "DataError",
    "IdentityCalibrator",
    "MatrixCalibrator",
    "MetaCostClassifier",
    "MissingExtraError",
    "OneVsAllCalibrator",
    "PAVCalibrator",
    "ParameterError",
    "ProbingClassifier",
    "RankedLogisticCalibrator",
    "ScoreDirectionWarning",
    "ScoreModel",
    "SigmoidCalibrator",
    "StackCalibrator",
    "TemperatureCalibrator",
    "VectorCalibrator",
    "VennAbersCalibrator",
    "__version__",
    "calibrators",
    "classifiers",
    "codes",
    "decisions",
    "export",
    "files",
    "learners",
    "likely_errors",
    "load",
    "metrics",
    "models",
    "monitor",
    "plots",
    "report",
    "save",
    "serve",
    "top_candidates",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        value: object = getattr(import_module(f"calibrant.{_HOME[name]}"), name)
    elif name in _ROOMS:
        value = import_module(f"calibrant.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("calibrant")
    else:
        raise AttributeError(f"module 'calibrant' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
