"""The data sets that are texts."""

import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calibrant._core._arrays import Array
from calibrant.experiments._datasets import find, open_text


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """A data set of texts.

    Attributes
    ----------
    texts : tuple of str
        One text per row.
    y : ndarray of shape (n,)
        The labels.
    """

    texts: tuple[str, ...]
    y: Array


@lru_cache(maxsize=1)
def read_newsgroups(part: str = "20newsgroups-19997") -> Texts:
    """Read 20 Newsgroups without the headers of the articles, which name the group."""
    with open_text(find(f"{part}.jsonl.xz")) as lines:
        articles = [json.loads(line) for line in lines]
    return Texts(
        tuple(without_header(article["text"]) for article in articles),
        np.array([article["label"] for article in articles]),
    )


def without_header(article: str) -> str:
    """The body of an article: what comes after the first empty line."""
    _, separator, body = article.replace("\r\n", "\n").partition("\n\n")
    return body if separator else article
