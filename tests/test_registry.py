"""What holds for every method of the registry: whoever adds one is told here what is missing.

Nothing below knows a method by name. What holds to the last bit, and what to rounding, follows from what a
method asks of the rows (`registry_cases`).
"""

import json
import pickle
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings, strategies as st
from jsonschema import Draft202012Validator
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import estimator_checks

from calibrant import CalibrantError, CalibratedClassifier, ScoreModel
from calibrant._core._errors import ParameterError
from calibrant._core._fields import Seed
from calibrant._core._place import Place
from calibrant.calibrators import METHODS, JointCalibrator, fit_plan, named_method
from calibrant.codes import all_pairs
from calibrant.files import PassOptions, Rows, compare, fit
from calibrant.maps import MAPS, NUMPY, AnyMap, Map
from calibrant.models import compare_methods, from_document, load, to_document
from calibrant.models._schema import make_schema
from calibrant.passes import Fold, Reading, TakeSample
from cli.calling import here
from files.scatter import run_scattered
from models.export_cases import BY_STEPS, FAR, exported_proba
from models.onnx_cases import proba_of
from models.test_golden import FILES
from registry_cases import BY_NUMBER, CASES, MAP_EXAMPLES, METHOD_CASES, N_ROWS, OURS, PLAIN_CASES, take

#: The laws hold for any labels: those that chance has put the wrong way round, or that scores tell apart.
pytestmark = [
    pytest.mark.filterwarnings("ignore::calibrant.ScoreDirectionWarning"),
    pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}"),
]
every = pytest.mark.parametrize("case", CASES, ids=str)
every_method = pytest.mark.parametrize("case", METHOD_CASES, ids=str)
every_plain = pytest.mark.parametrize("case", PLAIN_CASES, ids=str)
every_name = pytest.mark.parametrize("name", OURS)
#: A case that breaks a law is a seed, of which none is smaller than another.
once = settings(phases=[Phase.generate])
few = settings(once, max_examples=6)
SEEDS = st.integers(0, 2**32 - 1)
SCHEMA = Draft202012Validator(make_schema())
DOCS = Path(__file__).parents[1] / "docs"


def assert_close(one, other, tolerance=1e-12):
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


def assert_same(one, other, query):
    """Two calibrators are the same to the last bit, in what they say and in what they keep."""
    np.testing.assert_array_equal(one.predict_proba(query), other.predict_proba(query))
    assert to_document(one) == to_document(other)
    assert set(vars(one)) == set(vars(other))


# Laws of the fit


@every
@few
@given(seed=SEEDS, n_rows=st.integers(20, 60))
def test_a_weight_is_a_number_of_copies_and_none_is_absence(case, seed, n_rows):
    scores, y = case.rows(n_rows, seed)
    weight = np.random.default_rng(seed).integers(0, 4, n_rows)
    if any(isinstance(each, BY_NUMBER) for each in case.asked()):
        weight = np.minimum(weight, 1)
    weight[: case.n_classes] = 1  # every class is there
    weighted = case.new().fit(scores, y, weight)
    copied = case.new().fit(np.repeat(scores, weight, axis=0), np.repeat(y, weight))
    assert_close(weighted.predict_proba(case.query()), copied.predict_proba(case.query()))


@every
@few
@given(seed=SEEDS)
def test_rows_of_weight_zero_are_absent_to_the_last_bit(case, seed):
    scores, y = case.rows(seed=seed)
    weight = np.random.default_rng(seed).choice([0.0, 0.5, 1.7], len(y))
    weight[: case.n_classes] = 1.0
    kept = weight > 0
    whole = case.new().fit(scores, y, weight)
    assert_same(whole, case.new().fit(scores[kept], y[kept], weight[kept]), case.query())


