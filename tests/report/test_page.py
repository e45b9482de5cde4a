"""The page in a real browser: what it shows, what it recomputes, what it must never do."""

import numpy as np
import pytest

from calibrant.decisions import decide, realised_cost, two_class_threshold
from calibrant.report._html import RULE_WORDS
from calibrant.report._words import number
from report.forecasts import TRIAGE
from report.pages import MAKERS, NASTY

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation",
  (event) => window.violations.push(event.violatedDirective));
"""


class Opened:
    """A page of the browser, with all that it said and asked for."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(**options)
        self.said, self.asked = [], []
        self.context.route("**/*", self._ask)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        if options.get("java_script_enabled", True):
            self.page.add_init_script(WATCH)
        self.page.goto(path.as_uri())

    def _ask(self, route):
        self.asked.append(route.request.url)
        route.continue_()

    def value(self, name):
        """The number behind an output, to the last digit."""
        return float(self.page.locator(f"#live-{name}").get_attribute("data-value"))

    def counts(self):
        """The table of decisions and truths."""
        rows = self.page.locator("#confusion tbody tr").all()
        return np.array(
            [[float(text.replace(",", "")) for text in row.locator("td").all_inner_texts()] for row in rows]
        )

    def set_cost(self, i, j, value):
        """Type a cost."""
        self.page.locator(f"#cost-table td[data-row='{i}'][data-column='{j}'] input").fill(str(value))
        self.page.wait_for_function("new Promise((done) => requestAnimationFrame(() => done(true)))")


@pytest.fixture
def visit(browser, report):
    opened = []

    def go(name, **options):
        summary, path = report(name)
        opened.append(Opened(browser, path, **options))
        return summary, opened[-1]

    yield go
    for each in opened:
        each.context.close()


@pytest.mark.parametrize("name", list(MAKERS))
def test_every_page_is_quiet_alone_and_narrow_enough_for_a_phone(visit, report, name):
    summary, opened = visit(name, viewport={"width": 360, "height": 740})
    page = opened.page
    assert opened.said == []
    assert opened.asked == [report(name)[1].as_uri()]
    assert page.evaluate("window.violations") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert summary.verdict.headline in page.locator("#verdict-title").inner_text()
    assert page.locator(".lead").inner_text() == summary.verdict.findings[0]
    assert page.locator("h1").inner_text() == summary.title
    assert report(name)[1].stat().st_size < 1_000_000


def test_the_policy_forbids_other_scripts_styles_and_requests(visit):
    _, opened = visit("three")
    page = opened.page
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.evil = 1'}))"
    )
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate("fetch('https://example.org/').catch(() => 0)")
    page.wait_for_function("window.violations.length >= 3")
    assert page.evaluate("window.evil") is None
    assert {violation.split("-")[0] for violation in page.evaluate("window.violations")} == {
        "script",
        "style",
        "connect",
    }


