"""The statement in Spark SQL says what the library says; names and labels are never code."""

import warnings

import numpy as np
import pytest

from calibrant import PAVCalibrator, ScoreModel
from calibrant.decisions import random_costs
from calibrant.maps import IntervalLookup, Steps
from calibrant.models import to_sql
from models.onnx_cases import beside, scored_rows
from registry_cases import CASES

pytest.importorskip("pyspark")
HOSTILE = ["it's", 'sa"id', "a\\'b", "`;--", "new\nline", "{0}%s", "é"]


def asked(spark, model, scores):
    """The results of every row, in order."""
    names = [f"s{number}" for number in range(scores.shape[1])]
    rows = [(number, *row) for number, row in enumerate(scores.tolist())]
    schema = ", ".join(["id long", *(f"{name} double" for name in names)])
    spark.createDataFrame(rows, schema).createOrReplaceTempView("scores")
    statement = to_sql(model, "scores", names, dialect="spark", keep=["id"])
    return [tuple(row)[1:] for row in sorted(spark.sql(statement).collect())]


@pytest.mark.parametrize("case", [case for case in CASES if not case.made_fit], ids=str)
def test_it_says_what_the_calibrator_says(case, spark):
    scores, y = case.rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = case.new(code="one_vs_all").fit(scores, y)
    query = case.query()
    found = asked(spark, fitted, query.reshape(len(query), -1))
    exact = case.form == "score" and case.tolerance == 0.0
    np.testing.assert_allclose(found, fitted.predict_proba(query), rtol=0, atol=0.0 if exact else 1e-12)


@pytest.mark.parametrize("n_edges", [1, 127, 3000])
def test_steps_are_equal_to_the_last_bit(n_edges, spark):
    rng = np.random.default_rng(n_edges)
    edges = np.sort(rng.normal(size=n_edges))
    model = PAVCalibrator().fit([1, 2, 3], [0, 1, 1])
    model.map_ = Steps(IntervalLookup(edges), rng.random(n_edges + 1))
    query = beside(np.append(edges[:: max(1, n_edges // 100)], 0.5))
    np.testing.assert_array_equal(asked(spark, model, query[:, None]), model.predict_proba(query))


def test_rows_that_cannot_be_answered_have_nulls(spark):
    scores, y = scored_rows(60, 3)
    model = ScoreModel("pav", random_costs(3, random_state=0), "parallel").fit(scores, y)
    bad = scores[:5].copy()
    bad[1, 0], bad[2, 1], bad[3, 2] = np.nan, np.inf, -np.inf
    found = asked(spark, model, bad)
    assert [row[-1] for row in found] == [
        model.decide(bad[:1])[0],
        None,
        None,
        None,
        model.decide(bad[4:])[0],
    ]
    assert found[1][:3] == (None, None, None)


def test_names_and_labels_are_never_code(spark):
    scores, y = scored_rows(120, len(HOSTILE))
    model = ScoreModel("sigmoid").fit(scores, np.array(HOSTILE)[y])
    names = [f"{label}-s" for label in HOSTILE]
    quoted = ", ".join("`" + name.replace("`", "``") + "` double" for name in names)
    frame = spark.createDataFrame(scores[:20].tolist(), quoted)
    frame.createOrReplaceTempView("scores")
    found = spark.sql(to_sql(model, scores=names, dialect="spark"))
    assert found.columns == [*names, *(f"p_{label}" for label in model.classes_), "decision"]
    rows = {tuple(row[:7]): row[-1] for row in found.collect()}
    decided = model.decide(scores[:20]).tolist()
    assert rows == dict(zip(map(tuple, scores[:20].tolist()), decided, strict=True))
