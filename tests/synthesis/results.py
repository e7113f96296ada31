"""Results of tasks, and a synthesizer that talks to a model server, for the tests of synthesis."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from leadhand.contracts.answer import Synthesis
from leadhand.contracts.events import Event, ModelCalled
from leadhand.contracts.outcome import Result, TaskResult
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Role, Team, Worker
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.journal import MemoryJournal
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.synthesis.model import ModelSynthesizer
from leadhand.testing import Stats
from leadhand.testing.json_data import items, mapping, text
from leadhand.untrusted.fence import Fence
from tests.plans.samples import plan, task

NONCE = "k7Qx2mVb"
REQUEST = "Which of the two lines sells better?"
Condense = Callable[[str], Awaitable[str]]


def gave(
    id: str,
    output: JsonValue,
    *,
    summary: str = "",
    confidence: int | None = None,
    evidence: Sequence[str] = (),
    status: str = "completed",
    why: str | None = None,
    missing: Sequence[str] = (),
) -> TaskResult:
    """A task that gave something."""
    result = Result(
        output=output,
        summary=summary,
        confidence=confidence,
        evidence=tuple(evidence),
        missing=tuple(missing),
    )
    return TaskResult(task(id), "worker", status, result, why)


def missing(id: str, why: str = "the file is gone") -> TaskResult:
    """A task that gave nothing."""
    return TaskResult(task(id), "worker", "failed", None, why)


def plan_of(results: Sequence[TaskResult], *, synthesis: str = "merge", instruction: str = ""):
    """The plan whose tasks gave these results."""
    made = plan(*(one.task for one in results))
    return made.model_copy(update={"synthesis": synthesis, "instruction": instruction})


@dataclass
class Run:
    """What came of one synthesis."""

    synthesis: Synthesis
    plan: Plan
    events: list[Event] = field(default_factory=list[Event])

    @property
    def calls(self) -> list[ModelCalled]:
        """The calls that were written down."""
        return [event for event in self.events if isinstance(event, ModelCalled)]


async def synthesized(
    results: Sequence[TaskResult],
    *,
    synthesis: str = "merge",
    instruction: str = "",
    role: Role | None = None,
    context_tokens: int | None = None,
    model: object = "openai-chat:scripted",
    request: str = REQUEST,
) -> Run:
    """The results put together by the model that the environment leads to."""
    team = Team(
        "team", workers=(Worker("worker", "does it all"),), model=model, synthesizer=role or Role()
    )
    the_plan = plan_of(results, synthesis=synthesis, instruction=instruction)
    journal = MemoryJournal()
    async with Connections(seed=1) as connections:
        synthesizer = ModelSynthesizer(
            Caller(connections, Recorder("run", journal, clock=SystemClock())),
            team,
            Fence(NONCE),
            request=request,
            context_tokens=context_tokens,
        )
        made = await synthesizer.synthesize(the_plan, results)
    return Run(made, the_plan, list(journal.store.events("run")))


def said(stats: Stats, number: int = -1) -> tuple[str, str]:
    """The system prompt and the user's message of a request that the server received."""
    messages = [
        mapping(message)
        for message in items(mapping(stats.bodies[number].get("body")).get("messages"))
    ]
    by_role = {text(one.get("role")): _content(one) for one in reversed(messages)}
    return by_role.get("system", ""), by_role.get("user", "")


def _content(message: dict[str, JsonValue]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text(mapping(part).get("text")) for part in items(content))