class TestContent:
    def test_says_what_the_summary_says(self, visit):
        summary, opened = visit("three")
        text = opened.page.locator("main").inner_text()
        for sentence in (
            *summary.verdict.findings,
            *summary.verdict.advice,
            summary.methods.advice,
        ):
            assert sentence in text
        assert f"costs {number(summary.decisions.total)} on all 600 rows" in text
        for name in ("log_loss", "brier_score", "calibration", "expected_calibration_error", "auc"):
            assert str(getattr(summary.measures, name)) in text
        assert str(summary.methods.results[1].difference) in text
        assert opened.page.locator("#methods tbody tr").count() == 2

    def test_every_figure_has_its_numbers_as_a_table(self, visit):
        summary, opened = visit("three")
        for figure in opened.page.locator("figure").all():
            assert figure.locator("svg[role=img] title").count() == 1
            assert figure.locator("details table caption").count() == 1
        shown = opened.page.locator("figure[data-figure='2'] details tbody tr")
        assert shown.count() == len(summary.reliability[2].bins)

    def test_names_are_text_and_nothing_else(self, visit):
        _, opened = visit("nasty")
        page = opened.page
        assert opened.said == []
        assert page.locator("script").count() == 2
        assert page.locator("b").count() == 0
        assert page.title() == "</title><script>alert(2)</script>"
        heads = page.locator("#cost-table thead th").all_inner_texts()
        assert [head.strip() for head in heads] == [name.strip() for name in NASTY]
        assert "<b>" in page.locator("#errors td.text").first.inner_text()
        label = page.locator("#cost-table input").nth(1).get_attribute("aria-label")
        assert label == f"cost of deciding {NASTY[0]} when the truth is {NASTY[1]}"

    def test_without_scripts_the_report_is_there(self, visit):
        summary, opened = visit("three", java_script_enabled=False)
        page = opened.page
        assert page.locator("#verdict-title").is_visible()
        assert page.locator("#believe svg").count() == 6
        assert page.locator("#areas path").count() == 3
        assert page.locator("#cost-table td[data-row='0'][data-column='2']").inner_text() == "12"
        assert page.locator("input").count() == page.locator("#probe input").count()
        assert not page.locator("#probe").is_visible()
        assert not page.locator("#live").is_visible()
        np.testing.assert_array_equal(opened.counts(), np.array(summary.decisions.counts))


class TestCosts:
    """Decisions made anew in the browser are those of `calibrant.decisions`, on the same rows."""

    def check(self, summary, opened, cost):
        sample = summary.sample
        proba, truth, weight = np.array(sample.proba), np.array(sample.truth), np.array(sample.weight)
        decided = decide(proba, cost, allow_any=True)
        table = realised_cost(truth, decided, cost, sample_weight=weight)
        np.testing.assert_allclose(opened.counts(), table.counts)
        assert opened.value("total") == pytest.approx(table.total, rel=1e-12)
        assert opened.value("mean") == pytest.approx(table.mean, rel=1e-12)
        assert opened.page.locator("#live-total").inner_text() == number(table.total)
        names, actions = [entry.name for entry in summary.classes], summary.decisions.actions
        if set(names) <= set(actions):
            of_class = np.array([actions.index(name) for name in names])
            plain = realised_cost(truth, of_class[proba.argmax(axis=1)], cost, sample_weight=weight).total
            assert opened.value("plain") == pytest.approx(plain, rel=1e-12)
            assert opened.value("saving") == pytest.approx((plain - table.total) / plain, rel=1e-9)

    @pytest.mark.parametrize("name", ["two", "three", "ten", "nasty", "actions", "extra_action"])
    def test_first_and_edited(self, visit, name):
        summary, opened = visit(name)
        cost = np.array(summary.decisions.cost)
        self.check(summary, opened, cost)
        rng = np.random.default_rng(1)
        for _ in range(4):
            i, j = rng.integers(cost.shape[0]), rng.integers(cost.shape[1])
            cost[i, j] = round(float(rng.uniform(0.1, 30)), 3)
            opened.set_cost(i, j, cost[i, j])
            self.check(summary, opened, cost)
        opened.page.locator("#reset").click()
        opened.set_cost(0, 0, summary.decisions.cost[0][0])
        self.check(summary, opened, np.array(summary.decisions.cost))

    def test_small_costs_do_not_all_tie(self, visit):
        summary, opened = visit("two")
        cost = 1e-15 * np.array(summary.decisions.cost)
        for i, j in np.ndindex(cost.shape):
            opened.set_cost(i, j, cost[i, j])
        self.check(summary, opened, cost)

    def test_a_sample_is_called_a_sample(self, visit):
        summary, opened = visit("ten")
        assert len(summary.sample.rows) == 2000
        assert "a random sample of 2,000 of the 3,000 rows" in opened.page.locator("#cost-help").inner_text()
        assert "the sample of 2,000 rows" in opened.page.locator("#live h3").inner_text()
        assert summary.decisions.total != opened.value("total")
        assert number(summary.decisions.total) in opened.page.locator("#costs > p").first.inner_text()

    def test_what_is_no_number_is_marked_and_ignored(self, visit):
        _, opened = visit("three")
        before = opened.value("total")
        field = opened.page.locator("#cost-table input").nth(1)
        field.fill("")
        assert field.get_attribute("aria-invalid") == "true"
        assert opened.value("total") == before
        field.fill("4")
        assert field.get_attribute("aria-invalid") == "false"

    def test_a_mistake_that_costs_nothing_is_warned_of(self, visit):
        _, opened = visit("three")
        warning = opened.page.locator("#warning")
        assert warning.inner_text() == ""
        opened.set_cost(0, 2, 0)
        assert warning.inner_text().startswith("Deciding benign when the truth is urgent costs no more than")
        opened.page.locator("#reset").click()
        opened.set_cost(0, 0, 0)
        assert warning.inner_text() == ""

    def test_by_keyboard(self, visit):
        _, opened = visit("three")
        page = opened.page
        page.locator("#cost-table input").nth(1).focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == (
            "cost of deciding benign when the truth is urgent"
        )
        page.keyboard.press("ArrowUp")
        page.wait_for_function("document.activeElement.value === '13'")
        page.wait_for_function("document.querySelector('#live-words').textContent.includes('600 rows')")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


