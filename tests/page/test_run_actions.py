"""What one does with a run, in a real browser: read its answer as it is written, stop it, delete
it, follow it up, and do a part of it again."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from leadhand import Handoff, Supervisor, TaskTemplate, Team, Worker
from leadhand.journal import open_journal
from leadhand.serve import ServiceSettings, app
from tests.page.browser import opened_page, signed_in, started_browser, violations
from tests.page.office import serving_office, start
from tests.patience import wait_until
from tests.serve.desk import Desk, Gate, served

FIRST = "Acme is the cheapest for twelve people, and guests are free in every plan of theirs. " * 2
REST = "Globex costs more."
ANSWER = json.dumps({"answer": FIRST + REST, "confidence": 90, "contradictions": []})


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as browser:
        yield browser


@contextmanager
def serving(team: Team, home: Path) -> Generator[Desk]:
    supervisor = Supervisor(team, journal=open_journal(home))
    service = app([supervisor], home=home, settings=ServiceSettings(grace_s=0))
    with served(service) as url:
        yield Desk(url, Gate(), service)


class SlowWriter:
    """A model that writes the beginning of an answer, and the rest once it may go on."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._go_on = asyncio.Event()
        self.model = FunctionModel(self._whole, stream_function=self._pieces)

    def go_on(self) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._go_on.set)

    def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, ANSWER)])

    async def _pieces(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[DeltaToolCalls]:
        self._loop = asyncio.get_running_loop()
        cut = ANSWER.index(REST)
        yield {0: DeltaToolCall(name=info.output_tools[0].name, json_args=ANSWER[:cut])}
        await self._go_on.wait()
        yield {0: DeltaToolCall(json_args=ANSWER[cut:])}


def test_the_answer_is_read_as_it_is_written(browser: Browser, tmp_path: Path) -> None:
    writer, gate = SlowWriter(), Gate()
    team = Team(
        "office",
        model=writer.model,
        workers=[Worker("waiter", "Waits", run=gate.work)],
        planner="template",
        template=[TaskTemplate(name, "waiter", "{request}") for name in ("one", "two")],
    )
    with serving(team, tmp_path) as desk, opened_page(browser) as page:
        run_id = start(desk, tmp_path, request="Which is cheapest?")
        signed_in(page, desk, f"/runs/{run_id}")
        expect(page.locator("button.live")).to_contain_text("Live")
        gate.open()
        expect(page.locator(".writing")).to_contain_text("Acme is the cheapest")
        expect(page.locator(".writing")).not_to_contain_text(REST)
        assert violations(page) == []
        writer.go_on()
        expect(page.locator(".answer .prose")).to_contain_text(REST)
        expect(page.locator(".writing")).to_have_count(0)


def test_the_graph_shows_what_happens_after_the_page_has_asked_anew(
    browser: Browser, tmp_path: Path
) -> None:
    """What is drawn was asked for at first, later events belong to what was asked for since."""
    gates = {"one": Gate(), "two": Gate()}

    async def wait(handoff: Handoff) -> str:
        return await gates[handoff.task_id].work(handoff)

    team = Team(
        "office",
        workers=[Worker("waiter", "Waits", run=wait)],
        template=[
            TaskTemplate("one", "waiter", "{request}"),
            TaskTemplate("two", "waiter", "{request}", ["one"]),
        ],
    )
    with serving(team, tmp_path) as desk, opened_page(browser) as page:
        run_id = start(desk, tmp_path)
        gates["one"].arrived.wait()
        signed_in(page, desk, f"/runs/{run_id}?view=graph")
        expect(page.locator("button.live")).to_contain_text("Live")
        with page.expect_response(lambda answer: answer.url.endswith(run_id)):
            gates["one"].open()
        two = page.locator('.canvas g.node[data-id="two"]')
        expect(two).to_have_class(re.compile(r"\brunning\b"))
        gates["two"].open()
        expect(two).to_have_class(re.compile(r"\bcompleted\b"))


def test_a_run_is_stopped_resumed_and_deleted(browser: Browser, tmp_path: Path) -> None:
    with serving_office(tmp_path, Gate()) as office, opened_page(browser) as page:
        run_id = start(office, tmp_path)
        office.gate.arrived.wait()
        signed_in(page, office, f"/runs/{run_id}")
        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_role("button", name="Keep it").click()
        expect(page.locator(".headline")).to_contain_text("1 running")
        page.get_by_role("button", name="Stop", exact=True).click()
        assert violations(page) == []
        page.get_by_role("button", name="Stop it").click()
        expect(page.locator(".headline .status").first).to_contain_text("cancelled")
        expect(page.locator(".answer .note").first).to_contain_text("What is missing")
        page.get_by_role("button", name="Resume").click()
        expect(page.locator(".headline")).to_contain_text("1 running")
        office.gate.open()
        expect(page.locator(".headline .status").first).to_contain_text("partial")
        page.get_by_role("button", name="Delete the run").click()
        page.get_by_role("button", name="Delete it").click()
        expect(page.get_by_role("heading", name="What should be done?")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", name="There is no such thing here")).to_be_visible()


def test_a_run_is_followed_up_and_done_again_from_a_task(browser: Browser, tmp_path: Path) -> None:
    gate = Gate()
    gate.open()
    with serving_office(tmp_path, gate) as office, opened_page(browser) as page:
        run_id = start(office, tmp_path)
        signed_in(page, office, f"/runs/{run_id}")
        page.get_by_role("button", name="Follow up").click()
        page.get_by_label("Your next request").fill("And for twenty people?")
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.locator("h1")).to_have_text("And for twenty people?")
        page.get_by_role("link", name="an earlier run").click()
        expect(page.locator("h1")).to_have_text("Acme")
        page.get_by_role("link", name="Graph").click()
        page.locator('.canvas g.node[data-id="terms"]').click()
        page.get_by_role("button", name="Run again from here").click()
        expect(page.locator(".panel")).to_have_count(0)
        page.get_by_role("link", name="History").click()
        expect(page.locator(".steps")).to_contain_text("does terms, compare again")
        expect(page.locator(".headline .status").first).to_contain_text("partial")
        token = (tmp_path / "serve.token").read_text(encoding="utf-8").strip()
        office.client("").headers["Authorization"] = f"Bearer {token}"
        of_run = f"/api/v1/runs/{run_id}"
        wait_until(lambda: office.client("").get(of_run).json()["status"] == "partial")
        attempts = {
            task["path"]: len(task["attempts"])
            for task in office.client("").get(of_run).json()["tasks"]
        }
        assert attempts["prices"] == 1
        assert attempts["terms"] == attempts["compare"] == 2
