"""The verdict: can these probabilities be believed, by how much not, and what to do about it.

Two questions are kept apart. Whether the probabilities are off at all is answered against chance: truths are
drawn from the forecasts themselves, and the calibration part of the Brier score and the mean of each column
are compared with what such draws give, with regard to how many columns there are. How much that matters is
answered by the size: how many points forecasts are typically off, and how much of what they know is lost.
With many rows a difference can be sure and not worth a thought; with few it can be large and mean nothing.
"""

import math
from dataclasses import dataclass

from calibrant.report._chance import ChanceTest
from calibrant.report._summary import Decisions, Level, Measures, Methods, Reliability, Verdict
from calibrant.report._words import chance, decimal, names, number, percent, points

#: Probabilities are called off if believable ones would look as bad with less than this chance.
SIGNIFICANT = 0.01
#: Below both of these being off does not matter; above either of the next two it matters much.
SMALL_GAP, SMALL_LOSS = 0.01, 0.05
LARGE_GAP, LARGE_LOSS = 0.05, 0.25
#: If chance alone makes right forecasts look so far off, nothing can be said.
BLIND = 0.10
#: Of rows that were all right, so many over their number may still be wrong with a chance of 5%.
RULE_OF_THREE = 3.0

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
    resolution : float
        What the forecasts know: the uncertainty minus the refinement.
    """

    reliability: Reliability
    test: ChanceTest
    resolution: float

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
    present : tuple of str
        The classes that occur.
    """

    n_rows: float
    confidence: Tested
    classes: tuple[Tested, ...]
    class_names: tuple[str, ...]
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
        """The chance that believable probabilities look as bad in any column."""
        return min(tested.reliability.p_value for tested in (self.confidence, *self.classes))

    @property
    def off(self) -> list[str]:
        """The classes that are off beyond chance."""
        return [tested.reliability.name for tested in self.classes if tested.is_off]

    @property
    def lost(self) -> float:
        """Calibration beyond chance as a share of resolution."""
        excess = sum(max(tested.test.calibration - tested.test.expected, 0.0) for tested in self.classes)
        resolution = sum(tested.resolution for tested in self.classes)
        return excess / resolution if resolution > 1e-12 else math.nan


def judge(evidence: Evidence, measures: Measures, methods: Methods | None, decisions: Decisions) -> Verdict:
    """Give the verdict."""
    worst = evidence.worst
    level = _level(evidence, worst.test)
    return Verdict(
        level=level,
        headline=_headline(level, evidence),
        findings=tuple(_findings(level, evidence, measures, decisions)),
        advice=tuple(_advice(level, evidence, methods)),
        gap=worst.test.gap,
        chance_gap=worst.test.chance_gap,
        lost=evidence.lost,
        p_value=evidence.p_value,
    )


def _headline(level: Level, evidence: Evidence) -> str:
    if level == "believable" and evidence.lead.test.chance_gap > LARGE_GAP:
        rows = number(evidence.n_rows)
        return f"As far as {rows} rows can tell, these probabilities can be believed."
    return HEADLINES[level]


def _level(evidence: Evidence, test: ChanceTest) -> Level:
    if evidence.p_value >= SIGNIFICANT:
        blind = max(test.chance_gap, RULE_OF_THREE / evidence.n_rows) > BLIND
        return "unknown" if blind else "believable"
    lost = evidence.lost
    if test.gap >= LARGE_GAP or lost >= LARGE_LOSS:
        return "not"
    return "nearly" if test.gap >= SMALL_GAP or lost >= SMALL_LOSS else "believable"


