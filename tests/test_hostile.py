"""Whatever comes in as whatever argument: it works, or an error of ours says why not.

The law walks over the public names, so that a new one is covered: what its parameters usually are is looked
up by name, and a parameter that nobody knows fails the test until it is told here.
"""

import dataclasses
import inspect
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.naive_bayes import GaussianNB

from calibrant import (
    CalibrantError,
    CalibrationMonitor,
    OneVsAllCalibrator,
    ProbingClassifier,
    SigmoidCalibrator,
)
from calibrant.models import to_document

N = 12
RNG = np.random.default_rng(0)
TRUTH = np.arange(N) % 3
SCORES = RNG.normal(size=(N, 3)) + np.eye(3)[TRUTH]
PROBA = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
TWO = np.arange(N) % 2
P = np.round(RNG.uniform(0.1, 0.9, N), 3)
COST = np.array([[0, 2, 5], [1, 0, 1], [3, 1, 0.0]])
COST2 = [[0, 2], [1, 0]]
CODE = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])


class Stranger:
    """Something that nobody can use."""

    def __repr__(self):
        return "a stranger"


#: What no parameter expects; made anew for every call, as generators are used up.
HOSTILE = {
    "None": lambda: None,
    "text": lambda: "zebra",
    "empty text": lambda: "",
    "bytes": lambda: b"zebra",
    "set": set,
    "full set": lambda: {1, 2},
    "dict": dict,
    "full dict": lambda: {"a": 1},
    "dict of dicts": lambda: {"a": {"b": 1}},
    "list": list,
    "tuple": tuple,
    "list of an empty list": lambda: [[]],
    "ragged": lambda: [[1, 2], [3]],
    "deeply ragged": lambda: [[[1], [2, 3]]] * N,
    "list of Nones": lambda: [None] * N,
    "list of texts": lambda: ["zebra"] * N,
    "list of sets": lambda: [set()] * N,
    "list of dicts": lambda: [{}] * N,
    "list of arrays": lambda: [np.zeros(2), np.zeros(3)],
    "mixed": lambda: [1, "a", None, 2.5] * (N // 4),
    "huge": lambda: 10**400,
    "huge ones": lambda: [10**400] * N,
    "huge beside others": lambda: [[10**400, 1.0, 2.0]] * N,
    "longdouble": lambda: np.array([np.longdouble("1e4000")] * N),
    "longdouble scalar": lambda: np.longdouble("1e4000"),
    "lossy": lambda: np.array([np.longdouble(1) / 3] * N),
    "complex": lambda: 1j,
    "complex ones": lambda: [1 + 2j] * N,
    "complex matrix": lambda: np.full((N, 3), 0.3 + 1j),
    "datetime": lambda: np.datetime64("2020-01-01"),
    "datetimes": lambda: np.array(["2020-01-01"] * N, dtype="datetime64[D]"),
    "timestamps": lambda: pd.Series(pd.to_datetime(["2020-01-01"] * N)),
    "durations": lambda: np.array([3] * N, dtype="timedelta64[s]"),
    "array of bytes": lambda: np.array([b"a"] * N),
    "array of objects": lambda: np.array([Stranger() for _ in range(N)]),
    "structured": lambda: np.zeros(N, dtype=[("a", float), ("b", int)]),
    "0-d": lambda: np.array(1.0),
    "0-d object": lambda: np.array(None),
    "3-d": lambda: np.zeros((N, 3, 2)),
    "no rows": lambda: np.zeros((0, 3)),
    "no columns": lambda: np.zeros((N, 0)),
    "sparse": lambda: sparse.csr_array(np.eye(N, 3)),
    "sparse matrix": lambda: sparse.csr_matrix(np.eye(3)),
    "generator": lambda: (number for number in range(N)),
    "function": lambda: len,
    "method": lambda: "zebra".upper,
    "class": lambda: dict,
    "learner class": lambda: GaussianNB,
    "stranger": Stranger,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "minus inf": lambda: -float("inf"),
    "nans": lambda: [float("nan")] * N,
    "infs": lambda: np.full((N, 3), np.inf),
    "negative": lambda: -3,
    "zero": lambda: 0,
    "half": lambda: 2.5,
    "true": lambda: True,
    "ellipsis": lambda: ...,
    "slice": lambda: slice(3),
    "range": lambda: range(3),
    "frame": lambda: pd.DataFrame({"a": ["x"] * N, "b": [None] * N}),
    "empty frame": pd.DataFrame,
    "frame with a name twice": lambda: pd.DataFrame(np.zeros((N, 2)), columns=["a", "a"]),
}  # fmt: skip

#: What the parameters of functions usually are.
GOOD = {
    "X": SCORES, "y": TRUTH, "scores": SCORES, "proba": PROBA, "cost": COST, "sample_weight": np.ones(N),
    "weights": None, "classes": None, "code": CODE, "answers": P.reshape(4, 3), "k": 3, "n_classes": 3,
    "correct": TWO, "confidence": P, "thresholds": [0.2, 0.5], "amount_hat": P, "donated": P,
    "decisions": TRUTH, "y_positions": TRUTH, "calibrator": "pav", "combine": "normalize", "rule": "expected",
    "name": "pav",
    "n_rows": 100, "model": OneVsAllCalibrator("sigmoid").fit(SCORES, TRUTH), "forecasts": {"a": P},
    "counts": [3, 4, 5], "estimator": DummyClassifier(), "rank": 1, "n_resamples": 2, "n_probes": 2,
    "document": to_document(SigmoidCalibrator().fit(P, TWO)), "i": 0, "j": 1,
    "log_e_values": P, "alpha": 0.1, "monitor": CalibrationMonitor().update(PROBA, TRUTH),
}  # fmt: skip

PAIR = {"y": TWO, "scores": P, "proba": P, "cost": COST2}
#: What they are where they mean something else.
ELSEWHERE = {
    "calibrators.BetaCalibrator": PAIR,
    "calibrators.BinningCalibrator": PAIR,
    "calibrators.VennAbersCalibrator": PAIR,
    "calibrators.IdentityCalibrator": PAIR,
    "calibrators.PAVCalibrator": PAIR,
    "calibrators.SigmoidCalibrator": PAIR,
    "calibrators.RankedLogisticCalibrator": {"smooth": True},
    "calibrators.TemperatureCalibrator": {"kind": "margin"},
    "calibrators.VectorCalibrator": {"kind": "margin"},
    "calibrators.MatrixCalibrator": {"kind": "margin"},
    "calibrators.StackCalibrator": {"kind": "margin"},
    "classifiers.CalibratedClassifier": {"cv": 2},
    "classifiers.CostSensitiveClassifier": {"cv": 2},
    "classifiers.ProbingClassifier": {"cv": 2, "n_probes": 1},
    "classifiers.CostingClassifier": {"n_resamples": 1},
    "classifiers.MetaCostClassifier": {"n_resamples": 1},
    "classifiers.probing_curve": {
        "model": ProbingClassifier(DummyClassifier(), 1).fit(SCORES, TWO),
        "y": TWO,
    },
    "codes.expected_answers": {"proba": PROBA},
    "codes.kl_objective": {"proba": PROBA[:4]},
    "codes.random_dense": {"n_draws": 10},
    "codes.random_sparse": {"n_draws": 10},
    "decisions.add_to_column": {"column": 0, "amount": 0.1},
    "decisions.add_to_row": {"row": 0, "amount": 0.1},
    "decisions.boundary_segment": {"k": 1},
    "decisions.column_scale_point": {"column": 0, "factor": 1.1},
    "decisions.compare_rules": {"cv": 2, "rules": ["expected"]},
    "decisions.cost_matrix": {"classes": [0, 1, 2]},
    "decisions.mossman_matrix": {"first": 0.3, "second": 0.4},
    "decisions.multiply_column": {"column": 0, "factor": 2.0},
    "decisions.multiply_row": {"row": 0, "factor": 2.0},
    "decisions.partition_matrix": {"delta": [0.0, 0.1, 0.0]},
    "decisions.profit_curve": {"proba": P},
    "decisions.row_shift_bounds": {"row": 0},
    "decisions.scale_costs": {"factor": 2.0},
    "decisions.two_class_threshold": PAIR,
    "decisions.weight_matrix": {"weights": [1.0, 2.0, 1.0]},
    "learners.BoostedNaiveBayes": {"X": TRUTH[:, None], "y": TWO, "n_rounds": 1},
    "learners.CategoricalNaiveBayes": {"X": TRUTH[:, None]},
    "learners.RegularizedQDA": {"X": SCORES[:, :2]},
    "metrics.auc": PAIR,
    "metrics.cross_entropy": PAIR,
    "metrics.isotonic_reliability": {**PAIR, "n_resamples": 10},
    "metrics.isotonic_reliability_by_class": {"n_resamples": 10},
    "metrics.evaluate_difference": {"first": PROBA, "second": PROBA},
    "metrics.paired_difference": {"first": P, "second": P},
    "metrics.mailing_profit": {"proba": P, "cost": 0.68},
    "metrics.reliability_bins": PAIR,
    "metrics.rescale_margin": PAIR,
    "metrics.rms_error": PAIR,
    "metrics.roc_points": PAIR,
    "models.compare_forecasts": PAIR,
    "models.compare_methods": {**PAIR, "methods": ["identity"], "kind": "probability", "cv": 2},
    "models.describe": {"path_or_document": GOOD["document"]},
}

#: Names that are no part of this law, each with a reason.
LEFT_OUT = {
    "decisions.DecisionRule": "is abstract",
    "learners.BaggedVotesClassifier": "is scikit-learn's, and its checks are",
    "learners.LaplaceTreeClassifier": "is scikit-learn's, and its checks are",
    "learners.PrunedTreeClassifier": "is scikit-learn's, and its checks are",
    "models.load": "is about files, see tests/models/test_files.py",
    "models.save": "is about files, see tests/models/test_files.py",
    "models.export": "is about files, see tests/models/test_export.py",
    "models.save_onnx": "is about files, see tests/models/test_onnx.py",
    "models.to_onnx": "needs another package, see tests/models/test_onnx.py",
    "models.register_skl2onnx": "needs another package, see tests/models/test_skl2onnx.py",
    "models.to_python": "gives a program, see tests/models/test_export_python.py",
    "models.to_sql": "gives a statement, see tests/models/test_export_sql.py",
    "report.Reliability": "is a result",
    "calibrators.RowCalibrator": "is a base",
    "calibrators.ScoreCalibrator": "is a base",
    **{
        f"calibrators.{name}": "is for authors of methods, who are trusted"
        for name in [
            "Choice",
            "Flag",
            "Maybe",
            "Number",
            "Record",
            "Whole",
            "Constant",
            "Lines",
            "Logistic",
            "Map",
            "Softmax",
            "Steps",
            "Cases",
            "EqualBins",
            "Isotonic",
            "Learning",
            "LogisticRegression",
            "Several",
            "Sums",
            "travels",
        ]
    },
}
#: Methods for the rooms below, which pass checked rows.
SEAMS = {
    "fit_rows", "fit_cases", "fit_columns", "plan", "column_plan", "answers", "keep_parts", "read_decisions",
    "labels_of_columns", "name_columns", "order_of_columns", "check_cost", "check_parameters", "directions",
    "decide_positions", "decide_in_symbols", "kind", "from_parameters", "fitted_numbers", "take_fitted",
    "fit_copies", "for_new_rows", "name_group_column", "proba_of", "set_params", "set_output", "get_params",
    "from_fitted",
}  # fmt: skip
OURS = (UserWarning, ConvergenceWarning, DataConversionWarning)

ROOMS = (
    *(
        "calibrators",
        "classifiers",
        "codes",
        "decisions",
        "learners",
        "metrics",
        "models",
        "monitor",
        "report",
    ),
)


def public():
    """All that can be called, under the name of its room."""
    found = {}
    for room in ROOMS:
        module = import_module(f"calibrant.{room}")
        for name in module.__all__:
            each = getattr(module, name)
            is_result = isinstance(each, type) and not hasattr(each, "fit") and not _is_combiner(each)
            if callable(each) and not is_result and f"{room}.{name}" not in LEFT_OUT:
                found[f"{room}.{name}"] = each
    return found


def _is_combiner(each):
    return dataclasses.is_dataclass(each) and "__call__" in vars(each)


def arguments(name, signature):
    """What is usually passed."""
    known = GOOD | ELSEWHERE.get(name, {})
    found = {}
    for parameter in signature.parameters.values():
        needed = parameter.default is parameter.empty
        given = parameter.name in ELSEWHERE.get(name, {})
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) or not (needed or given):
            continue
        assert parameter.name in known, f"say in {__file__} what {parameter.name} of {name} usually is"
        found[parameter.name] = known[parameter.name]
    return found


