"""A fitted model written for the place where its scores are."""

import os
from collections.abc import Callable
from inspect import signature
from typing import Any

from calibrant._core._checks import check_option
from calibrant._core._errors import ParameterError
from calibrant._core._place import ModelFileError
from calibrant._core._whole_files import write_whole
from calibrant._core._words import option
from calibrant.models._onnx import to_onnx
from calibrant.models._python import to_python
from calibrant.models._sql import to_sql


def _onnx(model: Any) -> bytes:
    data: bytes = to_onnx(model).SerializeToString()
    return data


def _sql(model: Any, **options: Any) -> bytes:
    return f"{to_sql(model, **options)}\n".encode()


def _python(model: Any) -> bytes:
    return to_python(model).encode()


#: What a model can be written as, and who writes it.
TARGETS: dict[str, Callable[..., bytes]] = {"onnx": _onnx, "sql": _sql, "python": _python}
#: What can be said about it.
OPTIONS = {"onnx": (), "sql": tuple(signature(to_sql).parameters)[1:], "python": ()}


def export(model: Any, path: str | os.PathLike[str], to: str, **options: Any) -> None:
    """Write a fitted model for where its scores are: as ONNX, SQL or Python.

    The probabilities and decisions there are those of the library.

    Parameters
    ----------
    model : ScoreModel or calibrator
        The fitted model.
    path : str or path
        The file. One that exists is replaced when the new one is complete.
    to : {"onnx", "sql", "python"}
        What to write: an ONNX graph, one SQL statement, or one Python module that needs the standard library
        alone.
    **options : dict
        For SQL: `table`, `scores`, `dialect` and `keep`, as of `to_sql`.

    Raises
    ------
    ExportError
        If a part of the model has no exact counterpart there.
    ModelFileError
        If the file cannot be written.

    See Also
    --------
    to_onnx, to_sql, to_python : The same without a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import ScoreModel, export
    >>> model = ScoreModel().fit([-2, -1, 1, 2], [0, 1, 0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(model, Path(folder) / "model.sql", to="sql", table="clicks", scores=["score"])
    ...     export(model, Path(folder) / "model.py", to="python")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['model.py', 'model.sql']
    """
    write_whole(path, exported(model, to, **options), error=ModelFileError)


def exported(model: Any, to: str, **options: Any) -> bytes:
    """What `export` writes."""
    check_option("to", to, tuple(TARGETS))
    strange = next((name for name in options if name not in OPTIONS[to]), None)
    if strange is not None:
        known = [name for name, known in OPTIONS.items() if strange in known]
        raise ParameterError(
            f"{option(strange)} must be left out for {option('to')} {to!r}; got {options[strange]!r}; "
            f"{'it is for ' + repr(known[0]) if known else 'there is no such option'}"
        )
    return TARGETS[to](model, **options)
