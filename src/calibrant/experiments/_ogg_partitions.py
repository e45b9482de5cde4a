"""How the partition is learned: which numbers, in which order, in how many passes.

O'Brien, Gupta and Gray add offsets to the rows, visit the classes once by decreasing frequency, and leave the
other ways open. Here all are learned from the same estimates, and Lachiche and Flach's weights with them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core._arrays import IntArray
from calibrant.decisions import DecisionRule, LachicheFlachRule, ParallelPartitionRule, decide, new_rule
from calibrant.experiments._datasets import read_table
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale
from calibrant.experiments._ogg_protocol import Estimates, costs, outer_folds
from calibrant.experiments._ogg_savings import saving, standard_error


class RarestFirst(ParallelPartitionRule):
    """The rarest class is visited first."""

    def _order(self, rows: Any) -> IntArray:
        return super()._order(rows)[::-1]


class AnyOrder(ParallelPartitionRule):
    """The classes are visited in the order of their columns, which means nothing."""

    def _order(self, rows: Any) -> IntArray:
        return np.sort(super()._order(rows))


OFFSETS = "offsets of rows (the paper)"
#: What is learned, in which order, and how often each number is visited.
VARIANTS: dict[tuple[str, str, str], DecisionRule] = {
    (OFFSETS, "frequent first", "1"): ParallelPartitionRule(),
    (OFFSETS, "frequent first", "2"): ParallelPartitionRule(passes=2),
    (OFFSETS, "rarest first", "1"): RarestFirst(),
    (OFFSETS, "rarest first", "2"): RarestFirst(passes=2),
    (OFFSETS, "of columns", "1"): AnyOrder(),
    ("offsets of rows, clipped as printed", "frequent first", "1"): ParallelPartitionRule("paper"),
    ("factors of rows", "frequent first", "1"): ParallelPartitionRule(family="row_mul"),
    ("factors of rows", "frequent first", "2"): ParallelPartitionRule(family="row_mul", passes=2),
    ("factors of columns", "frequent first", "1"): ParallelPartitionRule(family="col_mul"),
    ("factors of columns", "frequent first", "2"): ParallelPartitionRule(family="col_mul", passes=2),
    ("all entries", "frequent first", "1"): ParallelPartitionRule(family="free"),
    ("Lachiche-Flach", "frequent first", "1"): LachicheFlachRule(),
    ("Lachiche-Flach", "frequent first", "2"): LachicheFlachRule(passes=2),
    ("Lachiche-Flach", "10 restarts", "5"): LachicheFlachRule(passes=5, restarts=10, random_state=0),
    ("Lachiche-Flach, classes come in one by one", "frequent first", "1"): LachicheFlachRule("incremental"),
}
KINDS = ("ratio", "random")
PARTS = ("test", "training")
#: All entries of a matrix, or ten restarts, take too long where there are many rows and classes.
PROBLEMS = (
    *((data, "NB") for data in ("balance-scale", "car", "dermatology", "glass", "hayes-roth", "iris")),
    *((data, "NB") for data in ("lenses", "lymphography", "segment", "soybean", "vowel", "wine", "zoo")),
    *((data, "QDA") for data in ("glass", "iris", "segment", "vowel", "wine")),
)
QUICK = tuple(problem for problem in PROBLEMS if problem[0] not in ("segment", "soybean", "vowel"))
CONVENTIONS = (
    "Percent saved against the plain rule of least expected cost, in the protocol of ogg-table1, on the sets "
    "of moderate size, in ten repetitions (two in a quick run). Mean over the problems with its standard "
    "error; 'of totals' is the mean over the problems too, each with the costs of its repetitions added up. "
    "'Training' is saved on the estimates "
    "that a rule is learned from. 'Harmed' counts the problems on which a rule costs more than the plain one "
    "on test rows, all repetitions together."
)


def variants(data: str, learner: str, seed: int) -> dict[str, Any]:
    """What the plain rule and all variants cost in one repetition, on test rows and in training."""
    paid = {(kind, part): np.zeros(1 + len(VARIANTS)) for kind in KINDS for part in PARTS}
    for fold, y_test, counts, fold_seed in outer_folds(read_table(data), learner, seed):
        estimates = Estimates.of(fold, y_test, 0, fold_seed)
        parts = dict(
            zip(PARTS, ((estimates.test, y_test), (estimates.out_of_fold, estimates.y)), strict=True)
        )
        for kind in KINDS:
            cost = costs(kind, counts, seed)
            rules = [
                new_rule(rule).fit(estimates.out_of_fold, estimates.y, cost) for rule in VARIANTS.values()
            ]
            for part, (proba, y) in parts.items():
                decided = [decide(proba, cost), *(rule.decide(proba) for rule in rules)]
                paid[kind, part] += [cost[each, y].sum() for each in decided]
    return {kind: {part: paid[kind, part].tolist() for part in PARTS} for kind in KINDS}


def _jobs(scale: Scale) -> list[Job]:
    problems, n_repetitions = (PROBLEMS, 10) if scale == "full" else (QUICK, 2)
    return [
        Job(variants, {"data": data, "learner": learner, "seed": seed})
        for data, learner in problems
        for seed in range(n_repetitions)
    ]


def _collect(done: Sequence[Done]) -> Findings:
    saved = {kind: _savings(done, kind) for kind in KINDS}
    return Findings(
        tuple(_row(names, number, saved) for number, names in enumerate(VARIANTS) if done),
        (
            _more_in_training_less_in_test(saved),
            _restarts_leave_optima(saved),
            _weights_without_costs_overfit(saved),
        ),
    )


class Saved:
    """What one variant saves on every problem."""

    def __init__(self, problems: Sequence[Sequence[Any]], number: int) -> None:
        test, training = (
            [np.array([each[part] for each in answers])[:, [0, number + 1]] for answers in problems]
            for part in PARTS
        )
        means = [[saving(*pair) for pair in of_one if pair[0]] for of_one in test]
        self.means = [float(np.mean(each)) for each in means if each]
        self.of_totals = [saving(*of_one.sum(axis=0).tolist()) for of_one in test]
        self.training = [saving(*of_one.sum(axis=0).tolist()) for of_one in training]
        self.harmed = sum(of_one < 0 for of_one in self.of_totals)

    def shown(self) -> tuple[float, ...]:
        """The numbers of a row."""
        return (
            *(float(np.nanmean(each)) for each in (self.means, self.of_totals, self.training)),
            float(self.harmed),
        )


def _savings(done: Sequence[Done], kind: str) -> list[Saved]:
    problems = dict.fromkeys((job.arguments["data"], job.arguments["learner"]) for job in done)
    answers = [
        [job.answer[kind] for job in done if (job.arguments["data"], job.arguments["learner"]) == problem]
        for problem in problems
    ]
    return [Saved(answers, number) for number in range(len(VARIANTS))] if done else []


def _row(names: tuple[str, str, str], number: int, saved: dict[str, list[Saved]]) -> Row:
    of_kinds = [saved[kind][number] for kind in KINDS]
    return Row(
        names,
        tuple(value for each in of_kinds for value in each.shown()),
        spread=tuple(error for each in of_kinds for error in (standard_error(each.means), None, None, None)),
    )


def _more_in_training_less_in_test(saved: dict[str, list[Saved]]) -> Check:
    statement = "More numbers save more in training and not on test rows: all entries against offsets of rows"
    if not saved["ratio"]:
        return Check(statement, None)
    places = [list(VARIANTS).index((name, "frequent first", "1")) for name in (OFFSETS, "all entries")]
    found = {kind: [saved[kind][place].shown() for place in places] for kind in KINDS}
    finding = "; ".join(
        f"{kind} costs: training {few[2]:.1f}% and {many[2]:.1f}%, test {few[0]:.1f}% and {many[0]:.1f}%"
        for kind, (few, many) in found.items()
    )
    held = all(many[2] > few[2] and many[0] <= few[0] for few, many in found.values())
    return Check(statement, held, finding)


def _restarts_leave_optima(saved: dict[str, list[Saved]]) -> Check:
    statement = "Restarts lower the training cost of Lachiche-Flach on most problems"
    if not saved["ratio"]:
        return Check(statement, None)
    places = [number for number, names in enumerate(VARIANTS) if names[0] == "Lachiche-Flach"]
    once, often = (saved["ratio"][place] for place in (places[0], places[-1]))
    lowered = sum(b > a + 1e-9 for a, b in zip(once.training, often.training, strict=True))
    n = len(once.training)
    finding = (
        f"rarity costs: lowered on {lowered} of {n}, which saves {often.shown()[2]:.1f}% instead of "
        f"{once.shown()[2]:.1f}% in training, and {often.shown()[0]:.1f}% instead of "
        f"{once.shown()[0]:.1f}% on test rows, where {often.harmed} problems are harmed instead of "
        f"{once.harmed}"
    )
    return Check(statement, 2 * lowered > n, finding)


def _weights_without_costs_overfit(saved: dict[str, list[Saved]]) -> Check:
    """Factors of columns are weights of classes too, but on top of the costs."""
    statement = (
        "Lachiche-Flach harms because its weights replace the costs: as factors of the costs' columns, "
        "bounded as the paper bounds its offsets, weights save more on test rows"
    )
    if not saved["ratio"]:
        return Check(statement, None)
    places = [
        list(VARIANTS).index((name, "frequent first", "1"))
        for name in ("Lachiche-Flach", "factors of columns")
    ]
    found = {kind: [saved[kind][place].shown() for place in places] for kind in KINDS}
    finding = "; ".join(
        f"{kind} costs: training {alone[2]:.1f}% and {with_costs[2]:.1f}%, test {alone[0]:.1f}% and "
        f"{with_costs[0]:.1f}%"
        for kind, (alone, with_costs) in found.items()
    )
    held = all(with_costs[0] > alone[0] for alone, with_costs in found.values())
    return Check(statement, held, finding)


MEASURES = ("% saved", "of totals", "training", "harmed")
PARTITIONS = Experiment(
    name="ogg-partitions",
    title="Which numbers of the partition are learned, in which order, in how many passes",
    conventions=CONVENTIONS,
    labels=("learned", "order", "passes"),
    measures=tuple(f"{kind}: {measure}" for kind in ("rarity", "random") for measure in MEASURES),
    jobs=_jobs,
    collect=_collect,
)