@every
@few
@given(seed=SEEDS)
def test_the_order_of_the_rows_does_not_matter(case, seed):
    scores, y = case.rows(seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    here_, there = case.new().fit(scores, y), case.new().fit(scores[order], y[order])
    assert_close(here_.predict_proba(case.query()), there.predict_proba(case.query()), case.tolerance)


@every
@pytest.mark.parametrize("names", [(-1, 4, 9), (0.0, 1.0, 2.5), ("no", "up", "yes")], ids=str)
def test_other_labels_keep_the_numbers(case, names):
    scores, y = case.rows()
    names = np.array(names[: case.n_classes])
    fitted = case.new().fit(scores, names[y])
    assert fitted.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(
        fitted.predict_proba(case.query()), case.new().fit(scores, y).predict_proba(case.query())
    )


@pytest.mark.parametrize("case", [case for case in CASES if case.form != "score"], ids=str)
@few
@given(data=st.data())
def test_relabelling_permutes_the_columns(case, data):
    scores, y = case.rows(seed=data.draw(SEEDS), ties=False)  # of equal scores the first is taken first
    old_of = np.array(data.draw(st.permutations(range(case.n_classes))))
    new_of = np.argsort(old_of)
    proba = case.new().fit(scores, y).predict_proba(scores)
    if case.form == "code":  # its columns stay; the classes are other rows of the matrix
        moved, columns = case.new(code=all_pairs(case.n_classes)[old_of]), slice(None)
    else:
        moved, columns = case.new(), old_of
    permuted = moved.fit(scores[:, columns], new_of[y]).predict_proba(scores[:, columns])
    assert_close(permuted, proba[:, old_of])


#: Methods whose one number says that a margin of 0 is even.
EVEN_AT_ZERO = {"temperature"}


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in METHOD_CASES
        if case.kind == "margin" and case.n_classes == 2 and case.name not in EVEN_AT_ZERO
        if case.form == "score" or issubclass(OURS[case.name], JointCalibrator)
    ],
    ids=str,
)
def test_a_margin_may_have_any_unit_and_any_origin(case):
    """A credit score from 300 to 850 is calibrated as well as the margin that it was made of."""
    rng = np.random.default_rng(0)
    margin = rng.normal(size=800)
    y = (rng.random(800) < 1 / (1 + np.exp(0.5 - 2 * margin))).astype(int)
    losses = []
    for unit, origin in ((1.0, 0.0), (50.0, 600.0), (1e-3, -5.0)):
        scores = unit * margin + origin
        said = case.new().fit(scores[:300], y[:300]).predict_proba(scores[300:])
        losses.append(np.mean((said[:, 1] - y[300:]) ** 2))
    assert losses[1:] == pytest.approx([losses[0]] * 2, rel=0.01)


@pytest.mark.parametrize(
    "case", [case for case in METHOD_CASES if case.kind == "margin" and case.n_classes > 2], ids=str
)
def test_a_class_may_be_ruled_out_by_any_margin(case):
    """As by naive Bayes, of whose logarithms some are -30 and some -1e9: all else is calibrated as well."""
    rng = np.random.default_rng(0)
    margins = 1.5 * rng.normal(size=(900, case.n_classes))
    y = (rng.gumbel(size=margins.shape) + margins).argmax(axis=1)
    rows = np.flatnonzero(rng.random(900) < 0.2)
    wrong = (y[rows] + rng.integers(1, case.n_classes, size=len(rows))) % case.n_classes
    losses = []
    for ruled_out in (-30.0, -1e9):
        margins[rows, wrong] = ruled_out
        said = case.new().fit(margins[:400], y[:400]).predict_proba(margins[400:])
        losses.append(((said - np.eye(case.n_classes)[y[400:]]) ** 2).sum(axis=1).mean())
    assert losses[1] <= 1.05 * losses[0]


@every
def test_rows_are_distributions_wherever_the_scores_are(case):
    scores, y = case.rows()
    fitted = case.new().fit(scores, y)
    for query in (scores, case.far(), scores[:0]):
        proba = fitted.predict_proba(query)
        assert proba.shape == (len(query), case.n_classes)
        assert proba.dtype == np.float64
        assert ((proba >= 0) & (proba <= 1)).all()
        assert_close(proba.sum(axis=1), 1.0)


@every
def test_a_fit_forgets_the_one_before(case):
    scores, y = case.rows()
    others, labels = case.rows(40, 7)
    names = np.array(["a", "b", "c"])[labels]
    columns = pd.DataFrame(np.asarray(others).reshape(len(others), -1)).add_prefix("s_")
    again = case.new().fit(columns, names).fit(scores, y)
    assert_same(again, case.new().fit(scores, y), case.query())


@every
def test_a_fit_does_not_change_what_it_is_given(case):
    given_ = [*case.rows(), np.linspace(0.0, 2.0, N_ROWS)]
    before = [each.copy() for each in given_]
    for each in given_:
        each.setflags(write=False)
    calibrator = case.new()
    parameters = {name: repr(value) for name, value in calibrator.get_params().items()}
    calibrator.fit(*given_).predict_proba(given_[0])
    for each, copy in zip(given_, before, strict=True):
        np.testing.assert_array_equal(each, copy)
    assert {name: repr(value) for name, value in calibrator.get_params().items()} == parameters


