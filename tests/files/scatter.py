"""An engine that makes it as hard as it can: any order, any parts, through Arrow, merged in any tree."""

import json

import numpy as np

from calibrant.files import Rows, read_summary, task_from_json


def take(rows, chosen):
    return Rows(
        rows.scores[chosen],
        rows.truth[chosen],
        None if rows.weight is None else rows.weight[chosen],
        rows.keys()[chosen],
    )


def run_scattered(plan, rows, seed, most_parts=5):
    """Run a plan; every pass cuts the rows anew."""
    rng = np.random.default_rng(seed)
    summary = None
    try:
        while True:
            task = plan.send(summary)
            json.loads(task.to_json())
            summary = reduce_scattered(task, rows, rng, most_parts)
    except StopIteration as end:
        return end.value


def reduce_scattered(task, rows, rng, most_parts=5):
    text = task.to_json()
    order = rng.permutation(len(rows))
    borders = np.sort(rng.integers(0, len(rows) + 1, rng.integers(0, most_parts)))
    summaries = []
    for part in np.split(order, borders):  # some are empty
        summary = task_from_json(text).empty()
        for batch in np.array_split(part, rng.integers(1, 4)):
            summary.update(take(rows, batch).present())
        summaries.append(summary)
    while len(summaries) > 1:
        one, other = (summaries.pop(int(rng.integers(len(summaries)))) for _ in range(2))
        travelled = read_summary(other.to_bytes() if rng.integers(2) else other.to_arrow())
        summaries.append(read_summary(one.to_arrow()).merge(travelled))
    return summaries[0]
