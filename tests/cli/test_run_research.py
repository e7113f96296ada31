"""`leadhand run --team research`: a report without a model, an answer with one."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic import BaseModel

from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event, TaskDispatched, parse
from leadhand.state.fold import fold
from leadhand.testing import ScriptedServer, Stats
from leadhand_teams.research.output import ResearchAnswer
from tests.cli.program import leadhand as program
from tests.leadhand_teams.research import samples
from tests.programs import Ended

UNREAD = "logo.bin: neither a text nor a table that is read here"
QUESTION = "How did revenue develop in the North, and why?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples.folder(tmp_path_factory.mktemp("research"))


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


class Function(BaseModel):
    name: str


class Tool(BaseModel):
    function: Function


class Ask(BaseModel):
    """A request to the model, as far as a test looks at it."""

    tools: list[Tool] = []


class _Searches(BaseHTTPRequestHandler):
    """A search endpoint that finds one page, whatever is asked."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        found = {"title": "Kiel", "url": "https://example.com/kiel", "content": "A town."}
        body = json.dumps({"results": [found]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def searches() -> Iterator[tuple[str, list[str]]]:
    """The address of a search endpoint on loopback, and what it was asked so far."""

    class Searches(_Searches):
        asked: list[str] = []  # noqa: RUF012

    with ThreadingHTTPServer(("127.0.0.1", 0), Searches) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_address[1]}/search", Searches.asked
        listening.shutdown()
        thread.join()


def research(*options: str, folder: Path, env: dict[str, str] | None = None) -> Ended:
    """What `leadhand run QUESTION --team research OPTIONS` does, by default without a model."""
    barred = {"LEADHAND_MODEL": "none", "LEADHAND_WEB": "", "LEADHAND_SEARCH_URL": ""}
    clean = {**barred, **(env or {})}
    return program("run", QUESTION, "--team", "research", *options, folder=folder, env=clean)


def with_model(server: ScriptedServer, **env: str) -> dict[str, str]:
    """The environment of a user who has set an endpoint and a key, and nothing else."""
    return {**server.env(), "LEADHAND_MODEL": "", "ANTHROPIC_API_KEY": "", **env}


def offered(stats: Stats) -> set[str]:
    """The names of all tools that any worker was offered."""
    bodies = [Ask.model_validate(one["body"]) for one in stats.bodies]
    return {tool.function.name for body in bodies for tool in body.tools}


@pytest.fixture(scope="module")
def told(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ended, list[Event]]:
    """The report without a model, as it is read, and the events of its run."""
    return logged(folder, tmp_path_factory.mktemp("told") / "events.jsonl")


@pytest.fixture(scope="module")
def modelled(
    folder: Path, server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Ended, Stats, list[Event]]:
    """The answer with a model, as it is read, what the model was asked, and the events."""
    server.reset()
    log = tmp_path_factory.mktemp("modelled") / "events.jsonl"
    ended, events = logged(folder, log, env=with_model(server))
    return ended, server.stats(), events


def logged(folder: Path, log: Path, env: dict[str, str] | None = None) -> tuple[Ended, list[Event]]:
    """What comes of the files in `folder`, and the events of the run."""
    ended = research("--input", str(folder), "--events", str(log), folder=folder, env=env)
    return ended, [parse(line) for line in log.read_text(encoding="utf-8").splitlines()]


def test_without_a_model_the_answer_comes_first_after_what_is_missing(
    told: tuple[Ended, list[Event]],
) -> None:
    ended, _ = told
    lines = ended.out.splitlines()
    assert ended.status == 3, ended.err
    assert lines[:3] == ["## What is missing", "", f"- `texts`: {UNREAD}"]
    assert lines[6].startswith("Revenue (region North) grew by 34.3 %, from 562,036.8 in 2023 to")
    assert "since the direct sales team started in January 2024." in lines[6]
    assert [line for line in lines if line.startswith("## ")] == [
        "## What is missing",
        "## What was found",
        "## From the files",
        "## How it was computed",
        "## Sources",
    ]
    assert "engine: deterministic, no model was used · 2 tasks" in lines[-1]


def test_without_a_model_the_document_has_the_typed_answer_and_every_place(
    told: tuple[Ended, list[Event]],
) -> None:
    ended, events = told
    answer = fold(events).answer
    assert answer is not None
    assert (ended.status, answer.status, answer.engine) == (3, "partial", "deterministic")
    assert [(gap.task_id, gap.why) for gap in answer.gaps] == [("texts", UNREAD)]
    assert ended.out.startswith(answer.answer)
    made = ResearchAnswer.model_validate(answer.output)
    assert made.answered
    assert made.value == pytest.approx(34.34, abs=0.01)
    assert {(one.task_id, one.ref) for one in answer.sources} >= {
        ("tables", "revenue.csv:2"),
        ("texts", "notes/regions.md:5"),
    }
    assert [(task.id, task.depends_on) for task in answer.tasks] == [
        ("tables", ()),
        ("texts", ("tables",)),
    ]


def test_documents_alone_are_enough(folder: Path) -> None:
    ended = research("--input", str(folder / "notes"), "-q", folder=folder)
    assert ended.status == 0
    assert "recovering since the direct sales team started" in ended.out


def test_with_nothing_handed_in_and_no_model_it_is_refused_in_one_line(folder: Path) -> None:
    ended = research("-q", folder=folder)
    assert (ended.status, ended.out) == (2, "")
    assert re.fullmatch(
        r"leadhand: nothing to work on: hand in files, [^\n]+ \(--input PATH\)\n", ended.err
    )


def test_with_a_model_code_plans_and_says_what_the_workers_took(
    modelled: tuple[Ended, Stats, list[Event]],
) -> None:
    ended, stats, events = modelled
    assert ended.status == 3, ended.err
    assert f"`: {UNREAD}\n" in ended.out
    assert set(stats.by_role) == {"worker"}
    assert sum(isinstance(event, TaskDispatched) for event in events) == 2
    assert ended.err.splitlines()[1].startswith("models: openai-chat:scripted for every role")
    footer = ended.out.splitlines()[-1]
    assert "engine: model · 2 tasks · " in footer
    assert f"{stats.requests} requests" in footer
    assert footer.endswith("cost unknown")


def test_with_a_model_the_workers_read_the_files_and_query_the_tables(
    modelled: tuple[Ended, Stats, list[Event]],
) -> None:
    asked = json.dumps(modelled[1].bodies)
    assert "revenue (72 rows, from revenue.csv)" in asked
    assert "notes/regions.md (markdown, " in asked


def test_the_web_is_off_unless_it_is_configured(modelled: tuple[Ended, Stats, list[Event]]) -> None:
    tools = offered(modelled[1])
    assert {"search_files", "read_file", "query", "calculate"} <= tools
    assert not {"search_web", "read_page"} & tools


def test_the_web_is_searched_where_an_endpoint_is_named(
    folder: Path, server: ScriptedServer, searches: tuple[str, list[str]]
) -> None:
    server.reset()
    address, asked = searches
    env = with_model(server, LEADHAND_SEARCH_URL=address)
    ended = research("--input", str(folder), "--json", "-q", folder=folder, env=env)
    answer, stats = Answer.model_validate_json(ended.out), server.stats()
    assert (answer.status, answer.engine) == ("partial", "model")
    assert [gap.why for gap in answer.gaps] == [UNREAD]
    assert {task.worker for task in answer.tasks} == {"researcher", "analyst"}
    assert all(task.input_tokens > 0 for task in answer.tasks)
    assert answer.metrics.requests == stats.requests
    assert "search_web" in offered(stats)
    assert asked
    assert asked[0].startswith("/search?q=")
    assert "https://example.com/kiel" in json.dumps(stats.bodies)


def test_without_files_a_model_still_answers(folder: Path, server: ScriptedServer) -> None:
    server.reset()
    ended = research("--json", "-q", folder=folder, env=with_model(server))
    assert Answer.model_validate_json(ended.out).engine == "model"
