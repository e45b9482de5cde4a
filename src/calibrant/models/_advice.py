"""Which method to use, in plain words."""

from collections.abc import Sequence
from typing import Any

from calibrant.calibrators import METHODS

#: A lead of no more than so many standard errors can be chance.
CHANCE = 2.0


def advise(results: Sequence[Any], n_rows: int) -> tuple[str | None, str]:
    """Name the method to use, and say why and how sure that is.

    It is the one of least loss among those that called nothing impossible that then happened, and of equal
    losses the simplest. Being simpler counts for nothing else: chance is said, and not traded for.
    """
    sound = [each for each in results if not each.certain_mistakes]
    if not sound:
        return None, "None of these can be used as it is." + _warning(results)
    chosen = _simplest([each for each in sound if each.difference == sound[0].difference])
    others = [each for each in sound if each is not chosen]
    near = [each for each in others if _lead(each, chosen) <= CHANCE * each.difference.error]
    least = f"its log loss on {n_rows} rows is the least, {chosen.log_loss:.4f}"
    if len(results) == 1:
        words = f"{chosen.name} is the only method; its log loss on {n_rows} rows is {chosen.log_loss:.4f}."
    elif chosen.difference > 0:  # those before it are certain, and were wrong
        words = (
            f"Use {chosen.name}: its log loss on {n_rows} rows is {chosen.log_loss:.4f}, the least of those "
            "that called nothing impossible that then happened."
        )
    elif near:
        words = (
            f"Use {chosen.name}: {least}. That is not sure: {_listed([each.name for each in near])} can be "
            f"as good. {near[0].name} is only {_behind(near[0])}, which can be chance."
        )
    elif others:
        words = (
            f"Use {chosen.name}: {least}. {others[0].name} comes next, {_behind(others[0])}, which is more "
            f"than chance would do; {chosen.name} is first in {chosen.share_best:.0%} of resamples."
        )
    else:
        words = f"Use {chosen.name}: {least}."
    return chosen.name, words + _warning(results)


def _lead(other: Any, chosen: Any) -> float:
    return float(other.difference - chosen.difference)


def _simplest(equal: list[Any]) -> Any:
    """Of methods of equal loss the simplest, if that is known of all; else the first."""
    if all(each.name in METHODS for each in equal):
        return min(equal, key=lambda each: METHODS[each.name].complexity)
    return equal[0]


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
