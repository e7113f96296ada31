"""A real browser in front of a real service, and what tests ask of both.

Playwright's loop would be in the way of tests with a loop of their own: a browser lives as long as
the tests of one module, and these are no coroutines.
"""

import json
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect, sync_playwright

from leadhand.serve.authentication import TokenAuthentication
from tests.patience import HANG_S
from tests.serve.desk import Desk

EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser")
NO_BROWSER = "there is no Chromium: the page is not tried in a browser (apt-get install chromium)"
AXE = Path(__file__).parent / "vendor" / "axe.min.js"


@contextmanager
def started_browser() -> Generator[Browser]:
    if EXECUTABLE is None:
        pytest.skip(NO_BROWSER)
    expect.set_options(timeout=HANG_S * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened_page(
    browser: Browser, *, width: int = 1280, height: int = 800, dark: bool = False
) -> Generator[Page]:
    """A page that no earlier test left anything in. What its console complains of fails the test.

    It is the browser's only one: a page of its own for each test costs three times as much. What a
    page keeps belongs to its origin, and each test's service has a port of its own, but cookies.
    """
    context = browser.contexts[0] if browser.contexts else browser.new_context()
    context.set_default_timeout(HANG_S * 1000)
    context.clear_cookies()
    page, complaints = context.pages[0] if context.pages else context.new_page(), list[str]()
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if dark else "light")

    def heard(message: ConsoleMessage) -> None:
        # A browser logs each response that is an error, and each lost connection, by itself.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    def failed(error: Error) -> None:
        complaints.append(f"{error}")

    page.on("console", heard)
    page.on("pageerror", failed)
    try:
        yield page
        page.goto("about:blank")
    except BaseException:
        context.close()  # it may be in any state
        raise
    page.remove_listener("console", heard)
    page.remove_listener("pageerror", failed)
    assert complaints == []


def new_code(desk: Desk) -> str:
    """A one-time code, as in the link that a terminal shows."""
    auth: object = desk.app.state.auth
    assert isinstance(auth, TokenAuthentication)
    code = auth.new_code()
    assert code is not None
    return code


def signed_in(page: Page, desk: Desk, path: str = "/") -> None:
    """Open a view as the operator."""
    session = f"{desk.url}/api/v1/session"
    code = {"Authorization": f"Bearer {new_code(desk)}"}
    assert page.context.request.post(session, headers=code).ok
    page.goto(f"{desk.url}{path}")


def violations(page: Page, *rules: str) -> Sequence[str]:
    """What axe finds, by these rules or all: the rule, and the elements that break it."""
    if page.evaluate("!window.axe"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"]}
    only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    found = cast(
        "Mapping[str, Sequence[Mapping[str, object]]]",
        page.evaluate("options => axe.run(options)", options | only),
    )
    return [
        f"{one['id']}: {one['help']}: {json.dumps(one['nodes'])[:600]}"
        for one in found["violations"]
    ]
