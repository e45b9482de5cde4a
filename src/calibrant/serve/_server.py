"""The service as a process: a socket, and uvicorn behind it."""

import gc
import os
import socket
from collections.abc import Callable
from typing import Any

from calibrant._core._errors import MissingExtraError, ParameterError
from calibrant.serve._app import MAX_BODY, make_app

try:
    import uvicorn
except ImportError as error:
    raise MissingExtraError("uvicorn", "serve") from error


def serve(
    model: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    monitor: str | os.PathLike[str] | None = None,
    max_body: int = MAX_BODY,
    ready: Callable[[str], Any] | None = None,
) -> None:
    """Serve a model over HTTP until the process is asked to end; requests that have begun are answered.

    Parameters
    ----------
    model : str or path
        The model file; a new one in its place is taken while the service runs.
    host : str, default="127.0.0.1"
        The address to listen on. The service asks nobody who they are: let others than this machine reach it
        only through a proxy that does.
    port : int, default=8080
        The port; 0 for any that is free.
    monitor : str or path, optional
        The state of a `CalibrationMonitor`, made if there is none.
    max_body : int, default=16777216
        The most bytes that a request may bring.
    ready : callable, optional
        Called with the address once requests are taken.
    """
    app = make_app(model, monitor=monitor, max_body=max_body)
    listening = _listen(host, port)
    settings = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="on")
    if ready is not None:
        where = f"[{host}]" if ":" in host else host
        ready(f"http://{where}:{listening.getsockname()[1]}")
    gc.collect()
    gc.freeze()  # what has been loaded stays, and need not be looked through again and again
    with listening:
        uvicorn.Server(settings).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # with its protocol named, or asyncio would not send small answers at once
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise ParameterError(
            f"--host and --port must be an address that is free; got {host} and {port}; {error}"
        ) from error
    listening.listen(2048)
    return listening
