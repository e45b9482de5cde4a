"""A short run of every law, always on the same cases, and all cases that have ever broken one."""

import json

import pytest
from hypothesis import strategies as st

from fuzz.families import FAMILIES
from fuzz.laws import LAWS, Law, kept_cases, search, try_again, what_went_wrong

#: What part of a round is a short run: processes take their time.
SHARE = {"numbers": 2, "models": 2, "command": 3, "damage": 3}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_holds(name):
    law = LAWS[name]
    count, broken = search(law, max(1, law.few // SHARE[law.family]), number=0, shrink_seconds=5)
    assert count
    assert broken is None, f"{what_went_wrong(broken.error)}\nfor {json.dumps(broken.case)}"


@pytest.mark.parametrize("path", kept_cases(), ids=lambda path: path.stem)
def test_what_broke_a_law_once_does_not_again(path):
    try_again(path)


def test_every_family_has_laws():
    assert {law.family for law in LAWS.values()} == set(FAMILIES)


def _at_most_two(numbers):
    assert not any(number > 2 for number in numbers), "a number above 2"


def test_a_broken_law_is_found_made_small_and_kept(tmp_path):
    law = Law(
        "none", "at_most_two", _at_most_two, st.fixed_dictionaries({"numbers": st.lists(st.integers())}), 9
    )
    count, broken = search(law, 200, number=1)
    assert broken.case == {"numbers": [3]}
    assert (count, broken.case) == (search(law, 200, number=1)[0], {"numbers": [3]})
    path = broken.keep(tmp_path)
    assert kept_cases(tmp_path) == [path]
    kept = json.loads(path.read_text())
    assert (kept["law"], kept["case"]) == ("at_most_two", {"numbers": [3]})
    assert kept["error"].startswith("AssertionError: a number above 2")
