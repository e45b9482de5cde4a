"""Requests that come at the same time: each gets what it would have got alone."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

pytest.importorskip("starlette")

from calibrant import DataError, ScoreModel, save
from calibrant.serve._together import FEW, Together
from models.cases import class_scores
from serve.service import served


@pytest.fixture(scope="module")
def model():
    scores, y = class_scores(300, 3, 0)
    return ScoreModel("auto").fit(scores, y)


class Counted:
    """A model that counts how often it is asked."""

    def __init__(self, model):
        self.model, self.sizes, self.classes_ = model, [], model.classes_

    def predict_proba(self, scores):
        self.sizes.append(len(scores))
        return self.model.predict_proba(scores)


def run(function):
    """Run a coroutine in a thread of its own; tests of pages leave a loop running in the first."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(function())).result()


def asked(together, requests, *, clients=None):
    """What several tasks get, which are begun one after the other; errors as they are."""

    async def all_of_them():
        names = range(len(requests)) if clients is None else clients
        tasks = [
            asyncio.ensure_future(together.proba(model, scores, client))
            for (model, scores), client in zip(requests, names, strict=True)
        ]
        return await asyncio.gather(*tasks, return_exceptions=True)

    return run(all_of_them)


def rows_of_sizes(sizes, seed=1):
    random = np.random.default_rng(seed)
    return [random.normal(size=(size, 3)) for size in sizes]


def test_all_get_their_own_rows_from_one_call(model):
    counted, sizes = Counted(model), [1, 3, 0, 2, 1]
    parts = rows_of_sizes(sizes)
    found = asked(Together(), [(counted, part) for part in parts])
    assert counted.sizes == [sum(sizes)]
    for part, proba in zip(parts, found, strict=True):
        assert proba.shape == part.shape
        if len(part):
            np.testing.assert_allclose(proba, model.predict_proba(part), rtol=1e-12, atol=0)


def test_whoever_is_alone_gets_the_same_bits_at_once(model):
    counted, parts = Counted(model), rows_of_sizes([1, 2, 1])
    together = Together()
    for part in parts:
        (proba,) = asked(together, [(counted, part)], clients=["one"])
        assert proba.tobytes() == model.predict_proba(part).tobytes()
    assert counted.sizes == [1, 2, 1]


def test_many_rows_do_not_wait(model):
    counted, parts = Counted(model), rows_of_sizes([FEW + 1, 1, 1])
    asked(Together(), [(counted, part) for part in parts])
    assert sorted(counted.sizes) == [2, FEW + 1]


def test_what_is_wrong_with_one_is_not_told_to_others(model):
    parts = rows_of_sizes([1, 2, 1])
    parts[1][1, 2] = np.nan
    first, second, third = asked(Together(), [(model, part) for part in parts])
    with pytest.raises(DataError, match="row 1, column 2"):
        raise second
    np.testing.assert_array_equal(first, model.predict_proba(parts[0]))
    np.testing.assert_array_equal(third, model.predict_proba(parts[2]))


def test_a_fault_reaches_everyone_who_waits(model):
    class Faulty:
        classes_ = model.classes_

        def predict_proba(self, scores):
            raise ZeroDivisionError

    found = asked(Together(), [(Faulty(), part) for part in rows_of_sizes([1, 1])])
    assert [type(each) for each in found] == [ZeroDivisionError] * 2


def test_a_request_keeps_the_model_that_it_began_with(model):
    other = ScoreModel("sigmoid").fit(*class_scores(300, 3, 7))
    parts = rows_of_sizes([1, 1, 1, 1])
    models = [model, model, other, other]
    for one, part, proba in zip(
        models, parts, asked(Together(), list(zip(models, parts, strict=True))), strict=True
    ):
        np.testing.assert_allclose(proba, one.predict_proba(part), rtol=1e-12, atol=0)


def test_one_that_has_gone_does_not_keep_the_others(model):
    together, parts = Together(), rows_of_sizes([1, 1, 1])

    async def with_one_cancelled():
        tasks = [
            asyncio.ensure_future(together.proba(model, part, client)) for client, part in enumerate(parts)
        ]
        await asyncio.sleep(0)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second, third = run(with_one_cancelled)
    assert isinstance(second, asyncio.CancelledError)
    for part, proba in ((parts[0], first), (parts[2], third)):
        np.testing.assert_allclose(proba, model.predict_proba(part), rtol=1e-12, atol=0)


def test_clients_at_the_same_time_get_their_own_answers(model, tmp_path):
    save(model, tmp_path / "model.json")
    rows = np.random.default_rng(3).normal(size=(400, 3))
    want = model.predict_proba(rows)
    with served(tmp_path / "model.json") as client:

        def ask(first):
            with httpx.Client(base_url=client.base_url, timeout=30, trust_env=False) as own:
                found = []
                for row in rows[first::8]:
                    bad = own.post("/probabilities", json=[[*row.tolist()[:2], "x"]])
                    assert bad.status_code == 422, bad.text
                    found += own.post("/probabilities", json=[row.tolist()]).json()["probabilities"]
                return np.array(found)

        with ThreadPoolExecutor(8) as threads:
            for first, found in enumerate(threads.map(ask, range(8))):
                np.testing.assert_allclose(found, want[first::8], rtol=1e-12, atol=0)
