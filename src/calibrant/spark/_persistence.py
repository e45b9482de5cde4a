"""Saving stages and loading them: a folder of JSON, as Spark's own stages have, that runs no code.

A folder holds ``metadata`` and, of a stage that has one, ``model``. Spark can replace either, on any file
system and by Spark Connect, but it removes the old before the new is there. So whoever overwrites puts both
into ``replacement`` first, replaces them, and empties it again. A reader that finds something in it takes
that: at any moment the folder holds the old stage or the new one.
"""

import json
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from calibrant._core._errors import DataError
from calibrant.models import from_document, parse, to_document, to_text

#: Where a stage waits until it has taken the place of another.
REPLACEMENT = "replacement"
#: Where the public stages live: what is saved does not know of our files.
HOME = "calibrant.spark"


class StageWriter(MLWriter):
    """Writes the parameters of a stage, and its model if it has one.

    Parameters
    ----------
    stage : Stage
        The stage.
    """

    def __init__(self, stage: Any) -> None:
        super().__init__()
        self.stage = stage

    def save(self, path: str) -> None:
        """Write the folder; with ``overwrite`` an old stage is there until the new one is complete.

        Parameters
        ----------
        path : str
            The folder, on any file system that Spark knows.
        """
        if not self.shouldOverwrite:
            self.saveImpl(path)
            return
        texts = self._texts()
        self._write(f"{path}/{REPLACEMENT}", [json.dumps(texts)])
        for name, text in texts.items():
            self._write(f"{path}/{name}", [text])
        self._write(f"{path}/{REPLACEMENT}", [])

    def saveImpl(self, path: str) -> None:
        """Write the folder, which must not hold a stage.

        Parameters
        ----------
        path : str
            The folder.
        """
        for name, text in self._texts().items():
            self._write(f"{path}/{name}", [text])

    def _texts(self) -> dict[str, str]:
        """What is written under which name; the metadata last, as they make a folder a stage."""
        extra = {"class": f"{HOME}.{type(self.stage).__name__}"} | self.stage._extra_metadata()
        metadata = DefaultParamsWriter._get_metadata_to_save(self.stage, self.sparkSession, extra)
        model = self.stage._saved_model()
        kept = {} if model is None else {"model": to_text(to_document(model)).rstrip("\n")}
        return kept | {"metadata": metadata}

    def _write(self, path: str, lines: list[str]) -> None:
        frame = self.sparkSession.createDataFrame([(line,) for line in lines], schema="value string")
        frame.coalesce(1).write.mode("overwrite" if self.shouldOverwrite else "error").text(path)


class StageReader(MLReader[Any]):
    """Reads what `StageWriter` wrote.

    Parameters
    ----------
    kind : type
        The class of the stage.
    """

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> Any:
        """Read the folder.

        Parameters
        ----------
        path : str
            The folder.

        Returns
        -------
        Stage
            The stage.
        """
        texts = self._replacement(path)
        metadata = (
            json.loads(texts["metadata"])
            if texts
            else DefaultParamsReader.loadMetadata(path, self.sparkSession)
        )
        expected = f"{HOME}.{self.kind.__name__}"
        if metadata["class"] != expected:
            raise DataError(f"{path} must hold a {expected}; it holds a {metadata['class']}")
        model = None
        if self.kind._has_model:
            text = texts["model"] if texts else self._read(f"{path}/model")
            model = from_document(parse(text.encode(), f"{path}/model"), f"{path}/model")
        stage = self.kind._from_saved(model, metadata)
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        return stage

    def _replacement(self, path: str) -> dict[str, str]:
        """The stage that was being written when somebody who overwrites was stopped; nothing, as a rule."""
        try:
            found: dict[str, str] = json.loads(self._read(f"{path}/{REPLACEMENT}") or "{}")
        except (AnalysisException, ValueError):  # there is none, or it is not complete
            return {}
        return found

    def _read(self, path: str) -> str:
        row = self.sparkSession.read.text(path, wholetext=True).first()
        return "" if row is None else str(row[0])


class Stage(MLReadable[Any], MLWritable):
    """What can be saved and loaded."""

    _has_model = False

    def write(self) -> StageWriter:
        """Give the writer of this stage.

        Returns
        -------
        StageWriter
            Writes a folder of JSON.
        """
        return StageWriter(self)

    @classmethod
    def read(cls) -> StageReader:
        """Give the reader of such stages."""
        return StageReader(cls)

    def _saved_model(self) -> Any:
        """The model to save; None for a stage that has parameters only."""
        return None

    def _extra_metadata(self) -> dict[str, Any]:
        """What else must be known to make the stage again."""
        return {}

    @classmethod
    def _from_saved(cls, model: Any, metadata: dict[str, Any]) -> Any:
        """A stage without its parameters."""
        del model, metadata
        return cls()