@every
def test_a_fit_that_fails_leaves_the_one_before(case):
    scores, y = case.rows()
    fitted = case.new().fit(pd.DataFrame(scores.reshape(len(scores), -1)).add_prefix("s_"), y)
    kept = pickle.dumps(fitted)
    holed, outside = scores.copy(), scores.copy()
    holed[3], outside[3] = np.nan, 1.5
    bad = [(holed, y), (scores, y[:-1]), (scores, y, -np.ones(len(y)))]
    if fitted.takes_probabilities:
        bad += [(outside, y), (pd.DataFrame(outside.reshape(len(scores), -1)).add_prefix("t_"), y)]
    for rows in bad:
        with pytest.raises(CalibrantError):
            fitted.fit(*rows)
        assert pickle.dumps(fitted) == kept
    for name, value in fitted.get_params(deep=False).items():
        field = type(fitted).parameters.fields.get(name)
        if field is not None and not isinstance(field, Seed):
            with pytest.raises(ParameterError):
                fitted.set_params(**{name: object()}).fit(scores, y)
            assert pickle.dumps(fitted.set_params(**{name: value})) == kept


# Parameters


@every_name
def test_the_parameters_are_the_arguments_of_the_constructor(name):
    assert set(OURS[name].parameters.fields) == set(signature(OURS[name]).parameters) - {"classes"}
    assert OURS[name].name == name
    assert OURS[name].complexity < np.inf, f"say how simple {name} is by its complexity, for the advice"
    assert {each for each in OURS[name].kinds if each not in ("margin", "probability")} == set()


@every_plain
def test_scikit_learn_can_handle_its_parameters(case):
    calibrator = case.new()
    for check in (
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_get_params_invariance",
        "check_no_attributes_set_in_init",
        "check_set_params",
    ):
        getattr(estimator_checks, check)(type(calibrator).__name__, clone(calibrator))
    estimator_checks.check_parameters_default_constructible(type(calibrator).__name__, type(calibrator)())
    fitted = clone(calibrator).fit(*case.rows())
    copy = clone(fitted)
    assert repr(copy.get_params()) == repr(calibrator.get_params())
    assert not hasattr(copy, "classes_")


@every_method
def test_a_parameter_of_a_wrong_type_is_refused_by_its_name(case):
    for name, field in OURS[case.name].parameters.fields.items():
        if isinstance(field, Seed):
            continue  # may be any generator, which NumPy and scikit-learn look at
        with pytest.raises(ParameterError, match=f"^{name} must be "):
            case.new().set_params(**{name: object()}).fit(*case.rows())


@every_method
@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
def test_it_can_be_fitted_to_a_few_rows(case, n_rows):
    scores, y = case.rows()
    fitted = case.fitted_to(Rows(scores[:n_rows], y[:n_rows]), calibrator=case.new(case.method(n_rows)))
    assert_close(fitted.predict_proba(scores).sum(axis=1), 1.0)


@every_name
def test_the_comparison_tries_what_the_method_says(name):
    for kind in OURS[name].kinds:
        assert repr(named_method(name, kind)) == repr(OURS[name].for_new_rows(kind))


# Files and graphs


