"""The verdict: can these probabilities be believed, by how much not, and what to do about it.

Two questions are kept apart. Whether the probabilities are off at all is answered against chance, by four
tests that share the chance of a false alarm: the mean confidence, the log loss against the promised one, the
means of all classes, and all columns point by point. How much that matters is answered by the size: how many
points forecasts are typically off, and how much of what they know is lost. With many rows a difference can
be sure and not worth a thought; with few it can be large and mean nothing. So what stands the tests is
believed only as far as the rows can tell: the verdict says how far off it could still be.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from calibrant.metrics import Evaluation
from calibrant.report._chance import ChanceTest
from calibrant.report._directed import Surprise
from calibrant.report._drawn import Reliability
from calibrant.report._sections import Decisions
from calibrant.report._summary import Level, Verdict
from calibrant.report._words import chance, decimal, names, number, percent, points

if TYPE_CHECKING:
    from calibrant.models import MethodComparison

#: Probabilities are called off if believable ones would look as bad with less than this chance.
SIGNIFICANT = 0.01
#: Below both of these being off does not matter; above either of the next two it matters much.
SMALL_GAP, SMALL_LOSS = 0.01, 0.05
LARGE_GAP, LARGE_LOSS = 0.05, 0.25
#: Being off does not matter only if it is known to be less than this.
SMALL_BOUND = 0.02
#: If forecasts could be off by more than this, typically or on average, nothing good can be said of them.
BLIND, BLIND_MEAN = 0.10, 0.05
#: Forecasts that know less than this tell no rows apart.
NO_RESOLUTION = 1e-12


class Shares(NamedTuple):
    """What each of the four tests gets of the chance of a false alarm.

    Attributes
    ----------
    confidence : float
        The mean confidence; it gets most, as everybody reads it.
    surprise : float
        The log loss against the promised one.
    classes : float
        The means of all classes.
    points : float
        All columns point by point.
    """

    confidence: float
    surprise: float
    classes: float
    points: float


SHARES = Shares(confidence=0.4, surprise=0.2, classes=0.2, points=0.2)

HEADLINES: dict[Level, str] = {
    "believable": "These probabilities can be believed.",
    "nearly": "These probabilities are nearly right.",
    "not": "Do not believe these probabilities as they are.",
    "unknown": "There are too few rows to tell whether these probabilities can be believed.",
}


@dataclass(frozen=True, slots=True)
class Tested:
    """A column of forecasts and how it stood the test.

    Attributes
    ----------
    reliability : Reliability
        What was forecast against what came.
    test : ChanceTest
        How far it is off, against chance.
    """

    reliability: Reliability
    test: ChanceTest

    @property
    def is_off(self) -> bool:
        """Whether it is off beyond chance."""
        return self.reliability.p_value < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that the verdict rests on.

    Attributes
    ----------
    n_rows : float
        Number of rows, or their weight.
    confidence : Tested
        The most probable class.
    classes : tuple of Tested
        The classes that were tested.
    class_names : tuple of str
        The classes.
    resolution : float
        What the forecasts of these classes know: the uncertainty minus the refinement.
    surprise : Surprise
        The log loss against the promised one.
    present : tuple of str
        The classes that occur.
    """

    n_rows: float
    confidence: Tested
    classes: tuple[Tested, ...]
    class_names: tuple[str, ...]
    resolution: float
    surprise: Surprise
    present: tuple[str, ...]

    @property
    def lead(self) -> Tested:
        """The column that stands for all: of two classes the positive one, else the most probable class."""
        return self.classes[0] if len(self.class_names) == 2 else self.confidence

    @property
    def worst(self) -> Tested:
        """The column that is off most; in doubt the leading one."""
        others = [tested for tested in self.classes if tested.is_off]
        return max([self.lead, *others], key=lambda tested: tested.test.gap)

    @property
    def p_value(self) -> float:
        """The chance that believable probabilities look as bad in any of the tests."""
        columns = (self.confidence, *self.classes)
        return min(self.surprise.p_value, *(tested.reliability.p_value for tested in columns))

    @property
    def is_off(self) -> bool:
        """Whether they are off beyond chance."""
        return self.p_value < SIGNIFICANT

    @property
    def off(self) -> list[str]:
        """The classes that are off beyond chance."""
        return [tested.reliability.name for tested in self.classes if tested.is_off]

    @property
    def lost(self) -> float:
        """Calibration beyond chance as a share of resolution."""
        excess = sum(max(tested.test.calibration - tested.test.expected, 0.0) for tested in self.classes)
        return excess / self.resolution if self.resolution > NO_RESOLUTION else math.nan


