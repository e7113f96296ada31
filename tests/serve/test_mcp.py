"""Teams as tools of MCP, with the official client: over HTTP at `/mcp`, and over stdio."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.context import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestParams, ElicitResult

from leadhand.serve import ServiceSettings
from leadhand.serve.tokens import NAMED_FILE, NamedTokens
from tests.patience import HANG_S
from tests.programs import forkserver
from tests.repositories import Repo
from tests.serve.desk import Desk, serving_desk
from tests.serve.openai_desk import FILE, PAGE, OpenAIDesk, serving_openai

# The client's library imports it on first use, deep in a loop, where pytest can't rewrite it.
START_PROCESS = anyio.open_process
Action = Literal["accept", "decline", "cancel"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAIDesk]:
    with serving_openai(tmp_path_factory.mktemp("home")) as desk:
        yield desk


class Person:
    """At the client: what they are asked, and what they decide."""

    def __init__(self, action: Action = "accept", **content: Any) -> None:
        self.asked: list[str] = []
        self._result = ElicitResult(action=action, content=content or None)

    async def __call__(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        self.asked.append(params.message)
        return self._result


@asynccontextmanager
async def connected(
    desk: Desk, name: str = "ann", *, person: Person | None = None, mode: str = "auto"
) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {name}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=HANG_S, trust_env=False) as http,
        Client(
            streamable_http_client(f"{desk.url}/mcp", http_client=http),
            elicitation_callback=person,
            mode=mode,
        ) as client,
    ):
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    data: Any = found.structured_content
    return data


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    found = await client.call_tool(tool, arguments)
    assert found.is_error
    return str(getattr(found.content[0], "text", ""))


async def rested(client: Client, team: str, request: str) -> dict[str, Any]:
    """A run that has ended, or waits."""
    started = await called(client, "start", team=team, request=request)
    return await called(client, "result", run_id=started["run_id"])


# Tools


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.wall_clock
async def test_a_run_is_started_and_its_answer_waited_for_with_progress(
    mode: str, desk: OpenAIDesk
) -> None:
    lines: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        lines.append(message)

    async with connected(desk, mode=mode) as client:
        started = await called(client, "start", team="library", request="hello")
        given = {"run_id": started["run_id"]}
        found = await client.call_tool("result", given, progress_callback=hear)
        assert (found.structured_content or {}).items() >= {
            "status": "complete",
            "answer": f"See {PAGE} and {FILE}.",
            "sources": [PAGE, FILE],
        }.items()
        assert (await called(client, "status", **given))["completed"] == 1
    assert lines[0] == "The plan is made."
    assert "t1 is done." in lines


@pytest.mark.wall_clock
async def test_a_result_waits_only_as_long_as_it_is_asked_to(desk: OpenAIDesk) -> None:
    async with connected(desk) as client:
        started = await called(client, "start", team="gate", request="hello")
        found = await called(client, "result", run_id=started["run_id"], wait_s=0.01)
        assert (found["status"], found["answer"]) == ("running", "")
        assert (await called(client, "cancel", run_id=started["run_id"]))["run_id"]
        ended = await called(client, "result", run_id=started["run_id"])
        assert ended["status"] == "cancelled"


@pytest.mark.wall_clock
async def test_a_plan_is_shown_without_work(desk: OpenAIDesk) -> None:
    async with connected(desk, "olga") as client:
        plan = await called(client, "plan", team="desk", request="hello")
    assert [one["worker"] for one in plan["tasks"]] == ["clerk"]
    async with connected(desk, "ann") as client:
        assert "operator" in await refused(client, "plan", team="desk", request="hello")


@pytest.mark.wall_clock
async def test_a_mistake_is_one_line_for_the_model(desk: OpenAIDesk) -> None:
    async with connected(desk) as client:
        why = await refused(client, "start", team="nobody", request="hello")
        assert "there is no team 'nobody' here: desk" in why
        assert "there is no run 'x'" in await refused(client, "status", run_id="x")
        why = await refused(client, "start", team="desk", request="hello", inputs=["/etc/passwd"])
        assert "not on your machine" in why


# Questions


@pytest.mark.wall_clock
async def test_a_question_is_answered_by_who_may(desk: OpenAIDesk) -> None:
    async with connected(desk, "olga") as client:
        waiting = await rested(client, "desk", "ask which one")
        assert waiting["status"] == "waiting"
        assert "which one" in waiting["questions"][0]
        given = {"run_id": waiting["run_id"], "verdict": "answered", "text": "the red one"}
        await called(client, "reply", **given)
        ended = await called(client, "result", run_id=waiting["run_id"])
        assert (ended["status"], ended["answer"]) == ("complete", "the red one")
        assert "no open question" in await refused(client, "reply", **given)
    async with connected(desk, "ann") as client:
        waiting = await rested(client, "desk", "ask which one")
        assert waiting["questions"] == ["a person of the service has to answer"]
        given["run_id"] = waiting["run_id"]
        assert "another person" in await refused(client, "reply", **given)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.wall_clock
async def test_an_approval_is_the_person_s_at_the_client(mode: str, desk: OpenAIDesk) -> None:
    person = Person(approve=True)
    async with connected(desk, person=person, mode=mode) as client:
        waiting = await rested(client, "trusting", "hello")
        await called(client, "reply", run_id=waiting["run_id"], verdict="approved")
        ended = await called(client, "result", run_id=waiting["run_id"])
    assert (ended["status"], ended["answer"]) == ("complete", "hello")
    (asked,) = person.asked
    assert "t1: hello" in asked, "the person sees what is approved"


@pytest.mark.wall_clock
async def test_a_person_who_does_not_approve_refuses_or_leaves_it_open(desk: OpenAIDesk) -> None:
    async with connected(desk, person=Person("decline")) as client:
        waiting = await rested(client, "trusting", "hello")
        given = {"run_id": waiting["run_id"], "verdict": "approved"}
        assert "stays open" in await refused(client, "reply", **given)
        assert (await called(client, "status", run_id=given["run_id"]))["status"] == "waiting"
    async with connected(desk, person=Person(approve=False, reason="too much")) as client:
        await called(client, "reply", **given)
        ended = await called(client, "result", run_id=given["run_id"])
        assert ended["status"] not in ("waiting", "complete")


@pytest.mark.parametrize("name", ["ann", "olga"])
@pytest.mark.wall_clock
async def test_no_agent_approves_what_the_team_leaves_to_others(
    name: str, desk: OpenAIDesk
) -> None:
    """F33"""
    person = Person(approve=True)
    async with connected(desk, name, person=person) as client:
        waiting = await rested(client, "strict", "hello")
        given = {"run_id": waiting["run_id"], "verdict": "approved"}
        why = await refused(client, "reply", **given)
        assert ("leadhand answer" if name == "olga" else "another person") in why
    assert person.asked == []
    async with connected(desk, name) as client:  # whose client can't ask
        waiting = await rested(client, "trusting", "hello")
        given = {"run_id": waiting["run_id"], "verdict": "approved"}
        assert "can't be approved here" in await refused(client, "reply", **given)


@pytest.mark.wall_clock
async def test_arguments_that_are_wrong_are_named_in_one_line(desk: OpenAIDesk) -> None:
    async with connected(desk) as client:
        assert await refused(client, "start", team="desk") == "start: `request` is missing"
        empty = await refused(client, "start", team="desk", request=" ")
        assert empty.startswith("start: `request`")
        given = {"team": "desk", "request": "hello", "deadline": 5}
        assert await refused(client, "start", **given) == "start: there is no `deadline`"


# Callers


@pytest.mark.wall_clock
async def test_a_run_of_another_principal_is_not_found(desk: OpenAIDesk) -> None:
    async with connected(desk, "ann") as ann:
        run_id = (await rested(ann, "desk", "hello"))["run_id"]
    async with connected(desk, "bob") as bob:
        for tool in ("status", "result", "cancel"):
            assert f"there is no run {run_id!r}" in await refused(bob, tool, run_id=run_id)
        why = await refused(bob, "reply", run_id=run_id, verdict="answered")
        assert f"there is no run {run_id!r}" in why
        why = await refused(bob, "start", team="desk", request="x", after=run_id)
        assert f"there is no run {run_id!r}" in why


def test_a_caller_needs_a_token_and_a_session_is_its_own(desk: OpenAIDesk) -> None:
    first = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    headers = {"accept": "application/json, text/event-stream"}
    assert desk.client("").post("/mcp", json=first, headers=headers).status_code == 401
    opened = desk.client("ann").post("/mcp", json=first, headers=headers)
    assert opened.status_code == 200
    headers["mcp-session-id"] = opened.headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert desk.client("bob").post("/mcp", json=ping, headers=headers).status_code == 404
    assert desk.client("ann").post("/mcp", json=ping, headers=headers).status_code == 200


@pytest.mark.wall_clock
async def test_a_call_ends_when_the_token_of_its_caller_is_revoked(tmp_path: Path) -> None:
    tokens = NamedTokens(tmp_path / NAMED_FILE)
    token = tokens.add("eve", tenant="acme", role="requester")
    settings = ServiceSettings(grace_s=0, heartbeat_s=0.05)
    with serving_desk(tmp_path, auth=None, settings=settings) as desk:
        async with connected(desk, token) as client:
            started = await called(client, "start", team="gate", request="hello")
            with pytest.raises(MCPError):
                await asyncio.gather(
                    called(client, "result", run_id=started["run_id"], wait_s=HANG_S),
                    asyncio.to_thread(_revoke, tokens, desk),
                )


def _revoke(tokens: NamedTokens, desk: Desk) -> None:
    """Once the worker waits at its gate."""
    assert desk.gate.arrived.wait(HANG_S)
    tokens.revoke("eve")


@pytest.mark.wall_clock
async def test_a_client_that_listens_does_not_keep_the_service_from_stopping(
    tmp_path: Path,
) -> None:
    with serving_openai(tmp_path / "home") as desk:
        client = connected(desk, mode="legacy")
        await client.__aenter__()
    # The server has ended although the client's stream was open.
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(desk.url, trust_env=False)
    with suppress(Exception):  # there is no server any more to say goodbye to
        await client.__aexit__(None, None, None)


# Over stdio

TEAM = """\
from leadhand import Handoff, TaskTemplate, Team, Worker


