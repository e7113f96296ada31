"""Teams, proposals and a planner whose model is the scripted server."""

from collections.abc import Sequence

from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Role, Team, Worker
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.planners.ahead import ModelPlanner
from leadhand.testing.json_data import Json, Object, items, mapping, parse, text
from leadhand.untrusted.fence import Fence
from tests.recorders import LogRecorder

REQUEST = PlanRequest("Compare the prices of copper and zinc since 2019")
MODEL = "openai-chat:scripted"
Turned = list[tuple[Plan | None, Sequence[str]]]


def team(*, planner: Role | None = None, synthesis: str = "merge", model: object = MODEL) -> Team:
    """A searcher and a counter with a model."""
    return Team(
        "metals",
        workers=(
            Worker("search", "Finds passages\nin the reports"),
            Worker("count", "Computes figures from the price table"),
        ),
        model=model,
        planner=planner or Role(),
        synthesis=synthesis,
    )


def task(id: Json, worker: str = "search", *needs: str, intent: str | None = None) -> Object:
    said = f"Find what the reports say moved metal price number {id}" if intent is None else intent
    return {"id": id, "worker": worker, "intent": said, "depends_on": list(needs)}


def proposal(*tasks: Json, synthesis: str = "merge") -> Object:
    return {"tasks": list(tasks), "synthesis": synthesis, "instruction": "Be brief."}


SOUND = proposal(task("a"), task("b", "count", "a"))


def answers(*replies: Object) -> list[Object]:
    """A script that gives these replies one after the other, the last one ever after."""
    steps: list[Object] = [
        {"match": {"step": step}, "reply": reply} for step, reply in enumerate(replies, start=1)
    ]
    return [*steps, {"reply": replies[-1]}]


def proposing(*proposals: Object) -> list[Object]:
    """A script that proposes these one after the other, the last one ever after."""
    replies: list[Object] = [{"json": proposal} for proposal in proposals]
    return answers(*replies)


async def planned(
    by: Team, request: PlanRequest = REQUEST, *, turned_down: Turned | None = None
) -> Plan:
    """What the planner by model makes of a request; it adds to `turned_down` what it refuses."""
    log: Turned = [] if turned_down is None else turned_down
    recorder = LogRecorder()
    async with Connections(seed=1) as connections:
        planner = ModelPlanner(
            Caller(connections, recorder),
            Fence("n"),
            rejected=lambda plan, problems: log.append((plan, problems)),
        )
        return await planner.plan(request, by)


def told(body: Object) -> str:
    """What a request of OpenAI's protocol says is wrong with the answer before it."""
    return text(mapping(parse(said(body, "tool")[-1])).get("error"))


def said(body: Object, speaker: str) -> list[str]:
    """What a speaker says in a request of OpenAI's protocol."""
    messages = (mapping(one) for one in items(mapping(body.get("body")).get("messages")))
    return [text(one.get("content")) for one in messages if one.get("role") == speaker]
