"""Table 1 of Zadrozny & Elkan: the profit of a mailing."""

from collections.abc import Sequence
from statistics import fmean, stdev

from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale
from calibrant.experiments._shape import in_order
from calibrant.experiments._ze02_mailing import real_targets, stand_in

PAPER = {
    "raw": (0.10089, 0.10111, 10083.0, 9531.0),
    "sigmoid": (0.09542, 0.09533, 14134.0, 14120.0),
    "PAV": (0.09522, 0.09528, 15685.0, 14447.0),
}
NOTHING = (None,) * 4


def _jobs(scale: Scale) -> Sequence[Job]:
    seeds = range(10 if scale == "full" else 3)
    return [Job(real_targets, {}), *(Job(stand_in, {"seed": seed}) for seed in seeds)]


def _collect(done: Sequence[Done]) -> Findings:
    real: dict[str, list[float]] = next((each.answer for each in done if "seed" not in each.arguments), {})
    drawn = [each.answer["measures"] for each in done if "seed" in each.arguments]
    rows = [Row(("", policy), (None, mse, None, profit, *NOTHING)) for policy, (mse, profit) in real.items()]
    methods = list(drawn[0]) if drawn else list(PAPER)
    means: dict[str, list[float]] = {}
    for method in methods:
        columns = list(zip(*(measures[method] for measures in drawn), strict=True))
        means[method] = [fmean(column) for column in columns]
        spread = tuple(stdev(column) for column in columns)
        paper = (*PAPER.get(method, NOTHING), *NOTHING)
        ours = (*NOTHING, *(means[method] or NOTHING))
        rows.append(Row(("NB", method), ours, paper, (*NOTHING, *spread)))
    return Findings(tuple(rows), _checks(real, means if drawn else {}))


def _checks(real: dict[str, list[float]], means: dict[str, list[float]]) -> tuple[Check, ...]:
    def ordered(statement: str, names: Sequence[str], places: Sequence[int], digits: int) -> Check:
        chains = [{name: means[name][place] for name in names} for place in places] if means else []
        return in_order(f"stand-in: {statement}", *chains, digits=digits)

    train_test = [{"test": means["PAV"][3], "train": means["PAV"][2]}] if means else []
    bounds = []
    everybody = []
    if real:
        base, profit = real["base rate, write to everybody"]
        bounds = [{"paper's PAV": PAPER["PAV"][1], "base rate": base, "paper's NB": PAPER["raw"][1]}]
        everybody = [
            {"paper's NB": PAPER["raw"][3], "everybody": profit, "paper's sigmoid": PAPER["sigmoid"][3]}
        ]
    return (
        in_order("real targets: the paper's test MSE is a sum over the two classes", *bounds),
        in_order(
            "real targets: writing to everybody earns more than the paper's raw naive Bayes, and less than "
            "its sigmoid",
            *everybody,
            digits=0,
        ),
        ordered("MSE PAV < sigmoid < raw, train and test", ("PAV", "sigmoid", "raw"), (0, 1), 5),
        ordered("profit raw < sigmoid < PAV, train and test", ("raw", "sigmoid", "PAV"), (2, 3), 0),
        in_order("stand-in: PAV earns more on training rows than on test rows", *train_test, digits=0),
    )


TABLE1 = Experiment(
    name="ze02-table1",
    title="KDD-98, an illustration: profit of a mailing (real targets, synthetic attributes)",
    conventions=(
        "MSE is the Brier score summed over the two classes. A letter costs $0.68 and goes to whom P(gives) "
        "times the expected gift is above that. This is an illustration, not a reproduction: KDD-98's "
        "attributes cannot be had. What its real test targets say by themselves is in the paper's columns. "
        "The paper's protocol runs on a stand-in, in columns of its own: the real donations of the 96,367 "
        "people of the test part, half for training and half for testing, with attributes drawn from a "
        "model (ten noisy copies of one inclination, and a trace of the amount); mean and standard "
        "deviation over the draws, profits for half as many letters as in the paper."
    ),
    labels=("learner", "method"),
    measures=(
        "MSE train",
        "MSE test",
        "profit train $",
        "profit test $",
        "stand-in MSE train",
        "stand-in MSE test",
        "stand-in profit train $",
        "stand-in profit test $",
    ),
    jobs=_jobs,
    collect=_collect,
)
