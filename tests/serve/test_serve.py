"""The service against the model itself, over a real socket."""

import json
import os
import time

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from calibrant import CalibrationMonitor, PAVCalibrator, ScoreModel, save
from calibrant.serve._bodies import ARROW
from models.cases import class_scores
from serve.service import served

COST = {
    "cat": {"cat": 0, "dog": 1, "fox": 9},
    "dog": {"cat": 1, "dog": 0, "fox": 9},
    "fox": {"cat": 1, "dog": 1, "fox": 0},
}
#: Hostile bodies that are sent; HOSTILE_BODIES=10000 takes some minutes.
N_BODIES = int(os.environ.get("HOSTILE_BODIES", "400"))
NAMES = np.array(["cat", "dog", "fox"])


def fitted(seed=0, **how):
    scores, y = class_scores(300, 3, seed)
    table = pa.table({f"s_{name}": scores[:, place] for place, name in enumerate(NAMES)})
    return ScoreModel("sigmoid", COST, **how).fit(table, NAMES[y]), scores


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    model, scores = fitted()
    path = tmp_path_factory.mktemp("served") / "model.json"
    save(model, path)
    with served(path) as client:
        yield client, model, scores[:50], path


def stream_of(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def table_of(scores):
    return pa.table({f"s_{name}": scores[:, place] for place, name in enumerate(NAMES)})


def post_stream(client, path, body):
    return client.post(path, content=body, headers={"content-type": ARROW})


def test_json_rows_get_the_numbers_of_the_model(three):
    client, model, scores, _ = three
    want = model.predict_proba(scores).tolist()
    by_name = [dict(zip(["s_cat", "s_dog", "s_fox"], row, strict=True), id=7) for row in scores.tolist()]
    for body in (scores.tolist(), {"rows": scores.tolist()}, by_name):
        answer = client.post("/probabilities", json=body)
        assert answer.status_code == 200
        assert answer.json() == {"classes": ["cat", "dog", "fox"], "probabilities": want}
    answer = client.post("/decisions", json=scores.tolist())
    assert answer.json() == {"decisions": model.decide(scores).tolist()}
    assert client.post("/probabilities", json=[]).json()["probabilities"] == []
    assert client.post("/decisions", json={"rows": []}).json() == {"decisions": []}


def test_an_arrow_stream_is_answered_by_one(three):
    client, model, scores, _ = three
    answer = post_stream(client, "/probabilities", stream_of(table_of(scores)))
    assert answer.headers["content-type"] == ARROW
    table = pa.ipc.open_stream(answer.content).read_all()
    assert table.column_names == ["p_cat", "p_dog", "p_fox"]
    np.testing.assert_array_equal(np.column_stack(table.columns), model.predict_proba(scores))
    answer = post_stream(client, "/decisions", stream_of(table_of(scores)))
    table = pa.ipc.open_stream(answer.content).read_all()
    assert table.to_pydict() == {"decision": model.decide(scores).tolist()}


def test_large_bodies_are_answered_too(three):
    client, model, _, _ = three
    scores, _ = class_scores(20_000, 3, 5)
    answer = client.post("/probabilities", json=scores.tolist())
    np.testing.assert_array_equal(answer.json()["probabilities"], model.predict_proba(scores))


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"", "the body must be JSON; Input is a zero-length, empty document"),
        (b"\xff", "the body must be JSON; str is not valid UTF-8"),
        (b"[[1, 2, NaN]]", "the body must be JSON; unexpected character"),
        (b"[[1, 2, 1e999]]", "the body must be JSON; number is infinity when parsed as double"),
        (b"[[1, 2, " + b"9" * 400 + b"]]", "the body must be JSON; number is infinity when parsed as double"),
        (b"[" * 100_000, "the body must be JSON; depth limit exceeded"),
        (b"3", "rows must be a list; got 3"),
        (b"{}", "the body must have the field 'rows'; it is missing"),
        (
            b'{"rows": [], "path": "/etc/passwd"}',
            "the fields of the body must be among 'rows', 'keys'; got 'path'",
        ),
        (b"[1, 2, 3]", "a row must be a list of 3 scores; got 1 in row 0"),
        (b"[[1, 2, 3], [1, 2]]", "a row must be a list of 3 scores; got 2 entries in row 1"),
        (b'[[1, 2, "3"]]', "scores must be numbers; got '3' in row 0"),
        (b"[[1, 2, true]]", "scores must be numbers; got True in row 0"),
        (b"[[1, 2, null]]", "scores must be numbers; got None in row 0"),
        (
            b'[{"s_cat": 1, "s_dog": 2}]',
            "a row must have the scores s_cat, s_dog, s_fox; row 0 lacks 's_fox'",
        ),
        (b'[{"s_cat": 1, "s_dog": 2, "s_fox": 3}, [1, 2, 3]]', "a row must be a list of 3 scores; got {"),
        (b'{"rows": [[1, 2, 3]], "keys": [1, 2]}', "there must be one key per row, 1 in all; got 2"),
        (b'{"rows": [[1, 2, 3]], "keys": [[]]}', "keys must be a list of texts or whole numbers"),
    ],
)
def test_what_cannot_be_is_one_line(three, body, line):
    for path in ("/probabilities", "/decisions"):
        answer = three[0].post(path, content=body)
        assert answer.status_code == 422
        assert answer.json()["error"].startswith(line)
        assert "\n" not in answer.json()["error"]


