"""The statement on real databases: what it says, of nulls too, and what names and labels can hold."""

import contextlib
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

from calibrant import CalibrantError, PAVCalibrator, ScoreModel
from calibrant._core._errors import ParameterError
from calibrant.decisions import random_costs
from calibrant.maps import IntervalLookup, Steps
from calibrant.models import ExportError, to_sql
from calibrant.models._sql_dialects import DIALECTS
from databases import to_postgres
from models.export_cases import FAR, answers_of, exported_proba
from models.onnx_cases import beside, proba_of, scored_rows
from registry_cases import CASES

ENGINES = ["duckdb", "sqlite", "postgresql"]
HOSTILE = ["it's", 'sa"id', "a\\'b", "`;--", "new\nline", "{0}%s", "é"]


@pytest.fixture
def server(postgres):
    """What a server says of a table of scores."""
    import adbc_driver_postgresql.dbapi as driver

    def ask(table, statement):
        to_postgres(postgres, table)
        with driver.connect(postgres) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    return ask


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.filterwarnings("ignore::calibrant.ScoreDirectionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_postgresql_says_what_the_calibrator_says(case, server):
    scores, y = case.rows()
    fitted = case.new(code="one_vs_all").fit(scores, y)
    for query, tolerance in ((case.query(), 1e-12), (case.far(), FAR)):
        exact = case.form == "score" and case.tolerance == 0.0
        found = exported_proba(fitted, query, "postgresql", server)
        np.testing.assert_allclose(
            found, fitted.predict_proba(query), rtol=0, atol=0.0 if exact else tolerance
        )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_edges", [0, 1, 126, 127, 128, 129, 5000])
def test_steps_are_equal_to_the_last_bit(engine, n_edges, server):
    """Few steps are a tree, many a table; an edge belongs to the step below it."""
    rng = np.random.default_rng(n_edges)
    edges = np.sort(
        np.append(rng.normal(size=n_edges - n_edges // 9), rng.choice([0.1, 1e300, 5e-300], n_edges // 9))
    )
    model = PAVCalibrator().fit([1, 2, 3], [0, 1, 1])
    model.map_ = Steps(IntervalLookup(edges), rng.random(n_edges + 1))
    query = beside(np.append(edges[:: max(1, n_edges // 300)], 0.5))
    found = exported_proba(model, query, engine, server)
    np.testing.assert_array_equal(found, model.predict_proba(query))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rule", [None, "expected", "parallel", "lachiche_flach", "mossman"])
def test_decisions(engine, rule, server):
    scores, y = scored_rows(150, 3, levels=3)
    cost = None if rule is None else random_costs(3, random_state=1)
    model = ScoreModel("pav", cost, rule).fit(scores, y)
    found = answers_of(model, scores, engine, server)
    assert [row[-1] for row in found] == model.decide(scores).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_learned_decisions_that_are_no_classes(engine, server):
    scores, y = scored_rows(150, 3, levels=3)
    cost = {"ask": {0: 0.4, 1: 0.4, 2: 0.5}, "send": {0: 1, 1: -1, 2: -2}, "keep": {0: 0, 1: 0.6, 2: 0.7}}
    model = ScoreModel("pav", cost, "parallel").fit(scores, y)
    found = answers_of(model, scores, engine, server)
    assert [row[-1] for row in found] == model.decide(scores).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("calibrator", ["pav", "sigmoid", "temperature"])
def test_rows_that_cannot_be_answered_have_nulls(engine, calibrator, server):
    scores, y = scored_rows(60, 3)
    scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    kind = "probability" if calibrator == "temperature" else "margin"
    model = ScoreModel(calibrator, 1 - np.eye(3), kind=kind).fit(scores, y)
    good = scores[0].tolist()
    rows = [
        good,
        [None, *good[1:]],
        [good[0], np.nan, good[2]],
        [np.inf, *good[1:]],
        [*good[:2], -np.inf],
        good,
    ]
    rows += [[1.5, *good[1:]]] if calibrator == "temperature" else []
    found = answers_of(model, rows, engine, server)
    for number, row in enumerate(found):
        if number in (0, 5):
            np.testing.assert_allclose(row[:3], model.predict_proba([good])[0], rtol=0, atol=1e-15)
            assert row[3] == model.decide([good])[0]
        else:
            assert row == (None,) * 4


@pytest.mark.parametrize("engine", ENGINES)
def test_names_and_labels_are_never_code(engine, postgres):
    scores, y = scored_rows(120, len(HOSTILE))
    labels = np.array(HOSTILE)
    model = ScoreModel("sigmoid").fit(scores, labels[y])
    names = [f"{label}-s" for label in HOSTILE]
    order = [HOSTILE.index(label) for label in model.classes_]
    statement = to_sql(
        model, "the \"scores' -- ;", [names[place] for place in order], dialect=engine, keep=["i'd\""]
    )
    columns = ", ".join('"' + name.replace('"', '""') + '" double precision' for name in names)
    make = f'CREATE TABLE "the ""scores\' -- ;" ("i\'d""" integer, {columns})'
    cells = scores[:20]
    values = ", ".join(
        f"({number}, {', '.join(map(repr, row))})" for number, row in enumerate(cells.tolist())
    )
    fill = f'INSERT INTO "the ""scores\' -- ;" VALUES {values}'
    if engine == "postgresql":
        import adbc_driver_postgresql.dbapi as driver

        database = driver.connect(postgres)
    else:
        database = duckdb.connect() if engine == "duckdb" else sqlite3.connect(":memory:")
    cursor = database.cursor()
    for each in (make, fill, statement):
        cursor.execute(each)
    titles = [each[0] for each in cursor.description]
    found = sorted(cursor.fetchall())
    cursor.close()
    database.close()
    assert titles == ["i'd\"", *(f"p_{label}" for label in model.classes_), "decision"]
    assert [row[-1] for row in found] == model.decide(cells[:, order]).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("calibrator", ["pav", "ranked_logistic"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_many_classes(engine, calibrator, server):
    """Databases limit how deep expressions are nested, and how many columns a query has."""
    scores, y = scored_rows(400, 26)
    model = ScoreModel(calibrator).fit(scores, y)
    found = exported_proba(model, scores[:50], engine, server)
    np.testing.assert_allclose(found, model.predict_proba(scores[:50]), rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_more_columns_than_a_database_can_have_are_refused():
    scores, y = scored_rows(200, 60)
    model = ScoreModel("ranked_logistic").fit(scores, y)
    names = [f"s{number}" for number in range(60)]
    with pytest.raises(ExportError, match="at most 1600 columns to be written as SQL of postgresql"):
        to_sql(model, scores=names, dialect="postgresql")
    assert to_sql(model, scores=names).startswith("WITH q0")


def test_a_text_in_sqlite_is_no_score():
    model = PAVCalibrator(clip=0).fit([1, 2, 3], [0, 1, 1])
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE scores (score)")
    database.execute("INSERT INTO scores VALUES ('7'), (7), ('NaN')")
    found = database.execute(to_sql(model, scores=["score"], dialect="sqlite")).fetchall()
    database.close()
    assert [row[1:] for row in found] == [(None, None), (0.0, 1.0), (None, None)]


@pytest.mark.parametrize(
    "value", [0.1, 1 / 3, -2 / 3, 1e-17 / 3, 1e300 / 3, 2.0**62 + 2.0**11, 5e-324, 123456.0]
)
@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_numbers_are_read_as_they_are(engine, value):
    database = duckdb.connect() if engine == "duckdb" else sqlite3.connect(":memory:")
    (found,) = database.execute(f"SELECT {DIALECTS[engine].number(value)}").fetchone()
    database.close()
    assert (type(found), found) == (float, value)


def test_labels_of_several_types_are_texts():
    cost = {0: {0: 0, 1: 9}, 1: {0: 5, 1: 0}, "ask": {0: 1, 1: 1}}
    scores = np.linspace(-3, 3, 40)
    model = ScoreModel("sigmoid", cost).fit(scores, np.arange(40) % 7 < np.arange(40) / 8)
    found = [row[-1] for row in answers_of(model, scores, "duckdb")]
    assert found == [str(each) for each in model.decide(scores).tolist()]


def test_the_names_that_a_model_knows():
    scores, y = scored_rows(60, 3)
    model = ScoreModel("sigmoid").fit(pd.DataFrame(scores, columns=["x", "y", "z"]), y)
    statement = to_sql(model, ["zoo", "animals"])
    assert 'FROM "zoo"."animals"' in statement
    assert 'CAST("z" AS DOUBLE)' in statement
    assert 'AS "x"' in statement


def test_probabilities_stand_for_scores_of_the_same_name():
    """A model of probabilities p_0 and p_1 gives these as `apply` does; other scores stay."""
    scores, y = scored_rows(60, 3)
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    frame = pd.DataFrame(proba, columns=["p_0", "other", "p_2"])
    model = ScoreModel("sigmoid", kind="probability").fit(frame, y)
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        frame.to_sql("scores", database, index=False)
        found = pd.read_sql_query(to_sql(model, dialect="sqlite"), database)
    assert list(found) == ["other", "p_0", "p_1", "p_2", "decision"]
    np.testing.assert_allclose(found[["p_0", "p_1", "p_2"]], model.predict_proba(frame), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "scores must name the columns for a model that was fitted without names; got none; name 3"),
        ({"scores": ["a", "b"]}, "scores must name 3 columns; got 2"),
        ({"scores": ["a", "b", ""]}, "scores must be names, texts that are not empty"),
        (
            {"scores": list("abc"), "keep": ["p_0"]},
            "keep must name every column once, .* got 'p_0'",
        ),
        (
            {"scores": list("abc"), "keep": ["i", "i"]},
            "keep must name every column once, .* got 'i'",
        ),
        ({"scores": list("abc"), "dialect": "oracle"}, "dialect must be one of"),
    ],
)
def test_options_that_cannot_be(options, message):
    scores, y = scored_rows(60, 3)
    with pytest.raises(ParameterError, match=message):
        to_sql(ScoreModel("sigmoid").fit(scores, y), **options)


def test_what_is_refused():
    scores, y = scored_rows(60, 3)
    with pytest.raises(ExportError, match="written as SQL; got a combination that iterates"):
        to_sql(ScoreModel("sigmoid", combine="coupling").fit(scores, y), scores=list("abc"))
    model = ScoreModel("sigmoid").fit(scores, np.array(["a\0b", "c", "d"], dtype=object)[y])
    with pytest.raises(CalibrantError, match=r"must be texts that databases can hold .* got 'a\\x00b'"):
        to_sql(model, scores=list("abc"))


@pytest.mark.parametrize("calibrator", ["pav", "sigmoid", "stack"])
def test_what_was_declared_a_probability_is_one_everywhere(calibrator):
    """Python refuses the score 1.5 because of what was declared, whatever the map makes of it."""
    scores, y = np.linspace(0.05, 0.95, 60), np.arange(60) * 7 % 60 < np.arange(60)
    model = ScoreModel(calibrator, kind="probability").fit(scores, y)
    with pytest.raises(CalibrantError, match="must lie in"):
        model.predict_proba([1.5])
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE scores (score REAL)")
    database.execute("INSERT INTO scores VALUES (0.5), (1.5)")
    good, bad = database.execute(to_sql(model, scores=["score"], dialect="sqlite")).fetchall()
    database.close()
    np.testing.assert_allclose(good[1:3], model.predict_proba([0.5])[0], atol=1e-12)
    assert bad[1:] == (None,) * 3
    assert np.isnan(proba_of(model, np.array([[1.5]]))).all()
