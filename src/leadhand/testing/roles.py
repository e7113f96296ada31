"""The answers of planner, worker, synthesizer, judge and other roles to a request.

They are made of the request's own words and the tools' results, so that tests can trace them.
"""

import re
from dataclasses import dataclass

from leadhand.testing.exchange import Completion, ModelReply, Request, Role, ScriptedCall, Tool
from leadhand.testing.json_data import Json, Object, compact, items, mapping, text
from leadhand.testing.phrases import ENDINGS, Phrases
from leadhand.testing.schema import fill, properties, resolved

_COUNT = re.compile(r"\btasks=(\d{1,6})\b")
_WAYS = (
    "Find the facts on {topic}, with where each one is from",
    "Measure and compare what bears on {topic}, and name the figures",
    "Write up what was found on {topic}, with its sources",
    "Look into the open points of {topic} and say which remain",
)
_LOOKING = re.compile(
    r"search|read|list|quer|find|get|fetch|look|grep|sql|describe|calc|show|open|load|page|count"
)
_FOLLOWING = re.compile(r"read|open|fetch|load|page|full")
_WORKER = "worker"
_ESCALATE = "escalate"
_CONTINUING = re.compile(r"more|next|continue")
_ESCALATION = re.compile(r"\bESCALATE:\s*(\w+)[:,]?[ \t]*([^\n]*)")


@dataclass(frozen=True, slots=True)
class OutputTool:
    schema: Object
    tool: str | None
    """None if its text is."""


def output_of(request: Request) -> OutputTool | None:
    named = [tool for tool in request.tools if tool.name in ENDINGS and tool.name != _ESCALATE]
    plans = [tool for tool in request.tools if is_plan(tool.parameters)]
    # A request with only `escalate` expects its answer elsewhere, for example as native JSON.
    others = [tool for tool in request.tools if tool.name != _ESCALATE]
    alone = others if len(others) == 1 and request.schema is None else []
    if not request.must_call:
        # A single tool is the output tool, unless it looks something up or was called before.
        alone = [one for one in alone if not (request.calls or _looks_around(one))]
    for tool in (*named, *plans, *alone):
        return OutputTool(tool.parameters, tool.name)
    if request.schema is not None:
        return OutputTool(request.schema, None)
    return None


def role_of(request: Request) -> Role:
    """The role that a request is for, by the properties of its answer."""
    output = output_of(request)
    if output is None:
        return "plain"
    if is_plan(output.schema):
        return "planner"
    wanted = properties(output.schema)
    if {"worker", "confidence"} <= {*wanted}:
        return "router"
    if "contradictions" in wanted:
        return "synthesizer"
    if "score" in wanted:
        return "scorer"
    if "choice" in wanted or "winners" in wanted:
        return "judge"
    if "points" in wanted:
        return "critic"
    return "worker" if output.tool in ENDINGS else "structured"


def complete(request: Request, reply: ModelReply) -> Completion:
    """The completion for a script's reply; an empty reply is filled in by the role."""
    if reply.json is not None:
        return _put(output_of(request), reply.json)
    if reply.text is None and not reply.tool_calls:
        return answer(request)
    return _completion(reply.text or "", reply.tool_calls)


def answer(request: Request) -> Completion:
    output = output_of(request)
    words = Phrases(request)
    if output is not None and is_plan(output.schema):
        return _put(output, plan_for(output.schema, words))
    escalation = _escalation(request, words)
    if escalation is not None:
        return _completion("", (escalation,))
    looks = _looks(request, output, words)
    if looks:
        return _completion("", looks)
    if output is not None:
        return _put(output, fill(output.schema, words.for_answers))
    return _completion(words.derived)


def _put(output: OutputTool | None, value: Json) -> Completion:
    if output is not None and output.tool is not None:
        return _completion("", (ScriptedCall(output.tool, mapping(value)),))
    return _completion(value if isinstance(value, str) else compact(value))


def _completion(text: str, calls: tuple[ScriptedCall, ...] = ()) -> Completion:
    return Completion(text, calls, "tool_calls" if calls else "stop")


