"""How much quadratic discriminants are regularised, which O'Brien, Gupta and Gray do not say in full.

They raise both parameters from zero until the condition number is below a million. In which steps decides how
far a class is pulled towards a ball, and with it how surely the estimates err.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from calibrant.decisions import decide, new_rule
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
KINDS = ("ratio", "random")
RULES = ("parallel", "lachiche_flach")


def regularized(data: str, schedule: str, seed: int) -> dict[str, Any]:
    """One repetition of the cross-validation: errors, how sure they were, and what rules cost."""
    steps, max_condition = SCHEDULES[schedule]
    models = QdaModels(RegularizedQDA(steps, max_condition))
    paid = {kind: dict.fromkeys(("expected", *RULES), 0.0) for kind in KINDS}
    wrong, certainty, n = 0, 0.0, 0
    for fold, y_test, counts, fold_seed in outer_folds(data, "QDA", seed):
        estimates = Estimates.of(replace(fold, models=models), y_test, 0, fold_seed)
        best = estimates.test.max(axis=1)
        wrong += int((estimates.test.argmax(axis=1) != y_test).sum())
        certainty, n = certainty + float(best.sum()), n + len(y_test)
        for kind in KINDS:
            cost = costs(kind, counts, seed)
            decided = {"expected": decide(estimates.test, cost)} | {
                name: new_rule(name).fit(estimates.out_of_fold, estimates.y, cost).decide(estimates.test)
                for name in RULES
            }
            for name, decisions in decided.items():
                paid[kind][name] += float(cost[decisions, y_test].sum())
    return {"error": wrong / n, "certainty": certainty / n, "paid": paid}


def _jobs(scale: Scale) -> list[Job]:
    return [
        Job(regularized, {"data": "segment", "schedule": schedule, "seed": seed})
        for schedule in (SCHEDULES if scale == "full" else QUICK)
        for seed in range(5 if scale == "full" else 1)
    ]


def _collect(done: Sequence[Done]) -> Findings:
    rows, harm = [], {}
    for schedule in dict.fromkeys(job.arguments["schedule"] for job in done):
        answers = [job.answer for job in done if job.arguments["schedule"] == schedule]
        saved = {
            (kind, rule): [
                saving(each["paid"][kind]["expected"], each["paid"][kind][rule]) for each in answers
            ]
            for kind in KINDS
            for rule in RULES
        }
        harm[schedule] = fmean(saved["ratio", "lachiche_flach"])
        rows.append(
            Row(
                (schedule,),
                (
                    fmean(each["error"] for each in answers),
                    fmean(each["certainty"] for each in answers),
                    *map(fmean, saved.values()),
                ),
                spread=(None, None, *map(standard_error, saved.values())),
            )
        )
    return Findings(tuple(rows), (_decides(harm),))


def _decides(harm: dict[str, float]) -> Check:
    statement = (
        "Whether Lachiche-Flach saves or harms on segment depends on how far the covariances are regularised"
    )
    if len(harm) < 2:
        return Check(statement, None)
    finding = ", ".join(f"{schedule} {saved:+.1f}%" for schedule, saved in harm.items())
    signs = np.sign(list(harm.values()))
    return Check(statement, bool(signs.min() < 0 < signs.max()), f"rarity costs: {finding}")


REGULARIZATION = Experiment(
    name="ogg-regularization",
    title="Image segmentation: how far quadratic discriminants are regularised, and what rules save",
    conventions=(
        "Protocol of ogg-table1, five repetitions (one in a quick run). The paper raises two parameters "
        "from zero until the condition number is below a million and does not say in which steps; both are "
        "equal here. Certainty is the mean estimate of the most probable class: with the error it says how "
        "far estimates exaggerate. Percent saved against the plain rule, with the standard error over the "
        "repetitions."
    ),
    labels=("regularised",),
    measures=(
        "error",
        "certainty",
        "rarity: parallel partition %",
        "rarity: Lachiche-Flach %",
        "random: parallel partition %",
        "random: Lachiche-Flach %",
    ),
    jobs=_jobs,
    collect=_collect,
)
