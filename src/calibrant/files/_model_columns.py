"""Which columns of a file are the scores that a model takes."""

from collections.abc import Sequence
from typing import Any

from calibrant._core._errors import DataError
from calibrant._core._names import NamedColumns, label_text
from calibrant._core._words import option
from calibrant.calibrators import n_scores_of
from calibrant.files._columns import Chosen, choose_columns, match_classes
from calibrant.files._source import Source, shown
from calibrant.models import ScoreModel, form_of_scores

#: What a single column of scores is called, if there are other columns.
USUAL_NAMES = ("score", "scores")


def group_column(model: ScoreModel) -> str | None:
    """The column of the groups that a model sets apart; None for a model without groups."""
    return None if model.groups_ is None else model.groups_.column


def find_scores(source: Source, model: ScoreModel, scores: str | Sequence[str] | None) -> list[str]:
    """The score columns in the order of the model.

    By the user's pattern or names; or those that the model was fitted to, if the file has them; or those that
    are named like the classes.
    """
    remembered = None if model.summary_ is None else model.summary_.score_columns
    if scores is None and remembered is not None and set(remembered) <= set(source.columns):
        return list(remembered)
    form = form_of_scores(model.calibrator_)
    if form == "one_per_row":
        return [_single(source, scores)]
    if scores is not None and not isinstance(scores, str):
        source.check_columns(list(scores))
        names: tuple[str, ...] = tuple(scores)
        return list(model.order_of_columns(names) if isinstance(model, NamedColumns) else names)
    if form == "one_per_column_of_the_code":
        return _of_code(source, model, scores)
    classes = [str(label_text(label)) for label in model.classes_]
    chosen = _named_like(source, classes) if scores is None else choose_columns(source, scores)
    places = match_classes(
        classes,
        chosen.classes,
        "the class of the model,",
        f"the classes of the score columns of {source.name}",
    )
    used = set(places)
    unknown = [name for place, name in enumerate(chosen.columns) if place not in used]
    if unknown:
        raise DataError(
            f"every score column must be that of a class of the model, {shown(classes)}; got {unknown[0]!r} "
            f"in {source.name}; name the columns in {option('scores')}"
        )
    return [chosen.columns[place] for place in places]


def _single(source: Source, scores: str | Sequence[str] | None) -> str:
    """The only score of a row."""
    if scores is not None:
        columns: Any = choose_columns(source, scores).columns if isinstance(scores, str) else tuple(scores)
        if len(columns) != 1:
            raise DataError(
                f"this model takes one score, so {option('scores')} must name one column of {source.name}; "
                f"got {len(columns)}: {shown(columns)}"
            )
        source.check_columns(columns)
        return str(columns[0])
    usual = [name for name in source.columns if name.lower() in USUAL_NAMES]
    if len(source.columns) == 1 or len(usual) == 1:
        return usual[0] if usual else source.columns[0]
    raise DataError(
        f"the column of scores of {source.name} must be named; it has {shown(source.columns)}; name "
        f"it with {option('scores')}"
    )


def _of_code(source: Source, model: ScoreModel, pattern: str | None) -> list[str]:
    """The columns of a code, which no name tells."""
    n_columns = n_scores_of(model.calibrator_)
    if pattern is None:
        raise DataError(
            f"this model takes the {n_columns} scores of a code, in its order; name their columns of "
            f"{source.name} with {option('scores')}"
        )
    columns = choose_columns(source, pattern).columns
    if len(columns) != n_columns:
        raise DataError(
            f"this model takes the {n_columns} scores of a code; got {len(columns)} columns of {source.name} "
            f"for {pattern!r}: {shown(columns)}"
        )
    return list(model.order_of_columns(columns))


def _named_like(source: Source, classes: list[str]) -> Chosen:
    """The columns that are named like the classes, with the same text before and after each."""
    there = set(source.columns)
    affixes = [
        (name[:start], name[start + len(classes[0]) :])
        for name in source.columns
        for start in range(len(name))
        if name.startswith(classes[0], start)
    ]
    complete = [
        (before, after)
        for before, after in affixes
        if all(before + text + after in there for text in classes)
    ]
    if len(complete) == 1:
        before, after = complete[0]
        return Chosen(tuple(before + text + after for text in classes), tuple(classes))
    if not complete:
        raise DataError(
            f"{source.name} must have a score column for every class of the model, {shown(classes)}, such as "
            f"{'s_' + classes[0]!r}; it has {shown(source.columns)}; name the columns with {option('scores')}"
        )
    patterns = " and ".join(f"{before}*{after}" for before, after in complete)
    raise DataError(
        f"the columns of scores of {source.name} must be named; several sets are named like the "
        f"classes: {patterns}; choose with {option('scores')}"
    )
