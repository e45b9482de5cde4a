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


def browser_path():
    """Where a browser is; without one its tests are skipped, or fail where it is required."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        message = "the tests of the page need a browser; there is none; run: apt-get install chromium"
        if os.environ.get(REQUIRED, "0") not in ("", "0"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    path = browser_path()
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


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
