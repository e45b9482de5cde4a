"""Two methods from outside of the package: as good as their independent truth, and at home everywhere."""

import json
import subprocess
import sys
from contextlib import chdir

import numpy as np
import onnxruntime
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, logit

from calibrant import CalibratedClassifier, OneVsAllCalibrator, ScoreModel, load, save
from calibrant._core._errors import DataError, ParameterError
from calibrant.calibrators import METHODS, named_method
from calibrant.files import PassOptions, Rows, compare, fit
from calibrant.models import compare_methods, from_document, to_document, to_onnx
from own_methods import PAGE, files, imported, refusal, sessions

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the guide is not part of an installed package")


@pytest.fixture
def methods(tmp_path):
    """The modules of the page."""
    with imported(tmp_path) as modules:
        yield modules


@pytest.fixture
def Beta(methods):
    return methods["my_beta"].BetaCalibrator


@pytest.fixture
def Temperature(methods):
    return methods["my_temperature"].TemperatureCalibrator


def two_classes(a=2.0, b=0.5, c=-0.3, n_rows=600, seed=0):
    """Scores in (0, 1), and labels that follow a beta map of them."""
    rng = np.random.default_rng(seed)
    scores = rng.beta(0.8, 0.8, n_rows).clip(1e-6, 1 - 1e-6)
    return scores, rng.random(n_rows) < expit(a * np.log(scores) - b * np.log1p(-scores) + c)


