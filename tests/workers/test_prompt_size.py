"""What a worker's prompt costs beyond what its author and the task say.

Four characters are a token, as `ScriptedServer` counts.
"""

import pytest
from pydantic import BaseModel

from leadhand import Plan, Task
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object, compact, items, mapping, text
from tests.models.asking import OPENAI
from tests.workers.model_runs import bodies, messages, run, team, worker

MAX_TOKENS = 200
MAX_FENCE_TOKENS = 40
"""For the first result that a task depends on; the text of the result is not counted."""
INTENT = "Find out how high the tower is."


class Height(BaseModel):
    """A type of the user's own."""

    metres: float
    of: str


def height_of(place: str) -> str:
    """How high a place is."""
    return f"{place} is 324 m high"


def tokens(body: Object) -> float:
    """Of all messages and tool definitions of a request."""
    said = sum(len(text(message.get("content"))) for message in messages(body))
    return (said + len(compact(body.get("tools", [])))) / 4


def schema_of(body: Object) -> Json:
    """The schema of the answer itself, as it was sent."""
    (form,) = [tool for tool in functions(body) if tool.get("name") == "final_answer"]
    return mapping(mapping(form.get("parameters")).get("properties")).get("answer")


def functions(body: Object) -> list[Object]:
    return [mapping(mapping(tool).get("function")) for tool in items(body.get("tools"))]


def own(body: Object, *texts: str) -> float:
    """Tokens of what the worker's author and the task bring along."""
    tools = [tool for tool in items(body.get("tools")) if "height_of" in compact(tool)]
    given = sum(map(len, texts)) + len(compact(schema_of(body)))
    return (given + sum(len(compact(tool)) for tool in tools)) / 4


@pytest.mark.parametrize("fields", [{}, {"output": Height}, {"tools": (height_of,)}])
def test_a_task_costs_at_most_200_tokens_beyond_what_the_user_says(
    model_server: ScriptedServer, fields: dict[str, object]
) -> None:
    surveyor = worker(**fields)
    run(team(surveyor, model=OPENAI))
    (body,) = bodies(model_server)[:1]
    beyond = tokens(body) - own(body, surveyor.instructions, INTENT)
    assert beyond <= MAX_TOKENS, compact(body)


def test_a_result_of_another_task_costs_its_text_and_its_fence(
    model_server: ScriptedServer,
) -> None:
    first = Task(id="a", worker="surveyor", intent=INTENT)
    second = Task(id="b", worker="surveyor", intent=INTENT, depends_on=("a",))
    run(team(worker()), Plan(goal="survey", tasks=(first, second)))
    alone, after = bodies(model_server)
    shown = text(messages(after)[-1].get("content"))
    inside = shown.partition('from="a">\n')[2].partition("\n</data-")[0]
    assert inside
    assert tokens(after) - tokens(alone) - len(inside) / 4 <= MAX_FENCE_TOKENS
