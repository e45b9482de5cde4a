"""Saving stages and loading them: a folder of JSON, as Spark's own stages have, that runs no code."""

import json
from typing import Any

from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from calibrant._core._errors import DataError
from calibrant.models import from_document, to_document
from calibrant.models._files import parse
from calibrant.models._text import to_text

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

    def saveImpl(self, path: str) -> None:
        """Write the folder.

        Parameters
        ----------
        path : str
            The folder, on any file system that Spark knows.
        """
        extra = {"class": f"{HOME}.{type(self.stage).__name__}"} | self.stage._extra_metadata()
        spark = self.sparkSession
        DefaultParamsWriter.saveMetadata(self.stage, path, spark, extraMetadata=extra)
        model = self.stage._saved_model()
        if model is not None:
            text = to_text(to_document(model)).rstrip("\n")
            spark.createDataFrame([(text,)], schema="value string").coalesce(1).write.text(f"{path}/model")


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
        spark = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, spark)
        expected = f"{HOME}.{self.kind.__name__}"
        if metadata["class"] != expected:
            raise DataError(f"{path} must hold a {expected}; it holds a {metadata['class']}")
        model = None
        if self.kind._has_model:
            row = spark.read.text(f"{path}/model", wholetext=True).first()
            text = "" if row is None else str(row[0])
            model = from_document(parse(text.encode(), f"{path}/model"), f"{path}/model")
        stage = self.kind._from_saved(model, metadata)
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        return stage


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


def document_text(model: Any) -> str:
    """A model as one line of JSON, to send to executors.

    Parameters
    ----------
    model : object
        A fitted model or rule.

    Returns
    -------
    str
        Its document.
    """
    return json.dumps(to_document(model))
