"""Why Lachiche and Flach's weights harm on image segmentation, as O'Brien, Gupta and Gray report.

They raise both parameters of quadratic discriminants from zero until the condition number is below a million.
In which steps decides how far a class is pulled towards a ball, and with it how surely the estimates err. Nor
do they say whether they had all rows or those of the training file, and how the weights were learned.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from calibrant.decisions import (
    DecisionRule,
    ExpectedCostRule,
    LachicheFlachRule,
    ParallelPartitionRule,
    new_rule,
)
from calibrant.experiments._datasets import read_split, read_table
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale
from calibrant.experiments._ogg_protocol import Estimates, QdaModels, costs, outer_folds
from calibrant.experiments._ogg_savings import saving, standard_error
from calibrant.learners import RegularizedQDA

STEPS = RegularizedQDA().schedule
FINE = "from a millionth (ours)"
#: In which steps the regularisation is raised.
SCHEDULES: dict[str, tuple[Sequence[float], float]] = {
    FINE: (STEPS, 1e6),
    "from a millionth, condition 1e4": (STEPS, 1e4),
    "from a millionth, condition 100": (STEPS, 1e2),
    "in steps of 0.01": (tuple(step / 100 for step in range(101)), 1e6),
    "in steps of 0.1": (tuple(step / 10 for step in range(11)), 1e6),
    "half and half": ((0.5,), 1e6),
    "as far as it goes": ((1.0,), 1e6),
}
QUICK = (FINE, "in steps of 0.1", "half and half", "as far as it goes")
KINDS = {"ratio": "rarity", "random": "random"}
AT_ONCE, ONE_BY_ONE = "Lachiche-Flach", "LF one by one"
RULES: dict[str, DecisionRule] = {
    "parallel partition": ParallelPartitionRule(),
    AT_ONCE: LachicheFlachRule(),
    ONE_BY_ONE: LachicheFlachRule("incremental"),
}
#: All rows, or those of the training file alone.
ALL, FEW = "all 2,310", "the training file's 210"


def regularized(data: str, rows: str, schedule: str, seed: int) -> dict[str, Any]:
    """One repetition of the cross-validation: errors, how sure they were, and what rules cost."""
    table = read_table(data) if rows == ALL else read_split(data).train
    steps, max_condition = SCHEDULES[schedule]
    models = QdaModels(RegularizedQDA(steps, max_condition))
    rules = {"plain": ExpectedCostRule()} | RULES
    paid = {kind: dict.fromkeys(rules, 0.0) for kind in KINDS}
    wrong, certainty, n = 0, 0.0, 0
    for fold, y_test, counts, fold_seed in outer_folds(table, "QDA", seed):
        estimates = Estimates.of(replace(fold, models=models), y_test, 0, fold_seed)
        best = estimates.test.max(axis=1)
        wrong += int((estimates.test.argmax(axis=1) != y_test).sum())
        certainty, n = certainty + float(best.sum()), n + len(y_test)
        for kind in KINDS:
            cost = costs(kind, counts, seed)
            for name, rule in rules.items():
                learned = new_rule(rule).fit(estimates.out_of_fold, estimates.y, cost)
                paid[kind][name] += float(cost[learned.decide(estimates.test), y_test].sum())
    return {"error": wrong / n, "certainty": certainty / n, "paid": paid}


def _jobs(scale: Scale) -> list[Job]:
    return [
        Job(regularized, {"data": "segment", "rows": rows, "schedule": schedule, "seed": seed})
        for rows in (ALL, FEW)
        for schedule in (SCHEDULES if scale == "full" else QUICK)
        for seed in range(5 if scale == "full" else 1)
    ]


#: Percent that a rule saves in every repetition, by the rows, the schedule, the costs and the rule.
Saved = dict[tuple[str, str, str, str], list[float]]


def _collect(done: Sequence[Done]) -> Findings:
    table: list[Row] = []
    found: Saved = {}
    for setting in dict.fromkeys((job.arguments["rows"], job.arguments["schedule"]) for job in done):
        answers = [
            job.answer for job in done if (job.arguments["rows"], job.arguments["schedule"]) == setting
        ]
        saved = {
            (kind, rule): [saving(each["paid"][kind]["plain"], each["paid"][kind][rule]) for each in answers]
            for kind in KINDS
            for rule in RULES
        }
        found |= {(*setting, *key): numbers for key, numbers in saved.items()}
        sureness = [fmean(each[name] for each in answers) for name in ("error", "certainty")]
        table.append(
            Row(
                setting,
                (*sureness, *map(fmean, saved.values())),
                spread=(None, None, *map(standard_error, saved.values())),
            )
        )
    return Findings(tuple(table), (_regularization_decides(found), *_harms(found)))


def _regularization_decides(found: Saved) -> Check:
    statement = (
        "Whether Lachiche-Flach saves or harms on segment depends on how far the covariances are regularised"
    )
    harm = {
        schedule: fmean(saved)
        for (rows, schedule, kind, rule), saved in found.items()
        if (rows, kind, rule) == (ALL, "ratio", AT_ONCE)
    }
    if len(harm) < 2:
        return Check(statement, None)
    finding = ", ".join(f"{schedule} {saved:+.1f}%" for schedule, saved in harm.items())
    signs = np.sign(list(harm.values()))
    return Check(statement, bool(signs.min() < 0 < signs.max()), f"all rows, rarity costs: {finding}")


def _harms(found: Saved) -> list[Check]:
    """Whether weights harm, learned in either way."""
    checks = []
    for rule, how in ((AT_ONCE, "from equal weights"), (ONE_BY_ONE, "with classes that come in one by one")):
        statement = f"Learned {how}, Lachiche-Flach is dearer than the plain rule on segment in most settings"
        known = {key: saved for key, saved in found.items() if key[-1] == rule}
        if not known:
            checks.append(Check(statement, None))
            continue
        harmed = sum(fmean(saved) < 0 for saved in known.values())
        worst = min(known, key=lambda key: fmean(known[key]))
        rows, schedule, kind, _ = worst
        saving_there, error = fmean(known[worst]), standard_error(known[worst])
        finding = (
            f"in {harmed} of {len(known)}; most with {rows} rows, {KINDS[kind]} costs, regularised "
            f"{schedule}, where it saves {saving_there:+.1f}%"
        )
        if error is not None:
            finding += f" with a standard error of {error:.1f}"
        checks.append(Check(statement, 2 * harmed > len(known), finding))
    return checks


REGULARIZATION = Experiment(
    name="ogg-regularization",
    title="Image segmentation: regularisation, rows, and how weights are learned, and what rules save",
    conventions=(
        "Protocol of ogg-table1, five repetitions (one in a quick run). The paper raises two parameters "
        "from zero until the condition number is below a million and does not say in which steps; both are "
        "equal here. Nor does it say whether it had all rows or the training file's 30 per class, or whether "
        "Lachiche-Flach begins with equal weights or lets the classes come in one by one, each with the best "
        "weight against those before it. Certainty is the mean estimate of the most probable class: with the "
        "error it says how far estimates exaggerate. Percent saved against the plain rule, with the standard "
        "error over the repetitions."
    ),
    labels=("rows", "regularised"),
    measures=("error", "certainty", *(f"{kind}: {rule} %" for kind in KINDS.values() for rule in RULES)),
    jobs=_jobs,
    collect=_collect,
)
