"""The file of a run: all of it is there, none of it does anything, and it needs nothing else."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from leadhand import Handoff, Plan, Task, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event
from leadhand.serve.task_documents import stored_page
from leadhand.untrusted.terminal import inert_html
from tests.page.browser import opened_page, started_browser, violations
from tests.page.office import EVIL
from tests.page.stored import data_in, parsed, stored_run
from tests.plans.samples import nothing, plan, task
from tests.trace import runs


def evil(handoff: Handoff) -> str:
    """A worker whose output is anything but harmless."""
    return f"{EVIL}##[error]::error::x"


def hostile() -> Sequence[Event]:
    team = Team("t<b>", workers=(Worker("w", "d", run=evil),))
    tasks = (Task(id='"><script>x', worker="w", intent=EVIL), task("b", '"><script>x', worker="w"))
    return runs.ran(team, Plan(goal=f"{EVIL} now", tasks=tasks))[1]


def test_f32_whatever_others_wrote_is_data_of_an_element_that_does_not_run() -> None:
    document = parsed(hostile())
    assert len(document.find_all("script")) == 2
    assert not document.find_all(["img", "svg", "iframe", "object", "embed", "form", "base"])
    for element in document.find_all(True):
        assert not [name for name in element.attrs if name.startswith("on") or name == "style"]
        assert {"src", "srcset", "href", "action"}.isdisjoint(element.attrs)
    assert "<img src=x" in json.dumps(data_in(document))


def test_f16_f32_the_policy_lets_only_the_pages_own_style_and_script_in() -> None:
    document = parsed(hostile())
    (policy,) = (
        str(meta["content"])
        for meta in document.find_all("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    for name, element in (
        ("style", document.find("style")),
        ("script", document.find("script", type="module")),
    ):
        assert element is not None
        digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
        assert rules.pop(f"{name}-src") == f"'sha256-{digest}'"
    assert rules == {}


def test_no_line_of_the_file_is_a_command_of_a_runner() -> None:
    text = "".join(stored_page(hostile(), held=False))
    assert inert_html(text) == text


@pytest.mark.parametrize(
    ("run", "paths"),
    [(runs.flow, ["a", "b", "c", "d", "e", "f"]), (runs.nested, ["t1", "t1/reader", "t1/writer"])],
    ids=["flow", "nested"],
)
def test_every_task_is_in_it_with_its_attempts(
    run: Callable[[], tuple[Answer, Sequence[Event]]], paths: Sequence[str]
) -> None:
    data = data_in(parsed(run()[1]))
    for path in paths:
        detail = data[f"/runs/run-1/tasks/{path}"]
        assert isinstance(detail, dict)
        assert detail["path"] == path
        assert detail["attempts"] or detail["status"] == "skipped"


def test_gaps_are_shown_once_beside_the_text() -> None:
    run = stored_run(runs.flow()[1])
    assert run["gaps"]
    assert run["answer_html"]
    assert "What is missing" not in str(run["answer_html"])


def test_it_has_what_became_of_each_attempt_and_why() -> None:
    data = data_in(parsed(runs.trouble().log()))
    told = json.dumps(data["/runs/run/tasks/fails"])
    assert "Look in the table `orders`." in told
    assert "reassigned to second" in told
    assert "no table `sales`" in told


def test_of_too_many_tasks_the_details_of_those_that_completed_are_left_out() -> None:
    def one_fails(handoff: Handoff) -> object:
        if handoff.task_id == "t20":
            raise ValueError("the last one")
        return nothing(handoff)

    team = Team("t", workers=(Worker("w", "d", run=one_fails, retry=False),))
    wide = plan(*(task(f"t{i}", worker="w") for i in range(21)))
    data = data_in(parsed(runs.ran(team, wide)[1], most=20))
    assert len(data) == 21
    assert "/runs/run-1/tasks/t20" in data
    assert "/runs/run-1/tasks/t19" not in data


def test_a_run_at_any_moment_has_a_file() -> None:
    events = runs.trouble().log()
    for number in range(1, len(events) + 1, 3):
        assert stored_run(events[:number], held=True)["status"] == "running"
        assert stored_run(events[:number], held=False)["status"] == "interrupted"


def test_f32_in_a_browser_it_shows_the_same_views_and_loads_nothing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "run.html"
    file.write_text("".join(stored_page(hostile(), held=False)), encoding="utf-8")
    with started_browser() as browser, opened_page(browser) as page:
        loaded: list[str] = []
        page.on("request", lambda request: loaded.append(request.url))
        page.goto(file.as_uri())
        expect(page.locator("h1")).to_contain_text("<img src=x")
        page.get_by_role("link", name="Graph").click()
        page.locator('.canvas g.node[data-id="b"]').click()
        expect(page.get_by_role("complementary", name="Task b")).to_contain_text("<img src=x")
        page.reload()
        expect(page.get_by_role("complementary", name="Task b")).to_be_visible()
        assert page.evaluate("window.hacked") is None
        assert {url.partition("#")[0] for url in loaded} == {file.as_uri()}
        assert violations(page) == []


def test_without_scripts_it_says_what_it_needs() -> None:
    document = BeautifulSoup("".join(stored_page(runs.flow()[1], held=False)), "html.parser")
    assert "needs JavaScript" in document.get_text()