def judge(
    evidence: Evidence,
    measures: Evaluation,
    methods: "MethodComparison | None",
    ranked_as: str,
    decisions: Decisions,
) -> Verdict:
    """Give the verdict on forecasts that stand in the ranking of methods under a name, or under none."""
    worst = evidence.worst
    level = _level(evidence, worst.test)
    return Verdict(
        level=level,
        headline=_headline(level, evidence),
        findings=tuple(_findings(level, evidence, measures, decisions)),
        advice=tuple(_advice(level, evidence, methods, ranked_as)),
        gap=worst.test.gap,
        chance_gap=worst.test.chance_gap,
        bound=worst.test.bound,
        mean_bound=evidence.confidence.test.mean_bound,
        lost=evidence.lost,
        p_value=evidence.p_value,
    )


def _headline(level: Level, evidence: Evidence) -> str:
    if level == "believable" and evidence.worst.test.bound > LARGE_GAP:
        rows = number(evidence.n_rows)
        return f"As far as {rows} rows can tell, these probabilities can be believed."
    return HEADLINES[level]


def _level(evidence: Evidence, test: ChanceTest) -> Level:
    if not evidence.is_off:
        blind = test.bound > BLIND or evidence.confidence.test.mean_bound > BLIND_MEAN
        return "unknown" if blind else "believable"
    if test.gap >= LARGE_GAP or test.bound > BLIND or evidence.lost >= LARGE_LOSS:
        return "not"
    is_small = test.gap < SMALL_GAP and test.bound < SMALL_BOUND and not evidence.lost >= SMALL_LOSS
    return "believable" if is_small else "nearly"


def _findings(level: Level, evidence: Evidence, measures: Evaluation, decisions: Decisions) -> list[str]:
    worst = evidence.worst
    example = _example(evidence, worst.reliability, most_telling=level in ("nearly", "not"))
    direction = _direction(evidence, measures)
    if level == "unknown":
        sentences = [_bound(evidence), direction, example]
    elif level == "believable":
        sentences = [_bound(evidence), _size(evidence) if evidence.is_off else "", direction, example]
    else:
        sentences = [example, _size(evidence), direction]
    if evidence.off and len(evidence.class_names) > 2:
        sentences.append(f"Off beyond chance: {names(evidence.off)}.")
    if evidence.surprise.p_value < SIGNIFICANT:
        sentences.append(_broken_promise(evidence.surprise.excess, measures.certain_mistakes))
    if level in ("nearly", "not") and measures.brier_score > 0:
        sentences.append(_repairable(evidence, measures))
    if decisions.given and level in ("nearly", "not"):
        sentences.append(
            f"Under the given costs they promise a cost of {number(decisions.promised, 4)}; it came to "
            f"{number(decisions.total, 4)}."
        )
    return [sentence for sentence in sentences + _oddities(evidence) if sentence]


def _example(evidence: Evidence, reliability: Reliability, *, most_telling: bool) -> str:
    """Forecasts of this came true that often: the bin that tells most, or the one of most rows."""
    said = max(
        reliability.bins,
        key=lambda found: (
            found.count * (found.mean_score - found.frac_pos) ** 2 if most_telling else 0,
            found.count,
        ),
    )
    rows = f"({said.count:,} {'row' if said.count == 1 else 'rows'})"
    if reliability is evidence.confidence.reliability:
        return (
            f"When they were about {percent(said.mean_score)} sure of a class, it came "
            f"{percent(said.frac_pos)} of the time {rows}."
        )
    return (
        f"Forecasts of about {percent(said.mean_score)} for “{reliability.name}” came true "
        f"{percent(said.frac_pos)} of the time {rows}."
    )


def _what(evidence: Evidence) -> str:
    """The probability that is off most."""
    if evidence.worst is evidence.confidence:
        return "the probability of the most probable class"
    return f"the probability of “{evidence.worst.reliability.name}”"


def _bound(evidence: Evidence) -> str:
    """How far off they could be though they stood the tests."""
    rows = number(evidence.n_rows)
    typically, on_average = points(evidence.worst.test.bound), points(evidence.confidence.test.mean_bound)
    return (
        f"With {rows} {'row' if rows == '1' else 'rows'}, {_what(evidence)} could still be off by up to "
        f"{typically}, typically, and the mean confidence by {on_average} (95% confidence)."
    )


