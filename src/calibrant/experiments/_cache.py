"""Finished jobs on disk, so that an interrupted run goes on where it stopped.

A job is known by its function, its arguments, the code that it runs, the releases that it runs on and the
folder of its data: after a change of any of these nothing old is taken for new.
"""

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import calibrant
from calibrant._core._whole_files import write_whole
from calibrant.experiments._experiment import Done, Job

#: What computes beside our own code.
RELEASES = ("numpy", "scipy", "scikit-learn")


class Cache:
    """A folder of finished jobs.

    Parameters
    ----------
    folder : Path, optional
        By default `calibrant/experiments` in the folder that XDG_CACHE_HOME names, or in `~/.cache`.
    fresh : bool, default=False
        Whether to look nothing up, so that every job is run again and replaces what is kept.
    """

    def __init__(self, folder: Path | None = None, *, fresh: bool = False) -> None:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        self.folder = folder or home / "calibrant" / "experiments"
        self.fresh = fresh

    def get(self, job: Job) -> Done | None:
        """Look a job up."""
        if self.fresh:
            return None
        try:
            kept = json.loads(self._path(job).read_text(encoding="utf-8"))
            return Done(job.arguments, kept["answer"], kept["seconds"])
        except (OSError, ValueError, KeyError):
            return None

    def put(self, job: Job, answer: Any, seconds: float) -> Done:
        """Keep what a job returned, and how long it took."""
        content = json.dumps({"arguments": dict(job.arguments), "seconds": seconds, "answer": answer})
        write_whole(self._path(job), content.encode(), parents=True)
        return Done(job.arguments, json.loads(content)["answer"], seconds)

    def _path(self, job: Job) -> Path:
        module, name = job.function.__module__, job.function.__qualname__
        releases = [version(package) for package in RELEASES]
        data = os.environ.get("CALIBRANT_DATA", "")
        key = json.dumps([module, name, dict(job.arguments), _source(module), releases, data], sort_keys=True)
        return self.folder / name / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


@cache
def _source(module: str) -> str:
    """A digest of the code that a job of this module runs."""
    digest = hashlib.sha256()
    for path in sorted(_imported(Path(str(sys.modules[module].__file__)), set())):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _imported(path: Path, seen: set[Path]) -> set[Path]:
    """A file of code, and those of all our modules that it imports, directly or not."""
    if path not in seen:
        seen.add(path)
        for statement in ast.walk(ast.parse(path.read_bytes())):
            for module in _modules(statement):
                for file in _files(module):
                    _imported(file, seen)
    return seen


def _modules(statement: ast.AST) -> Iterator[str]:
    """What a statement imports; a name from a package may be a module of it."""
    if isinstance(statement, ast.ImportFrom) and statement.module:
        yield statement.module
        yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
    elif isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)


def _files(module: str) -> Iterator[Path]:
    """Where a module of ours lies; nothing for those of others."""
    package, *parts = module.split(".")
    if package == "calibrant":
        place = Path(calibrant.__file__).parent.joinpath(*parts)
        yield from (file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file())
