"""Costs by label: mappings and frames, in any order, and what is refused; ready-made costs."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from calibrant import CalibrantError
from calibrant.decisions import cost_matrix, random_costs, rarity_costs, reasonable

CLASSES = ["a", "b", "c"]
WANTED = [[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]]
SHUFFLED = {
    "c": {"b": 6, "a": 5, "c": 0},
    "a": {"c": 2, "b": 1, "a": 0},
    "b": {"a": 3, "c": 4, "b": 0},
}
COLUMNS = {"decision": ["c", "a", "b"], "b": [6, 1, 0], "a": [5, 0, 3], "c": [0, 2, 4]}


@pytest.mark.parametrize(
    "cost",
    [
        SHUFFLED,
        {np.str_(i): {np.str_(j): value for j, value in row.items()} for i, row in SHUFFLED.items()},
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).set_index("decision"),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        WANTED,
        np.array(WANTED),
    ],
    ids=["mapping", "numpy names", "pandas column", "pandas index", "polars", "pyarrow", "list", "array"],
)
def test_the_order_of_the_names_does_not_matter(cost):
    assert cost_matrix(cost, CLASSES).tolist() == WANTED
    assert cost_matrix(cost, np.array(CLASSES)).tolist() == WANTED


def test_numbers_as_labels():
    mapping = {2: {5: 7.0, 2: 0.0}, 5: {5: 0.0, 2: 1.0}}
    wanted = [[0.0, 7.0], [1.0, 0.0]]
    assert cost_matrix(mapping, np.array([2, 5])).tolist() == wanted
    assert cost_matrix(pd.DataFrame(mapping).T, np.array([2, 5])).tolist() == wanted
    assert cost_matrix(pd.DataFrame([[0.0, 7.0], [1.0, 0.0]]), [0, 1]).tolist() == wanted
    of_a_file = pl.DataFrame({"decision": [5, 2], "5": [0.0, 7.0], "2": [1.0, 0.0]})
    assert cost_matrix(of_a_file, np.array([2, 5])).tolist() == wanted


def test_truth_values_as_labels():
    assert cost_matrix({True: {True: 0, False: 1}, False: {True: 9, False: 0}}, [False, True]).tolist() == [
        [0.0, 9.0],
        [1.0, 0.0],
    ]


def test_classes_that_do_not_occur_are_left_out():
    assert cost_matrix(SHUFFLED, ["a", "c"]).tolist() == [[0.0, 2.0], [5.0, 0.0]]
    assert cost_matrix(pl.DataFrame(COLUMNS), ["a", "c"]).tolist() == [[0.0, 2.0], [5.0, 0.0]]


@pytest.mark.parametrize("wrap", [lambda cost: cost, lambda cost: pd.DataFrame(cost).T])
def test_actions_beyond_the_classes(wrap):
    cost = wrap({"yes": {"a": 1, "b": 0}, "no": {"a": 0, "b": 5}, "ask": {"a": 2, "b": 3}})
    matrix = cost_matrix(cost, ["a", "b"], actions=["no", "ask", "yes"])
    assert matrix.tolist() == [[0.0, 5.0], [2.0, 3.0], [1.0, 0.0]]


BAD = {
    "missing decision": (
        {"a": {"a": 0, "b": 1}},
        ["a", "b"],
        None,
        "got none for deciding 'b' when the truth is 'a'; add it, zero if it is free",
    ),
    "missing truth": (
        {"a": {"a": 0}, "b": {"a": 1, "b": 0}},
        ["a", "b"],
        None,
        "got none for deciding 'a' when the truth is 'b'",
    ),
    "unknown label": (
        SHUFFLED,
        ["a", "b", "z"],
        None,
        "got none for deciding 'a' when the truth is 'z'",
    ),
    "unknown action": (
        {"a": {"a": 0, "b": 1}, "b": {"a": 1, "b": 0}, "ask": {"a": 2, "b": 2}},
        ["a", "b"],
        None,
        r"only decisions \['a', 'b'\] .*got the decision 'ask'; remove it, or pass actions=",
    ),
    "unknown truth": (
        {"a": {"a": 0, "b": 1, "d": 3}, "b": {"a": 1, "b": 0}},
        ["a", "b"],
        None,
        "got the truth 'd'; remove it$",
    ),
    "flat mapping": ({"a": 1, "b": 2}, ["a", "b"], None, "mapping of mappings.*got int for decision 'a'"),
    "twice": (["a"], ["a", "a"], None, r"classes must be one row of distinct labels; got \['a', 'a'\]"),
    "no classes": ([[0]], [], None, r"classes must be one row of distinct labels; got \[\]"),
    "actions twice": ([[0]], ["a"], ["x", "x"], r"actions must be one row of distinct labels"),
    "array shape": ([[0, 1], [1, 0]], CLASSES, None, r"one column per class, 3 in all; got shape \(2, 2\)"),
    "array rows": ([[0, 1], [1, 0]], ["a", "b"], CLASSES, r"shape \(3, 2\); got shape \(2, 2\)"),
    "polars without names": (
        pl.DataFrame({"a": [0, 1], "b": [1, 0]}),
        ["a", "b"],
        None,
        "first column of cost must hold the decisions; got the column 'a' of a truth; put a column",
    ),
    "repeated decision": (
        pl.DataFrame({"decision": ["a", "a"], "a": [0, 1], "b": [1, 0]}),
        ["a", "b"],
        None,
        r"every decision and every truth once; got \['a', 'a'\] and \['a', 'b'\]",
    ),
    "text": ({"a": {"a": 0, "b": "dear"}, "b": {"a": 1, "b": 0}}, ["a", "b"], None, "cost must be numbers"),
    "nan": ({"a": {"a": 0, "b": np.nan}, "b": {"a": 1, "b": 0}}, ["a", "b"], None, r"nan at cost\[0, 1\]"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_bad_names_are_refused_with_a_reason(case):
    *arguments, message = case
    with pytest.raises(CalibrantError, match=message):
        cost_matrix(*arguments)


def test_rarity_by_ratio():
    np.testing.assert_allclose(rarity_costs([4, 2, 1], "ratio"), [[0, 2, 4], [0.5, 0, 2], [0.25, 0.5, 0]])
    assert reasonable(rarity_costs([4, 2, 1]))


def test_random_costs_lie_between_one_and_ten():
    cost = random_costs(50, random_state=1)
    off = cost[~np.eye(50, dtype=bool)]
    assert (np.diag(cost) == 0).all()
    assert off.min() >= 1
    assert off.max() <= 10
    assert abs(off.mean() - 5.5) < 0.2
    np.testing.assert_array_equal(cost, random_costs(50, random_state=1))
    np.testing.assert_array_equal(cost, random_costs(50, random_state=np.random.default_rng(1)))
    first = random_costs(3, random_state=np.random.RandomState(1))
    np.testing.assert_array_equal(first, random_costs(3, random_state=np.random.RandomState(1)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rarity_costs([3, 0, 2]), "counts must be positive; got 0 for class 1; a class without rows"),
        (lambda: rarity_costs([3, np.nan]), "counts must be finite; got nan in row 1"),
        (lambda: rarity_costs([[3]]), r"counts must be one number per class; got shape \(1, 1\)"),
        (lambda: rarity_costs([]), r"counts must be one number per class; got shape \(0,\)"),
        (lambda: rarity_costs([1, 2], rule="log"), "rule must be one of 'ratio', 'inverse'; got 'log'"),
        (lambda: random_costs(0), "k must be a whole number of classes, at least 1; got 0"),
        (lambda: random_costs(2.5), "at least 1; got 2.5"),
        (lambda: reasonable([[0, 1]]), r"shape \(k, k\); got shape \(1, 2\)"),
        (lambda: reasonable([]), r"shape \(k, k\); got shape \(0,\)"),
    ],
)
def test_what_ready_made_costs_refuse(make, message):
    with pytest.raises(CalibrantError, match=message):
        make()
