"""Methods from outside of the package, on executors that can import their modules, and on others."""

import sys

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

import pandas as pd
from pyspark.errors import SparkRuntimeException

from calibrant._core._errors import DataError, ParameterError
from calibrant.calibrators import METHODS
from calibrant.models import ModelFileError, ScoreModel, to_document
from calibrant.spark import ScoreCalibrator, ScoreCalibratorModel
from own_methods import PAGE, files, imported, spark_session

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the guide is not part of an installed package")


@pytest.fixture(scope="module")
def folder(spark, tmp_path_factory):
    """The files of the page; executors can import them."""
    folder = tmp_path_factory.mktemp("methods")
    with imported(folder):
        for name in files():
            spark.sparkContext.addPyFile(str(folder / f"{name}.py"))
    return folder


@pytest.fixture
def methods(folder):
    with imported(folder) as modules:
        yield modules


@pytest.fixture
def chances(three_classes):
    """Probabilities of three classes that are too sure, labels, and weights."""
    scores, label = three_classes
    odds = np.exp(3 * scores)
    return (
        odds / odds.sum(axis=1, keepdims=True),
        label,
        np.random.default_rng(0).integers(0, 4, len(label)) / 7,
    )


def frame_of(spark, scores, label, weight, n_partitions=2):
    columns = {f"s_{place}": column for place, column in enumerate(scores.T)}
    content = pd.DataFrame(columns | {"label": label, "w": weight})
    return spark.createDataFrame(content).repartition(n_partitions).cache()


def probabilities(model, frame, *columns):
    rows = model.transform(frame).select("probability", *columns).collect()
    return np.array([row.probability.toArray() for row in rows]), np.array([row[1:] for row in rows])


@pytest.mark.parametrize(
    ("method", "used", "weightCol", "n_partitions"),
    [("my_temperature", [0, 1, 2], "w", 5), ("my_beta", [0, 1, 2], None, 3), ("my_beta", [1], "w", 3)],
)
def test_fits_and_answers_are_those_of_memory(spark, methods, chances, method, used, weightCol, n_partitions):
    """Of five partitions, executors merge the summaries."""
    scores, label, weight = chances
    if len(used) == 1:
        scores, label, weight = (each[label < 2] for each in chances)
    scores = scores[:, used]
    names = [f"s_{place}" for place in range(len(used))]
    frame = frame_of(spark, scores, label, weight, n_partitions)
    weighted = {} if weightCol is None else {"weightCol": weightCol}
    columns = {"rawPredictionCol": "s_0"} if len(used) == 1 else {"scoresCols": names}
    model = ScoreCalibrator(method=method, kind="probability", **columns, **weighted).fit(frame)
    scores = scores[:, 0] if len(used) == 1 else scores
    expected = ScoreModel(method).fit(scores, label, None if weightCol is None else weight)
    np.testing.assert_allclose(
        model.scoreModel.predict_proba(scores), expected.predict_proba(scores), rtol=0, atol=1e-9
    )
    answers, given = probabilities(model, frame, *names)
    given = given[:, 0] if len(used) == 1 else given
    np.testing.assert_allclose(answers, model.scoreModel.predict_proba(given), rtol=0, atol=1e-15)


def test_the_session_of_the_page(spark, methods, folder, chances, capsys):
    scores, label, _ = chances
    code = spark_session()
    for name in ("my_temperature.py", "digits.stage"):
        assert f'"{name}"' in code
        code = code.replace(f'"{name}"', repr(str(folder / name)))  # the driver's Java is in another folder
    names = {"spark": spark, "proba": scores, "digit": label}
    exec(compile(code, str(PAGE), "exec"), names)
    assert "|         probability|prediction|" in capsys.readouterr().out
    model, again = names["model"], names["again"]
    expected = METHODS["my_temperature"]().fit(scores, label).predict_proba(scores)
    np.testing.assert_allclose(model.scoreModel.predict_proba(scores), expected, rtol=0, atol=1e-9)
    assert to_document(again.scoreModel) == to_document(model.scoreModel)
    one, other = (probabilities(each, names["frame"])[0] for each in (model, again))
    assert np.array_equal(one, other)


def test_a_saved_stage_imports_nothing(spark, folder, chances, tmp_path):
    scores, label, weight = chances
    with imported(folder):
        ScoreCalibratorModel.fromModel(ScoreModel("my_temperature").fit(scores, label, weight)).save(
            str(tmp_path / "stage")
        )
    with pytest.raises(
        ModelFileError, match=r"got 'my_temperature'; import the module of a method of your own"
    ):
        ScoreCalibratorModel.load(str(tmp_path / "stage"))
    assert not set(files()) & set(sys.modules)


def test_what_executors_cannot_import_is_told_in_a_line(spark, methods, chances, tmp_path, monkeypatch):
    scores, label, weight = chances
    code = files()["my_temperature"].replace('"my_temperature"', '"stays_here"')
    (tmp_path / "stays_here.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    import stays_here

    frame = frame_of(spark, scores, label, weight)
    names = ["s_0", "s_1", "s_2"]
    line = "the module 'stays_here' must be importable on the executors; got: No module named 'stays_here'; "
    try:
        with pytest.raises(DataError, match=f"^{line}send it along"):
            ScoreCalibrator(method="stays_here", kind="probability", scoresCols=names).fit(frame)
        fitted = ScoreModel(stays_here.TemperatureCalibrator()).fit(scores, label)
        model = ScoreCalibratorModel.fromModel(fitted).setScoresCols(names)
        with pytest.raises(SparkRuntimeException, match=line):
            model.transform(frame).collect()
    finally:
        del METHODS._classes["stays_here"]


def test_what_is_defined_in_the_session_is_refused_before_anything_is_sent(
    spark, methods, chances, monkeypatch
):
    scores, label, weight = chances
    frame = frame_of(spark, scores, label, weight)
    fitted = ScoreModel("my_temperature").fit(scores, label)
    for kind in (methods["my_temperature"].Slopes, methods["my_temperature"].TemperatureCalibrator):
        monkeypatch.setattr(kind, "__module__", "__main__")
    names = ["s_0", "s_1", "s_2"]
    with pytest.raises(ParameterError, match="must be defined in a module, for executors to import it"):
        ScoreCalibrator(method="my_temperature", kind="probability", scoresCols=names).fit(frame)
    with pytest.raises(ParameterError, match="must be defined in a module, for executors to import it"):
        ScoreCalibratorModel.fromModel(fitted).setScoresCols(names).transform(frame)