class TestDrawings:
    AREAS = "document.querySelectorAll('#areas path').length"

    def test_the_triangle_follows_the_costs(self, visit):
        _, opened = visit("three")
        page = opened.page
        before = page.locator("#areas path").nth(2).get_attribute("d")
        assert page.evaluate(self.AREAS) == 3
        opened.set_cost(2, 0, 9)
        assert page.locator("#areas path").nth(2).get_attribute("d") != before
        for j in range(3):
            opened.set_cost(0, j, 50)
        assert page.evaluate(self.AREAS) == 2

    def test_script_and_python_draw_the_same(self, visit, browser, report):
        _, live = visit("three")
        _, still = visit("three", java_script_enabled=False)
        for selector in ("#areas path", "#area-names text"):
            for attribute in ("d", "x", "y"):
                drawn, given = (
                    [element.get_attribute(attribute) for element in each.page.locator(selector).all()]
                    for each in (live, still)
                )
                assert [_numbers(text) for text in drawn] == [
                    pytest.approx(_numbers(text), abs=0.11) for text in given
                ]

    @pytest.mark.parametrize("dearest", [1.5, 12, 40, 200])
    def test_names_of_areas_stay_inside_them(self, visit, dearest):
        _, opened = visit("three")
        opened.set_cost(0, 2, dearest)
        opened.set_cost(0, 1, dearest)
        assert opened.page.evaluate("""() =>
          [...document.querySelectorAll("#area-names text")].every((name) => {
            const box = name.getBBox(), drawing = document.querySelector("#regions");
            const corners = [[box.x, box.y + 2], [box.x + box.width, box.y + 2],
                [box.x, box.y + box.height - 2], [box.x + box.width, box.y + box.height - 2]];
            return [...document.querySelectorAll("#areas path")].some((area) => corners.every(([x, y]) =>
                area.isPointInFill(Object.assign(drawing.createSVGPoint(), {x, y}))));
        })""")

    def test_where_all_decisions_cost_the_same_there_is_a_ring(self, visit):
        _, opened = visit("three")
        for i in range(3):
            for j in range(3):
                opened.set_cost(i, j, int(i != j))
        ring = opened.page.locator(".equal-risk")
        assert float(ring.get_attribute("cx")) == pytest.approx(240)
        assert float(ring.get_attribute("cy")) == pytest.approx(402 - 190 * np.sqrt(3) / 3, abs=0.1)

    def test_the_line_has_its_threshold(self, visit):
        summary, opened = visit("two")
        cost = np.array(summary.decisions.cost)
        name = opened.page.locator(".threshold-name")
        assert name.text_content() == f"{100 * (1 - two_class_threshold(cost)):.1f}%"
        cost[1, 0] = 3
        opened.set_cost(1, 0, 3)
        assert name.text_content() == f"{100 * (1 - two_class_threshold(cost)):.0f}%"

    def test_one_class_can_be_shown_large(self, visit):
        _, opened = visit("three")
        page = opened.page
        page.locator("#class-choice").select_option("1")
        shown = page.locator("[data-figure]:visible")
        assert shown.count() == 1
        assert TRIAGE[1] in shown.locator("figcaption").inner_text()
        assert page.locator(".roc.faint").count() == 2
        page.locator("#class-choice").select_option("")
        assert page.locator("[data-figure]:visible").count() == 3

    def test_a_case_of_ones_own(self, visit):
        _, opened = visit("three")
        page = opened.page
        for place, share in enumerate((50, 30, 20)):
            page.locator(f"[data-probe='{place}']").fill(str(share))
        assert page.locator("#probe-words").inner_text() == (
            "Expected cost: benign 3.6, watch 1.5, urgent 1.8. Decide watch."
        )
        page.locator("#regions").click(position=_at_top_corner(page))
        assert page.locator("#probe-words").inner_text().endswith("Decide urgent.")
        for place in range(3):
            page.locator(f"[data-probe='{place}']").fill("0")
        assert page.locator("#probe-words").inner_text() == "Give some class a probability."