@every
def test_it_travels_as_json_and_as_a_pickle(case):
    scores, y = case.rows()
    fitted = case.new().fit(scores, np.array(["a", "b", "c"])[y])
    document = to_document(fitted)
    assert list(SCHEMA.iter_errors(document)) == []
    loaded = from_document(json.loads(json.dumps(document, allow_nan=False)))
    for other in (loaded, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(fitted.predict_proba(case.far()), other.predict_proba(case.far()))
        assert to_document(other) == document
        assert other.classes_.tolist() == fitted.classes_.tolist()
    # It can be fitted again, as what it was.
    again = clone(loaded).fit(scores, np.array(["a", "b", "c"])[y])
    assert_same(again, fitted, case.far())


@every_name
def test_there_are_golden_files_of_it(name):
    documents = [json.loads(path.read_text("utf-8")) for path in FILES]
    within = {each["parameters"]["calibrator"]["kind"] for each in documents if each["kind"] == "one_vs_all"}
    advice = "run python tests/models/golden/write_v1.py, and commit what it writes"
    assert name in {each["kind"] for each in documents}, f"no golden model file of {name}: {advice}"
    if OURS[name].takes == "score":
        assert name in within, f"no golden model file of one_vs_all with {name}: {advice}"


@every
def test_the_graph_says_what_the_calibrator_says(case):
    scores, y = case.rows()
    fitted = case.new().fit(scores, y)
    tolerance = case.tolerance if case.form == "score" else BY_STEPS if case.form == "code" else 1e-12
    for query in (scores, case.far()):
        assert_close(proba_of(fitted, query), fitted.predict_proba(query), tolerance)


@every
@pytest.mark.parametrize("engine", ["python", "duckdb", "sqlite"])
def test_every_export_says_what_the_calibrator_says(case, engine):
    """PostgreSQL and Spark have tests of their own, as they must be there first."""
    scores, y = case.rows()
    fitted = case.new(code=None if engine == "python" else "one_vs_all").fit(scores, y)
    near = BY_STEPS if case.form == "code" else 1e-12
    for query, tolerance in ((scores, near), (case.query(), near), (case.far(), FAR)):
        steps = case.form == "score" and case.tolerance == 0.0
        said = fitted.predict_proba(query)
        assert_close(exported_proba(fitted, query, engine), said, 0.0 if steps else tolerance)


@every_method
def test_the_formula_of_its_map_is_the_prediction(case):
    fitted = case.new().fit(*case.rows())
    assert isinstance(fitted.map_, Map)
    assert fitted.takes_probabilities or not fitted.map_.takes_probabilities
    query = case.far()
    proba = fitted.predict_proba(query)
    with np.errstate(over="ignore"):
        said = fitted.map_.formula(query, NUMPY)
    np.testing.assert_array_equal(said, proba[:, 1] if case.form == "score" else proba)
    if type(fitted.map_) in MAPS.values():
        np.testing.assert_array_equal(there_and_back(fitted.map_)(query), said)


def there_and_back(one):
    plain = json.loads(json.dumps(AnyMap().write(one), allow_nan=False))
    return AnyMap().read(plain, Place("the map"))


@pytest.mark.parametrize("name", MAPS)
def test_a_map_is_in_a_file_what_it_was(name):
    assert name in MAP_EXAMPLES, f"no example of the map {name}: add one to tests/registry_cases.py"
    one = MAP_EXAMPLES[name]
    again = there_and_back(one)
    assert type(again) is type(one) is MAPS[name]
    rng = np.random.default_rng(0)
    query = np.concatenate([rng.random(50), [0.0, 1.0, 0.1, 1 / 3]])
    if not one.takes_probabilities:
        query = np.concatenate([query, rng.normal(size=50) * 9, [-1e300, 1e300, -1.0, 7.0]])
    try:
        said = one(query)
    except ValueError:  # a map of all scores of a row
        query = query.reshape(-1, 2)
        said = one(query)
    np.testing.assert_array_equal(again(query), said)
    assert AnyMap().write(again) == AnyMap().write(one)


# Rows that are read in passes


OPTIONS = st.builds(
    PassOptions,
    n_bins=st.integers(1, 50),
    edges=st.sampled_from(["quantile", "uniform"]),
    max_rows=st.sampled_from([1, 7, 10_000]),
)


@every
@few
@given(data=st.data())
def test_in_passes_it_is_that_of_memory(case, data):
    scores, y = case.rows(data.draw(st.integers(20, 90)), data.draw(SEEDS))
    rng = np.random.default_rng(data.draw(SEEDS))
    weight = rng.choice([0.0, 0.5, 1.7], len(y)) if data.draw(st.booleans()) else None
    rows = Rows(scores, y, weight)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(y)), max_size=4)))
    batches = [take(rows, part) for part in np.split(np.arange(len(y)), cuts)]
    passed = fit(case.new(), lambda: batches, classes=range(case.n_classes), options=data.draw(OPTIONS))
    tolerance = case.tolerance if weight is None else 1e-12
    at_once = case.fitted_to(rows)
    assert_close(passed.predict_proba(case.query()), at_once.predict_proba(case.query()), tolerance)


