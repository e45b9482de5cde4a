"""The service beside a bare echo: requests per second and the slowest in a hundred, in one run.

The echo is Starlette and uvicorn with the same settings: it reads a JSON body and writes it again. Clients
are the same too: some connections that are kept alive, each of which waits for its answer.

    python -m benchmarks.serve
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.measure import Row

ECHO = """
import socket, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def echo(request):
    return JSONResponse(await request.json())
listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listening.bind(("127.0.0.1", 0))
listening.listen(2048)
print(f"http://127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr, flush=True)
app = Starlette(routes=[Route("/probabilities", echo, methods=["POST"])])
config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
uvicorn.Server(config).run(sockets=[listening])
"""
CONNECTIONS = 4


@contextmanager
def server(*command: str) -> Iterator[int]:
    """The port of a server that runs meanwhile."""
    process = subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()  # type: ignore[union-attr]
        found = re.search(r":(\d+)\s*$", line)
        if found is None:
            raise RuntimeError(line + process.stderr.read())  # type: ignore[union-attr]
        yield int(found[1])
    finally:
        process.terminate()
        process.wait()


async def _ask(port: int, request: bytes, times: list[float], until: float) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until:
        start = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = re.search(rb"content-length: (\d+)", head.lower())
        assert length is not None
        await reader.readexactly(int(length[1]))
        times.append(time.perf_counter() - start)
    writer.close()


def asked(port: int, body: bytes, seconds: float) -> tuple[float, float]:
    """Requests per second, and the 99th percentile of their seconds."""
    fields = "host: x", "content-type: application/json", f"content-length: {len(body)}"
    head = "\r\n".join(["POST /probabilities HTTP/1.1", *fields, "", ""])
    times: list[float] = []

    async def all_of_them() -> None:
        until = time.perf_counter() + seconds
        await asyncio.gather(*(_ask(port, head.encode() + body, times, until) for _ in range(CONNECTIONS)))

    asyncio.run(all_of_them())
    return len(times) / seconds, float(np.quantile(times, 0.99))


def serve(seconds: float = 2.0, repeats: int = 5) -> Iterator[Row]:
    """Rates and slowest answers, both servers in turn."""
    from calibrant import ScoreModel, save

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder, server("-c", ECHO) as echo:
        for k, method in ((2, "pav"), (10, "auto")):
            y = rng.integers(0, k, 5000)
            scores = rng.normal(size=(5000, k)) + 2 * np.eye(k)[y]
            model = Path(folder) / f"{k}.json"
            if k == 2:
                scores = scores[:, 1:] - scores[:, :1]
            save(ScoreModel(method).fit(scores[:, 0] if k == 2 else scores, y), model)
            with server("-m", "calibrant", "serve", str(model), "--port", "0") as ours:
                for n_rows, goal in ((1, ">= 0.7"), (1000, ">= 0.9")):
                    body = json.dumps(scores[:n_rows].tolist()).encode()
                    for port in (ours, echo):
                        asked(port, body, 0.3)
                    runs = [(asked(ours, body, seconds), asked(echo, body, seconds)) for _ in range(repeats)]
                    rates = [statistics.median(run[who][0] for run in runs) for who in (0, 1)]
                    slow = [statistics.median(run[who][1] for run in runs) for who in (0, 1)]
                    case = f"{method}, {k} classes, {n_rows} row{'s' * (n_rows > 1)} a request"
                    yield Row(case, "echo", *rates, "1/s", rates[0] / rates[1], goal)
                    yield Row(f"{case}, p99", "echo", *slow, "s", slow[0] / slow[1], "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--repeats", type=int, default=5)
    for row in serve(**vars(parser.parse_args())):
        amounts = f"{row.ours:10.4g} {row.theirs:10.4g} {row.unit}"
        print(f"{row.case:<45} {amounts}  ratio {row.ratio:.2f}  {row.goal}", flush=True)
