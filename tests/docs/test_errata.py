"""The errata of the papers: all 32, each with a check that the print fails and the mending holds."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
PARTS = re.split(r"^### (?=E\d+\.)", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
ERRATA = {re.match(r"E(\d+)", part)[1]: re.split(r"^##", part, flags=re.MULTILINE)[0] for part in PARTS}


def test_all_are_there():
    assert len(PARTS) == 32
    assert sorted(map(int, ERRATA)) == list(range(1, 33))


@pytest.mark.parametrize("number", ERRATA)
def test_the_print_fails_and_the_mending_holds(number):
    text = ERRATA[number]
    assert "**Printed** (" in text
    assert "**Right**" in text
    (check,) = re.findall(r"^```pycon\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert check.endswith("\n(False, True)\n"), "a check ends with whether the print and the mending hold"
    test = doctest.DocTestParser().get_doctest(check, {}, f"E{number}", str(PAGE), 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not said, "".join(said)