def read(handoff: Handoff) -> str:
    return " ".join(open(path).read() for path in handoff.artifacts)


team = Team(
    "desk",
    workers=[Worker("reader", "Reads", run=read)],
    template=[TaskTemplate("t1", "reader", "{request}", for_each="inputs")],
)
"""


@pytest.mark.wall_clock
async def test_over_stdio_files_of_this_machine_are_read_and_changes_reviewed(
    tmp_path: Path,
) -> None:
    (tmp_path / "desk.py").write_text(TEAM)
    (tmp_path / "note.txt").write_text("5 cars")
    repository = Repo(tmp_path / "repo")
    repository.commit("first", {"a.py": "x = 1\n"})
    repository.commit("second", {"a.py": "x = eval(input())\n"})
    server = StdioServerParameters(
        command=f"{forkserver().commands}/leadhand",
        args=["mcp", "--team", "desk.py:team", "--home", "runs"],
        cwd=tmp_path,
    )
    async with Client(server) as client:
        names = [one.name for one in (await client.list_tools()).tools]
        assert names == ["start", "status", "result", "reply", "cancel", "plan", "review"]
        file = str(tmp_path / "note.txt")
        started = await called(client, "start", team="desk", request="Read", inputs=[file])
        ended = await called(client, "result", run_id=started["run_id"])
        assert (ended["status"], ended["answer"]) == ("complete", "5 cars")
        lines: list[str | None] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            lines.append(message)

        arguments = {"repo": str(repository.folder), "range": "HEAD"}
        found = await client.call_tool("review", arguments, progress_callback=hear)
        assert (found.structured_content or {})["status"] == "complete"
        assert "findings" in (found.structured_content or {})
        assert any("security" in (line or "") for line in lines)
        why = await refused(client, "review", repo=str(repository.folder), range="--help")
        assert "--help" in why
