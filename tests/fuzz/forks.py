"""Run the command as a process of its own that needs no start: one process imports it once, and forks.

A crash, a hang or a process that takes all memory is seen from outside and ends only itself. The process that
forks has no other threads, and knows nothing of the one that asks.
"""

import atexit
import json
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

#: What a case may take: seconds, and bytes of address space.
SECONDS, MEMORY = 30, 6 << 30
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Done:
    """How the command ended: a negative status is the signal that has killed it."""

    status: int
    out: str
    err: str


def calibrant(*arguments: object, cwd: Path, stdin: Path | None = None) -> Done:
    """Run the command in a folder."""
    with tempfile.TemporaryDirectory() as aside:
        out, err = Path(aside, "out"), Path(aside, "err")
        asked = {"arguments": list(map(str, arguments)), "cwd": str(cwd), "out": str(out), "err": str(err)}
        server = _server()
        server.stdin.write(json.dumps(asked | {"stdin": str(stdin or os.devnull)}) + "\n")
        server.stdin.flush()
        told = server.stdout.readline()
        assert told, "the process that forks has ended"
        texts = (path.read_bytes().decode(errors="backslashreplace") for path in (out, err))
        return Done(int(told), *texts)


@cache
def _server() -> Any:
    roots = [str(Path(__file__).parents[1]), *filter(None, sys.path)]
    server = subprocess.Popen(
        [sys.executable, "-m", "fuzz.forks"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | ONE_THREAD | {"PYTHONPATH": os.pathsep.join(roots), "COLUMNS": "200"},
    )
    atexit.register(_end, server)
    return server


def _end(server: Any) -> None:
    server.communicate()


def _serve() -> None:
    """Read what is asked for, a line each; answer with the exit status."""
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _become(**asked)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201


def _become(arguments: list[str], cwd: str, stdin: str, out: str, err: str) -> NoReturn:
    """Be the command."""
    import calibrant.cli

    status = 70
    try:
        os.chdir(cwd)
        for number, path, how in (
            (0, stdin, os.O_RDONLY),
            (1, out, os.O_WRONLY | os.O_CREAT),
            (2, err, os.O_WRONLY | os.O_CREAT),
        ):
            os.dup2(os.open(path, how, 0o600), number)
        sys.stdin = open(0)  # noqa: SIM115  (the old one has read ahead)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(SECONDS)
        sys.argv = ["calibrant", *arguments]
        calibrant.cli.main()
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


def _warm() -> None:
    """Import what the commands import when they are called; running one would start threads."""
    for room in ("models", "files", "report", "cli"):
        for found in pkgutil.iter_modules(import_module(f"calibrant.{room}").__path__):
            if "spark" not in found.name and not found.name.startswith("__"):
                import_module(f"calibrant.{room}.{found.name}")


if __name__ == "__main__":
    _warm()
    _serve()