def _escalation(request: Request, words: Phrases) -> ScriptedCall | None:
    asked = _ESCALATION.search(words.said)
    tool = next((tool for tool in request.tools if tool.name == _ESCALATE), None)
    if asked is None or tool is None:
        return None
    message = asked[2].strip() or f"it was asked for in: {words.intent}"
    wishes: Object = {"reason": asked[1], "message": message}
    return ScriptedCall(_ESCALATE, mapping(fill(tool.parameters, wishes.get)))


def _looks(request: Request, output: OutputTool | None, words: Phrases) -> tuple[ScriptedCall, ...]:
    """Calls of tools that look something up before the answer: first searching, then reading."""
    done = {call.name for call in request.calls}
    ending = {*ENDINGS, output.tool if output else None}
    open_to = [tool for tool in request.tools if tool.name not in ending | done]
    looking = [
        tool
        for tool in open_to
        if _looks_around(tool) and (words.mentions(tool.name) or not _CONTINUING.search(tool.name))
    ]
    if not looking and output is None and not request.calls:
        looking = open_to
    finding = [tool for tool in looking if not _FOLLOWING.search(tool.name.lower())]
    return tuple(_call(tool, words) for tool in finding or looking)


def _looks_around(tool: Tool) -> bool:
    return _LOOKING.search(tool.name.lower()) is not None


def _call(tool: Tool, words: Phrases) -> ScriptedCall:
    required = items(tool.parameters.get("required"))

    def needed(name: str) -> Json:
        return words.for_tools(name) if name in required or not name else None

    return ScriptedCall(tool.name, mapping(fill(tool.parameters, needed)))


def is_plan(schema: Object) -> bool:
    """Whether a schema asks for a plan: a top-level list `tasks`."""
    tasks = resolved(properties(schema).get("tasks"), schema)
    return tasks.get("type") == "array" or "items" in tasks


def plan_for(schema: Object, words: Phrases) -> Json:
    """A plan with a task for each worker that the schema names.

    The third task depends on the first two. A marker `tasks=NNN` asks for NNN independent tasks. A
    stepwise planner is done in its second round. A worker is described only if there is none.
    """
    task = resolved(resolved(properties(schema).get("tasks"), schema).get("items"), schema)
    workers = _named(task, schema) or [_WORKER]
    marker = _COUNT.search(words.said)
    count = int(marker[1]) if marker else len(workers)
    joins = not marker and count >= 3
    topic = repr(" ".join(words.intent.split()[:12]).rstrip(".?!,;:"))
    tasks: list[Json] = []
    for number in range(1, count + 1):
        wishes: Object = {
            "id": f"t{number}",
            "worker": workers[(number - 1) % len(workers)],
            "intent": _intent(number, topic, counted=marker is not None),
            "depends_on": ["t1", "t2"] if joins and number == 3 else [],
            "": f"Every statement on {topic} has its source",
        }
        root: Object = {
            **task,
            "$defs": schema.get("$defs"),
            "definitions": schema.get("definitions"),
        }
        tasks.append(fill(root, wishes.get))

    # A decision after the first is made from results: all that was planned is done.
    done = "done" in properties(schema) and words.has_data

    def wish(name: str) -> Json:
        if name == "done":
            return done
        if name == "workers":
            return [] if _named(task, schema) else [_described(words)]
        return ([] if done else tasks) if name == "tasks" else words.for_answers(name)

    return fill(schema, wish)


def _intent(number: int, topic: str, *, counted: bool) -> str:
    way = _WAYS[(number - 1) % len(_WAYS)].format(topic=topic)
    return f"Part {number}: {way}" if counted or number > len(_WAYS) else way


def _described(words: Phrases) -> Object:
    return {
        "name": _WORKER,
        "description": f"Finds what is known about {words.intent}"[:200],
        "instructions": "Find what you are asked for, and say where it is from.",
        "tools": [],
        "tier": None,
        "output": None,
    }


def _named(task: Object, root: Object) -> list[str]:
    worker = resolved(mapping(task.get("properties")).get("worker"), root)
    named = items(worker.get("enum")) or [worker.get("const")]
    for choice in items(worker.get("anyOf")):
        shape = resolved(choice, root)
        named += [*items(shape.get("enum")), shape.get("const")]
    return [text(name) for name in named if text(name)]
