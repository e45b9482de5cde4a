"""Which method to use, in plain words."""

from collections.abc import Sequence
from typing import Any

from calibrant.calibrators import METHODS

#: Two methods tie if they differ by no more than so many standard errors.
TIE = 2.0


def advise(results: Sequence[Any], n_rows: int) -> tuple[str, str]:
    """Name the method to use, and say why and how sure that is."""
    best = results[0]
    tied = [each for each in results[1:] if each.difference <= TIE * each.difference.error]
    chosen = _simplest([best, *tied])
    if len(results) == 1:
        words = f"{best.name} is the only method; its log loss on {n_rows} rows is {best.log_loss:.4f}."
    elif chosen is not best:
        words = (
            f"Use {chosen.name}. {best.name} has the least log loss on {n_rows} rows, {best.log_loss:.4f}, "
            f"but {chosen.name} is only {_behind(chosen)}, which can be chance, and it is the simpler one."
        )
    elif tied:
        words = (
            f"Use {best.name}: its log loss on {n_rows} rows is the least, {best.log_loss:.4f}. That is not "
            f"sure: {_listed([each.name for each in tied])} can be as good. {tied[0].name} is only "
            f"{_behind(tied[0])}, which can be chance."
        )
    else:
        second = results[1]
        words = (
            f"Use {best.name}: its log loss on {n_rows} rows is the least, {best.log_loss:.4f}. "
            f"{second.name} comes next, {_behind(second)}, which is more than chance would do; {best.name} "
            f"is first in {best.share_best:.0%} of resamples."
        )
    return chosen.name, words + _warning(results)


def _simplest(tied: list[Any]) -> Any:
    """Of methods that tie the simplest, if that is known of all; else the one of least loss."""
    if all(each.name in METHODS for each in tied):
        return min(tied, key=lambda each: METHODS[each.name].complexity)
    return tied[0]


def _behind(result: Any) -> str:
    return f"{result.difference:.4f} behind (standard error {result.difference.error:.4f})"


def _warning(results: Sequence[Any]) -> str:
    said = [f"{each.name} for {each.certain_mistakes}" for each in results if each.certain_mistakes]
    if not said:
        return ""
    return (
        f" A probability of 0 was given to what then happened by {_listed(said)} of the rows; each counts as "
        "half a row here, and would make the log loss infinite elsewhere."
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
