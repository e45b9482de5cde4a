"""A real browser for the page, and the pages that it opens."""

import os
import shutil

import pytest

from report.pages import MAKERS

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Set where the tests of the page must not be skipped, as in continuous integration.
REQUIRED = "CALIBRANT_REQUIRE_BROWSER"


def absent(what, remedy):
    """Skip a test that lacks something, or fail it where nothing may be lacking."""
    message = f"the tests of the page need {what}; it is not there; run: {remedy}"
    if os.environ.get(REQUIRED, "0") not in ("", "0"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright", "pip install playwright")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        absent("a browser", "apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def axe():
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        absent("axe-playwright-python", "pip install axe-playwright-python")
    return Axe()


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The summary of a name, and the file that its page is in; each made once."""
    folder, made = tmp_path_factory.mktemp("pages"), {}

    def make(name):
        if name not in made:
            summary = MAKERS[name]()
            made[name] = summary, summary.save(folder / f"{name.replace(' ', '-')}.html")
        return made[name]

    return make
