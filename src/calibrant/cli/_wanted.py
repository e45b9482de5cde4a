"""Which columns of a file the options mean, and which classes these stand for."""

from dataclasses import dataclass

from calibrant._core._errors import DataError, ParameterError
from calibrant.files import Chosen, Columns, choose_columns, match_classes, shown


@dataclass(frozen=True)
class Wanted:
    """What the options say about the columns of a file.

    Attributes
    ----------
    scores : str
        Name or pattern of the score columns.
    label, weight, group : str or None
        Other columns.
    positive : str or None
        The label that a single score is for.
    classes : list of str or None
        The labels of the score columns.
    coded : bool
        Whether the columns are those of a code, and not the classes.
    proba : bool
        Whether the numbers must be probabilities.
    skips : bool
        Whether rows that cannot be used are left out; if not, the first of them is an error.
    """

    scores: str
    label: str | None = None
    weight: str | None = None
    group: str | None = None
    positive: str | None = None
    classes: list[str] | None = None
    coded: bool = False
    proba: bool = False
    skips: bool = False

    @property
    def others(self) -> list[str]:
        """The columns that are no scores."""
        return [name for name in (self.label, self.weight, self.group) if name is not None]


def choose_scores(source: Columns, wanted: Wanted) -> Chosen:
    """The score columns, with the classes that the user or their names give them."""
    chosen = choose_columns(source, wanted.scores, without=[wanted.label, wanted.weight, wanted.group])
    source.check_columns(wanted.others)
    if wanted.weight is not None and wanted.weight == wanted.label:
        raise ParameterError(f"a column must have one use; got {wanted.label!r} for --label and --weight")
    if wanted.positive is not None:
        _check_positive(wanted, chosen)
    if wanted.coded and wanted.classes is not None and len(wanted.classes) < 2:
        raise ParameterError(
            f"--classes must give two labels or more, in the order of the code; got {wanted.classes}"
        )
    if wanted.classes is None or wanted.coded or len(chosen.columns) == 1:
        return chosen
    if len(wanted.classes) != len(chosen.columns):
        raise ParameterError(
            f"--classes must give one label per score column, {len(chosen.columns)} in all; got "
            f"{len(wanted.classes)}; the columns are {', '.join(chosen.columns)}"
        )
    return Chosen(chosen.columns, tuple(wanted.classes))


def _check_positive(wanted: Wanted, chosen: Chosen) -> None:
    """Refuse to say what a single score stands for where there are several, or where that is said twice."""
    if wanted.coded or len(chosen.columns) > 1:
        raise ParameterError(
            f"--positive is for a single score column; got {len(chosen.columns)}, {shown(chosen.columns)}, "
            f"{'of a code' if wanted.coded else 'each of which stands for its own class'}; leave it out"
        )
    if wanted.classes is not None:
        raise ParameterError(
            f"--positive and --classes must not come together, as the second of two classes is the positive "
            f"one; got {wanted.positive!r} and {wanted.classes}; leave out one of them"
        )


def texts_of_classes(ordered: list[str], chosen: Chosen, wanted: Wanted) -> list[str]:
    """The texts of the classes in order, where the labels that were found are sorted by their values."""
    if wanted.coded:
        return wanted.classes or _at_least_two(ordered)
    return two_classes(ordered, chosen, wanted) if len(chosen.columns) == 1 else list(chosen.classes)


def _at_least_two(ordered: list[str]) -> list[str]:
    """The classes of a code, which are those that occur."""
    if len(ordered) < 2:
        raise DataError(
            f"the labels must have two values or more; got only {ordered[0]!r}; name all classes with "
            "--classes, in the order of the code"
        )
    return ordered


def two_classes(ordered: list[str], chosen: Chosen, wanted: Wanted) -> list[str]:
    """The two classes of a single score, the positive one second.

    That is the one the user names; or the one that the star of the pattern stands for; or the greater label.
    """
    if wanted.classes is not None:
        if len(wanted.classes) != 2:
            raise ParameterError(
                "--classes must give two labels for a single score, the positive one second; got "
                f"{wanted.classes}"
            )
        return wanted.classes
    if len(ordered) > 2:
        raise DataError(
            f"a single score column, {chosen.columns[0]!r}, must have two classes; got {len(ordered)} "
            f"labels: {shown(ordered)}; name one score column per class in --scores"
        )
    named = wanted.positive
    if named is None and chosen.classes[0] in ordered:
        named = chosen.classes[0]
    both = ordered if len(ordered) == 2 else _with_partner(ordered[0], named)
    if named is None:
        return both
    place = match_classes([named], both, "the label of --positive", "the labels")[0]
    return [both[1 - place], both[place]]


def _with_partner(only: str, named: str | None) -> list[str]:
    """Two classes where a single label occurs."""
    partners = {"0": "1", "1": "0", "-1": "1", "true": "false", "false": "true"}
    partner = named if named not in (None, only) else partners.get(only)
    if partner is None:
        raise DataError(
            f"the labels must have two values; got only {only!r}; name both with --classes, the positive one "
            "second"
        )
    return sorted([only, partner], key=lambda text: (text in ("1", "true"), text))