def parameters_of(signature):
    return [
        each.name
        for each in signature.parameters.values()
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]


def calls_of(name, each):
    """Every parameter of something public, with a call that gives it."""
    signature = inspect.signature(each)
    usual = arguments(name, signature)
    if not isinstance(each, type):
        yield from ((word, lambda **given: each(**usual | given)) for word in parameters_of(signature))
        return
    if _is_combiner(each):
        yield from (
            (word, lambda **given: each(**usual | given)(np.eye(3) * 2 - 1, P.reshape(4, 3)))
            for word in parameters_of(signature)
        )
        return
    fit = inspect.signature(each.fit)
    data = arguments(name, fit.replace(parameters=list(fit.parameters.values())[1:]))
    yield from (
        (word, lambda **given: each(**usual | given).fit(**data)) for word in parameters_of(signature)
    )
    yield from (
        (
            f"fit.{word}",
            lambda given_name=word, **given: each(**usual).fit(**data | {given_name: given["value"]}),
        )
        for word in parameters_of(fit)[1:]
    )
    fitted = each(**usual).fit(**data)
    for method_name, method in inspect.getmembers(fitted, inspect.ismethod):
        inside = method.__module__.startswith("calibrant.")
        if method_name.startswith("_") or method_name in {"fit", *SEAMS} or not inside:
            continue
        asked = inspect.signature(method)
        needed = arguments(name, asked)
        for word in parameters_of(asked):
            yield (
                f"{method_name}.{word}",
                lambda given_name=word, method=method, needed=needed, **given: _drained(
                    method(**needed | {given_name: given["value"]})
                ),
            )


def _drained(answer):
    return list(answer) if inspect.isgenerator(answer) else answer


def test_what_is_usually_passed_works():
    for name, each in public().items():
        for word, call in calls_of(name, each):
            assert word
            if not isinstance(each, type):
                call()


@pytest.mark.parametrize("name", public())
def test_whatever_comes_in_works_or_is_refused_by_an_error_of_ours(name):
    faults = []
    step = 5 if name == "report.summarize" else 1  # every call that works takes a tenth of a second
    for word, call in calls_of(name, public()[name]):
        for kind, new in list(HOSTILE.items())[::step]:
            given = {"value": new()} if "." in word else {word: new()}
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    call(**given)
                except CalibrantError:
                    pass
                except Exception as error:
                    faults.append(f"{word} = {kind}: {type(error).__name__}: {error}")
            faults += [f"{word} = {kind} warns: {w.message}" for w in caught if w.category not in OURS]
    assert not faults, "\n".join(faults)
