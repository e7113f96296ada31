"""Plans for any schema with a top-level list `tasks`."""

import re

from leadhand.testing.json_data import Json, Object, items, mapping, text
from leadhand.testing.phrases import Phrases
from leadhand.testing.schema import fill, properties, resolved

_COUNT = re.compile(r"\btasks=(\d{1,6})\b")
_WAYS = (
    "Find the facts on {topic}, with where each one is from",
    "Measure and compare what bears on {topic}, and name the figures",
    "Write up what was found on {topic}, with its sources",
    "Look into the open points of {topic} and say which remain",
)


def is_plan(schema: Object) -> bool:
    """Whether a schema asks for a plan: a top-level list `tasks`."""
    tasks = resolved(properties(schema).get("tasks"), schema)
    return tasks.get("type") == "array" or "items" in tasks


def plan(schema: Object, words: Phrases) -> Json:
    """A plan with a task for each worker that the schema names.

    The third task depends on the first two; all others are independent. A marker `tasks=NNN` in the
    request asks for NNN independent tasks instead.
    """
    task = resolved(resolved(properties(schema).get("tasks"), schema).get("items"), schema)
    workers = _workers(task, schema)
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

    def wish(name: str) -> Json:
        return tasks if name == "tasks" else words.for_answers(name)

    return fill(schema, wish)


def _intent(number: int, topic: str, *, counted: bool) -> str:
    way = _WAYS[(number - 1) % len(_WAYS)].format(topic=topic)
    return f"Part {number}: {way}" if counted or number > len(_WAYS) else way


def _workers(task: Object, root: Object) -> list[str]:
    """The names that a task's `worker` may have."""
    worker = resolved(mapping(task.get("properties")).get("worker"), root)
    named = items(worker.get("enum")) or [worker.get("const")]
    for choice in items(worker.get("anyOf")):
        shape = resolved(choice, root)
        named += [*items(shape.get("enum")), shape.get("const")]
    return [text(name) for name in named if text(name)] or ["worker"]