def _numbers(text):
    return [] if text is None else [float(part) for part in text.strip("MZ").replace("L", ",").split(",")]


def _at_top_corner(page):
    box = page.locator("#regions").bounding_box()
    return {"x": box["width"] / 2, "y": box["height"] * (402 - 190 * np.sqrt(3) + 8) / 450}


#: Words of tables that stand on more than one line; long words may be broken.
SPLIT_WORDS = """
() => [...document.querySelectorAll("td, th")].flatMap((cell) => {
  const found = [], walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest(".long, svg")) continue;
    for (const word of node.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) found.push(word[0]);
    }
  }
  return found;
})
"""
#: Rows of cards that end before the others do: the places of the last card and of the grid.
HALF_EMPTY = """
() => [...document.querySelectorAll(".pair, .many")].flatMap((grid) => {
  const cards = [...grid.children].filter((card) => card.offsetParent !== null);
  if (!cards.length) return [];
  const last = cards.at(-1).getBoundingClientRect().right;
  const free = grid.getBoundingClientRect().right - last;
  return free > 2 ? [[grid.className, free]] : [];
})
"""
#: Parts of the page that do not show all they hold, but for the matrices of many classes, which say so.
CLIPPED = """
() => [...document.querySelectorAll(".scroll, .card, svg, figcaption, caption")].filter((part) =>
  part.offsetParent !== null && part.scrollWidth > part.clientWidth + 1 && !part.querySelector(".matrix"))
  .map((part) => part.className.baseVal ?? part.className)
"""
UNFOLD = "document.querySelectorAll('details').forEach((folded) => { folded.open = true; })"


