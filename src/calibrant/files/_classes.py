"""Which classes the scores of a file are for: as columns name them, as the user says, or as labels tell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import label_text, names_by_label
from calibrant._core._words import option
from calibrant.files._columns import Chosen, choose_columns, label_values, match_classes, place_finder
from calibrant.files._source import Columns, shown


@dataclass(frozen=True)
class ClassesOf:
    """What is said about the classes of score columns.

    Parameters
    ----------
    chosen : Chosen
        The columns, with the texts that their names give.
    positive : str or None
        The label that a single score is for.
    given : list of str or None
        The labels in order.
    coded : bool
        Whether the columns are those of a code, and not the classes.
    """

    chosen: Chosen
    positive: str | None = None
    given: list[str] | None = None
    coded: bool = False

    @property
    def alone(self) -> bool:
        """Whether there is a single score, that of the second of two classes."""
        return len(self.chosen.columns) == 1 and not self.coded

    @property
    def known(self) -> list[str] | None:
        """The texts of the classes in order; None where the labels must tell."""
        if self.given is not None:
            return self.given
        return None if self.alone or self.coded else list(self.chosen.classes)

    def checked(self) -> "ClassesOf":
        """Refuse what does not go together; columns that are named like classes are put in their order."""
        if self.positive is not None:
            self._check_positive()
        if self.given is None:
            return self
        n_wanted = 2 if self.alone else len(self.chosen.columns)
        if self.coded and len(self.given) < 2:
            raise ParameterError(
                f"{option('classes')} must give two labels or more, in the order of the code; got "
                f"{self.given}"
            )
        if self.alone and len(self.given) != n_wanted:
            raise ParameterError(
                f"{option('classes')} must give two labels for a single score, the positive one second; got "
                f"{self.given}"
            )
        if not self.coded and len(self.given) != n_wanted:
            raise ParameterError(
                f"{option('classes')} must give one label per score column, {n_wanted} in all; got "
                f"{len(self.given)}; the columns are {', '.join(self.chosen.columns)}"
            )
        if self.coded:
            return self
        columns = names_by_label(self.chosen.columns, np.array(self.given), "scores")
        texts = self.chosen.classes if self.alone else tuple(self.given)
        return replace(self, chosen=Chosen(columns, texts))

    def _check_positive(self) -> None:
        """Refuse to say what a single score stands for where there are several, or to say it twice."""
        columns = self.chosen.columns
        if not self.alone:
            raise ParameterError(
                f"{option('positive')} is for a single score column; got {len(columns)}, {shown(columns)}, "
                f"{'of a code' if self.coded else 'each of which stands for its own class'}; leave it out"
            )
        if self.given is not None:
            raise ParameterError(
                f"{option('positive')} and {option('classes')} must not come together, as the second of two "
                f"classes is the positive one; got {self.positive!r} and {self.given}; leave out one of them"
            )

    def in_order(self, found: Sequence[str]) -> list[str]:
        """The classes, from the labels that were found, sorted by their values."""
        if self.coded:
            return _at_least_two(list(found))
        return self.two(list(found))

    def two(self, ordered: list[str]) -> list[str]:
        """The two classes of a single score, the positive one second.

        That is the one the user names; or the one that the star of the pattern stands for; or the greater
        label.
        """
        if self.given is not None:
            return self.given
        if len(ordered) > 2:
            raise DataError(
                f"a single score column, {self.chosen.columns[0]!r}, must have two classes; got "
                f"{len(ordered)} labels: {shown(ordered)}; name one score column per class in "
                f"{option('scores')}"
            )
        named = self.positive
        if named is None and self.chosen.classes[0] in ordered:
            named = self.chosen.classes[0]
        both = ordered if len(ordered) == 2 else _with_partner(ordered[0], named)
        if named is None:
            return both
        place = match_classes([named], both, f"the label of {option('positive')}", "the labels")[0]
        return [both[1 - place], both[place]]


def choose_scores(source: Columns, scores: str | Sequence[str], others: Sequence[str | None] = ()) -> Chosen:
    """The score columns, by pattern or by their names; those of other uses are passed over."""
    if isinstance(scores, str):
        chosen = choose_columns(source, scores, without=others)
    else:
        source.check_columns(list(scores))
        chosen = Chosen(tuple(scores), tuple(scores))
        taken = [name for name in scores if name in others]
        if taken:
            raise DataError(
                f"a column must have one use; got {taken[0]!r} of {source.name} for two; choose another"
            )
    named = [name for name in others if name is not None]
    source.check_columns(named)
    return chosen


def text_of(label: object) -> str | None:
    """The text of a label that a user gives, who may give the text itself."""
    return label if label is None or isinstance(label, str) else label_text(label)


def _at_least_two(ordered: list[str]) -> list[str]:
    """The classes of a code, which are those that occur."""
    if len(ordered) < 2:
        raise DataError(
            f"the labels must have two values or more; got only {ordered[0]!r}; name all classes with "
            f"{option('classes')}, in the order of the code"
        )
    return ordered


def _with_partner(only: str, named: str | None) -> list[str]:
    """Two classes where a single label occurs."""
    partners = {"0": "1", "1": "0", "-1": "1", "true": "false", "false": "true"}
    partner = named if named not in (None, only) else partners.get(only)
    if partner is None:
        raise DataError(
            f"the labels must have two values; got only {only!r}; name both with {option('classes')}, the "
            "positive one second"
        )
    return sorted([only, partner], key=lambda text: (text in ("1", "true"), text))


def sorted_texts(texts: Sequence[str], label_type: pa.DataType, as_text: bool) -> list[str]:
    """Labels sorted by their values."""
    return [str(label_text(label)) for label in np.sort(label_values(texts, label_type, as_text))]


class Numbered:
    """Texts by numbers: of fixed ones, or of those that come, in the order in which they first do.

    Parameters
    ----------
    texts : sequence of str, optional
        The texts, if no others may come.
    """

    def __init__(self, texts: Sequence[str] | None = None) -> None:
        self.texts = list(texts or ())
        self.fixed = texts is not None
        self._number = {text: number for number, text in enumerate(self.texts)}
        self._find = place_finder(self.texts)

    def __call__(self, text: str) -> int:
        """Number of a text; -1 for one that may not come."""
        if self.fixed:
            return self._find(text)
        if text not in self._number:
            self._number[text] = len(self.texts)
            self.texts.append(text)
        return self._number[text]

    def places_in(self, ordered: Sequence[str]) -> Array:
        """For every number the place of its text in another order."""
        place_of = place_finder(ordered)
        return np.array([place_of(text) for text in self.texts], dtype=np.intp)
