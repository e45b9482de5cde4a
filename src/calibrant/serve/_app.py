"""The service as an ASGI application."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import plain
from calibrant._core._errors import CalibrantError, DataError, MissingExtraError
from calibrant.files import apply
from calibrant.serve._bodies import ARROW, columns_of, read_outcomes, read_rows, read_stream, written
from calibrant.serve._openapi import openapi
from calibrant.serve._served import Served, Version
from calibrant.serve._together import Together, proba_of
from calibrant.serve._watch import Watch

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response
    from starlette.routing import Route
except ImportError as error:
    raise MissingExtraError("starlette", "serve") from error

#: What there is to ask, and the statuses of who asks for something else.
ENDPOINTS = "POST /probabilities, /decisions and /outcomes, GET /model, /health and /openapi.json"
ELSEWHERE = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}
#: The largest body, in bytes, unless told otherwise.
MAX_BODY = 16 * 1024 * 1024
#: Bodies above so many bytes are worked on beside the others, so that these need not wait.
LARGE = 1 << 18
#: Seconds between two looks at the model file, and between two savings of the monitor's state.
LOOK_EVERY = 1.0


class Json(Response):
    """An answer in JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Write it."""
        return written(content)


class TooLargeError(CalibrantError):
    """A body is larger than it may be."""


class Service:
    """A model, perhaps a monitor, and what requests may ask of them."""

    def __init__(self, served: Served, watch: Watch | None, max_body: int) -> None:
        self.served, self.watch, self.max_body = served, watch, max_body
        self._together = Together()

    async def body(self, request: Request) -> bytes:
        """All of the body, if it is not too large."""
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > self.max_body:
            raise self._too_large()
        parts, n_bytes, more = [], 0, True
        while more:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            parts.append(message.get("body", b""))
            n_bytes += len(parts[-1])
            if n_bytes > self.max_body:
                raise self._too_large()
            more = message.get("more_body", False)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _too_large(self) -> TooLargeError:
        return TooLargeError(f"a body must have at most {self.max_body} bytes; it has more; send fewer rows")

    async def probabilities(self, request: Request) -> Response:
        """The probabilities of rows."""
        return await self._answer(request, decide=False)

    async def decisions(self, request: Request) -> Response:
        """The decisions for rows."""
        return await self._answer(request, decide=True)

    async def _answer(self, request: Request, *, decide: bool) -> Response:
        """What is asked of the rows of a body, in the form that they came in."""
        body = await self.body(request)
        arrow, now = _is_arrow(request), self.served.now
        if len(body) > LARGE:
            work = self._of_stream if arrow else self._of_json
            proba, keys, response = await run_in_threadpool(work, body, now, decide)
        elif arrow:
            proba, keys, response = self._of_stream(body, now, decide)
        else:
            asked = read_rows(body, now.model)
            proba = await self._together.proba(now.model, asked.scores, request.scope.get("client"))
            keys, response = asked.keys, _said(now, proba, decide)
        if self.watch is not None and keys:
            self.watch.forecast(proba, keys)
        return response

    def _of_json(self, body: bytes, now: Version, decide: bool) -> tuple[Any, Any, Response]:
        asked = read_rows(body, now.model)
        proba = proba_of(now.model, asked.scores)
        return proba, asked.keys, _said(now, proba, decide)

    def _of_stream(self, body: bytes, now: Version, decide: bool) -> tuple[Any, Any, Response]:
        table, keys = read_stream(body)
        names = columns_of(table, now.model)
        found = apply(now.model, table.select(names), scores=names, keep=[], decide=decide).table()
        proba = np.column_stack([found.column(place).to_numpy() for place in range(len(now.model.classes_))])
        if decide:
            found = found.select(["decision"])
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, found.schema) as writer:
            writer.write_table(found)
        return proba, keys, Response(sink.getvalue().to_pybytes(), media_type=ARROW)

    async def outcomes(self, request: Request) -> Response:
        """Outcomes of rows that were asked about before."""
        if self.watch is None:
            raise HTTPException(404, "outcomes are taken by a service with a monitor; this one has none")
        came = read_outcomes(await self.body(request), self.served.now.model)
        return Json({"n_alarms": self.watch.outcomes(came.keys, came.labels)})

    async def model(self, _: Request) -> Response:
        """What the model is."""
        return Json(_plain(asdict(self.served.now.description)))

    async def health(self, _: Request) -> Response:
        """Whether the service answers; and whether the file is the model in use."""
        refused = "a new model file was refused; the one before answers"
        status = "ok" if self.served.refused is None else refused
        return Json({"status": status, "n_reloads": self.served.n_reloads})

    async def openapi(self, _: Request) -> Response:
        """What the service understands."""
        monitored = self.watch is not None
        document = openapi(self.served.now.model, version("calibrant"), monitored=monitored)
        return Json(document)

    async def look_after(self) -> None:
        """Take new model files, and save the monitor's state, now and then."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if await run_in_threadpool(self.served.reload, keep_classes=self.watch is not None):
                why = self.served.refused
                _say(
                    "a new model file is in use" if why is None else f"the new model file was refused: {why}"
                )
            if self.watch is not None:
                self.watch.save()