class TestLayout:
    @pytest.mark.parametrize("width", [360, 700, 1280])
    @pytest.mark.parametrize(
        "name", ["two", "three", "seven", "ten", "nasty", "before", "before two", "thousand"]
    )
    def test_nothing_is_split_clipped_or_half_empty(self, visit, name, width):
        _, opened = visit(name, viewport={"width": width, "height": 900})
        page = opened.page
        assert page.evaluate(HALF_EMPTY) == []
        page.evaluate(UNFOLD)
        assert page.evaluate(SPLIT_WORDS) == []
        assert page.evaluate(CLIPPED) == []

    @pytest.mark.parametrize("name", ["two", "three", "before"])
    def test_matrices_of_few_classes_fit_a_phone(self, visit, name):
        _, opened = visit(name, viewport={"width": 360, "height": 740})
        for table in opened.page.locator(".scroll:has(.matrix)").all():
            assert table.evaluate("(part) => part.scrollWidth <= part.clientWidth + 1")

    @pytest.mark.parametrize("width", [360, 1280])
    def test_all_twenty_mistakes_can_be_seen(self, visit, width):
        summary, opened = visit("ten", viewport={"width": width, "height": 900})
        region = opened.page.get_by_role("region", name="Most confident mistakes")
        assert region.evaluate("(part) => part.scrollHeight <= part.clientHeight + 1")
        rows = region.locator("tbody tr th").all_inner_texts()
        shown = [int(text.removeprefix("row").strip()) for text in rows]
        assert shown == [mistake.row for mistake in summary.errors.mistakes]
        assert len(shown) == 20

    @pytest.mark.parametrize("width", [360, 1280])
    def test_all_dear_mistakes_and_the_intervals_of_rules_can_be_seen(self, visit, width):
        summary, opened = visit("three", viewport={"width": width, "height": 900})
        dear = opened.page.get_by_role("region", name="Mistakes that cost most")
        assert dear.evaluate("(part) => part.scrollHeight <= part.clientHeight + 1")
        assert dear.locator("tbody tr").count() == min(10, len(summary.decisions.confusions))
        rules = opened.page.get_by_role("region", name="Rules")
        assert rules.evaluate("(part) => part.scrollWidth <= part.clientWidth + 1")
        for rule in summary.decisions.rules[1:]:
            assert f"[{rule.saving.low:.1f}%, {rule.saving.high:.1f}%]" in rules.inner_text()

    def test_learned_rules_are_explained_where_they_are_shown(self, visit):
        summary, opened = visit("three")
        table = opened.page.get_by_role("region", name="Rules")
        for rule in summary.decisions.rules:
            assert RULE_WORDS[rule.name] in table.inner_text()

    def test_before_and_after_stand_side_by_side(self, visit):
        summary, opened = visit("before", viewport={"width": 1280, "height": 900})
        before, after = opened.page.locator("#before figure").all()
        assert summary.before.verdict.headline in before.inner_text()
        assert summary.verdict.headline in after.inner_text()
        assert before.bounding_box()["y"] == after.bounding_box()["y"]
        text = opened.page.locator("#before table").last.inner_text()
        for value in (
            summary.before.measures.log_loss,
            summary.measures.log_loss,
            summary.before.difference.auc,
        ):
            assert str(value) in text

    def test_newcomers_find_the_words_that_they_search_for(self, visit):
        assert "calibrated probabilities" in visit("three")[1].page.locator("header").inner_text()


class TestAppearance:
    @pytest.mark.parametrize(
        ("name", "scheme", "width"),
        [
            ("three", "light", 1200),
            ("two", "dark", 1200),
            ("ten", "dark", 360),
            ("before", "light", 360),
            ("before two", "dark", 1200),
            ("thousand", "light", 1200),
        ],
    )
    def test_axe_finds_nothing(self, visit, axe, name, scheme, width):
        _, opened = visit(name, color_scheme=scheme, viewport={"width": width, "height": 900})
        opened.page.evaluate(
            "document.querySelectorAll('details').forEach((folded) => { folded.open = true; })"
        )
        found = axe.run(opened.page).response["violations"]
        assert [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found] == []

    def test_dark_is_dark(self, visit):
        background = "getComputedStyle(document.documentElement).backgroundColor"
        light = visit("three", color_scheme="light")[1].page.evaluate(background)
        dark = visit("three", color_scheme="dark")[1].page.evaluate(background)
        assert light == "rgb(255, 255, 255)"
        assert max(int(part) for part in dark.strip("rgb()").split(",")) < 64

    def test_paper_is_white_and_shows_what_is_folded(self, visit):
        _, opened = visit("three", color_scheme="dark")
        page = opened.page
        page.emulate_media(media="print")
        assert (
            page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        assert not page.locator("nav").is_visible()
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.locator("figure details table").first.is_visible()
        assert page.pdf(format="A4").startswith(b"%PDF")

    def test_in_a_notebook_it_has_a_frame_of_its_own(self, browser, report):
        summary, _ = report("nasty")
        context = browser.new_context()
        page = context.new_page()
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.set_content(f"<p>cell</p>{summary._repr_html_()}")
        inner = page.frame_locator("iframe")
        assert summary.verdict.headline in inner.locator("#verdict-title").inner_text()
        assert inner.locator("#live").is_visible()
        assert said == []
        context.close()
