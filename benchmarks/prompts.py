"""What the prompt of a model's worker is made of, in tokens of four characters.

    python -m benchmarks.prompts

One request each to a scripted server, of a task alone and of one that depends on another: what the
user wrote (instructions, intent, output type) is taken off; the rest is ours.
"""

import asyncio
import os

from pydantic import BaseModel

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object, compact, items, mapping, text

INSTRUCTIONS, INTENT = "You survey buildings.", "Find out how high the tower is."


class Height(BaseModel):
    """What a typed worker answers."""

    metres: float
    of: str


def asked(server: ScriptedServer, worker: Worker) -> list[Object]:
    """The bodies of two requests: of a task alone, and of one that depends on it."""
    server.reset(keep_bodies=2)
    first = Task(id="a", worker=worker.name, intent=INTENT)
    second = first.model_copy(update={"id": "b", "depends_on": ("a",)})
    team = Team("t", workers=(worker,), model="openai-chat:scripted")
    supervisor = Supervisor(team, synthesizer=Merge())
    asyncio.run(supervisor.run(plan=Plan(goal="Survey.", tasks=(first, second))))
    return [mapping(kept.get("body")) for kept in server.stats().bodies]


def row(name: str, alone: Object, after: Object) -> str:
    """A line of the table."""
    system, shown = (text(mapping(one).get("content")) for one in items(alone.get("messages")))
    tools = [mapping(mapping(tool).get("function")) for tool in items(alone.get("tools"))]
    forms = [mapping(mapping(tool.get("parameters")).get("properties")) for tool in tools]
    users = sum(len(compact(form["answer"])) for form in forms if "answer" in form)
    schemas = len(compact(alone.get("tools", []))) - users if tools else 0
    rules = len(system) - len(INSTRUCTIONS)
    fenced = text(mapping(items(after.get("messages"))[-1]).get("content"))
    data = fenced.partition('">\n')[2].partition("\n</data-")[0]
    fence = len(fenced) - len(shown) - len(data)
    chars = (schemas, rules, len(shown) - len(INTENT), fence)
    return f"| {name} | {' | '.join(f'{count / 4:.0f}' for count in (sum(chars[:3]), *chars))} |"


def main() -> None:
    """Print what each kind of worker adds to a task."""
    workers = {
        "plain": Worker("w", "Surveys", instructions=INSTRUCTIONS, plain=True),
        "text": Worker("w", "Surveys", instructions=INSTRUCTIONS),
        "typed": Worker("w", "Surveys", instructions=INSTRUCTIONS, output=Height),
    }
    print("| worker | in all | schemas | instructions | handoff | a result it depends on |")
    print("|---|---|---|---|---|---|")
    with ScriptedServer() as server:
        os.environ.update(server.env())
        for name, worker in workers.items():
            print(row(name, *asked(server, worker)))


if __name__ == "__main__":
    main()
