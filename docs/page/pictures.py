"""Takes the pictures of the page: `make screenshots`.

Needs Chromium on the PATH. The service is the real one, its teams are those of market.py, and the
review is of sample.diff; no model is used.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

HERE = Path(__file__).parent
PORT = 8791
URL = f"http://127.0.0.1:{PORT}"
TEAMS = tuple(f"{HERE}/market.py:{name}" for name in ("quick", "slow", "orders"))
WIDE, NARROW = (1200, 720), (390, 800)


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        program = (sys.executable, "-m", "leadhand")
        environ = {**os.environ, "LEADHAND_MODEL": "none"}
        review = [*program, "review", "--diff", str(HERE / "sample.diff"), "--home", home]
        asked = [*review, "--fail-on", "never", "--format", "json"]
        given = subprocess.run(asked, env=environ, check=True, capture_output=True, text=True)
        reviewed = str(json.loads(given.stdout)["run_id"])
        words = [*program, "serve", "--home", home, "--port", f"{PORT}"]
        words += [word for team in TEAMS for word in ("--team", team)]
        with subprocess.Popen([*words, "--approve", "escalation"], env=environ) as service:
            try:
                taken(Path(home, "serve.token"), reviewed)
            finally:
                service.terminate()


def taken(token_file: Path, reviewed: str) -> None:
    while not token_file.exists():
        time.sleep(0.2)
    token = token_file.read_text(encoding="utf-8").strip()
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=f"{URL}/api/v1", headers=headers, timeout=60) as http:
        runs = {
            "orders": start(http, "orders", "Check order 4711 of Globex against its contract"),
            "market": start(
                http,
                "market",
                "Which of Acme, Globex and Initech should a team of twelve use? "
                "We pay monthly, and guests matter.",
            ),
            "vendors": start(http, "vendors", "Compare the three vendors for next year's budget"),
        }
        while state(http, runs["market"]) == "running":
            time.sleep(0.5)
        time.sleep(20)  # until some of the slow run is done
    program = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        market, vendors = f"/runs/{runs['market']}", f"/runs/{runs['vendors']}"
        for name, path, (width, height), dark in (
            ("inbox", "/inbox", WIDE, False),
            ("live", f"{vendors}?view=graph", WIDE, False),
            ("timeline", f"{market}?view=timeline", WIDE, False),
            ("task", f"{market}/tasks/compare?view=graph", WIDE, False),
            ("answer", market, WIDE, False),
            ("review", f"/runs/{reviewed}", WIDE, False),
            ("phone", f"{market}?view=answer", NARROW, False),
            ("dark", f"{vendors}?view=graph", WIDE, True),
        ):
            page = signed_in(browser, token, width, height, dark=dark)
            page.goto(URL + path)
            page.wait_for_selector("h1")
            page.wait_for_timeout(1_500)
            file = HERE / f"{name}.png"
            page.screenshot(path=file)
            page.context.close()
            print(f"{file.name}: {file.stat().st_size:,} bytes")
        browser.close()


def start(http: httpx2.Client, team: str, request: str) -> str:
    while True:
        try:
            answer = http.post("/runs", json={"team": team, "request": request})
        except httpx2.ConnectError:
            time.sleep(0.2)
            continue
        return answer.raise_for_status().json()["run_id"]


def state(http: httpx2.Client, run_id: str) -> str:
    return http.get(f"/runs/{run_id}").json()["status"]


def signed_in(browser: Browser, token: str, width: int, height: int, *, dark: bool) -> Page:
    scheme = "dark" if dark else "light"
    size: ViewportSize = {"width": width, "height": height}
    page = browser.new_context(viewport=size, color_scheme=scheme).new_page()
    page.goto(URL)
    page.get_by_label("Or a token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector(".topbar")
    return page


if __name__ == "__main__":
    main()
