"""Model files: read with suspicion, written all or nothing."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from calibrant._core._errors import DataError
from calibrant._core._place import ModelFileError
from calibrant._core._whole_files import write_whole
from calibrant.models._document import from_document, to_document
from calibrant.models._score_model import ScoreModel
from calibrant.models._text import to_text

#: The largest model file, in bytes. A thousand classes by isotonic regression need about four million.
MAX_BYTES = 64 * 1024 * 1024


def save(model: Any, path: str | os.PathLike[str], *, date: object = None) -> None:
    """Save a fitted model as one JSON file.

    Parameters
    ----------
    model : object
        A fitted `ScoreModel`, calibrator or rule, or a combiner.
    path : str or path
        The file. A symbolic link stays one, and the file that it leads to is replaced.
    date : str, date or datetime, optional
        The date to write down. By default that of the file that the model was loaded from, or none: the
        clock is never asked, so that the same model gives the same bytes.

    Raises
    ------
    ModelFileError
        If the object is not one of calibrant's own, or the file cannot be written.

    See Also
    --------
    load : The way back.

    Notes
    -----
    The file is written beside its place and then moved there, so that it is complete or as it was before,
    even if the machine stops on the way. Numbers are written with as many digits as bring them back exactly.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from calibrant import ScoreModel
    >>> from calibrant.models import load, save
    >>> model = ScoreModel().fit([-2, -1, 1, 2], [0, 1, 0, 1])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "model.json", date="2026-03-31")
    ...     load(Path(folder) / "model.json").predict_proba([3])[:, 1].round(2)
    array([0.73])
    """
    data = to_text(to_document(model, date)).encode()
    if len(data) > MAX_BYTES:
        raise ModelFileError(
            f"a model file must have at most {MAX_BYTES} bytes; this {type(model).__name__} needs "
            f"{len(data)}; use a calibrator with fewer numbers"
        )
    write_whole(path, data, error=ModelFileError)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    object
        The fitted model. It gives exactly the numbers that the saved one gave.

    Raises
    ------
    ModelFileError
        If the file cannot be read or does not hold what it must; the message names the place.

    See Also
    --------
    save : The way there.
    describe : What a file holds.

    Notes
    -----
    Nothing in the file is ever run, and nothing is imported because the file names it. Every field is
    checked; files of more than 64 MiB are not read.
    """
    return from_document(parse(read_limited(path), str(path)), str(path))


def score_model_of(model: Any) -> ScoreModel:
    """A fitted model as a chain; or the one that a file holds."""
    if isinstance(model, str | os.PathLike):
        path, model = os.fspath(model), load(model)
        if not hasattr(model, "predict_proba"):
            raise DataError(
                f"{path} must hold a model that turns scores into probabilities; it holds a "
                f"{type(model).__name__}; make one with calibrant fit"
            )
    return model if isinstance(model, ScoreModel) else ScoreModel.from_fitted(model)


def read_limited(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file of a sensible size."""
    if not isinstance(path, str | os.PathLike):  # a number would be that of an open file
        raise ModelFileError(f"path must be the name of a file; got {type(path).__name__}")
    with _explained(path), open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ModelFileError(f"{path} must be a file to be read; it is something else")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ModelFileError(
            f"{path} must have at most {MAX_BYTES} bytes; it has more; is this a model file?"
        )
    return data


def parse(data: bytes, name: str) -> Any:
    """The JSON document in these bytes, without NaN, infinities and repeated fields."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"{name} must be text in UTF-8; got another byte at {error.start}") from error
    try:
        return json.loads(text, object_pairs_hook=_distinct_fields, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ModelFileError(
            f"{name} must be a JSON document; it breaks off or is damaged in line {error.lineno}, column "
            f"{error.colno}: {error.msg}"
        ) from error
    except RecursionError as error:
        raise ModelFileError(f"{name} must be nested a few levels deep; it is nested too deep") from error
    except ValueError as error:
        raise ModelFileError(f"{name} must be a plain JSON document; {error}") from error


def _distinct_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        name = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the field {name!r:.60} comes twice in one object")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that it may hold")


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a named pipe would otherwise keep its reader waiting for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextmanager
def _explained(path: str | os.PathLike[str]) -> Iterator[None]:
    """The operating system's words with the path and without a traceback of its own kind."""
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ModelFileError(f"{path} must be a file that can be read; {words}") from error