def _findings(level: Level, evidence: Evidence, measures: Measures, decisions: Decisions) -> list[str]:
    worst = evidence.worst
    example = _example(evidence, worst.reliability, most_telling=level in ("nearly", "not"))
    direction = _direction(evidence, measures)
    if level == "unknown":
        sentences = [_blindness(evidence), direction, example]
    elif evidence.p_value >= SIGNIFICANT:
        sentences = [direction, _within_chance(worst.test), example]
    else:
        sentences = [example, _size(evidence), direction]
    if evidence.off and len(evidence.class_names) > 2:
        sentences.append(f"Off beyond chance: {names(evidence.off)}.")
    if level in ("nearly", "not") and measures.brier > 0:
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
            found.rows * (found.forecast - found.frequency) ** 2 if most_telling else 0,
            found.rows,
        ),
    )
    rows = f"({said.rows:,} {'row' if said.rows == 1 else 'rows'})"
    if reliability is evidence.confidence.reliability:
        return (
            f"When they were about {percent(said.forecast)} sure of a class, it came "
            f"{percent(said.frequency)} of the time {rows}."
        )
    return (
        f"Forecasts of about {percent(said.forecast)} for “{reliability.name}” came true "
        f"{percent(said.frequency)} of the time {rows}."
    )


def _within_chance(test: ChanceTest) -> str:
    return (
        "What differs between forecasts and outcomes is what chance does to right ones: with this many rows "
        f"they look off by {points(test.chance_gap)}, typically."
    )


def _size(evidence: Evidence) -> str:
    worst = evidence.worst
    what = (
        "The probability of the most probable class"
        if worst is evidence.confidence
        else f"The probability of “{worst.reliability.name}”"
    )
    return (
        f"{what} is off by {points(worst.test.gap)}, typically, beyond what chance explains; believable "
        f"ones would look as bad with a chance of {chance(evidence.p_value)}."
    )


def _blindness(evidence: Evidence) -> str:
    gap = max(evidence.lead.test.chance_gap, RULE_OF_THREE / evidence.n_rows)
    rows = number(evidence.n_rows)
    return (
        f"With {rows} {'row' if rows == '1' else 'rows'}, probabilities that are right would look off by "
        f"{points(min(gap, 1.0))} just by chance."
    )


def _direction(evidence: Evidence, measures: Measures) -> str:
    """Too sure or not sure enough, if that is beyond chance."""
    excess = measures.confidence - measures.accuracy
    chance_excess = 2 * float(evidence.confidence.test.drawn_bias.std())
    sure, right = percent(measures.confidence), percent(measures.accuracy)
    said = f"on average they are {sure} sure, and right {right} of the time"
    if evidence.p_value >= SIGNIFICANT or abs(excess) <= max(chance_excess, 0.005):
        return f"{said[0].upper()}{said[1:]}."
    return f"They are {'too sure of themselves' if excess > 0 else 'not sure enough'}: {said}."


def _repairable(evidence: Evidence, measures: Measures) -> str:
    if evidence.lost > 1:
        return (
            "They are worse than giving every row the base rates: more is lost by miscalibration than the "
            "forecasts know."
        )
    share = percent(measures.calibration / measures.brier)
    return f"Calibration can repair up to {share} of their squared error; the rest only a better model can."


def _oddities(evidence: Evidence) -> list[str]:
    found = []
    if len(evidence.present) == 1:
        found.append(
            f"Only one class occurs, {names(list(evidence.present))}: how well rows are told apart "
            "cannot be measured."
        )
    elif all(tested.resolution <= 1e-12 for tested in evidence.classes):
        found.append("The forecasts do not tell rows apart at all.")
    return found


def _advice(level: Level, evidence: Evidence, methods: Methods | None) -> list[str]:
    sentences = []
    better = methods is not None and bool(methods.subject) and methods.recommended != methods.subject
    if methods is not None and better:
        sentences.append(_use_instead(methods))
    elif methods is not None and not methods.subject and level != "believable":
        sentences.append(f"Of the calibrators that were tried use {names([methods.recommended])}, see below.")
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


def _use_instead(methods: Methods) -> str:
    losses = {method.name: method.log_loss for method in methods.results}
    return (
        f"Use {names([methods.recommended])} instead: its {methods.measure} is "
        f"{decimal(losses[methods.recommended])}, that of these {decimal(losses[methods.subject])}."
    )


def _rows_needed(evidence: Evidence) -> float:
    """Chance shrinks with the root of the number of rows."""
    test = evidence.lead.test
    return max(evidence.n_rows * (test.chance_gap / LARGE_GAP) ** 2, RULE_OF_THREE / LARGE_GAP)
