"""Runs of workers whose model is the scripted server, through the real supervisor."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import JsonValue

from leadhand import Answer, Limits, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, ModelCalled, ToolCalled
from leadhand.contracts.outcome import Handoff, Outcome
from leadhand.contracts.team import RetryRules
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer, VirtualClock
from leadhand.testing.json_data import Json, Object, items, mapping, text
from leadhand.threads import DaemonThreads
from leadhand.untrusted.fence import Fence
from leadhand.workers.loop import ModelWorker
from leadhand.workers.open_toolsets import RunToolsets
from leadhand.workers.toolsets import toolset_of
from tests.hanging import run_hanging
from tests.models.asking import OPENAI
from tests.plans.samples import accepted

E = TypeVar("E", bound=Event)
INTENT = "Find out how high the tower is."


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left behind."""

    answer: Answer
    events: tuple[Event, ...]

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def calls(self) -> list[ModelCalled]:
        """The calls of models."""
        return self.of(ModelCalled)

    @property
    def tools(self) -> list[ToolCalled]:
        """The calls of tools."""
        return self.of(ToolCalled)

    @property
    def gap(self) -> str:
        """Why the only task that gave no result gave none."""
        (gap,) = self.answer.gaps
        return gap.why


def worker(name: str = "surveyor", /, **fields: object) -> Worker:
    """A worker that a model does the work of."""
    given: dict[str, object] = {"instructions": "You survey buildings.", **fields}
    return Worker(name, "Surveys buildings", **given)  # pyright: ignore[reportArgumentType, reportCallIssue]


def team(*workers: Worker, model: object = OPENAI, **fields: object) -> Team:
    """A team of them that tries everything once."""
    return Team(
        "surveyors",
        workers=workers or (worker(),),
        model=model,
        retry=RetryRules(max_attempts=1),
        **fields,  # pyright: ignore[reportArgumentType]
    )


def height(building: str) -> str:
    """How high a building is."""
    return f"{building}: 324 m"


def one_task(by: str = "surveyor", intent: str = INTENT, *, limits: Limits | None = None) -> Plan:
    """A plan of one task."""
    task = Task(id="t1", worker=by, intent=intent, limits=limits or Limits())
    return Plan(goal="survey", tasks=(task,))


def run(
    the_team: Team,
    plan: Plan | None = None,
    *,
    hangs: Callable[[], bool] | None = None,
    threads_hang: bool = False,
) -> Run:
    """The run of a plan, one task by default; results are put together by code.

    With `hangs` in virtual time, as `run_hanging` says.
    """
    events: list[Event] = []
    clock = VirtualClock() if hangs else None
    supervisor = Supervisor(the_team, deadline_s=None, synthesizer=Merge(), clock=clock)
    plan = plan or one_task(the_team.workers[0].name)
    work = supervisor.run(plan=plan, listener=events.append)
    if hangs is None:
        answer = asyncio.run(work)
    else:
        answer, _ = run_hanging(work, hangs, threads_hang=threads_hang)
    return Run(answer, tuple(events))


async def attempted(the_worker: Worker, handoff: Handoff, *, model: object = OPENAI) -> Outcome:
    """The outcome of one attempt by the loop alone, with the worker's own tools."""
    threads = DaemonThreads()
    async with Connections(seed=1) as connections:
        loop = ModelWorker(
            the_worker,
            {"fast": (model,), "standard": (model,), "strong": (model,)},
            toolset=toolset_of([*the_worker.tools], threads),
            toolsets=RunToolsets(),
            caller=Caller(connections, accepted(one_task())),
            fence=Fence("n0nce"),
        )
        outcome = await loop.run(handoff)
    threads.close()
    return outcome


def handoff(intent: str = INTENT, **fields: object) -> Handoff:
    """A handoff, not of any run's task."""
    given: dict[str, object] = {
        "run_id": "run",
        "task_id": "t1",
        "attempt": 1,
        "from_agent": "supervisor",
        "to_agent": "surveyor",
        "intent": intent,
        "return_to": "supervisor",
    }
    return Handoff.model_validate({**given, **fields})


# What the server's model says


def steps(*replies: Object) -> list[Object]:
    """A script: each conversation's first answer, its second, ..., the last one ever after."""
    script: list[Object] = [
        {"match": {"step": step}, "reply": reply} for step, reply in enumerate(replies, start=1)
    ]
    return [*script, {"reply": replies[-1]}]


def call(name: str, **arguments: Json) -> Object:
    """One call of a tool."""
    return calls((name, arguments))


def calls(*made: tuple[str, Mapping[str, Json] | str]) -> Object:
    """Several calls of tools in one answer; arguments that are text are sent as they are."""
    return {
        "tool_calls": [
            {"name": name, "arguments": given if isinstance(given, str) else {**given}}
            for name, given in made
        ]
    }


def final(answer: Json = "324 m", /, **fields: Json) -> Object:
    """An answer in the worker's form."""
    return {"json": ending(answer, **fields)}


def ending(answer: Json = "324 m", /, **fields: Json) -> Object:
    """The fields of an answer in the worker's form."""
    usual: Object = {"summary": "It is 324 m.", "confidence": 90, "evidence": ["t. 3"]}
    return {"answer": answer, **usual, "plan_impact": None, **fields}


def escalate(reason: str, message: str = "ask the mason", partial: Json = None) -> Object:
    """An escalation."""
    return call("escalate", reason=reason, message=message, partial=partial)


def after(server: ScriptedServer, *given: object, made: Object, **fields: object) -> Run:
    """A run of a worker with these tools whose model makes calls and then answers."""
    server.configure(script=steps(made, final("done")))
    return run(team(worker(tools=given, **fields)))


# What the server was asked


def bodies(server: ScriptedServer) -> list[Object]:
    """The requests' bodies, oldest first."""
    return [mapping(kept.get("body")) for kept in server.stats().bodies]


def messages(body: Object) -> list[Object]:
    """The messages of an OpenAI request."""
    return [mapping(message) for message in items(body.get("messages"))]


def said(body: Object, speaker: str) -> list[str]:
    """What a speaker says in an OpenAI request."""
    return [text(m.get("content")) for m in messages(body) if m.get("role") == speaker]


def tools(body: Object) -> list[str]:
    """The tools that an OpenAI request offers."""
    offered = (mapping(mapping(tool).get("function")) for tool in items(body.get("tools")))
    return [text(tool.get("name")) for tool in offered]


def result(the_run: Run) -> JsonValue:
    """What the only task gave."""
    return the_run.answer.output


def told(server: ScriptedServer, body: int = -1) -> list[str]:
    """What the model was told that its calls gave."""
    return said(bodies(server)[body], "tool")


def inside(fenced: str) -> str:
    """The text between the markers."""
    found = re.fullmatch(
        r"<data-(\w+)(?: from=\"[^\"]*\")?>\n(.*)\n</data-\1>(?:\n\(Cut.*)?", fenced, re.S
    )
    assert found is not None
    return found[2]
