"""What a monitor has found, in words and on a page in a real browser."""

import json
import math

import numpy as np
import pytest

from calibrant.report import summarize_monitor
from calibrant.report._time_svg import round_numbers, time_ticks
from report.test_page import SPLIT_WORDS, Opened
from report.watches import WATCHES


@pytest.fixture(scope="module")
def watch(tmp_path_factory):
    """The summary of a name, and the file that its page is in; each made once."""
    folder, made = tmp_path_factory.mktemp("watches"), {}

    def make(name):
        if name not in made:
            summary = WATCHES[name]()
            made[name] = summary, summary.save(folder / f"{name}.html")
        return made[name]

    return make


@pytest.fixture
def visit(browser, watch):
    opened = []

    def go(name, **options):
        summary, path = watch(name)
        opened.append(Opened(browser, path, **options))
        return summary, opened[-1]

    yield go
    for each in opened:
        each.context.close()


class TestWords:
    def test_an_alarm_says_what_since_when_and_what_to_do(self, watch):
        summary, _ = watch("credit")
        assert summary.level == "not"
        assert summary.headline == "Alarm: class paid comes less often than forecast"
        assert summary.findings[0].startswith("Since about 2026-0")
        assert "It goes on: " in summary.findings[0]
        assert summary.advice[0].startswith("Recalibrate with the last ")
        assert summary.advice[1].startswith("Look at base rates first")
        assert "groups are off." in " ".join(summary.findings)
        assert summary.before.weight + summary.since.weight == 6000
        assert 0 <= summary.since.first_row - summary.changes[0].alarm.began <= 256

    def test_calm_is_said_and_so_is_the_promise(self, watch):
        summary, _ = watch("calm")
        assert summary.level == "believable"
        assert "at most 1%" in summary.promise
        assert summary.since is None
        assert summary.changes == ()

    def test_without_labels_drift_is_what_is_known(self, watch):
        summary, _ = watch("unlabelled")
        assert summary.headline.startswith("Alarm: ")
        assert summary.changes[0].alarm.kind == "drift"
        assert "Collect labels" in summary.advice[0]
        assert watch("empty")[0].level == "unknown"

    def test_impossible_events_are_told_once_per_class(self, watch):
        kinds = [each.alarm.label for each in watch("nasty")[0].changes if each.alarm.kind == "impossible"]
        assert len(kinds) == len(set(kinds)) == 3

    @pytest.mark.parametrize("name", list(WATCHES))
    def test_json_is_json(self, watch, tmp_path, name):
        summary, _ = watch(name)
        content = json.loads(summary.save(tmp_path / "found.json").read_text())
        assert content["schema"] == "calibrant-watch-1"
        assert content["headline"] == summary.headline
        assert len(content["windows"]) == len(summary.windows)
        assert str(summary).splitlines()[1] == summary.headline


class TestTicks:
    @pytest.mark.parametrize("days", [0.001, 0.02, 0.3, 1, 3, 12, 40, 100, 400, 900, 3000, 40000])
    def test_dates_are_few_inside_and_named_by_the_calendar(self, days):
        low = 1.7e15 + 12345.0
        high = low + days * 86_400e6
        ticks = time_ticks(low, high, dated=True)
        assert 1 <= len(ticks) <= 5
        assert all(low <= at <= high for at, _ in ticks)
        assert len({text for _, text in ticks}) == len(ticks)

    @pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.31, 0.33), (-2e6, 5e6), (1e-9, 3e-9)])
    def test_round_numbers_are_inside_and_evenly_apart(self, low, high):
        found = round_numbers(low, high)
        assert 2 <= len(found) <= 6
        assert low <= found[0] <= found[-1] <= high * (1 + 1e-12)
        np.testing.assert_allclose(np.diff(found), found[1] - found[0])


@pytest.mark.parametrize("name", list(WATCHES))
def test_every_page_is_quiet_alone_and_narrow_enough_for_a_phone(visit, watch, name):
    summary, opened = visit(name, viewport={"width": 360, "height": 740})
    page = opened.page
    assert opened.said == []
    assert opened.asked == [watch(name)[1].as_uri()]
    assert page.evaluate("window.violations") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for region in page.get_by_role("region").all():
        assert region.evaluate("(part) => part.scrollWidth <= part.clientWidth + 1")
    assert summary.headline in page.locator("#verdict-title").inner_text()
    assert page.locator(".lead").inner_text() == summary.findings[0]
    assert page.locator("h1").inner_text() == summary.title
    assert watch(name)[1].stat().st_size < 1_000_000
    assert (
        "nan"
        not in page.locator("svg").evaluate_all("all => all.map(each => each.outerHTML).join('')").lower()
    )


def test_names_are_text_and_nothing_else(visit):
    _, opened = visit("nasty")
    assert opened.said == []
    assert opened.page.locator("script").count() == 1
    assert opened.page.locator("i").count() == 0
    assert opened.page.title() == "</title><script>alert(2)</script>"


