"""Figure 1 of Langford and Zadrozny, and a question beside it: how should a tree be told what matters?"""

from collections.abc import Sequence
from statistics import fmean, stdev

from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale, Series
from calibrant.experiments._lz05_protocol import family, weighting
from calibrant.experiments._lz05_sets import NAME_OF, n_splits_of

#: The paper does not name its five sets.
CURVES: dict[Scale, tuple[str, ...]] = {
    "quick": ("diabetes", "kr-vs-kp", "sick"),
    "full": ("adult", "diabetes", "kr-vs-kp", "sick", "tic"),
}
N_PROBES = 100
#: What "within a few per cent" is taken to be.
FEW = 0.05
WEIGHTED: dict[Scale, tuple[str, ...]] = {
    "quick": ("diabetes", "kr-vs-kp"),
    "full": ("adult", "diabetes", "kr-vs-kp", "tic"),
}
WAYS = ("weights", "rejection", "voted")


def _curve_jobs(scale: Scale) -> list[Job]:
    return [
        Job(family, {"data": data, "split": split, "learners": "tree", "n_probes": N_PROBES})
        for data in CURVES[scale]
        for split in range(n_splits_of(data, scale))
    ]


def _collect_curves(done: Sequence[Done]) -> Findings:
    series = []
    for data in dict.fromkeys(job.arguments["data"] for job in done):
        curves = [job.answer["curve"] for job in done if job.arguments["data"] == data]
        mean = [fmean(of_split) for of_split in zip(*curves, strict=True)]
        numbers = tuple(float(number) for number in range(1, len(mean)))
        series.append(Series("probed trees", NAME_OF[data], numbers, tuple(mean[1:])))
    return Findings(checks=(_flat_after_20(series),), series=tuple(series))


def _flat_after_20(series: Sequence[Series]) -> Check:
    statement = f"After 20 probes the cross entropy is within {100 * FEW:.0f}% of that after {N_PROBES}"
    if not series:
        return Check(statement, None)
    gaps = {line.name: line.y[19] / line.y[-1] - 1 for line in series}
    finding = ", ".join(
        f"{line.name} {line.y[19]:.3f} against {line.y[-1]:.3f} ({100 * gaps[line.name]:+.1f}%)"
        for line in series
    )
    if max(gaps.values()) > FEW:
        finding += ". Where so little is lost, a few thousandths of a bit are many per cent"
    return Check(statement, max(gaps.values()) <= FEW, finding)


def _weighting_jobs(scale: Scale) -> list[Job]:
    n_probes = 20 if scale == "quick" else N_PROBES
    return [
        Job(weighting, {"data": data, "split": split, "tree": tree, "n_probes": n_probes})
        for data in WEIGHTED[scale]
        for split in range(n_splits_of(data, scale))
        for tree in ("unpruned", "pruned")
    ]


def _collect_weighting(done: Sequence[Done]) -> Findings:
    problems = dict.fromkeys((job.arguments["data"], job.arguments["tree"]) for job in done)
    rows = []
    for data, tree in problems:
        answers = [
            job.answer for job in done if (job.arguments["data"], job.arguments["tree"]) == (data, tree)
        ]
        columns = [[answer[way] for answer in answers] for way in WAYS]
        spread = tuple(stdev(column) for column in columns) if len(answers) > 1 else ()
        rows.append(Row((NAME_OF[data], tree), tuple(map(fmean, columns)), spread=spread))
    checks = [_rejection_is_better(rows, tree) for tree in ("unpruned", "pruned")]
    return Findings(tuple(rows), (*checks, _votes_are_better(rows)))


def _rejection_is_better(rows: Sequence[Row], tree: str) -> Check:
    statement = f"Rejection has a lower cross entropy than weights for {tree} trees on every set"
    of_tree = [row for row in rows if row.labels[1] == tree]
    if not of_tree:
        return Check(statement, None)
    finding = ", ".join(f"{row.labels[0]} {row.ours[1]:.3f} against {row.ours[0]:.3f}" for row in of_tree)
    return Check(statement, all(_below(row, 1, 0) for row in of_tree), finding)


def _votes_are_better(rows: Sequence[Row]) -> Check:
    statement = "Voting of five samples lowers the cross entropy of rejection"
    if not rows:
        return Check(statement, None)
    lower = [row for row in rows if _below(row, 2, 1)]
    return Check(statement, len(lower) == len(rows), f"on {len(lower)} of {len(rows)} lines")


def _below(row: Row, first: int, second: int) -> bool:
    one, other = row.ours[first], row.ours[second]
    return one is not None and other is not None and one < other


FIGURE1 = Experiment(
    name="lz05-figure1",
    title="Cross entropy of probed trees against the number of probes",
    conventions=(
        "Bits, on the test rows, mean over the splits. Trees are CART with J48's least leaf of two rows, "
        "pruned in every fit as C4.5 is; probed by rejection. The paper does not name its five sets."
    ),
    labels=(),
    measures=(),
    jobs=_curve_jobs,
    collect=_collect_curves,
    axes={"x": "probes", "y": "cross entropy (bits)"},
)
WEIGHTING = Experiment(
    name="lz05-weighting",
    title="How a probed tree is told what matters: by weights, rejection, or votes of five rejection samples",
    conventions=(
        "Not in the paper, which uses rejection for trees. Cross entropy in bits on the test rows, mean and "
        "standard deviation over the splits. Unpruned is scikit-learn's tree as it comes; pruned has at "
        "least two rows in a leaf and is pruned in every fit as C4.5 is."
    ),
    labels=("data set", "tree"),
    measures=("weights", "rejection", "voted rejection"),
    jobs=_weighting_jobs,
    collect=_collect_weighting,
)