def make_app(
    model: str | os.PathLike[str],
    *,
    monitor: str | os.PathLike[str] | None = None,
    max_body: int = MAX_BODY,
) -> Any:
    """Make the ASGI application that serves a model.

    Parameters
    ----------
    model : str or path
        The model file. A new file in its place is taken while the service runs; one that cannot be used is
        refused, and the model of before goes on.
    monitor : str or path, optional
        The state of a `CalibrationMonitor`, made if there is none. Rows with keys are then remembered until
        their outcomes come in.
    max_body : int, default=16777216
        The most bytes that a request may bring.

    Returns
    -------
    Starlette
        The application.
    """
    served = Served(model)
    service = Service(served, None if monitor is None else Watch(monitor, served.now.model), max_body)

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(service.look_after())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            if service.watch is not None:
                service.watch.save()

    return Starlette(
        routes=[
            Route("/probabilities", Guarded(service.probabilities), methods=["POST"]),
            Route("/decisions", Guarded(service.decisions), methods=["POST"]),
            Route("/outcomes", Guarded(service.outcomes), methods=["POST"]),
            Route("/model", service.model),
            Route("/health", service.health),
            Route("/openapi.json", service.openapi),
        ],
        exception_handlers={HTTPException: _refuse},
        lifespan=living,
    )


class Guarded:
    """An endpoint for which what data cannot be is one line, and not a fault of the service.

    It is an application of its own, as what Starlette does around a function takes as long as many a model.
    """

    def __init__(self, answer: Callable[[Request], Awaitable[Response]]) -> None:
        self._answer = answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        response = await self._response(Request(scope, receive))
        await response(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        try:
            return await self._answer(request)
        except TooLargeError as error:
            return Json({"error": _one_line(error)}, 413, {"connection": "close"})
        except CalibrantError as error:
            return Json({"error": _one_line(error)}, 422)
        except MemoryError:
            return Json({"error": "there must be more memory for this; send fewer rows"}, 413)
        except ClientDisconnect:
            return Response(status_code=400)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = error.detail
    if error.status_code in ELSEWHERE and said == HTTPStatus(error.status_code).phrase:
        said = f"there is no {request.method} {request.url.path[:80]}; there are {ENDPOINTS}"
    return Json({"error": said}, error.status_code, error.headers)


def _is_arrow(request: Request) -> bool:
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind == ARROW:
        return True
    if kind in ("application/json", "text/json", ""):
        return False
    raise DataError(f"the media type of a body must be application/json or {ARROW}; got {kind!r:.80}")


def _said(now: Version, proba: Float64Array, decide: bool) -> Response:
    """The answer to rows in JSON."""
    if not decide:
        return Json({"classes": now.classes, "probabilities": np.ascontiguousarray(proba)})
    positions = now.model.decide_positions(proba) if len(proba) else np.empty(0, dtype=np.intp)
    return Json({"decisions": _labels(now.model.actions_[positions])})


def _labels(labels: Array) -> list[Any]:
    return [plain(each) for each in labels.tolist()]


def _plain(value: Any) -> Any:
    """Values that JSON has."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    value = value.tolist() if isinstance(value, np.ndarray) else plain(value)
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _say(message: str) -> None:
    with suppress(OSError):
        print(f"calibrant: {message}", file=sys.stderr, flush=True)  # noqa: T201
