"""How fast the page shows and moves a run of 5,000 tasks, in a browser that draws in software.

    python -m benchmarks.page

Needs Chromium on the PATH. Times are of the browser's own clock, the best of three; beside them the
processor's time of the whole browser, which other load on the machine does not change.
"""

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

import httpx2
from playwright.sync_api import Browser
from tests.page.browser import opened_page, signed_in, started_browser
from tests.page.office import many, serving_office, start
from tests.patience import HANG_S
from tests.serve.desk import Desk, Gate

TASKS = 5_000
ROUNDS = 3
SHOWN = {
    "graph, equal tasks grouped": ("view=graph", ".canvas[data-nodes]"),
    "graph, each task": ("view=graph&each=1", ".canvas[data-nodes]"),
    "timeline": ("view=timeline", ".attempt"),
    "list": ("view=list", ".taskrow"),
}
"""What is measured: its name, the parameters in the address, and what is then drawn."""

PAN = """async ([dx, dy]) => {
  const canvas = document.querySelector('.canvas'), times = [];
  const frame = () => new Promise(requestAnimationFrame);
  let last = await frame();
  for (let step = 0; step < 120; step++) {
    const way = Math.floor(step / 30) % 2 ? -1 : 1;
    canvas.dispatchEvent(new WheelEvent('wheel',
      {deltaX: way * dx, deltaY: way * dy, bubbles: true, cancelable: true}));
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  times.sort((a, b) => a - b);
  return [times[60], times[114]];
}"""
"""Moves the graph for 120 frames: the median and the 95th percentile of a frame, in ms."""

UPDATE = """async (id) => {
  const {Run} = await import('/static/run.js');
  const {Graph} = await import('/static/graph/graph.js');
  const {html, render} = await import('/static/vendor/preact.js');
  const frame = () => new Promise(requestAnimationFrame);
  const place = document.querySelector('.runview'), run = new Run(id);
  render(null, document.getElementById('app'));
  document.getElementById('app').append(place);
  place.replaceChildren();
  run.query = {};
  await run.load();
  run.view.value.status = 'running';
  render(html`<${Graph} run=${run} matching=${null} />`, place);
  await frame();
  await frame();
  run.later = () => {};
  const began = performance.now();
  run.tasks.slice(0, 500).forEach((task, index) => run.hear('task_failed', {
    type: 'task_failed', seq: 1e6 + index, task_id: task.path, attempt: 1, elapsed_s: 9,
    kind: 'error', final: true, within: []}));
  await frame();
  await frame();
  return performance.now() - began;
}"""
"""The time from 500 events to the second frame after them, in ms, in the graph of each task."""


def main() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as folder, started_browser() as browser:
        home, gate = Path(folder), Gate()
        gate.open()
        with serving_office(home, gate) as office:
            run_id = start(office, home, many(TASKS))
            took_ms, cpu_ms = finished(office, home, run_id)
            print(f"{TASKS:,} tasks; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
            print("| | ms | CPU ms | target ms |\n|---|---|---|---|")
            print(f"| the service gives the run | {took_ms:.0f} | {cpu_ms:.0f} | 1,000 |")
            for name, (query, drawn) in SHOWN.items():
                path = f"/runs/{run_id}?{query}"
                shown = min(first_picture(browser, office, path, drawn) for _ in range(ROUNDS))
                print(f"| first picture: {name} | {shown[0]:.0f} | {shown[1]:.0f} | 2,000 |")
            panned(browser, office, run_id)
            with opened_page(browser) as page:
                signed_in(page, office, f"/runs/{run_id}?view=graph&each=1")
                page.wait_for_selector(".canvas[data-nodes]")
                before = cpu_of_browser_ms()
                updated = cast("float", page.evaluate(UPDATE, run_id))
                cpu_ms = cpu_of_browser_ms() - before
            print(f"| 500 tasks updated (CPU: and loaded) | {updated:.0f} | {cpu_ms:.0f} | 100 |")


def cpu_of_browser_ms() -> float:
    """What the processes of browsers that this one started have used of the processor so far."""
    parents, used = dict[int, int](), dict[int, float]()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            name, _, rest = (folder / "stat").read_text().rpartition(")")
            fields = rest.split()
            parents[int(folder.name)] = int(fields[1])
            ticks = int(fields[11]) + int(fields[12])
            used[int(folder.name)] = (
                ticks * 1000 / os.sysconf("SC_CLK_TCK") if "chrom" in name else 0
            )
    own = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(used.get(pid, 0) for pid in own)


def finished(office: Desk, home: Path, run_id: str) -> tuple[float, float]:
    """Wait for the run's end; how long the service then takes to give it."""
    token = (home / "serve.token").read_text(encoding="utf-8").strip()
    url, headers = f"{office.url}/api/v1/runs/{run_id}", {"Authorization": f"Bearer {token}"}

    def ask() -> Mapping[str, object]:
        given = httpx2.get(url, headers=headers, timeout=HANG_S, trust_env=False)
        return cast("Mapping[str, object]", given.json())

    while ask()["status"] != "complete":
        time.sleep(1)
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        began, cpu_s = time.monotonic(), time.process_time()
        ask()
        times.append((1000 * (time.monotonic() - began), 1000 * (time.process_time() - cpu_s)))
    return min(times)


def first_picture(browser: Browser, office: Desk, path: str, drawn: str) -> tuple[float, float]:
    """From the request for the page to the first frame that shows the run."""
    with opened_page(browser) as page:
        signed_in(page, office)
        page.wait_for_selector("h1")
        page.add_init_script(f"""addEventListener('DOMContentLoaded', () => {{
          const look = () => document.querySelector({drawn!r})
            ? requestAnimationFrame(() => (window.drawnAt = performance.now()))
            : requestAnimationFrame(look);
          look();
        }})""")
        before = cpu_of_browser_ms()
        page.goto(f"{office.url}{path}")
        page.wait_for_selector(drawn)
        while (at := cast("float | None", page.evaluate("window.drawnAt"))) is None:
            page.wait_for_timeout(20)
        return at, cpu_of_browser_ms() - before


def panned(browser: Browser, office: Desk, run_id: str) -> None:
    with opened_page(browser) as page:
        signed_in(page, office, f"/runs/{run_id}?view=graph&each=1")
        page.wait_for_selector(".canvas[data-nodes]")
        page.wait_for_timeout(1_000)
        for name, step in {"all in view": (12, 8), "zoomed in": (40, 30)}.items():
            before = cpu_of_browser_ms()
            found = [cast("Sequence[float]", page.evaluate(PAN, step)) for _ in range(ROUNDS)]
            cpu_ms = (cpu_of_browser_ms() - before) / ROUNDS / 120
            median, slow = min(found, key=lambda one: one[0])
            shown = f"{median:.0f}, p95 {slow:.0f}"
            print(f"| a frame while panning, {name} | {shown} | {cpu_ms:.0f} | 33 |")
            for _ in range(9):
                page.get_by_label("Zoom in").click()
            page.wait_for_timeout(1_000)


if __name__ == "__main__":
    main()
