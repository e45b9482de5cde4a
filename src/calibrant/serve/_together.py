"""Rows of requests that come at about the same time are worked on as one.

What a model takes for a row or two hardly depends on their number. So where several clients ask, a request
waits for a few turns of the event loop, in which those of others come in.
"""

import asyncio
from itertools import groupby
from typing import NamedTuple

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.models import ScoreModel

#: Rows of a request that takes part at most, and the turns of the loop that it waits.
FEW, TURNS = 16, 2


def proba_of(model: ScoreModel, scores: Float64Array) -> Float64Array:
    """The probabilities of some rows, of which there may be none."""
    return model.predict_proba(scores) if len(scores) else np.empty((0, len(model.classes_)))


class _Asked(NamedTuple):
    model: ScoreModel
    scores: Float64Array
    answer: "asyncio.Future[Float64Array]"


class Together:
    """Gives probabilities to requests, as many of which are worked on together as come together."""

    def __init__(self) -> None:
        self._waiting: list[_Asked] = []
        self._last: object = None

    async def proba(self, model: ScoreModel, scores: Float64Array, client: object) -> Float64Array:
        """The probabilities of some rows; who asks twice in a row is alone, and does not wait."""
        alone, self._last = client == self._last and not self._waiting, client
        if alone or len(scores) > FEW:
            return proba_of(model, scores)
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._turn, loop, TURNS)
        asked = _Asked(model, scores, loop.create_future())
        self._waiting.append(asked)
        return await asked.answer

    def _turn(self, loop: asyncio.AbstractEventLoop, turns: int) -> None:
        if turns:
            loop.call_soon(self._turn, loop, turns - 1)
            return
        waiting, self._waiting = self._waiting, []
        for _, of_model in groupby(waiting, lambda each: id(each.model)):
            _answer(list(of_model))


def _answer(asked: list[_Asked]) -> None:
    """Answer requests to one model; if something is wrong with the rows of one, each by itself."""
    model = asked[0].model
    try:
        scores = asked[0].scores if len(asked) == 1 else np.concatenate([each.scores for each in asked])
        proba = proba_of(model, scores)
    except Exception as error:  # whoever waits must hear of it, whatever it is
        if len(asked) == 1:
            _settle(asked[0], error)
        else:
            for each in asked:
                _answer([each])
        return
    first = 0
    for each in asked:
        _settle(each, proba[first : first + len(each.scores)])
        first += len(each.scores)


def _settle(asked: _Asked, found: Float64Array | Exception) -> None:
    if asked.answer.done():  # whoever asked has gone
        return
    if isinstance(found, Exception):
        asked.answer.set_exception(found)
    else:
        asked.answer.set_result(found)
