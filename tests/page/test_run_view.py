"""A run in a real browser, on a real service."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from leadhand import Plan, Task
from tests.page.browser import opened_page, signed_in, started_browser, violations
from tests.page.office import EVIL, many, port_of, serving_office, start
from tests.serve.desk import Desk, Gate

MANY = 5_000 if "LEADHAND_TEST_ALL" in os.environ else 1_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as browser:
        yield browser


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Desk]:
    with serving_office(tmp_path, Gate()) as office:
        yield office


def node(page: Page, task: str) -> Locator:
    return page.locator(f'.canvas g.node[data-id$="{task}"]')


def test_a_run_is_followed_as_it_happens(browser: Browser, office: Desk, tmp_path: Path) -> None:
    run_id = start(office, tmp_path)
    office.gate.arrived.wait()
    with opened_page(browser) as page:
        signed_in(page, office, f"/runs/{run_id}")
        expect(page.locator(".headline")).to_contain_text("1 running")
        expect(page.locator("button.live")).to_contain_text("Live")
        expect(node(page, "compare")).to_have_class(re.compile(r"\brunning\b"))
        expect(node(page, "missing")).to_have_class(re.compile(r"\bfailed\b"))
        office.gate.open()
        expect(page.locator(".headline .status").first).to_contain_text("partial")
        expect(page.locator(".answer .note").first).to_contain_text("What is missing")
        expect(page.locator(".answer .prose td").first).to_have_text("1")


def test_a_paused_page_stands_still_and_then_catches_up(
    browser: Browser, office: Desk, tmp_path: Path
) -> None:
    run_id = start(office, tmp_path)
    office.gate.arrived.wait()
    with opened_page(browser) as page:
        signed_in(page, office, f"/runs/{run_id}?view=graph")
        expect(page.locator(".headline")).to_contain_text("1 running")
        page.locator("button.live").click()
        expect(page.locator("button.live")).to_contain_text("Paused")
        office.gate.open()
        page.locator("button.live").click()
        expect(page.locator(".headline .status").first).to_contain_text("partial")


def test_a_task_has_an_address_of_its_own(browser: Browser, office: Desk, tmp_path: Path) -> None:
    office.gate.open()
    run_id = start(office, tmp_path)
    with opened_page(browser) as page:
        signed_in(page, office, f"/runs/{run_id}?view=graph")
        node(page, "prices").click()
        panel = page.get_by_role("complementary", name="Task prices")
        expect(panel.get_by_role("cell", name="Globex")).to_be_visible()
        assert page.url.endswith(f"/runs/{run_id}/tasks/prices?view=graph")
        page.reload()
        expect(panel.get_by_role("cell", name="Globex")).to_be_visible()
        panel.get_by_role("link", name="compare").click()
        expect(page.get_by_role("complementary", name="Task compare")).to_be_visible()
        page.go_back()
        expect(panel).to_be_visible()
        page.keyboard.press("Escape")
        expect(panel).to_have_count(0)
        assert page.url.endswith(f"/runs/{run_id}?view=graph")
        page.get_by_role("button", name="Zoom in").click()
        page.wait_for_url(re.compile(r"&at=-?\d+_-?\d+_[\d.]+$"))
        page.reload()
        node(page, "prices").click()
        expect(panel).to_be_visible()
        assert "&at=" in page.url


def test_a_citation_leads_to_its_task(browser: Browser, office: Desk, tmp_path: Path) -> None:
    office.gate.open()
    run_id = start(office, tmp_path)
    with opened_page(browser) as page:
        signed_in(page, office, f"/runs/{run_id}?view=answer")
        expect(page.locator(".sources")).to_contain_text("prices.csv:12")
        page.locator(".prose a.cite", has_text="prices").click()
        expect(page.get_by_role("complementary", name="Task prices")).to_contain_text("Acme")


def test_a_nested_team_opens_in_its_place(browser: Browser, office: Desk, tmp_path: Path) -> None:
    office.gate.open()
    run_id = start(office, tmp_path)
    with opened_page(browser) as page:
        signed_in(page, office, f"/runs/{run_id}?view=graph")
        expect(node(page, "clauses")).to_have_count(0)
        page.get_by_label("Open terms").click()
        node(page, "clauses").click()
        panel = page.get_by_role("complementary", name="Task terms/clauses")
        expect(panel).to_contain_text("clerk")
        assert "open=terms" in page.url


@pytest.mark.parametrize("opened_anew", [False, True])
def test_the_page_comes_back_after_the_server_was_lost(
    browser: Browser, tmp_path: Path, opened_anew: bool
) -> None:
    with opened_page(browser) as page:
        with serving_office(tmp_path, Gate(), patience_s=0) as office:
            port = port_of(office)
            run_id = start(office, tmp_path)
            office.gate.arrived.wait()
            signed_in(page, office, f"/runs/{run_id}")
            expect(page.locator("button.live")).to_contain_text("Live")
        expect(page.locator("button.live")).to_contain_text("Reconnecting")
        gate = Gate()
        if opened_anew:
            page.get_by_role("link", name="Runs").first.click()
            page.go_back()
            expect(page.get_by_role("heading", name="can't be reached")).to_be_visible()
        else:
            gate.open()
        with serving_office(tmp_path, gate, port=port):
            if opened_anew:
                expect(page.locator("button.live")).to_contain_text("Live")
                gate.open()
            expect(page.locator(".headline .status").first).to_contain_text("partial")
            expect(page.locator(".answer .prose").first).to_contain_text("Prices of")


def test_the_list_is_for_the_keyboard_and_its_filter_is_in_the_address(
    browser: Browser, office: Desk, tmp_path: Path
) -> None:
    office.gate.open()
    run_id = start(office, tmp_path)
    with opened_page(browser) as page:
        signed_in(page, office, f"/runs/{run_id}?view=list")
        page.locator(".rows").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("complementary", name="Task terms")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_role("link", name="failed 1").click()
        expect(page.locator(".taskrow")).to_have_count(1)
        assert "status=failed" in page.url
        page.get_by_label("Search tasks").fill("nothing like it")
        expect(page.get_by_role("heading", name="No task matches")).to_be_visible()


def test_thousands_of_tasks_are_a_few_nodes_and_rows(
    browser: Browser, office: Desk, tmp_path: Path
) -> None:
    run_id = start(office, tmp_path, many(MANY))
    with opened_page(browser) as page:
        signed_in(page, office, f"/runs/{run_id}?view=graph")
        expect(page.locator(".headline .status").first).to_contain_text("complete")
        expect(page.locator(".canvas g.node")).to_have_count(2)
        page.get_by_role("link", name="Show each task").click()
        expect(page.locator(".canvas")).to_have_attribute("data-nodes", f"{MANY}")
        page.get_by_role("link", name="List").click()
        expect(page.locator(".taskrow").first).to_be_visible()
        assert page.locator(".taskrow").count() < 100
        page.locator(".rows").focus()
        page.keyboard.press("End")
        expect(page.get_by_role("complementary", name=f"Task b{MANY // 2 - 1}")).to_be_visible()
        page.get_by_role("link", name="Timeline").click()
        expect(page.locator(".attempt.selected")).to_be_visible()


def evil_plan() -> Plan:
    return Plan(
        goal=EVIL,
        tasks=[
            Task(id="evil", worker="finder", intent=EVIL),
            Task(id="broken", worker="finder", intent=EVIL),
            Task(id="after", worker="asker", intent=EVIL, depends_on=["evil"]),
        ],
    )


def test_f32_whatever_others_wrote_is_text(browser: Browser, office: Desk, tmp_path: Path) -> None:
    run_id = start(office, tmp_path, evil_plan(), EVIL)
    with opened_page(browser) as page:
        signed_in(page, office)
        for view in ("answer", "graph", "timeline", "list", "history"):
            for task in ("", "/tasks/evil") if view == "graph" else ("/tasks/broken",):
                page.goto(f"{office.url}/runs/{run_id}{task}?view={view}")
                expect(page.locator("h1")).to_contain_text("<img src=x")
                if task:
                    expect(page.locator(".panel .try").first).to_be_visible()
                assert page.locator("#app img, #app script, #app iframe").count() == 0
                assert page.evaluate("window.hacked") is None


def test_axe_finds_nothing_in_any_view_in_light_and_dark(
    browser: Browser, office: Desk, tmp_path: Path
) -> None:
    office.gate.open()
    run_id = start(office, tmp_path)
    with opened_page(browser) as page:
        signed_in(page, office)
        for view in ("answer", "graph", "timeline", "list", "history"):
            page.goto(f"{office.url}/runs/{run_id}/tasks/missing?view={view}")
            expect(page.locator(".panel .try").first).to_be_visible()
            expect(page.locator(".headline .status").first).to_contain_text("partial")
            assert in_both(page) == [], view
        for view, name in (
            ("teams", "Teams"),
            ("teams/office", "office"),
            ("runs/new", "Start a run"),
        ):
            page.goto(f"{office.url}/{view}")
            expect(page.get_by_role("heading", name=name, exact=True).first).to_be_visible()
            assert in_both(page) == [], view
        reviewed = Plan(goal="Review", tasks=[Task(id="a", worker="finder", intent="Find a price")])
        page.goto(f"{office.url}/runs/{start(office, tmp_path, reviewed)}?view=findings")
        expect(page.locator(".finding")).to_have_count(2)
        assert in_both(page) == []


def in_both(page: Page) -> list[str]:
    """What axe finds in the light, and of colours in the dark: nothing else differs."""
    light = violations(page)
    page.emulate_media(color_scheme="dark")
    dark = violations(page, "color-contrast", "link-in-text-block")
    page.emulate_media(color_scheme="light")
    return [*light, *dark]
