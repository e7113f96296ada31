"""A team with scripted workers, and a run of it with a model for the other roles."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from leadhand import Plan, Supervisor, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event, ModelCalled
from leadhand.contracts.outcome import Completed, Handoff, Result
from leadhand.contracts.task import Task
from leadhand.testing import ScriptedServer, Stats, VirtualClock, run_virtual
from leadhand.testing.json_data import Json, items, mapping, text
from tests.models.in_process import InProcess

REQUEST = "What did the firm earn?"


@dataclass(frozen=True)
class Outcome:
    """What came of a run, and what the server saw of it."""

    answer: Answer
    events: Sequence[Event]
    stats: Stats

    def named(self, *types: type[Event]) -> list[str]:
        """The events of these types in order; of a call who asked."""
        found = (event for event in self.events if isinstance(event, types))
        return [one.role if isinstance(one, ModelCalled) else one.type for one in found]

    def asked(self, role: str, number: int = 0) -> str:
        """All text of a call of this role."""
        bodies = [one for one in self.stats.bodies if one.get("role") == role]
        messages = items(mapping(bodies[number].get("body")).get("messages"))
        return "\n".join(text(mapping(one).get("content")) for one in messages)


def ran(
    server: ScriptedServer | InProcess,
    gives: Mapping[str, JsonValue],
    *,
    synthesis: str = "merge",
    deadline_s: float | None = None,
    evidence: str = "",
    **roles: object,
) -> Outcome:
    """A run in which the worker of each name gives that; one that gives nothing fails.

    It takes virtual time where the model is in this process.
    """
    is_virtual = isinstance(server, InProcess)
    model = server.model if is_virtual else "openai-chat:scripted"

    async def works(handoff: Handoff) -> Completed:
        given = gives[handoff.to_agent]
        if given is None:
            raise ValueError("there is no such book")
        result = Result(output=given, evidence=(evidence,) if evidence else ())
        return Completed(result=result)

    team = Team(
        "firm",
        workers=tuple(Worker(name, f"reads the {name}", run=works) for name in gives),
        **{"model": model, **roles},  # pyright: ignore[reportArgumentType]
    )
    tasks = tuple(
        Task(id=f"t{number}", worker=name, intent=f"look it up, {number}")
        for number, name in enumerate(gives, start=1)
    )
    events: list[Event] = []
    clock = VirtualClock() if is_virtual else None
    run = Supervisor(team, deadline_s=deadline_s, clock=clock).run(
        REQUEST, plan=Plan(goal=REQUEST, tasks=tasks, synthesis=synthesis), listener=events.append
    )
    answer = run_virtual(run) if is_virtual else asyncio.run(run)
    return Outcome(answer, events, server.stats())


def rule(role: str, *, times: int | None = None, **reply: Json) -> dict[str, Json]:
    """What a role answers, the first few times or always."""
    made: dict[str, Json] = {"match": {"role": role}, "reply": reply}
    return made if times is None else {**made, "times": times}


def script(server: ScriptedServer | InProcess, *rules: dict[str, Json]) -> None:
    """Have the server follow these rules."""
    server.configure(script=list(rules))