def three_classes(inverse=0.4, n_rows=500, seed=1):
    """Probabilities that are too sure, and labels."""
    rng = np.random.default_rng(seed)
    z = 4 * rng.normal(size=(n_rows, 3))
    chance = np.exp(log_softmax(inverse * z, axis=1))
    label = (rng.random((n_rows, 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return np.exp(log_softmax(z, axis=1)), label


def in_batches(method, scores, position, weight, cuts, classes):
    """A fit in passes over rows that are cut at some places."""
    ends = [*cuts, len(position)]
    batches = [
        Rows(scores[a:b], position[a:b], None if weight is None else weight[a:b], first=a)
        for a, b in zip([0, *cuts], ends, strict=True)
    ]
    return fit(method, lambda: batches, classes=classes)


# The page.


def test_the_page_runs_and_prints_what_it_shows(methods, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in files():
        monkeypatch.delitem(sys.modules, name)  # so that the page imports them
    names: dict[str, object] = {}
    blocks = sessions()
    assert len(blocks) >= 7
    assert sum(bool(shown) for _, shown in blocks) >= 5
    for code, shown in blocks:
        exec(compile(code, str(PAGE), "exec"), names)
        assert capsys.readouterr().out == shown
    assert isinstance(names["classifier"], CalibratedClassifier)


def test_the_names_of_the_page_are_offered_in_one_place():
    import calibrant.calibrators as room

    *_, needs = PAGE.read_text("utf-8").split("## What an author needs")
    names = needs.split("And what a class may say")[0]
    for word in {part.split("(")[0] for part in names.split("`")[3::2]}:
        if word.isidentifier() and word[0].isupper():
            assert word in room.__all__
    assert {"ScoreCalibrator", "RowCalibrator", "Sums", "travels", "METHODS"} <= set(room.__all__)


def test_nothing_of_the_page_is_left_behind(tmp_path):
    before = list(METHODS)
    with imported(tmp_path):
        assert list(METHODS) == [*before, "my_beta", "my_temperature"]
    assert list(METHODS) == before


# Beta calibration.


def features(scores):
    kept = np.clip(scores, 1e-12, 1 - 1e-12)
    return np.stack([np.log(kept), -np.log1p(-kept)])


def platt(label, weight):
    positive, negative = weight @ label, weight @ ~label
    return np.where(label, (positive + 1) / (positive + 2), 1 / (negative + 2))


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(
    ("a", "b"), [(2.0, 0.5), (0.3, 0.2), (-0.6, 1.5), (1.5, -0.6), (-0.5, 0.3), (-1.0, -1.0)]
)
def test_beta_is_the_best_map_that_is_allowed(Beta, a, b, weighted, smooth):
    """As an optimiser with bounds finds it; and no change that is allowed has a slope downhill."""
    scores, label = two_classes(a, b)
    weight = np.random.default_rng(2).integers(1, 5, len(label)) * 0.5 if weighted else np.ones(len(label))
    target = platt(label, weight) if smooth else label.astype(float)
    f = np.vstack([features(scores), np.ones(len(label))])

    def loss(theta):
        z = theta @ f
        return weight @ (np.logaddexp(0, z) - target * z), f @ (weight * (expit(z) - target))

    bounds = [(0, None), (0, None), (None, None)]
    best = minimize(
        loss, [1, 1, 0], jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9}
    )
    fitted = Beta(smooth=smooth).fit(scores, label, weight if weighted else None)
    found = fitted.predict_proba(scores)[:, 1]
    if type(fitted.map_).__name__ == "Constant":  # the share of positives, whatever the targets
        np.testing.assert_allclose(best.x[:2], 0, atol=1e-6)
        np.testing.assert_allclose(found, weight @ label / weight.sum(), rtol=1e-12)
        assert (a, b) in [(-0.5, 0.3), (-1.0, -1.0)]
        return
    np.testing.assert_allclose(found, expit(best.x @ f), atol=1e-5)
    slope = dict.fromkeys(("log", "log_rest"), 0.0)
    names = {"logs": ("log", "log_rest")}.get(fitted.map_.features, (fitted.map_.features,))
    slope.update(zip(names, (-each for each in fitted.map_.slope), strict=True))
    downhill = f @ (weight * (found - target)) / weight.sum()
    assert abs(downhill[2]) < 1e-9
    for value, change in zip(slope.values(), downhill, strict=False):
        assert value >= 0
        assert abs(change) < 1e-9 if value > 0 else change > -1e-9


def test_beta_of_separable_scores_is_finite_and_never_certain(Beta):
    scores = np.array([0.0, 0.1, 0.2, 0.8, 0.9, 1.0])
    proba = Beta().fit(scores, scores > 0.5).predict_proba(scores)
    assert ((proba > 0) & (proba < 1)).all()
    assert (np.diff(proba[:, 1]) >= 0).all()


@pytest.mark.parametrize("scores", [[0.3] * 6, [0.3, 0.3, 0.3, 0.7, 0.7, 0.7], [0.0, 1.0] * 3])
def test_beta_of_few_distinct_scores(Beta, scores):
    """Where two logarithms say the same, every map that fits both scores is as good."""
    scores, label = np.array(scores), np.array([False, True, False, True, False, True])
    fitted = Beta(smooth=False).fit(scores, label).predict_proba(scores)[:, 1]
    for value in np.unique(scores):
        share = label[scores == value].mean()
        if 0 < share < 1:
            np.testing.assert_allclose(fitted[scores == value], share, atol=1e-9)


# Temperature scaling.


def temperature_loss(inverse, scores, truth, weight, rest=0.0):
    """Cross entropy, to targets that give every class an equal part of the rest."""
    log_proba = log_softmax(inverse * np.log(np.clip(scores, 1e-12, 1 - 1e-12)), axis=1)
    own = log_proba[np.arange(len(truth)), truth]
    return -weight @ ((1 - rest) * own + rest * log_proba.mean(axis=1)) / weight.sum()


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("inverse", [0.03, 0.4, 1.0, 6.0])
def test_temperature_has_the_least_log_loss(Temperature, inverse, weighted, smooth):
    scores, truth = three_classes(inverse)
    scores = scores ** min(1.0, 0.4 / inverse)
    scores /= scores.sum(axis=1, keepdims=True)
    weight = np.random.default_rng(3).random(len(truth)) + 0.1 if weighted else np.ones(len(truth))
    rest = 3 / (weight.sum() + 3) if smooth else 0.0
    best = minimize_scalar(
        lambda log: temperature_loss(np.exp(log), scores, truth, weight, rest),
        bounds=(-7, 7),
        method="bounded",
        options={"xatol": 1e-12},
    )
    fitted = Temperature(smooth=smooth).fit(scores, truth, weight if weighted else None)
    assert fitted.map_.slope == pytest.approx(np.exp(best.x), rel=1e-6)
    found = temperature_loss(fitted.map_.slope, scores, truth, weight, rest)
    assert found <= best.fun + 1e-14
    step = 1e-4 * fitted.map_.slope  # the loss is flat there, by its differences
    around = [
        temperature_loss(fitted.map_.slope + each, scores, truth, weight, rest) for each in (-step, step)
    ]
    assert min(around) >= found - 1e-15


HOSTILE = {
    "separable": ([[0.9, 0.05, 0.05], [0.1, 0.5, 0.4], [0.2, 0.3, 0.5]], [0, 1, 2]),
    "separable by a hair": ([[0.5 + 1e-9, 0.5 - 1e-9], [0.5 - 1e-9, 0.5 + 1e-9]], [0, 1]),
    "certain and right": ([[1.0, 0.0], [0.0, 1.0]], [0, 1]),
    "certain and wrong": ([[1.0, 0.0], [0.0, 1.0]], [1, 0]),
    "certain, once wrong": ([[1.0, 0.0]] * 98 + [[0.0, 1.0]] * 2, [0] * 99 + [1]),
    "no opinion": ([[0.25] * 4] * 4, [0, 1, 2, 3]),
    "all zero": ([[0.0, 0.0]] * 3, [0, 1, 0]),
    "sums that are not one": ([[1.0, 1.0, 0.3], [0.0, 0.2, 0.0], [0.5, 1.0, 1.0]], [0, 1, 2]),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("copies", [1, 10**4])
def test_temperature_finds_the_optimum_of_any_rows(methods, Temperature, name, copies):
    scores, truth = (np.array(each) for each in HOSTILE[name])
    weight = np.full(len(truth), float(copies))
    rest = scores.shape[1] / (weight.sum() + scores.shape[1])
    asked = []
    Slopes = methods["my_temperature"].Slopes
    of_cases = Slopes.of_cases
    Slopes.of_cases = lambda self, cases: asked.append(self.inverse) or of_cases(self, cases)
    fitted = Temperature().fit(scores, truth, weight)
    assert len(asked) <= 60
    best = minimize_scalar(
        lambda log: temperature_loss(np.exp(log), scores, truth, weight, rest),
        bounds=(-30, 30),
        method="bounded",
        options={"xatol": 1e-12},
    )
    found = temperature_loss(fitted.map_.slope, scores, truth, weight, rest)
    assert found <= best.fun + 1e-13
    assert (fitted.predict_proba(scores) > 0).all()


def test_temperature_without_an_optimum_ends(Temperature):
    scores, truth = (np.array(each) for each in HOSTILE["separable"])
    fitted = Temperature(smooth=False).fit(scores, truth)
    assert temperature_loss(fitted.map_.slope, scores, truth, np.ones(3)) < 1e-6


# The laws of a good method.

CASES = {"my_beta": two_classes, "my_temperature": three_classes}


@pytest.mark.parametrize("name", CASES)
def test_weights_are_copies_and_zero_is_absence(methods, name):
    scores, label = CASES[name]()
    copies = np.random.default_rng(4).integers(0, 4, len(label))
    weighted = METHODS[name]().fit(scores, label, copies)
    copied = METHODS[name]().fit(np.repeat(scores, copies, axis=0), np.repeat(label, copies))
    np.testing.assert_allclose(weighted.predict_proba(scores), copied.predict_proba(scores), atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_the_order_of_rows_does_not_matter(methods, name):
    scores, label = CASES[name]()
    order = np.random.default_rng(5).permutation(len(label))
    one, other = METHODS[name]().fit(scores, label), METHODS[name]().fit(scores[order], label[order])
    np.testing.assert_allclose(one.predict_proba(scores), other.predict_proba(scores), atol=1e-9)


@pytest.mark.parametrize("single", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_batches_make_no_difference(methods, name, weighted, single):
    scores, label = CASES[name]()
    scores = scores.astype(single)
    weight = np.random.default_rng(6).random(len(label)) + 0.1 if weighted else None
    expected = METHODS[name]().fit(scores, label, weight).predict_proba(scores)
    position, classes = label.astype(np.intp), np.unique(label)
    for cuts in ([], [1], [0, 0, 250], range(50, 500, 50)):
        fitted = in_batches(name, scores.astype(np.float64), position, weight, [*cuts], classes)
        np.testing.assert_allclose(fitted.predict_proba(scores), expected, atol=1e-9)


@pytest.mark.parametrize(("a", "b"), [(-0.6, 1.5), (1.5, -0.6), (-1.0, -1.0)])
def test_batches_meet_the_constraints_too(Beta, a, b):
    scores, label = two_classes(a, b)
    fitted = in_batches("my_beta", scores, label.astype(np.intp), None, [100, 400], [0, 1])
    expected = Beta().fit(scores, label)
    assert type(fitted.map_) is type(expected.map_)
    np.testing.assert_allclose(fitted.predict_proba(scores), expected.predict_proba(scores), atol=1e-9)


def test_relabelling_permutes_the_columns(Temperature):
    scores, label = three_classes()
    order = np.array([2, 0, 1])
    one = Temperature().fit(scores, label).predict_proba(scores)
    other = Temperature().fit(scores[:, order], np.argsort(order)[label]).predict_proba(scores[:, order])
    np.testing.assert_allclose(other, one[:, order], atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_margins_are_refused_in_memory_in_passes_and_afterwards(methods, name):
    scores, label = CASES[name]()
    margins = 3 * scores - 1
    what = rf"scores of {type(METHODS[name]()).__name__} must lie in \[0, 1\]; got "
    with pytest.raises(DataError, match=what):
        METHODS[name]().fit(margins, label)
    with pytest.raises(DataError, match=what):
        in_batches(name, margins, label.astype(np.intp), None, [50], np.unique(label))
    with pytest.raises(DataError, match=what):
        METHODS[name]().fit(scores, label).predict_proba(margins)


def test_parameters_are_checked_and_names_are_one_s_own(Beta):
    with pytest.raises(ParameterError, match="smooth must be True or False; got 'yes'"):
        Beta(smooth="yes").fit([0.2, 0.8], [0, 1])
    with pytest.raises(ParameterError, match="the name of a method must be its own; got 'my_beta'"):
        type("Other", (Beta,), {}, name="my_beta")


# At home everywhere.


def pairwise(proba):
    """The chances of the first of every pair of three classes."""
    first, second = proba[:, [0, 0, 1]], proba[:, [1, 2, 2]]
    return first / (first + second)


def models_of(scores, label):
    """Fitted models of every form."""
    pair = label < 2
    return {
        "my_beta": (
            ScoreModel("my_beta", kind="probability").fit(scores[pair, 1], label[pair]),
            scores[:, 1],
        ),
        "my_temperature": (ScoreModel("my_temperature", kind="probability").fit(scores, label), scores),
        "one_vs_all": (ScoreModel("my_beta", kind="probability").fit(scores, label), scores),
        "all_pairs": (
            ScoreModel("my_beta", kind="probability", code="all_pairs", combine="coupling").fit(
                pairwise(scores), label
            ),
            pairwise(scores),
        ),
        "alone": (METHODS["my_temperature"]().fit(scores, label), scores),
        "with costs": (
            ScoreModel("my_temperature", 1 - np.eye(3), "parallel", kind="probability").fit(scores, label),
            scores,
        ),
    }


def test_columns_are_those_of_the_method_on_its_own(Beta):
    scores, label = three_classes()
    by_class = ScoreModel("my_beta", kind="probability").fit(scores, label)
    alone = np.stack(
        [Beta().fit(scores[:, each], label == each).predict_proba(scores[:, each])[:, 1] for each in range(3)]
    ).T
    np.testing.assert_allclose(
        by_class.predict_proba(scores), alone / alone.sum(axis=1, keepdims=True), atol=1e-12
    )
    assert isinstance(by_class.calibrator_, OneVsAllCalibrator)
    coded = ScoreModel("my_beta", kind="probability", code="all_pairs", combine="coupling").fit(
        pairwise(scores), label
    )
    first = label != 2
    column = Beta().fit(pairwise(scores)[first, 0], label[first] == 0)
    assert coded.calibrator_.calibrators_[0].map_ == column.map_ or np.allclose(
        coded.calibrator_.calibrators_[0].map_.slope, column.map_.slope, rtol=1e-12
    )


@pytest.mark.parametrize(
    ("method", "form"),
    [
        ("my_beta", {}),
        ("my_temperature", {}),
        ("my_beta", {"code": "all_pairs", "combine": "coupling"}),
        ("my_beta", {"code": "one_vs_all", "combine": "least_squares"}),
    ],
)
def test_models_of_many_classes_in_passes(methods, method, form):
    scores, label = three_classes(n_rows=900)
    scores = pairwise(scores) if form.get("code") == "all_pairs" else scores
    expected = ScoreModel(method, kind="probability", **form).fit(scores, label)
    fitted = in_batches(
        ScoreModel(method, kind="probability", **form), scores, label, None, [300, 301], [0, 1, 2]
    )
    np.testing.assert_allclose(fitted.predict_proba(scores), expected.predict_proba(scores), atol=1e-9)
    assert fitted.summary_.metrics.log_loss == pytest.approx(expected.summary_.metrics.log_loss, rel=0.2)


def test_comparisons_hold_them(methods):
    scores, label = three_classes()
    found = compare_methods(scores, label, kind="probability")
    assert found.best == "my_temperature"  # which the labels follow
    assert "my_beta" in [each.name for each in found.results]
    batches = [Rows(scores, label)]
    again = compare(lambda: batches, classes=[0, 1, 2], kind="probability", options=PassOptions())
    assert {"my_beta", "my_temperature"} <= {each.name for each in again.results}
    names = [each.name for each in compare_methods(logit(two_classes()[0]), two_classes()[1]).results]
    assert not {"my_beta", "my_temperature"} & set(names)  # margins are not for them


def test_a_learner_is_wrapped(methods):
    from sklearn.datasets import load_iris
    from sklearn.metrics import log_loss
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    X, y = load_iris(return_X_y=True)
    plain = log_loss(y, cross_val_predict(GaussianNB(), X[:, :2], y, method="predict_proba"))
    for name in CASES:
        wrapped = CalibratedClassifier(GaussianNB(), name, response_method="predict_proba")
        proba = cross_val_predict(wrapped, X[:, :2], y, method="predict_proba")
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        assert log_loss(y, proba) < plain + 0.02


def test_a_file_brings_them_back_to_the_bit_where_they_are_imported(methods, tmp_path):
    """In a process of its own; and without the import nothing is imported, and the file is refused."""
    scores, label = three_classes()
    models = models_of(scores, label)
    for name, (model, given) in models.items():
        save(model, tmp_path / f"{name}.json")
        np.save(tmp_path / f"{name}.npy", given)
        assert to_document(load(tmp_path / f"{name}.json")) == to_document(model)
    apply = (
        f"import numpy, calibrant\nfor name in {list(models)}:\n"
        "    proba = calibrant.load(name + '.json').predict_proba(numpy.load(name + '.npy'))\n"
        "    numpy.save(name + '.out.npy', proba)\n"
    )

    def run(code):
        with chdir(tmp_path):
            return subprocess.run(
                [sys.executable, "-W", "error", "-c", "import sys; sys.path.insert(0, '')\n" + code],
                check=False,
                capture_output=True,
                text=True,
            )

    done = run(f"import {', '.join(files())}\n{apply}")
    assert done.returncode == 0, done.stderr
    for name, (model, given) in models.items():
        assert np.array_equal(np.load(tmp_path / f"{name}.out.npy"), model.predict_proba(given))
    refused = run(
        "import calibrant\n"
        "for name in ('my_temperature', 'one_vs_all', 'alone'):\n"
        "    try:\n        calibrant.load(name + '.json')\n"
        "    except calibrant.models.ModelFileError as error:\n        print(error)\n"
        f"assert not {set(files())} & set(sys.modules)\n"
    )
    assert refused.returncode == 0, refused.stderr
    lines = refused.stdout.splitlines()
    assert refusal() == f"calibrant.models.ModelFileError: {lines[0]}".replace(
        "my_temperature.json", "digits.json"
    )
    assert lines[1].startswith("one_vs_all.json: calibrator.parameters.calibrator.kind must be one of pav, ")
    assert lines[2].startswith("alone.json: kind must be one of score_model, ")
    assert all(line.endswith("; import the module of a method of your own first") for line in lines)


def test_a_damaged_file_is_refused(methods):
    document = to_document(METHODS["my_beta"]().fit(*two_classes())) | {"checksum": None}
    damaged = json.loads(json.dumps(document))
    damaged["fitted"]["map"]["features"] = "logarithms"
    with pytest.raises(DataError.__base__, match=r"fitted\.map\.features must be one of score, "):
        from_document(damaged)


@pytest.mark.parametrize("name", ["my_beta", "my_temperature", "one_vs_all", "alone", "with costs"])
def test_onnx_gives_the_same_answers(methods, name):
    scores, label = three_classes()
    model, given = models_of(scores, label)[name]
    edges = np.array([0.0, 1e-300, 1e-13, 0.5, 1.0])
    given = np.concatenate(
        [given, edges if given.ndim == 1 else np.stack([edges, edges[::-1], edges], axis=1)]
    )
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    (answers,) = session.run(["probabilities"], {"scores": given.reshape(len(given), -1)})
    np.testing.assert_allclose(answers, model.predict_proba(given), rtol=0, atol=1e-12)


def test_the_registry_makes_them_fit_for_rows(methods):
    assert named_method("my_beta", "probability").get_params() == {"smooth": True}
    assert [METHODS[name].takes for name in ("my_beta", "my_temperature")] == ["score", "row"]


def test_the_command_knows_only_the_methods_of_the_package(methods, tmp_path):
    (tmp_path / "scores.csv").write_text("score,label\n0.2,a\n0.7,b\n")
    arguments = ["fit", "scores.csv", "--label", "label", "--scores", "score", "--method", "my_beta"]
    done = subprocess.run(
        [sys.executable, "-m", "calibrant", *arguments, "--out", "model.json"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert "my_beta" in done.stderr
