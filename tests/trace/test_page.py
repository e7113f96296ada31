"""The page of a run: all of it is there, none of it does anything, and it needs nothing else."""

import base64
import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from bs4.filter import SoupStrainer

from leadhand import Handoff, Plan, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event
from leadhand.contracts.task import Task
from leadhand.trace.page import page
from leadhand.trace.page.markup import anchor
from leadhand.trace.page.sections import render_markdown
from tests.plans.samples import nothing, plan, task
from tests.trace import runs

EVIL = """\
<script>alert(1)</script> <img src=x onerror=alert(2)> ![pixel](https://track.example/p.png)

[here](javascript:alert(3)) <a href="javascript:alert(4)">x</a> [site](https://evil.example/?a=b)
&lt;script&gt;alert(5)&lt;/script&gt; <https://evil.example/auto> &#x202e;turned &#27;[31mred

```html" onload="alert(6)
</pre><script>alert(7)</script>
```
"""


def parsed(events: Sequence[Event], *, part: SoupStrainer | None = None) -> BeautifulSoup:
    """The page of these events, or a part of it."""
    return BeautifulSoup("".join(page(events, held=False)), "html.parser", parse_only=part)


def evil(handoff: Handoff) -> str:
    """A worker whose output is anything but harmless."""
    return EVIL


@pytest.fixture(name="hostile", scope="module")
def _hostile() -> BeautifulSoup:
    team = Team("t<b>", workers=(Worker("w", "d", run=evil),))
    tasks = (Task(id='"><script>x', worker="w", intent=EVIL), task("b", '"><script>x', worker="w"))
    return parsed(runs.ran(team, Plan(goal=f"{EVIL} now", tasks=tasks))[1])


def test_f32_whatever_others_wrote_is_text(hostile: BeautifulSoup) -> None:
    """No element, attribute or target on the page comes out of a run."""
    assert len(hostile.find_all("script")) == len(hostile.find_all("style")) == 1
    assert not hostile.find_all(["img", "iframe", "object", "embed", "form", "link", "base"])
    for element in hostile.find_all(True):
        assert not [name for name in element.attrs if name.startswith("on") or name == "style"]
        assert {"src", "srcset", "action", "data"}.isdisjoint(element.attrs)
        assert str(element.get("href", "#")).startswith("#")
    text = hostile.get_text()
    assert "<script>alert(1)</script>" in text
    assert "here (javascript:alert(3))" in text or "[here](javascript:alert(3))" in text
    assert "alert(7)" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_f16_f32_the_policy_lets_only_the_pages_own_style_and_script_in(
    hostile: BeautifulSoup,
) -> None:
    (policy,) = (
        str(meta["content"])
        for meta in hostile.find_all("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    for name in ("style", "script"):
        (element,) = hostile.find_all(name)
        digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
        assert rules.pop(f"{name}-src") == f"'sha256-{digest}'"
    assert rules == {}


def test_markdown_is_laid_out_and_says_where_its_links_lead() -> None:
    shown = render_markdown("# Head\n\n- a **b** [c](https://d.example)\n\n| x |\n|---|\n| 1 |")
    assert "<h3>Head</h3>" in shown
    assert "<strong>b</strong> c (https://d.example)" in shown
    assert "<td>1</td>" in shown
    assert "<a" not in shown


@pytest.mark.parametrize(
    ("run", "ways"),
    [(runs.flow, ["a", "b", "c", "d", "e", "f"]), (runs.nested, ["t1", "t1/reader", "t1/writer"])],
    ids=["flow", "nested"],
)
def test_every_task_is_in_graph_timeline_and_list_and_every_link_leads_somewhere(
    run: Callable[[], tuple[Answer, Sequence[Event]]], ways: Sequence[str]
) -> None:
    document = parsed(run()[1])
    ids = {str(element["id"]) for element in document.find_all(id=True)}
    links = {str(link["href"]).removeprefix("#") for link in document.find_all("a", href=True)}
    assert links <= ids
    for way in ways:
        assert anchor(way) in ids
        drawn = document.select_one(f'svg a[href="#{anchor(way)}"]')
        assert drawn is not None, f"{way} is not drawn"


def test_the_page_tells_what_became_of_each_attempt() -> None:
    document = parsed(runs.trouble().log())
    told = document.find(id=anchor("fails"))
    assert isinstance(told, Tag)
    words = " ".join(told.get_text(" ").split())
    assert "Attempt 1: failed after" in words
    assert "Look in the table `orders`." in words
    assert "reassigned to second" in words
    assert len(document.select(".timeline .bar.failed")) == 7
    assert "leadhand resume run" in document.get_text()


def test_the_way_that_took_longest_stands_out() -> None:
    document = parsed(runs.flow()[1])
    assert [name.text for name in document.select(".task.critical .name")][1:] == ["c", "d"]
    assert document.select(".edge.critical")


def test_a_large_graph_is_counted_and_one_that_nobody_could_read_is_not_drawn() -> None:
    team = Team("t", workers=(Worker("w", "d", run=nothing),))
    wide = plan(
        task("first", worker="w"), *(task(f"t{i}", "first", worker="w") for i in range(200))
    )
    drawn = parsed(runs.ran(team, wide)[1], part=SoupStrainer(id="graph"))
    assert drawn.find("svg") is not None
    assert "200 tasks" in drawn.get_text()
    chain = plan(*(task(f"t{i}", *([f"t{i - 1}"] if i else []), worker="w") for i in range(320)))
    told = parsed(runs.ran(team, chain)[1], part=SoupStrainer(id="graph"))
    assert told.find("svg") is None
    assert "320 tasks is too large to be drawn" in told.get_text()


def test_a_run_at_any_moment_has_a_page() -> None:
    events = runs.trouble().log()
    for number in range(1, len(events) + 1, 3):
        assert 'class="status running"' in "".join(page(events[:number], held=True))
        assert 'class="status interrupted"' in "".join(page(events[:number], held=False))


def test_in_a_browser_a_link_opens_its_task_and_the_filter_is_ready(tmp_path: Path) -> None:
    """The page's script runs under the page's own policy."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no browser")
    file = tmp_path / "run.html"
    file.write_text("".join(page(runs.flow()[1], held=False)), encoding="utf-8")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         f"--user-data-dir={tmp_path / 'profile'}", f"{file.as_uri()}#{anchor('c')}"],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if not done.stdout.strip():
        pytest.skip("the browser does not start here")
    opened = BeautifulSoup(done.stdout, "html.parser").select("details[open]")
    assert [str(element["id"]) for element in opened] == [anchor("c")]
    assert re.search(r"Refused|Content Security Policy", done.stderr) is None
