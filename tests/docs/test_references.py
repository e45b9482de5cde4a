"""What code and documents refer to is in the repository."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "docs", "benchmarks")
MADE = {"docs/_build", "docs/api", "docs/gallery"}
FILES = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".md", ".html", ".rst"}
    and not any(path.relative_to(ROOT).as_posix().startswith(made) for made in MADE)
] + sorted(ROOT.glob("*.md"))
PAGES = [path for path in FILES if path.suffix == ".md"]
#: A section of the specification that these pages replace, cited by its number.
BY_NUMBER = re.compile(r"\bMETHODS(?:\.md)?,?\s+(?:section |§ ?)?(?:\d|[A-Z]\.\d)")
DOCUMENT = re.compile(r"(?<![\w./-])(?:\.\./)*((?:[\w.-]+/)*[\w-]+\.md)\b")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)")


def anchors(page):
    """The addresses of a page's headings, as the documentation makes them, and those it names itself."""
    text = page.read_text("utf-8")
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return made | set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.MULTILINE))


def test_nothing_outside_the_repository_is_cited():
    names = {f"/{page.as_posix()}" for page in PAGES}
    for path in FILES:
        text = path.read_text("utf-8")
        assert not BY_NUMBER.search(text) or path == Path(__file__), f"{path}: cite the page of docs/methods"
        for name in DOCUMENT.findall(text):
            there = any(page.endswith(f"/{name}") for page in names)
            assert there, f"{path} speaks of {name}, which is not in the repository"


def test_links_lead_somewhere():
    for path in PAGES:
        prose = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target, anchor in LINK.findall(prose):
            page = path.parent / target if target else path
            if "gallery" in page.parts:  # made with the documentation
                page = ROOT / "docs" / "examples" / f"{page.stem}.py"
            elif not page.exists():
                page = page.with_name(f"{page.name}.md")
            assert page.exists(), f"{path}: {target} is not there"
            assert not anchor or anchor in anchors(page), f"{path}: {target} has no heading {anchor}"
