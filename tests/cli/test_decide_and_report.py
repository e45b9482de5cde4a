"""The page of `calibrant report` and `calibrant decide` say the same about the same costs."""

import json

import numpy as np
import pytest

from calibrant.decisions import decide, expected_cost, realised_cost
from cli.calling import here

CLASSES = ["ham", "spam", "virus"]


def write_case(folder, seed):
    """Probabilities, labels and weights; costs of the classes and other actions, in any order."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 4))
    proba = rng.multinomial(20, rng.dirichlet(np.ones(k)), size=80) / 20
    truth = np.array([rng.choice(k, p=row) for row in proba])
    truth[:k] = range(k)
    weight = rng.integers(1, 4, size=80) / 2
    lines = [",".join([*(f"p_{name}" for name in CLASSES[:k]), "label", "weight"])]
    for p, j, w in zip(proba.tolist(), truth, weight.tolist(), strict=True):
        lines.append(",".join([*map(repr, p), CLASSES[j], repr(w)]))
    (folder / "p.csv").write_text("\n".join(lines) + "\n")
    names = [*CLASSES[:k], *["ask", "wait"][: int(rng.integers(0, 3))]]
    if seed % 5 == 0:
        names = names[1:]  # a class that cannot be decided
    cost = rng.integers(0, 9, size=(len(names), k)) / 2
    for j in range(k):
        for i, name in enumerate(names):
            cost[i, j] = 0 if name == CLASSES[j] else cost[i, j] + 0.5
    order = rng.permutation(len(names))
    header = ",".join(["decision", *CLASSES[:k]])
    rows = [",".join([names[i], *map(repr, cost[i].tolist())]) for i in order]
    (folder / "costs.csv").write_text("\n".join([header, *rows]) + "\n")
    # The classes come first, other decisions follow in the order of the file.
    order = sorted(order, key=lambda i: CLASSES.index(names[i]) if names[i] in CLASSES else len(CLASSES))
    return proba, truth, weight, [names[i] for i in order], cost[order]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_page_and_the_command_agree(tmp_path, seed, weighted):
    proba, truth, weight, names, cost = write_case(tmp_path, seed)
    given = ["p.csv", "--scores", "p_*", "--label", "label", "--costs", "costs.csv"]
    given += ["--weight", "weight"] if weighted else []
    done = here("decide", *given, "--json", "--out", "d.csv", cwd=tmp_path)
    said = json.loads(done.stdout)
    here("report", *given, "--out", "page.json", cwd=tmp_path)
    shown = json.loads((tmp_path / "page.json").read_text())["decisions"]
    assert shown["actions"] == [each["decision"] for each in said["decisions"]] == names
    assert shown["promised"] == pytest.approx(said["expected_cost"], rel=1e-12)
    assert shown["total"] == pytest.approx(said["paid"], rel=1e-12)
    # And both are right.
    weights = weight if weighted else np.ones(80)
    decided = decide(proba, cost, allow_any=True)
    assert said["paid"] == pytest.approx(realised_cost(truth, decided, cost, sample_weight=weights).total)
    expected = expected_cost(proba, decided, cost, sample_weight=weights).total
    assert said["expected_cost"] == pytest.approx(expected)
    if len(names) < proba.shape[1] or names[0] != "ham":
        assert shown["plain_total"] is shown["saving"] is said["paid_most_probable"] is None
        return
    plain = float(weights @ cost[proba.argmax(axis=1), truth])
    assert shown["plain_total"] == pytest.approx(said["paid_most_probable"]) == pytest.approx(plain)
    assert shown["saving"] == pytest.approx(100 * said["paid_saving"] / abs(plain))


def test_the_page_of_a_fit_knows_all_decisions(tmp_path):
    write_case(tmp_path, seed=2)
    model = ["--out", "m.json", "--report", "page.json"]
    given = ["--scores", "p_*", "--label", "label", "--costs", "costs.csv", "--kind", "probability"]
    here("fit", "p.csv", *given, *model, cwd=tmp_path)
    shown = json.loads((tmp_path / "page.json").read_text())["decisions"]
    assert shown["given"]
    assert shown["actions"] == ["ham", "spam", "virus", "wait", "ask"]
    assert shown["saving"] is not None