class TestCharts:
    def test_every_measure_has_a_chart_and_its_numbers(self, visit):
        summary, opened = visit("credit")
        page = opened.page
        titles = page.locator("#course figcaption").all_inner_texts()
        assert titles == [
            "Log loss of a row",
            "Share of mistakes",
            "Cost of a decision",
            "Slope: 1 is right, less is too sure",
            "How often paid came",
        ]
        for chart in page.locator("#course figure").all():
            assert chart.locator(".band").count() == len(summary.windows)
            assert chart.locator(".alarm").count() == len(summary.changes)
            assert chart.locator(".began").count() == len(summary.changes)
        rows = page.locator("#numbers table").first.locator("tbody tr")
        assert rows.count() == len(summary.windows)
        assert str(summary.windows[0].log_loss) in rows.first.inner_text()

    def test_the_evidence_stands_where_its_logarithm_does(self, visit):
        summary, opened = visit("credit")
        page = opened.page
        bound = float(page.locator(".bound").get_attribute("d").split(",")[1].split("H")[0])
        ticks = {
            each.text_content(): float(each.get_attribute("y")) - 4
            for each in page.locator("#evidence .axis text[text-anchor=end]").all()
        }
        decade = (ticks["1"] - ticks["10²"]) / 2
        assert bound == pytest.approx(ticks["1"] - decade * math.log10(summary.threshold), abs=0.2)
        places = page.locator("#evidence .fit").get_attribute("d").strip("M").split("L")
        ys = [float(each.split(",")[1]) for each in places]
        most = max(value for *_, value in summary.curve)
        assert min(ys) == pytest.approx(ticks["1"] - decade * math.log10(most), abs=0.2)
        assert page.locator("#evidence details tbody tr").count() > 10

    def test_groups_are_sorted_and_those_off_are_filled(self, visit):
        summary, opened = visit("credit")
        marks = opened.page.locator("#groups svg circle")
        places = [float(each.get_attribute("cx")) for each in marks.all()]
        assert places == sorted(places, reverse=True)
        assert opened.page.locator("#groups svg circle.mark").count() == sum(g.found for g in summary.groups)
        assert opened.page.locator("#groups tbody tr").count() == len(summary.groups)

    def test_before_and_since_are_the_cells_of_the_monitor(self, visit):
        summary, opened = visit("credit")
        for name, found in (("before", summary.before), ("since", summary.since)):
            figure = opened.page.locator(f"[data-cells={name}]")
            assert figure.locator("circle").count() == len(found.cells)
            assert figure.locator("details tbody tr").count() == len(found.cells)
        assert opened.page.locator("[data-cells]").count() == 2
        assert visit("calm")[1].page.locator("[data-cells]").count() == 1


class TestAppearance:
    @pytest.mark.parametrize(
        ("name", "scheme", "width"),
        [("credit", "light", 1200), ("credit", "dark", 360), ("ten", "dark", 1200)],
    )
    def test_axe_finds_nothing(self, visit, axe, name, scheme, width):
        _, opened = visit(name, color_scheme=scheme, viewport={"width": width, "height": 900})
        opened.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        found = axe.run(opened.page).response["violations"]
        assert [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found] == []

    @pytest.mark.parametrize("width", [360, 1280])
    def test_dates_are_not_split(self, visit, width):
        _, opened = visit("credit", viewport={"width": width, "height": 900})
        words = SPLIT_WORDS.replace("td, th", "main p, main li, header p, td, th")
        split = opened.page.evaluate(words)
        assert [word for word in split if word[:4].isdecimal()] == []
        assert "2026-" in opened.page.locator(".lead").inner_text()

    def test_names_of_the_axes_do_not_touch(self, visit):
        _, opened = visit("credit")
        assert opened.page.evaluate("""() =>
          [...document.querySelectorAll("#course svg, #evidence svg")].every((svg) => {
            const boxes = [...svg.querySelectorAll(".axis text")].map((each) => each.getBBox());
            const {width, height} = svg.viewBox.baseVal;
            return boxes.every((a, i) => a.x >= 0 && a.x + a.width <= width && a.y + a.height <= height &&
              boxes.every((b, j) => i === j || a.x + a.width < b.x || b.x + b.width < a.x ||
                a.y + a.height - 3 < b.y || b.y + b.height - 3 < a.y));
        })""")

    def test_paper_is_white_no_wider_than_paper_and_shows_what_is_folded(self, visit):
        _, opened = visit("credit", color_scheme="dark", viewport={"width": 794, "height": 1100})
        page = opened.page
        page.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert (
            page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        assert page.locator("figure details table").first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 794
        assert page.pdf(format="A4").startswith(b"%PDF")

    def test_in_a_notebook_it_has_a_frame_of_its_own(self, browser, watch):
        summary, _ = watch("calm")
        context = browser.new_context()
        page = context.new_page()
        page.set_content(f"<p>cell</p>{summary._repr_html_()}")
        assert summary.headline in page.frame_locator("iframe").locator("#verdict-title").inner_text()
        context.close()


def test_the_title_is_ours_unless_it_is_given():
    assert summarize_monitor(_monitor()).title == "Calibration over time"


def _monitor():
    from calibrant import CalibrationMonitor

    return CalibrationMonitor().update([0.5], [1])
