"""The service of the desk's teams and of teams for clients of OpenAI's protocols."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
from pydantic import BaseModel

from leadhand import Handoff, Permanent, Result, Supervisor, TaskTemplate, Team, Worker
from leadhand.contracts.events import RunStarted
from leadhand.journal import open_journal
from leadhand.serve import ServiceSettings, app
from leadhand.testing import ScriptedModel
from tests.patience import HANG_S
from tests.serve.desk import Desk, Gate, authenticate, echo, served, supervisors_of

PAGE, FILE = "https://example.com/terms", "refunds.md:12"
MODEL = ScriptedModel(tokens_per_s=200)
WORDS = f"Refunds take five working days, says {PAGE}, as {FILE} does. " * 4 + "That is all."


class Letter(BaseModel):
    """What the team `letters` answers with."""

    subject: str
    pages: list[int] = []


def letter(handoff: Handoff) -> Letter:
    return Letter(subject=handoff.intent, pages=[1, 2])


def cited(handoff: Handoff) -> Result:
    return Result(output=f"See {PAGE} and {FILE}.", evidence=[PAGE, FILE, "unnamed.md:1"])


def earlier(handoff: Handoff) -> str:
    """What the task was given of the conversation before."""
    return str(handoff.inputs.get("previous", "nothing"))


def half(handoff: Handoff) -> str:
    if handoff.intent == "half":
        raise Permanent("it was too much")
    return handoff.intent


def one_worker(name: str, worker: Worker, **more: Any) -> Team:
    return Team(
        name, workers=[worker], template=[TaskTemplate("t1", worker.name, "{request}")], **more
    )


def writers() -> Team:
    """Three workers without a model, and a model that writes the answer."""
    MODEL.configure(script=[{"match": {"role": "synthesizer"}, "reply": {"text": WORDS}}])
    return Team(
        "writers",
        model=MODEL.model,
        planner="template",
        workers=[
            Worker("x", "Does x", run=echo),
            Worker("y", "Does y", run=echo),
            Worker("z", "Does z", run=half),
        ],
        template=[TaskTemplate(name, name, "{request}") for name in ("x", "y", "z")],
    )


def more_supervisors(home: Path, gate: Gate) -> list[Supervisor[Any, object]]:
    known = supervisors_of(home, gate)
    teams = [
        one_worker("letters", Worker("clerk", "Writes letters", run=letter), output=Letter),
        one_worker("library", Worker("reader", "Reads", run=cited)),
        one_worker("memory", Worker("listener", "Listens", run=earlier)),
        writers(),
    ]
    journal = known[0].journal
    asking = [
        one_worker(name, Worker("clerk", "Echoes", run=echo), requester_approves=approves)
        for name, approves in (("trusting", True), ("strict", False))
    ]
    return [
        *known,
        *(Supervisor(team, journal=journal) for team in teams),
        *(Supervisor(team, journal=journal, approve=["plan"]) for team in asking),
    ]


@dataclass(eq=False)
class OpenAIDesk(Desk):
    _sdk: dict[str, openai.OpenAI] = field(default_factory=dict[str, openai.OpenAI])

    def openai(self, name: str = "ann") -> openai.OpenAI:
        """OpenAI's client of a principal."""
        if name not in self._sdk:
            url = f"{self.url}/v1"
            self._sdk[name] = openai.OpenAI(base_url=url, api_key=name, timeout=HANG_S)
        return self._sdk[name]

    def close(self) -> None:
        super().close()
        for client in self._sdk.values():
            client.close()


@contextmanager
def serving_openai(home: Path) -> Generator[OpenAIDesk]:
    gate = Gate()
    service = app(
        more_supervisors(home, gate),
        auth=authenticate,
        home=home,
        settings=ServiceSettings(grace_s=0),
    )
    with served(service) as url:
        desk = OpenAIDesk(url, gate, service)
        try:
            yield desk
        finally:
            desk.close()


def started(home: Path, run_id: str) -> RunStarted:
    """How a run was started, as another process reads it."""
    import asyncio

    async def read() -> RunStarted:
        journal = open_journal(home)
        try:
            first = (await journal.events(run_id))[0]
            assert isinstance(first, RunStarted)
            return first
        finally:
            await journal.close()

    return asyncio.run(read())
