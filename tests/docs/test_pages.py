"""The pages that a newcomer meets: their examples print what they show, and each leads to the next."""

import doctest
import re
import sys
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(DOCS).as_posix(): path.read_text("utf-8")
    for folder in (DOCS, DOCS / "guide", DOCS / "methods")
    for path in sorted(folder.glob("*.md"))
}
README = (ROOT / "README.md").read_text("utf-8")
EXAMPLE = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))


class UpToTheLastDigit(doctest.OutputChecker):
    """Numbers are compared to one unit of the last digit that is shown."""

    def check_output(self, want, got, optionflags):
        alike = sys.modules["sessions"].alike
        pairs = zip_longest(want.splitlines(), got.splitlines(), fillvalue="")
        return super().check_output(want, got, optionflags) or all(
            alike(" ".join(shown.split()), " ".join(printed.split()), Decimal(0)) for shown, printed in pairs
        )


@pytest.mark.parametrize("name", ["index.md", "tutorial.md", "guide/first-steps.md"])
def test_examples_print_what_is_shown(name, scripts):
    __import__("sessions")
    code = "\n".join(EXAMPLE.findall(PAGES[name]))
    test = doctest.DocTestParser().get_doctest(code, {}, name, str(DOCS / name), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(UpToTheLastDigit(), optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append)
    assert test.examples
    assert not said, "".join(said)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_a_next_step(name):
    last = PAGES[name].rstrip().rpartition("\n\n")[2]
    assert re.match(r"Next: .*\[[^]]+\]\([^)]+\)", last, flags=re.DOTALL), (
        "a page ends with 'Next: [...](...)'"
    )


def test_the_figures_are_drawn_from_what_the_pages_compute(scripts, tmp_path):
    figures = __import__("figures")
    figures.draw(tmp_path)
    for name in figures.FIGURES:
        drawn, kept = ((folder / f"{name}.svg").read_text("utf-8") for folder in (tmp_path, figures.FOLDER))
        said, shown = (re.findall(r"<text[^>]*>([^<]+)<", each) for each in (drawn, kept))
        assert said == shown, f"run python docs/figures.py: {name}.svg says other things now"
    rows = enumerate(zip(figures.SCORES, figures.LABELS, strict=True), start=1)
    table = "".join(f"| {number} | {score:.2f} | {label} |\n" for number, (score, label) in rows)
    assert table in PAGES["tutorial.md"]
    assert f"answers = {figures.ANSWERS.tolist()}" in PAGES["tutorial.md"]


def test_newcomers_find_the_words_that_they_search_for():
    for text in (README, PAGES["index.md"]):
        assert "calibrated probabilities" in text.lower()
        assert "figures/home.svg" in text


def test_the_readme_is_one_screen_before_its_tables():
    """A screen has some forty lines; a figure takes ten of them."""
    lines = README[: README.index("\n## ")].strip().splitlines()
    assert len(lines) + 10 <= 50


def test_the_home_page_shows_a_way_for_everybody():
    for reader in ("data scientist", "analyst with a file", "serving engineer", "risk manager"):
        assert f"**{reader}**" in PAGES["index.md"]


@pytest.mark.parametrize(("sign", "extension"), [(r"^: ", "deflist"), (r"\$[^$]+\$", "dollarmath")])
def test_what_pages_write_is_what_the_documentation_reads(sign, extension):
    """Without its extension a list of words, or a formula, is shown as it is typed."""
    assert any(re.search(sign, text, re.MULTILINE) for text in PAGES.values())
    assert f'"{extension}"' in (DOCS / "conf.py").read_text("utf-8")
