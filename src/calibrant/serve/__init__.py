"""The model behind HTTP: probabilities and decisions for whoever can send a request (extra `serve`).

- `serve`: a server, until it is told to end; `make_app`: the same as an ASGI application, for other servers.

What comes from a client is numbers, keys and labels: never a path, and never code.
"""

from typing import TYPE_CHECKING

from calibrant._core._lazy import at_home, lazily

if TYPE_CHECKING:
    from calibrant.serve._app import make_app
    from calibrant.serve._server import serve

#: Where they are at home.
_HOME = {
    "make_app": "calibrant.serve._app",
    "serve": "calibrant.serve._server",
}

__all__ = ["make_app", "serve"]

__getattr__ = lazily("calibrant.serve", _HOME)
__dir__ = at_home(__name__)
