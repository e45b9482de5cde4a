"""Damaged documents: a clean error with the place, or a correct load; never anything else."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

from calibrant import CalibrantError
from calibrant.models import ModelFileError, from_document, schema, to_document
from calibrant.models._files import parse
from calibrant.models._text import to_text
from models.cases import CASES, answers

DOCUMENTS = {name: to_document(model) for name, (model, _) in CASES.items()}
VALIDATOR = Draft202012Validator(schema())
#: What somebody may put into a field: wrong types, wrong sizes, numbers that are none.
POISON = [
    None,
    True,
    0,
    -1,
    3,
    10**400,
    0.5,
    -0.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "pav",
    "Infinity",
    [],
    [1.0, float("nan")],
    [[]],
    {},
    {"kind": "sigmoid"},
]


def places(plain, path=()):
    """The ways to all values of a document."""
    yield path
    entries = (
        plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    )
    for key, value in entries:
        yield from places(value, (*path, key))


def at(document, path):
    """The value at the end of a way."""
    for key in path:
        document = document[key]
    return document


def outcome(load):
    """What a load gave: a model, or the one kind of error that it may raise."""
    try:
        return load(), None
    except ModelFileError as error:
        return None, error


@given(st.data(), st.sampled_from(list(DOCUMENTS)))
@settings(max_examples=200)
def test_a_changed_byte_is_noticed(data, name):
    text = to_text(DOCUMENTS[name]).encode()
    number = data.draw(st.integers(0, len(text) - 1))
    byte = data.draw(st.integers(0, 255))
    changed = text[:number] + bytes([byte]) + text[number + 1 :]
    loaded, error = outcome(lambda: from_document(parse(changed, "m.json"), "m.json"))
    if error is None:
        assert to_document(loaded) == DOCUMENTS[name]
    else:
        assert str(error).startswith("m.json")


@given(st.sampled_from(list(DOCUMENTS)), st.floats(0, 1, exclude_max=True))
@settings(max_examples=100)
def test_a_truncated_file_is_refused(name, share):
    text = to_text(DOCUMENTS[name]).encode().rstrip()
    with pytest.raises(
        ModelFileError, match="m.json must be a JSON document; it breaks off or is damaged in line"
    ):
        parse(text[: int(share * len(text))], "m.json")


@given(st.data(), st.sampled_from(list(DOCUMENTS)))
@settings(max_examples=300)
def test_a_changed_node_is_refused_or_makes_a_model(data, name):
    document = copy.deepcopy(DOCUMENTS[name]) | {"checksum": None}
    path = data.draw(st.sampled_from([path for path in places(document) if path]))
    holder, key = at(document, path[:-1]), path[-1]
    change = data.draw(st.sampled_from(["delete", "replace", "repeat", "insert"]))
    if change == "delete":
        del holder[key]
    elif change == "replace":
        holder[key] = copy.deepcopy(data.draw(st.sampled_from(POISON)))
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder[f"{key}_{change}"] = 1
    loaded, error = outcome(lambda: from_document(document))
    if error is not None:
        assert str(error).startswith("the document: ")
        if change == "delete" and isinstance(holder, dict):
            assert not VALIDATOR.is_valid(document)
            assert f"must have the field '{key}'; it is missing" in str(error)
        return
    assert VALIDATOR.is_valid(document)
    once = to_document(loaded)
    assert to_text(to_document(from_document(once))) == to_text(once)
    try:
        said = answers(loaded, CASES[name][1])
    except CalibrantError:
        return  # such as probabilities that do not sum to one any more
    if hasattr(loaded, "predict_proba"):
        assert (((said[0] >= 0) & (said[0] <= 1)) | np.isnan(said[0])).all()


@pytest.mark.parametrize(
    "name", ["pav", "model_binary", "code", "accuracy_table_lidstone", "model_ranked", "parallel"]
)
def test_every_field_is_needed_and_no_other_is_allowed(name):
    for path in list(places(DOCUMENTS[name])):
        value = at(DOCUMENTS[name], path)
        if not isinstance(value, dict):
            continue
        where = ".".join(map(str, path)) or "the document"
        for field in value:
            document = copy.deepcopy(DOCUMENTS[name])
            del at(document, path)[field]
            with pytest.raises(ModelFileError, match=f"must have the field '{field}'; it is missing"):
                from_document(document)
        document = copy.deepcopy(DOCUMENTS[name])
        at(document, path)["comment"] = "mine"
        with pytest.raises(ModelFileError, match="must have the fields .* only; got 'comment' too") as caught:
            from_document(document)
        assert where.split(".")[-1].split("[")[0].rstrip("0123456789") in str(caught.value)
        assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        ("pav", ("format",), "onnx", "format must be 'calibrant'; got 'onnx'; is this a calibrant model?"),
        ("pav", ("version",), 2, "version must be 1; got 2; a newer calibrant may read it"),
        ("pav", ("version",), 1.0, "version must be 1; got 1.0"),
        ("pav", ("version",), True, "version must be 1; got true"),
        ("pav", ("kind",), "os.system", "kind must be one of score_model, pav, .*; got 'os.system'"),
        ("pav", ("kind",), ["pav"], "kind must be one of score_model, pav, .*; got a list of 1"),
        ("pav", ("library_version",), "", "library_version must be a version such as '1.2.3'; got ''"),
        ("pav", ("date",), "2026-13-01", "date must be a date that there is; got '2026-13-01'"),
        ("pav", ("checksum",), "sha256:0", "checksum must be 'sha256:' and 64 hexadecimal digits"),
        ("pav", ("classes", "type"), "int", r"classes.values\[0\] must be a label of type int; got false"),
        (
            "pav",
            ("classes", "values"),
            [True, True],
            r"classes.values\[1\] must differ from all labels before",
        ),
        (
            "pav",
            ("classes", "values"),
            [True],
            r"classes.values must be a list of 2 to 100000 labels; got a li",
        ),
        ("pav", ("training",), {}, "training must be null for this kind of model; got an object of 0 fields"),
        ("pav", ("parameters", "between"), "near", "parameters.between must be one of nearest, linear"),
        ("pav", ("parameters", "increasing"), 1, "parameters.increasing must be true or false; got 1"),
        ("pav", ("parameters", "clip"), 0.5, "parameters.clip must be a number, at least 0 and below 0.5"),
        (
            "pav",
            ("fitted", "blocks", "value", 1),
            1.5,
            r"fitted.blocks.value\[1\] must be a number, at least 0",
        ),
        (
            "pav",
            ("fitted", "blocks", "value", 2),
            0.0,
            r"value\[2\] must not break the order; values must rise",
        ),
        (
            "pav",
            ("fitted", "blocks", "weight", 0),
            0.0,
            r"blocks.weight\[0\] must be a number, above 0; got 0.0",
        ),
        ("pav", ("fitted", "blocks", "lo", 1), -99.0, r"blocks.lo\[1\] must be above hi at the place before"),
        (
            "pav",
            ("fitted", "blocks", "hi", 0),
            -99.0,
            r"blocks.hi\[0\] must not be below lo at the same place",
        ),
        ("pav", ("fitted", "blocks", "hi"), [1.0], "blocks.hi must have .* entries, as lo has; got 1"),
        ("pav", ("fitted", "blocks", "lo", 0), "-1", r"blocks.lo\[0\] must be a number; got '-1'"),
        (
            "pav",
            ("fitted", "blocks", "lo", 0),
            10**400,
            r"blocks.lo\[0\] must be a number; got a whole number b",
        ),
        ("binning", ("fitted", "edges", 0), 99.0, r"fitted.edges\[0\] must lie between its two bins"),
        ("binning", ("fitted", "bins", "count", 0), 0, r"bins.count\[0\] must be a whole number, at least 1"),
        ("sigmoid", ("fitted", "A"), None, "fitted.A must be a number; got null"),
        ("one_vs_all", ("fitted", "columns"), [], "fitted.columns must have 3 entries, one per class; got 0"),
        (
            "one_vs_all",
            ("fitted", "columns", 1, "blocks", "value", 0),
            -0.1,
            r"fitted.columns\[1\].blocks.value\[0\] must be a number, at least 0",
        ),
        (
            "one_vs_all_prior",
            ("parameters", "combine", "parameters", "prior"),
            [0.5, 0.5],
            "parameters.combine.parameters.prior must have 3 entries, one per class; got 2",
        ),
        (
            "normalize",
            ("parameters", "prior"),
            [0.5, 0.5],
            "prior must be given with fallback 'prior', and on",
        ),
        ("code", ("fitted", "code", 0, 0), 2, r"fitted.code\[0\]\[0\] must be a whole number, at least -1"),
        ("code", ("fitted", "code", 0), [1, 0], r"fitted.code\[1\] must have 2 entries, as the first has"),
        (
            "code",
            ("fitted", "code", 0),
            [-1, 1, 0],
            "code must have a 1 and a -1 in every column; .*column 0",
        ),
        ("code", ("fitted", "counts", 0), -1.0, r"fitted.counts\[0\] must be a number, at least 0; got -1.0"),
        (
            "code_constant",
            ("fitted", "columns", 1, "constant"),
            1.0,
            r"columns\[1\].constant must be .* below 1",
        ),
        (
            "code_one_vs_all",
            ("fitted", "code"),
            [[1, 1, 0], [-1, 0, 1], [0, -1, -1]],
            "must be one-vs-all where",
        ),
        (
            "accuracy_table",
            ("fitted", "tables", 0, "cells", "right", 0),
            1e9,
            r"right\[0\] must not exceed count",
        ),
        (
            "accuracy_table",
            ("fitted", "tables", 0, "axes", 0, "size"),
            5,
            r"cells.place\[0\]\[.*\] must be below 5",
        ),
        (
            "accuracy_table",
            ("fitted", "tables", 0, "axes", 0, "score"),
            "f3",
            r"must use the scores f1, f2; got f3",
        ),
        (
            "accuracy_table",
            ("fitted", "rank_accuracy"),
            [0.5],
            "rank_accuracy must have 3 entries, one per rank",
        ),
        (
            "accuracy_table",
            ("parameters", "max_rank"),
            2,
            "tables must have 2 entries, one per rank that has",
        ),
        (
            "accuracy_table",
            ("parameters", "combination"),
            [1, 2, 3, 3],
            "tables must .*(different ranks|missing)",
        ),
        (
            "ranked_logistic",
            ("fitted", "maps", 0, "A"),
            [1.0],
            r"maps\[0\].A must have 2 entries, one per score",
        ),
        (
            "ranked_logistic",
            ("parameters", "combination"),
            "B",
            "must use the ranked scores that|must use the s",
        ),
        (
            "parallel",
            ("fitted", "matrix"),
            [[0.0, 1.0]],
            r"parameters must have the shape \(1,\) for family 'row_add'; got \(3,\)",
        ),
        ("parallel", ("fitted", "matrix", 0, 1), float("inf"), r"matrix\[0\]\[1\] must be a number; got inf"),
        (
            "parallel",
            ("fitted", "parameters"),
            [0.0],
            r"fitted.parameters must have the shape \(3,\) for family",
        ),
        (
            "parallel",
            ("fitted", "order", 0),
            3,
            r"fitted.order\[0\] must be below 3, the number of classes; got 3",
        ),
        (
            "parallel_free",
            ("fitted", "order", 0),
            1,
            r"fitted.order\[0\] must be a pair of classes; it is not",
        ),
        (
            "lachiche_flach",
            ("fitted", "weights", 0),
            -1.0,
            r"fitted.weights\[0\] must be a number, at least 0",
        ),
        (
            "mossman",
            ("parameters", "order"),
            [0, 1, 1],
            "parameters.order must hold 0, 1 and 2 once each; got",
        ),
        ("one_vs_all", ("fitted", "columns", 1), 3, r"fitted.columns\[1\] must be an object; got 3"),
        (
            "code",
            ("fitted", "code"),
            [],
            "fitted.code must be a list of lists of -1, 0 and 1; got a list of 0",
        ),
        ("code", ("fitted", "code", 0), [], r"fitted.code\[0\] must have 1 entries, as the first has"),
        (
            "code",
            ("parameters", "combine"),
            {"kind": "least_squares", "parameters": {"weighted": False, "sum_constraint": False}},
            "fitted.code must have no zeros where least squares has no sum constraint; it has some",
        ),
        (
            "sigmoid",
            ("classes", "values"),
            [1.0, 2.0, 3.0],
            "classes.values must be two labels for this kind",
        ),
        (
            "mossman",
            ("classes",),
            {"type": "int", "values": [0, 1]},
            "classes must be null for this kind of mo",
        ),
        (
            "one_vs_all_prior",
            ("parameters", "combine", "parameters", "prior"),
            [0.5, 0.5, 0.5],
            "parameters.combine.parameters.prior must sum to one; got a sum of 1.5",
        ),
        (
            "model_binary",
            ("training", "metrics", "log_loss"),
            "inf",
            "must be a number, 'Infinity' or '-Infinit",
        ),
        (
            "model_binary",
            ("training", "n_rows"),
            0,
            "training.n_rows must be a whole number, at least 1; got 0",
        ),
        (
            "accuracy_table",
            ("fitted", "tables", 0, "axes", 0, "size"),
            2**49,
            r"sizes whose product is below 2",
        ),
        (
            "accuracy_table_lidstone",
            ("fitted", "tables", 0, "cells", "place", 0, 1),
            0,
            "must list cells in asc",
        ),
        (
            "accuracy_table_lidstone",
            ("fitted", "tables", 0, "cells", "place"),
            [[1]],
            "one list per axis; got 1",
        ),
        (
            "accuracy_table",
            ("parameters", "combination"),
            [1, 9],
            "tables must fit the parameters: combination",
        ),
        ("ranked_logistic_shared", ("fitted", "shared_map"), None, "must leave to the shared one the scores"),
        ("mossman", ("fitted", "first"), 1.0, "fitted.first must be a number, above 0 and below 1; got 1.0"),
        ("model_binary", ("scores",), "one_per_class", "scores must be 'one_per_row' for this calibrator"),
        ("model_binary", ("calibrator",), 3, "calibrator must be an object; got 3"),
        (
            "model_binary",
            ("calibrator", "kind"),
            "score_model",
            "calibrator.kind must be one of pav, sigmoid",
        ),
        (
            "model_binary",
            ("training", "base_rates"),
            [0.1, 0.1, 0.8],
            "base_rates must have 2 entries, one per",
        ),
        ("model_binary", ("decision",), [], "decision must be null or an object; got a list of 0"),
        ("model_multiclass", ("classes", "values"), ["a", "b"], "columns must have 2 entries, one per class"),
        (
            "model_multiclass",
            ("decision", "cost"),
            [[1.0]],
            r"decision.cost must have one row per action .*\(3, 3\)",
        ),
        (
            "model_multiclass",
            ("decision", "cost", 0, 0),
            99.0,
            "cost must make every class the cheapest decision",
        ),
        (
            "model_multiclass",
            ("decision", "cost", 0, 1),
            float("nan"),
            r"decision.cost\[0\]\[1\] must be a number",
        ),
        (
            "model_multiclass",
            ("decision", "rule", "fitted", "weights"),
            [1.0],
            "rule must decide among the 3 classes; it does not",
        ),
        (
            "model_code",
            ("decision", "rule", "fitted", "matrix", 0, 1),
            2.0,
            "matrix must be the costs of the dec",
        ),
        (
            "model_actions",
            ("decision", "actions", "values", 3),
            7,
            r"actions.values\[3\] must differ from all la",
        ),
        (
            "model_actions",
            ("decision", "rule"),
            {"kind": "expected"},
            "rule must have the field 'parameters'",
        ),
    ],
)
def test_the_place_is_named(name, path, value, message):
    document = copy.deepcopy(DOCUMENTS[name]) | {"checksum": None}
    at(document, path[:-1])[path[-1]] = value
    with pytest.raises(ModelFileError, match=message):
        from_document(document, "m.json")


def test_a_table_needs_rows():
    document = copy.deepcopy(DOCUMENTS["accuracy_table_lidstone"]) | {"checksum": None}
    cells = document["fitted"]["tables"][1]["cells"]
    cells["count"] = cells["right"] = [0.0] * len(cells["count"])
    with pytest.raises(
        ModelFileError, match=r"tables\[1\].cells.count must be above 0 for some cell; all are 0"
    ):
        from_document(document)


def test_a_changed_number_is_noticed_and_can_be_meant():
    document = copy.deepcopy(DOCUMENTS["sigmoid"])
    document["fitted"]["A"] = -2.0
    with pytest.raises(
        ModelFileError, match="m.json: checksum must be that of the contents; it is not, so that"
    ):
        from_document(document, "m.json")
    assert from_document(document | {"checksum": None}).A_ == -2.0


def test_a_document_that_others_have_rewritten_is_the_same():
    document = DOCUMENTS["model_multiclass"]

    def rewritten(plain):
        """As a language writes it that has one kind of numbers, and orders fields as it likes."""
        if isinstance(plain, dict):
            return {name: rewritten(value) for name, value in reversed(plain.items())}
        if isinstance(plain, list):
            return [rewritten(value) for value in plain]
        return int(plain) if isinstance(plain, float) and plain.is_integer() else plain

    loaded = from_document(json.loads(json.dumps(rewritten(document), indent=1)))
    assert to_document(loaded) == document


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "must be a JSON document; it breaks off or is damaged in line 1, column 1"),
        (b"\xff\xfe", "must be text in UTF-8; got another byte at 0"),
        (b"[" * 100_000, "must be nested a few levels deep; it is nested too deep"),
        (b'{"a":' * 30_000, "must be nested a few levels deep; it is nested too deep"),
        (
            b'{"a": 1, "b": 2, "a": 3}',
            "must be a plain JSON document; the field 'a' comes twice in one object",
        ),
        (b'{"a": NaN}', "must be a plain JSON document; NaN is no number that it may hold"),
        (b'{"a": -Infinity}', "must be a plain JSON document; -Infinity is no number"),
        (b"9" * 5000, "must be a plain JSON document; "),
        (b"[1, 2]", "the document must be an object; got a list of 2"),
        (b"{}", "the document must have the field 'format'; it is missing; is this a calibrant model"),
    ],
)
def test_text_that_is_no_model(data, message):
    with pytest.raises(ModelFileError, match=f"m.json:? {message}"):
        from_document(parse(data, "m.json"), "m.json")


@pytest.mark.parametrize("document", [None, 3, "{}", [], {1: 2}, {"format": ["calibrant"]}, b"{}"])
def test_things_that_are_no_documents(document):
    with pytest.raises(ModelFileError):
        from_document(document)


def test_a_file_cannot_make_the_reader_work_for_hours():
    """Few bytes that stand for much work: a combination of as many scores as there are ranks."""
    k = 5_000
    document = copy.deepcopy(DOCUMENTS["ranked_logistic"]) | {"checksum": None}
    document["classes"] = {"type": "int", "values": list(range(k))}
    document["parameters"]["combination"] = "B"
    document["fitted"]["rank_accuracy"] = [0.5] * k
    document["fitted"]["maps"] = [document["fitted"]["maps"][0]] * k
    with pytest.raises(ModelFileError, match="maps must use the ranked scores that the combination names"):
        from_document(document)
    many = copy.deepcopy(DOCUMENTS["lachiche_flach"]) | {"checksum": None}
    many["fitted"]["weights"] = [1.0] * 1_000_000
    with pytest.raises(ModelFileError, match="weights must have at most 4096 entries; got 1000000"):
        from_document(many)
    columns = copy.deepcopy(DOCUMENTS["code_constant"]) | {"checksum": None}
    columns["fitted"] = {
        "code": [[1] * 30_000, [-1] * 30_000, [-1] * 30_000],
        "counts": [1.0] * 30_000,
        "columns": [{"constant": 0.5}] * 30_000,
    }
    with pytest.raises(ModelFileError, match="code must have a row of its own for every class"):
        from_document(columns)
