"""The page as text: escaped, complete, forbidden to load anything. The browser is in `test_page`."""

import base64
import hashlib
import html
import json
import re
import struct

import numpy as np
import pytest

from calibrant.report import summarize
from report.pages import MAKERS, NASTY


@pytest.fixture(scope="module")
def nasty():
    return MAKERS["nasty"]()


@pytest.fixture(scope="module")
def page(nasty):
    return nasty.to_html()


def test_the_policy_names_the_style_and_the_script_that_are_there(page):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind, tag in (("style-src", "style"), ("script-src", "script")):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_nothing_is_fetched_and_nothing_is_inline(page):
    markup = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    addresses = re.findall(r'(?:href|src|srcset|action|data)="([^"]*)"', markup)
    assert all(address.startswith("#") or address == "data:," for address in addresses)
    assert not re.search(r"<[^>]+\s(?:style|on[a-z]+)=", markup)
    assert "http://" not in markup
    assert "https://" not in markup


def test_names_are_escaped_everywhere(page):
    markup = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    for name in NASTY:
        if "<" in name:
            assert name not in page
    assert "<b>" not in markup
    assert NASTY[1] in html.unescape(markup)


def test_the_data_are_the_sample_to_the_last_bit(nasty, page):
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1)
    assert not set("<>&\u2028") & set(text)
    data = json.loads(text)
    assert tuple(data["classes"]) == NASTY
    packed = base64.b64decode(data["proba"])
    entries = np.array(struct.unpack(f"<{len(packed) // 8}d", packed)).reshape(-1, 4)
    np.testing.assert_array_equal(entries, np.array(nasty.sample.proba))
    assert data["weight"] is None


def test_the_page_is_the_same_every_time(nasty, page):
    assert nasty.to_html() == page


def test_the_frame_of_a_notebook_holds_the_page(nasty, page):
    frame = nasty._repr_html_()
    assert frame.startswith("<iframe ")
    assert frame.count("<") == 2
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame).group(1)) == page
    assert 'sandbox="allow-scripts"' in frame


@pytest.mark.parametrize("scheme", [0, 1])
def test_colour_follows_the_size_of_the_trouble(scheme):
    """Two forecasters in one colour only if they are about equally wrong: 5 points are not 25."""
    rng = np.random.default_rng(scheme)
    right = rng.choice([0.3, 0.7], size=20_000)
    y = rng.random(20_000) < right
    colours = [
        re.search(r'class="verdict (\w+) (trouble-\d)"', summarize(y, right + off).to_html()).groups()
        for off in (0.0, 0.03, 0.07, 0.15, 0.25)
    ]
    assert colours == [
        ("believable", "trouble-0"),
        ("nearly", "trouble-1"),
        ("not", "trouble-2"),
        ("not", "trouble-3"),
        ("not", "trouble-4"),
    ]


def test_without_mistakes_there_is_nothing_to_look_for():
    page = summarize([0, 1, 2] * 30, np.tile(np.eye(3), (30, 1))).to_html()
    assert "the most probable class was the true one every time" in page
    assert "Mistakes that cost most" not in page


def test_an_infinite_log_loss_is_explained():
    page = summarize([0, 1, 2] * 30, np.tile(np.eye(3)[[1, 2, 0]], (30, 1))).to_html()
    assert "The log loss is infinite because a class was called impossible and came." in page
