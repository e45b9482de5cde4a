"""What a summary is written as: a page, JSON, or the picture of a notebook."""

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from calibrant._core._whole_files import write_whole
from calibrant.metrics import plain_record


class Written(ABC):
    """Base of the summaries, whose fields are plain values."""

    __slots__ = ()

    #: Written into the JSON; raised when a field changes its meaning or goes away.
    schema: ClassVar[str]
    title: str

    @abstractmethod
    def to_html(self) -> str:
        """Write one HTML page that needs no other file and no network.

        Returns
        -------
        str
            The page.
        """

    def to_json(self, indent: int | None = None) -> str:
        """Write the fields as JSON.

        Parameters
        ----------
        indent : int, optional
            Spaces by which levels are indented; by default everything is on one line.

        Returns
        -------
        str
            An object with these fields and "schema". Beside the measures of a record stand their
            `intervals`, the two ends of each by its name. What is not a finite number is null.
        """
        return json.dumps({"schema": self.schema, **plain_record(self)}, indent=indent, allow_nan=False)

    def save(self, path: str | Path) -> Path:
        """Write it to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where to; a name that ends in .json gets the JSON, any other the page. Its folder is made if it is
            missing.

        Returns
        -------
        Path
            Where it is.
        """
        target = Path(path)
        text = self.to_json(indent=1) if target.suffix.lower() == ".json" else self.to_html()
        write_whole(target, text.encode(), parents=True)
        return target

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither its style nor the notebook's leaks."""
        from calibrant.report._html import framed  # noqa: PLC0415  (jinja2)

        return framed(self.title, self.to_html())