def _size(evidence: Evidence) -> str:
    what, gap = _what(evidence), points(evidence.worst.test.gap)
    return (
        f"T{what[1:]} is off by {gap}, typically, beyond what chance explains; believable ones would look "
        f"as bad with a chance of {chance(evidence.p_value)}."
    )


def _direction(evidence: Evidence, measures: Evaluation) -> str:
    """Too sure or not sure enough, if that is beyond chance."""
    accuracy = 1 - measures.error_rate
    excess = measures.confidence - accuracy
    chance_excess = 2 * math.sqrt(evidence.confidence.test.mean_variance)
    sure, right = percent(measures.confidence), percent(accuracy)
    said = f"on average they are {sure} sure, and right {right} of the time"
    if not evidence.is_off or abs(excess) <= max(chance_excess, 0.005):
        return f"{said[0].upper()}{said[1:]}."
    return f"They are {'too sure of themselves' if excess > 0 else 'not sure enough'}: {said}."


def _broken_promise(excess: float, n_impossible: float) -> str:
    if n_impossible:  # also where the difference was taken on a sample without these rows
        rows = f"{number(n_impossible)} {'row' if n_impossible == 1 else 'rows'}"
        return f"Their log loss is infinite: in {rows} they called impossible what then came."
    return f"Their log loss is {decimal(abs(excess))} {'more' if excess > 0 else 'less'} than they promise."


def _repairable(evidence: Evidence, measures: Evaluation) -> str:
    if evidence.lost > 1:
        return (
            "They are worse than giving every row the base rates: more is lost by miscalibration than the "
            "forecasts know."
        )
    share = percent(measures.calibration / measures.brier_score)
    return f"Calibration can repair up to {share} of their squared error; the rest only a better model can."


def _oddities(evidence: Evidence) -> list[str]:
    found = []
    if len(evidence.present) == 1:
        found.append(
            f"Only one class occurs, {names(list(evidence.present))}: how well rows are told apart "
            "cannot be measured."
        )
    elif evidence.resolution <= NO_RESOLUTION:
        found.append("The forecasts do not tell rows apart at all.")
    return found


def _advice(
    level: Level, evidence: Evidence, methods: "MethodComparison | None", ranked_as: str
) -> list[str]:
    sentences = []
    recommended = None if methods is None else methods.recommended
    better = bool(ranked_as) and recommended not in (None, ranked_as)
    if methods is not None and recommended is not None:
        if better:
            sentences.append(_use_instead(methods, recommended, ranked_as))
        elif not ranked_as and level != "believable":
            sentences.append(f"Of the calibrators that were tried use {names([recommended])}, see below.")
    if level == "believable":
        sentences.append(
            "Otherwise use them as they are, as long as the data stay like these rows."
            if better
            else "Use them as they are, as long as the data stay like these rows."
        )
    elif level == "unknown":
        sentences.append(
            f"Collect more rows with known outcomes: about {number(_rows_needed(evidence), 2)} would show "
            "a gap of 5 points."
        )
    elif level == "nearly":
        sentences.append(
            "They will do for ranking rows and for most decisions; calibrate them where the last "
            f"{points(evidence.worst.test.gap)} matter."
        )
    elif not better:
        sentences.append(
            "Calibrate before anybody acts on the numbers: wrap the learner in CalibratedClassifier, or run "
            "“calibrant fit” on a file of its scores."
        )
    if level == "not":
        sentences.append("Until then trust their order, not their size.")
    return sentences


def _use_instead(methods: "MethodComparison", recommended: str, ranked_as: str) -> str:
    found = {method.name: method for method in methods.results}
    counted = ", each certain mistake counted as half a row" if found[ranked_as].certain_mistakes else ""
    return (
        f"Use {names([recommended])} instead: its {methods.measure} is "
        f"{decimal(found[recommended].log_loss)}, "
        f"that of these {decimal(found[ranked_as].log_loss)}{counted}."
    )


def _rows_needed(evidence: Evidence) -> float:
    """The bound shrinks with the root of the number of rows."""
    bound = max(evidence.worst.test.bound, evidence.confidence.test.mean_bound)
    return evidence.n_rows * (bound / LARGE_GAP) ** 2
