"""A team with all that the page shows, without a model, and its service for a browser."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from pydantic import JsonValue

from leadhand import Handoff, Plan, Result, Role, Supervisor, Task, TaskTemplate, Team, Worker
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Usage
from leadhand.extension.roles import Gap, Source, Synthesis, TaskResult
from leadhand.journal import open_journal
from leadhand.serve import ServiceSettings, app
from tests.patience import HANG_S
from tests.serve.desk import Desk, Gate, served

EVIL = """\
<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>
[here](javascript:window.hacked=1) </pre></script><svg onload="window.hacked=1">
"""
"""What a model, a tool, a file or a user can write."""
FINDING: dict[str, JsonValue] = {
    "id": "f1",
    "severity": "warning",
    "path": "prices.py",
    "line": 12,
    "rule": "bugs.sign",
    "lenses": ["bugs"],
    "message": "`price` may be negative",
    "evidence": "price = -1",
    "suggestion": "Check that it is not",
    "confidence": 80,
}
REVIEW: dict[str, JsonValue] = {
    "findings": [FINDING],
    "look": [{**FINDING, "id": "f2", "severity": "info"}],
    "suppressed": [],
    "not_assessed": [{"path": "a.exe", "why": "it is not text", "lens": "bugs"}],
}
"""What the team review gives, as far as the page shows it."""
SPENT = Usage(model="a:small", requests=2, input_tokens=1200, output_tokens=90, cost_usd=0.02)


def find(handoff: Handoff) -> Outcome:
    """Finds prices: a table, a failure, or what the intent says if that is evil."""
    if "evil" in handoff.task_id:
        return Completed(result=Result(output={EVIL: [EVIL, {EVIL: EVIL}]}, summary=EVIL))
    if "broken" in handoff.task_id:
        raise ValueError(handoff.intent)
    if "missing" in handoff.task_id:
        return Failed(kind="tool_error", message="no table `prices` in prices.csv")
    rows = [{"vendor": "Acme", "price_usd": 12.5}, {"vendor": "Globex", "price_usd": 15}]
    return Completed(result=Result(output=rows, summary="two prices", usage=SPENT))


def ask(handoff: Handoff) -> Outcome:
    """Asks a person once."""
    if "says: " in handoff.intent:
        return Completed(result=Result(output=handoff.intent.rpartition("says: ")[2]))
    return Escalated(reason="ambiguous_input", message="Net or gross prices?")


def read(handoff: Handoff) -> str:
    return f"read {handoff.intent}"


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """Cites every task that has a result, and its source."""
    done = [one for one in results if one.status == "completed"]
    cited = "\n".join(f"- {one.result.summary} [{one.task.id}]" for one in done if one.result)
    return Synthesis(
        answer=f"# Prices of {plan.goal[:300]}\n\n{cited}\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        sources=tuple(Source(task_id=one.task.id, ref="prices.csv:12") for one in done),
        output=REVIEW if plan.goal == "Review" else None,
        gaps=tuple(
            Gap(task_id=one.task.id, why="it has no result")
            for one in results
            if one.status != "completed"
        ),
    )


def teams(gate: Gate) -> list[Team]:
    law = Team(
        "law",
        workers=[Worker("clerk", "Reads", run=read)],
        template=[TaskTemplate("clauses", "clerk", "{request}")],
    )
    office = Team(
        "office",
        workers=[
            Worker("finder", "Finds prices", run=find, retry=False),
            Worker("waiter", "Waits", run=gate.work),
            Worker("asker", "Asks", run=ask),
            Worker("lawyer", "Reads terms", team=law),
        ],
        template=[
            TaskTemplate("prices", "finder", "Find the prices: {request}"),
            TaskTemplate("terms", "lawyer", "Read the terms"),
            TaskTemplate("missing", "finder", "Find the prices of Initech"),
            TaskTemplate("compare", "waiter", "Compare them", ["prices", "terms"]),
        ],
        synthesizer=Role(run=answer),
    )
    return [office]


@contextmanager
def serving_office(
    home: Path, gate: Gate, *, port: int = 0, patience_s: int = 5
) -> Generator[Desk]:
    journal = open_journal(home)
    service = app(
        [Supervisor(team, journal=journal, approve=["escalation"]) for team in teams(gate)],
        home=home,
        settings=ServiceSettings(grace_s=0),
    )
    with served(service, port=port, patience_s=patience_s) as url:
        desk = Desk(url, gate, service)
        try:
            yield desk
        finally:
            desk.close()


def port_of(desk: Desk) -> int:
    port = urlsplit(desk.url).port
    assert port is not None
    return port


def start(desk: Desk, home: Path, plan: Plan | None = None, request: str = "Acme") -> str:
    """Start a run by HTTP, as the operator; its id."""
    token = (home / "serve.token").read_text(encoding="utf-8").strip()
    body = {"team": "office", "request": request}
    sent = body if plan is None else body | {"plan": plan.model_dump(mode="json")}
    headers = {"Authorization": f"Bearer {token}"}
    url = f"{desk.url}/api/v1/runs"
    made = httpx2.post(url, json=sent, headers=headers, timeout=HANG_S, trust_env=False)
    assert made.status_code == 202, made.text
    return made.json()["run_id"]


def many(count: int) -> Plan:
    """A plan of `count` tasks: half of them read, each of the others follows one of these."""
    half = count // 2
    return Plan(
        goal="Many",
        tasks=[
            *(Task(id=f"a{n}", worker="finder", intent=f"Find price {n}") for n in range(half)),
            *(
                Task(id=f"b{n}", worker="finder", intent=f"Check {n}", depends_on=[f"a{n}"])
                for n in range(half)
            ),
        ],
    )
