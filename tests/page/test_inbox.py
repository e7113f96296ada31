"""What waits for a person, answered in a real browser: plans, questions, several at once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browser import opened_page, signed_in, started_browser, violations
from tests.patience import wait_until
from tests.serve.desk import Desk, serving_desk

HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as browser:
        yield browser


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving_desk(tmp_path, auth=None) as desk:
        token = (tmp_path / "serve.token").read_text(encoding="utf-8").strip()
        desk.client("").headers["Authorization"] = f"Bearer {token}"
        yield desk


def started(desk: Desk, request: str, *, plan: bool = False) -> str:
    """The id of a run that waits for a person."""
    body = {"team": "desk", "request": request, "approve": ["plan"] if plan else ["escalation"]}
    run_id = str(desk.client("").post("/api/v1/runs", json=body).json()["run_id"])
    wait_until(lambda: status_of(desk, run_id) == "waiting")
    return run_id


def status_of(desk: Desk, run_id: str) -> str:
    return str(desk.client("").get(f"/api/v1/runs/{run_id}").json()["status"])


def answer_of(desk: Desk, run_id: str) -> str:
    """The text of the answer, once there is one."""
    wait_until(lambda: status_of(desk, run_id) not in ("running", "waiting"))
    return str(desk.client("").get(f"/api/v1/runs/{run_id}").json()["answer"]["answer"])


def test_a_plan_is_edited_checked_as_one_types_and_approved(browser: Browser, desk: Desk) -> None:
    run_id = started(desk, "say hello", plan=True)
    with opened_page(browser) as page:
        signed_in(page, desk, "/inbox")
        expect(page.get_by_role("heading", name="Approve a plan")).to_be_visible()
        expect(page.locator(".choices")).to_contain_text("The plan is carried out as shown")
        assert violations(page) == []
        page.keyboard.press("e")
        page.get_by_role("button", name="Add a task").click()
        page.get_by_label("Task", exact=True).nth(1).fill("t1")
        expect(page.locator(".planform")).to_contain_text("1 problem")
        approve = page.get_by_role("button", name="Approve with your changes")
        expect(approve).to_be_disabled()
        page.get_by_label("Remove task t1").nth(1).click()
        page.get_by_label("What it is to do").fill("say good evening")
        expect(page.locator(".planform")).to_contain_text("This plan can be carried out.")
        assert violations(page) == []
        approve.click()
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        page.get_by_role("link", name="See the run").click()
        expect(page.get_by_role("heading", name="say hello")).to_be_visible()
    assert "say good evening" in answer_of(desk, run_id)


def test_a_run_whose_plan_waits_says_so_in_each_view_and_leads_to_the_plan(
    browser: Browser, desk: Desk
) -> None:
    run_id = started(desk, "say hello", plan=True)
    with opened_page(browser) as page:
        signed_in(page, desk, f"/runs/{run_id}?view=graph")
        expect(page.locator("#runview")).to_contain_text("The plan waits for a person")
        page.get_by_role("link", name="Answer", exact=True).click()
        expect(page.locator("#runview")).to_contain_text("There is no answer yet")
        expect(page.get_by_text("What is missing")).to_have_count(0)
        expect(page.get_by_role("button", name="Follow up")).to_have_count(0)
        page.get_by_role("link", name="See the plan").click()
        expect(page.get_by_role("heading", name="Approve a plan")).to_be_visible()


def test_an_escalation_is_answered_and_the_answer_reaches_its_task(
    browser: Browser, desk: Desk
) -> None:
    run_id = started(desk, "ask Which month?")
    with opened_page(browser) as page:
        signed_in(page, desk, f"/runs/{run_id}")
        page.get_by_role("link", name="Reply", exact=True).click()
        expect(page.locator(".asked")).to_contain_text("Which month?")
        page.keyboard.press("Tab")
        page.get_by_label("Your reply").fill("May")
        page.get_by_label("Your reply").press("Control+Enter")
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        assert page.url == f"{desk.url}/inbox"
        page.goto(f"{desk.url}/inbox?run={run_id}&question=9")
        expect(page.locator(".sent")).to_contain_text("That question no longer waits")
    assert "May" in answer_of(desk, run_id)


def test_a_batch_covers_what_was_seen_and_is_all_or_nothing(browser: Browser, desk: Desk) -> None:
    ids = [started(desk, f"request {number}", plan=True) for number in (1, 2, 3)]
    with opened_page(browser) as page:
        signed_in(page, desk, "/inbox")
        expect(page.locator(".question")).to_have_count(3)
        page.keyboard.press("x")
        page.keyboard.press("j")
        page.keyboard.press("x")
        page.get_by_role("button", name="Approve 2").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("request 1")
        expect(dialog).not_to_contain_text("request 3")
        question = desk.client("").get("/api/v1/questions").json()["questions"][0]
        given = {"question": question["id"], "verdict": "refused", "text": "no"}
        replies = {"replies": [given], "seen": question["seq"]}
        desk.client("").post(f"/api/v1/runs/{ids[0]}/replies", json=replies).raise_for_status()
        dialog.get_by_role("button", name="Approve 2").click()
        expect(dialog.get_by_role("alert")).to_be_visible()
        assert status_of(desk, ids[1]) == "waiting"
        dialog.get_by_role("button", name="Not yet").click()
        expect(page.locator(".question")).to_have_count(2)
        for number in (0, 1):
            page.get_by_role("checkbox").nth(number).check()
        page.get_by_role("button", name="Approve 2").click()
        page.get_by_role("dialog").get_by_role("button", name="Approve 2").click()
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    assert [answer_of(desk, run_id) for run_id in ids[1:]] == ["request 2", "request 3"]


@pytest.mark.parametrize(("width", "dark"), [(1280, True), (390, False)])
def test_hostile_texts_are_text_in_light_and_dark_and_on_a_phone(
    browser: Browser, desk: Desk, width: int, dark: bool
) -> None:
    run_id = started(desk, f"ask {HOSTILE}")
    with opened_page(browser, width=width, dark=dark) as page:
        signed_in(page, desk, f"/inbox?run={run_id}")
        expect(page.locator(".asked")).to_contain_text("onerror")
        assert no_picture(page)
        assert violations(page) == []
        page.goto(f"{desk.url}/runs")
        expect(page.locator(".runtable")).to_contain_text("onerror")
        assert no_picture(page)
        assert violations(page) == []


def no_picture(page: Page) -> bool:
    """Whether the page has neither an image nor a changed title."""
    return page.locator("main img").count() == 0 and "leadhand" in page.title()


def test_runs_are_found_by_words_of_their_errors_and_the_address_keeps_the_search(
    browser: Browser, desk: Desk, tmp_path: Path
) -> None:
    client = desk.client("")
    for request in ("fail here", "say hello"):
        body = {"team": "desk", "request": request}
        run_id = client.post("/api/v1/runs", json=body).json()["run_id"]
        wait_until(lambda run_id=run_id: status_of(desk, run_id) != "running")
    with opened_page(browser) as page:
        signed_in(page, desk, "/runs")
        expect(page.locator(".runtable tbody tr")).to_have_count(2)
        search = page.get_by_label("Search requests, answers and errors")
        search.fill("says so")
        expect(page.locator(".runtable tbody tr")).to_have_count(1)
        expect(search).to_be_focused()
        expect(page.locator(".runtable")).to_contain_text("fail here")
        assert "q=says+so" in page.url
        page.reload()
        expect(page.locator(".runtable tbody tr")).to_have_count(1)
        page.get_by_role("link", name="fail here").click()
        expect(page.get_by_role("heading", name="fail here")).to_be_visible()


def test_a_run_whose_plan_is_shown_asks_whatever_else_the_service_asks(
    browser: Browser, desk: Desk
) -> None:
    with opened_page(browser) as page:
        signed_in(page, desk, "/runs/new?team=desk&request=ask+Which+month%3F")
        page.get_by_text("More", exact=True).click()
        page.get_by_label("Show me the plan").check()
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_role("link", name="See the plan").click()
        page.get_by_role("button", name="Approve").click()
        page.get_by_role("link", name="See the run").click()
        expect(page.locator(".runhead .note")).to_contain_text("Which month?")
        expect(page.locator("nav .count.wait")).to_contain_text("1")


def test_a_run_is_started_with_files(browser: Browser, desk: Desk, tmp_path: Path) -> None:
    with opened_page(browser) as page:
        signed_in(page, desk, "/runs/new?team=desk")
        page.get_by_label("Request").fill("read what I hand in")
        notes = tmp_path / "notes.txt"
        notes.write_text("one line", encoding="utf-8")
        page.locator("input[type=file]").set_input_files(notes)
        expect(page.locator(".files")).to_contain_text("notes.txt")
        assert violations(page) == []
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("heading", name="read what I hand in")).to_be_visible()
        run_id = page.url.rpartition("/")[2].partition("?")[0]
        wait_until(lambda: status_of(desk, run_id) == "complete")
