"""Signing in, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.browser import new_code, opened_page, started_browser, violations
from tests.serve.desk import Desk, serving_desk


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as browser:
        yield browser


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving_desk(tmp_path, auth=None) as desk:
        yield desk


def test_a_link_of_the_terminal_signs_a_browser_in_once(browser: Browser, desk: Desk) -> None:
    with opened_page(browser) as page:
        page.goto(f"{desk.url}/#code={new_code(desk)}")
        expect(page.locator(".topbar .who")).to_contain_text("operator")
        assert "code" not in page.url
        page.get_by_label("Sign out").click()
        expect(page.get_by_role("heading", name="Sign in to leadhand")).to_be_visible()
        page.goto("about:blank")  # or it may just be another place on the same page
        page.goto(f"{desk.url}/#code=used")
        expect(page.get_by_role("alert")).to_contain_text("used before, or is too old")


def test_a_token_signs_in_and_a_wrong_one_is_refused(
    browser: Browser, desk: Desk, tmp_path: Path
) -> None:
    token = (tmp_path / "serve.token").read_text(encoding="utf-8").strip()
    with opened_page(browser) as page:
        page.goto(f"{desk.url}/runs?status=failed")
        page.get_by_label("Or a token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("does not know this token")
        assert violations(page) == []
        page.get_by_label("Or a token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator(".topbar")).to_be_visible()
        assert page.url == f"{desk.url}/runs?status=failed"