def test_streams_that_cannot_be_are_one_line(three):
    client, _, scores, _ = three
    good = stream_of(table_of(scores))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(
        sink, table_of(scores).schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        writer.write_table(table_of(scores))
    nothing = table_of(scores).set_column(0, "s_cat", pa.array([None] * len(scores), pa.float64()))
    for body, line in [
        (b"", "the body must be a stream of Arrow"),
        (b"nonsense", "the body must be a stream of Arrow"),
        (good[: len(good) // 2], "the body must be a stream of Arrow"),
        (sink.getvalue().to_pybytes(), "the buffers of the stream must not be compressed"),
        (
            stream_of(table_of(scores).drop_columns(["s_fox"])),
            "the stream must have the columns s_cat, s_dog, s_fox; it has",
        ),
        (stream_of(nothing), "the column 's_cat' of the table must hold finite numbers"),
    ]:
        answer = post_stream(client, "/probabilities", body)
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"].startswith(line), answer.text
    answer = client.post("/probabilities", content=b"x", headers={"content-type": "text/csv"})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("the media type of a body must be application/json or")


def test_it_says_what_it_is(three):
    client, _, _, path = three
    found = client.get("/model").json()
    assert found["classes"] == ["cat", "dog", "fox"]
    assert found["calibrator"] == "one_vs_all of sigmoid"
    assert found["actions"] == ["cat", "dog", "fox"]
    assert str(path.parent) not in client.get("/model").text
    assert client.get("/health").json() == {"status": "ok", "n_reloads": 0}
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {"/probabilities", "/decisions", "/model", "/health", "/openapi.json"}
    for path, status in (
        ("/nothing", 404),
        ("/../../etc/passwd", 404),
        ("/outcomes", 404),
        ("/probabilities", 405),
    ):
        answer = client.get(path) if path != "/outcomes" else client.post(path, json={})
        assert answer.status_code == status
        assert set(answer.json()) == {"error"}
    assert (
        client.post("/predict").json()["error"].startswith("there is no POST /predict; there are POST /prob")
    )
    assert client.get("/decisions").json()["error"].startswith("there is no GET /decisions; there are POST")
    assert client.post("/outcomes", json={}).json()["error"].endswith("with a monitor; this one has none")


def test_the_document_describes_what_comes_and_goes(three):
    jsonschema = pytest.importorskip("jsonschema")
    client, _, scores, _ = three
    about = client.get("/openapi.json").json()["paths"]
    for path in ("/probabilities", "/decisions"):
        post = about[path]["post"]
        came = post["requestBody"]["content"]["application/json"]["schema"]
        gone = post["responses"]["200"]["content"]["application/json"]["schema"]
        for body in (scores.tolist(), {"rows": scores.tolist(), "keys": list(range(50))}):
            jsonschema.validate(body, came)
            jsonschema.validate(client.post(path, json=body).json(), gone)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate([[1, 2]], came)


def test_a_body_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    save(fitted()[0], tmp_path / "m.json")
    with served(tmp_path / "m.json", "--max-body", "1") as client:
        answer = client.post("/probabilities", content=b" " * (1 << 20) + b"[]")
        assert answer.status_code == 413
        assert answer.json()["error"].startswith("a body must have at most 1048576 bytes; it has more")

        def parts():
            for _ in range(40):
                yield b" " * (1 << 16)

        assert client.post("/probabilities", content=parts()).status_code == 413
        assert client.get("/health").json()["status"] == "ok"


def until(client, holds):
    end = time.monotonic() + 20
    while not holds(client.get("/health").json()):
        assert time.monotonic() < end, client.get("/health").text
        time.sleep(0.1)


def test_a_new_file_is_taken_and_a_bad_one_is_not(tmp_path):
    path = tmp_path / "m.json"
    first, scores = fitted()
    second, _ = fitted(seed=3)
    save(first, path)
    with served(path) as client:
        save(second, path)
        until(client, lambda health: health["n_reloads"] == 1)
        answer = client.post("/probabilities", json=scores[:5].tolist()).json()
        assert answer["probabilities"] == second.predict_proba(scores[:5]).tolist()
        path.write_text("{")
        until(client, lambda health: "refused" in health["status"])
        assert client.post("/probabilities", json=scores[:5].tolist()).json() == answer
        path.unlink()
        time.sleep(1.5)
        save(first, path)
        until(client, lambda health: health == {"status": "ok", "n_reloads": 2})


def test_one_score_may_stand_alone_and_a_calibrator_may_be_served(tmp_path):
    scores, y = class_scores(200, 2, 0)
    model = PAVCalibrator().fit(scores[:, 1], y)
    save(model, tmp_path / "m.json")
    with served(tmp_path / "m.json") as client:
        for body in (scores[:9, 1].tolist(), scores[:9, 1:2].tolist()):
            answer = client.post("/probabilities", json=body).json()
            assert answer == {"classes": [0, 1], "probabilities": model.predict_proba(scores[:9, 1]).tolist()}


def test_outcomes_reach_the_monitor_and_its_state_is_kept(tmp_path):
    model, scores = fitted()
    save(model, tmp_path / "m.json")
    state, rng = tmp_path / "state.json", np.random.default_rng(0)
    proba = model.predict_proba(scores)
    labels = [NAMES[rng.choice(3, p=row)] for row in proba]
    want = CalibrationMonitor(classes=NAMES, cost=model.cost_)
    want.update(proba[:100], [None] * 100, key=list(range(100)))
    want.add_labels(list(range(100)), labels[:100])
    with served(tmp_path / "m.json", "--monitor", str(state)) as client:
        assert "/outcomes" in client.get("/openapi.json").json()["paths"]
        body = {"rows": scores[:60].tolist(), "keys": list(range(60))}
        assert client.post("/probabilities", json=body).status_code == 200
        rest = table_of(scores[60:100]).append_column("key", pa.array(range(60, 100)))
        assert post_stream(client, "/decisions", stream_of(rest)).status_code == 200
        answer = client.post("/outcomes", json={"keys": list(range(100)), "labels": labels[:100]})
        assert answer.json() == {"n_alarms": len(want.alarms)}
        for came, line in [
            (
                {"keys": [1], "labels": ["cow"]},
                "a label must be one of 'cat', 'dog', 'fox'; got 'cow' in row 0",
            ),
            ({"keys": [999], "labels": ["cat"]}, ""),
            ({"keys": [], "labels": []}, "there must be at least one outcome"),
            ([], "outcomes must be an object"),
        ]:
            answer = client.post("/outcomes", json=came)
            assert answer.status_code == 422
            assert answer.json()["error"].startswith(line)
    assert json.loads(state.read_text()) == json.loads(want.to_json())
    with served(tmp_path / "m.json", "--monitor", str(state)) as client:
        body = {"rows": scores[100:110].tolist(), "keys": list(range(10))}
        client.post("/probabilities", json=body)
        client.post("/outcomes", json={"keys": list(range(10)), "labels": labels[100:110]})
    assert CalibrationMonitor.from_json(state.read_text()).state["counts"]["_n_rows"] == 110


def hostile(rng, seeds):
    """A body that is none: a good one cut, joined, or with other bytes in it."""
    body = bytearray(seeds[rng.integers(len(seeds))])
    for _ in range(rng.integers(1, 6)):
        place = int(rng.integers(0, max(1, len(body))))
        what = rng.integers(4)
        if what == 0:
            body[place:place] = rng.bytes(int(rng.integers(1, 9)))
        elif what == 1:
            del body[place : place + int(rng.integers(1, 40))]
        elif what == 2 and body:
            body[place % len(body)] = int(rng.integers(256))
        else:
            body[place:place] = body[int(rng.integers(0, len(body) + 1)) :][: int(rng.integers(1, 60))]
    return bytes(body)


def test_hostile_bodies_are_never_a_fault_of_the_service(tmp_path):
    model, scores = fitted()
    save(model, tmp_path / "m.json")
    rng = np.random.default_rng(1)
    plain = [
        json.dumps(scores[:3].tolist()).encode(),
        json.dumps({"rows": scores[:2].tolist(), "keys": ["a", 1]}).encode(),
        json.dumps({"keys": ["a"], "labels": ["cat"]}).encode(),
        b'[{"s_cat": 1e308, "s_dog": -0.0, "s_fox": 3}]',
    ]
    streams = [
        stream_of(table_of(scores[:5])),
        stream_of(table_of(scores[:5]).append_column("key", pa.array(list("abcde")))),
    ]
    with served(tmp_path / "m.json", "--monitor", str(tmp_path / "state.json")) as client:
        for number in range(N_BODIES):
            path = ("/probabilities", "/decisions", "/outcomes")[number % 3]
            arrow = number % 2 and path != "/outcomes"
            body = hostile(rng, streams if arrow else plain)
            headers = {"content-type": ARROW} if arrow else {}
            answer = client.post(path, content=body, headers=headers)
            assert answer.status_code in (200, 422), (answer.text, body)
        assert client.get("/health").json()["status"] == "ok"
