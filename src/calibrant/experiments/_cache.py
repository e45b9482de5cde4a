"""Finished jobs on disk, so that an interrupted run goes on where it stopped.

A job is known by its function, its arguments and the source of the code that it runs: after a change of the
code nothing old is taken for new.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import calibrant
from calibrant.experiments._experiment import Job

#: The rooms that an experiment computes with.
COMPUTING = ("_core", "metrics", "codes", "calibrators", "decisions", "learners", "classifiers")


class Cache:
    """A folder of finished jobs.

    Parameters
    ----------
    folder : Path, optional
        By default `calibrant/experiments` in the folder that XDG_CACHE_HOME names, or in `~/.cache`.
    """

    def __init__(self, folder: Path | None = None) -> None:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        self.folder = folder or home / "calibrant" / "experiments"

    def get(self, job: Job) -> Any:
        """Look a job up.

        Parameters
        ----------
        job : Job
            The work.

        Returns
        -------
        object
            What it returned, or None.
        """
        try:
            return json.loads(self._path(job).read_text(encoding="utf-8"))["answer"]
        except (OSError, ValueError, KeyError):
            return None

    def put(self, job: Job, answer: Any) -> None:
        """Keep what a job returned.

        Parameters
        ----------
        job : Job
            The work.
        answer : object
            Plain data.
        """
        content = json.dumps({"arguments": dict(job.arguments), "answer": answer})
        path = self._path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            file.write(content)
        Path(file.name).replace(path)

    def _path(self, job: Job) -> Path:
        module, name = job.function.__module__, job.function.__qualname__
        key = json.dumps([module, name, dict(job.arguments), _source(module)], sort_keys=True)
        return self.folder / name / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


@cache
def _source(module: str) -> str:
    """A digest of the code that a job of this module runs."""
    digest = hashlib.sha256()
    for path in _files(module):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(module: str) -> Iterator[Path]:
    package = Path(calibrant.__file__).parent
    for room in COMPUTING:
        yield from sorted((package / room).glob("**/*.py"))
    yield package / "experiments" / "_datasets.py"
    own = package.parent.joinpath(*module.split(".")).with_suffix(".py")
    if own.is_file():
        yield own