@pytest.mark.parametrize("case", [case for case in CASES if case.made_fit], ids=str)
@settings(once, max_examples=3)
@given(seed=SEEDS, options=OPTIONS)
def test_a_fold_left_out_of_scattered_rows_is_as_if_it_were_not_there(case, seed, options):
    """The summaries of the parts merge in any tree, and travel as plain data: so it is on Spark."""
    rows = Rows(*case.rows(80, seed))
    fold = Fold(seed % 3, 3)

    def plan():
        sample = (yield TakeSample()).rows()
        labels = np.arange(case.n_classes)
        return (yield from fit_plan(case.new(), labels, Reading(sample, options, 80, fold)))

    scattered = run_scattered(plan(), rows, seed)
    at_once = case.fitted_to(rows.outside(fold))
    assert_close(scattered.predict_proba(case.query()), at_once.predict_proba(case.query()), case.tolerance)


# In the other rooms


@every
def test_in_a_score_model_it_says_the_same(case):
    scores, y = case.rows()
    given_ = case.name if case.made_fit else case.method()  # a name is that which comparisons try
    options = {"code": "all_pairs", "combine": "least_squares"} if case.form == "code" else {}
    model = ScoreModel(given_, kind=case.kind, **options).fit(scores, y)
    expected = case.new().fit(scores, y).predict_proba(case.query())
    np.testing.assert_array_equal(model.predict_proba(case.query()), expected)


@every_plain
def test_in_a_classifier_it_calibrates_what_the_learner_says(case):
    rng = np.random.default_rng(0)
    y = rng.integers(0, case.n_classes, 90)
    X = rng.normal(size=(90, 3)) + np.eye(3)[y]
    options = {"code": "all_pairs", "combine": "least_squares"} if case.form == "code" else {}
    model = CalibratedClassifier(GaussianNB(), case.name, data="train", **options).fit(X, y)
    assert type(model.calibrator_) is type(case.new())
    if case.form == "code":
        assert_close(model.predict_proba(X).sum(axis=1), 1.0)
        return
    said = GaussianNB().fit(X, y).predict_proba(X)
    one = case.form == "score" or (case.n_classes == 2 and isinstance(case.new(), JointCalibrator))
    said = said[:, 1] if one else said  # one score says all of two classes
    assert_close(model.predict_proba(X), case.new().fit(said, y).predict_proba(said))


@pytest.mark.parametrize("case", [case for case in CASES if case.made_fit and case.form != "code"], ids=str)
def test_a_comparison_tries_it_under_its_name(case):
    scores, y = case.rows()
    found = compare_methods(scores, y, kind=case.kind, cv=2)
    assert case.name in {each.name for each in found.results}
    rows = Rows(scores.reshape(len(y), -1), y)
    passed = compare(lambda: [rows], classes=range(case.n_classes), methods=[case.name], kind=case.kind, cv=2)
    assert [each.name for each in passed.results] == [case.name]


# The command, the pages


@pytest.mark.parametrize("case", [case for case in METHOD_CASES if case.made_fit], ids=str)
@pytest.mark.parametrize("reads", ["--in-memory", "--in-passes"])
def test_the_command_fits_it(case, reads, tmp_path):
    scores, y = case.rows()
    columns = {f"s_{number}": column for number, column in enumerate(scores.reshape(len(y), -1).T)}
    pd.DataFrame(columns | {"y": y}).to_csv(tmp_path / "rows.csv", index=False)
    wanted = [
        "--label",
        "y",
        "--scores",
        ",".join(columns),
        "--method",
        case.name,
        "--kind",
        case.kind,
        reads,
    ]
    if case.form == "row":
        wanted += ["--classes", ",".join(map(str, range(case.n_classes)))]
    here("fit", "rows.csv", *wanted, "--out", "model.json", cwd=tmp_path)
    expected = case.new().fit(scores, y)
    assert_close(load(tmp_path / "model.json").predict_proba(scores), expected.predict_proba(scores))


def test_spark_names_them_all():
    pytest.importorskip("pyspark")
    from calibrant.spark._params import HasMethod

    for name in METHODS:
        assert name in HasMethod.method.doc


@every_name
def test_the_guide_says_when_to_use_it(name):
    page = "guide/which-method.md"
    label = OURS[name].__name__
    assert f"`{label}`" in (DOCS / page).read_text("utf-8"), f"say in docs/{page} when `{label}` is good"


@every_name
def test_its_class_is_a_public_name(name):
    import calibrant
    from calibrant import calibrators

    label = OURS[name].__name__
    assert label in calibrators.__all__, f"add {label} to calibrators/__init__.py"
    assert label in calibrant.__all__, f"add {label} to calibrant/__init__.py"


def test_the_registry_shows_its_names():
    assert repr(METHODS) == f"<methods {', '.join(METHODS)}>"
