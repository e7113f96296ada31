"""`run.events(deltas=True)`: what models write, as they write it."""

import asyncio
import json

import pytest

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.events import Event, ModelCalled, TextDelta
from leadhand.models.writing import watching
from leadhand.run.reading import MAX_TEXTS, Reader
from leadhand.testing import ScriptedModel, ScriptedServer

WORDS = "Refunds take five working days and are paid to the card that was used. " * 20
MODEL = ScriptedModel(tokens_per_s=400)
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def team(**reply: object) -> Team:
    MODEL.configure(script=[{"reply": reply}])
    worker = Worker("desk", "Answers", instructions="Answer.", plain=True)
    return Team("desk", model=MODEL.model, workers=[worker])


async def deltas_of(team: Team) -> list[tuple[float, TextDelta]]:
    """The deltas of a run of one task, and when they came."""
    plan = Plan(goal="How long?", tasks=(Task(id="a", worker="desk", intent="Say how long."),))
    run = await Supervisor(team).start(plan=plan)
    loop = asyncio.get_running_loop()
    return [
        (loop.time(), each) async for each in run.events(deltas=True) if isinstance(each, TextDelta)
    ]


async def test_a_worker_s_text_comes_at_most_twenty_times_a_second_while_it_is_written() -> None:
    deltas = await deltas_of(team(text=WORDS))
    times = [time for time, _ in deltas]
    assert "".join(delta.text for _, delta in deltas) == WORDS
    assert {(delta.role, delta.task_id) for _, delta in deltas} == {("worker", "a")}
    assert times[-1] - times[0] > 0.5 * len(WORDS) / 4 / 400
    assert len(times) <= 20 * (times[-1] - times[0]) + 2


async def test_a_secret_in_what_a_model_writes_is_redacted() -> None:
    """F58"""
    deltas = await deltas_of(team(text=f"The token is {TOKEN} and nothing else. {WORDS}"))
    text = "".join(delta.text for _, delta in deltas)
    assert text.startswith("The token is [redacted] and nothing else.")


async def test_terminal_controls_and_workflow_commands_are_escaped() -> None:
    """F34"""
    deltas = await deltas_of(team(text=f"first\n::error::forged \x1b[31mred\n{WORDS}"))
    text = "".join(delta.text for _, delta in deltas)
    assert text.startswith("first\n: :error::forged \\x1b[31mred\n")


async def test_nothing_more_is_written_once_the_answer_is_there() -> None:
    order: list[str] = []
    plan = Plan(goal="How long?", tasks=(Task(id="a", worker="desk", intent="Say how long."),))

    def hear(event: Event) -> None:
        order.extend(["called"] if isinstance(event, ModelCalled) else [])

    with watching(lambda role: lambda delta: order.append("wrote")):
        await Supervisor(team(text=WORDS)).run(plan=plan, listener=hear)
    assert order.count("wrote") > 1
    assert order[-1] == "called"


async def test_pieces_that_are_not_read_in_time_are_dropped_and_the_text_begins_again() -> None:
    reader = Reader(deltas=True)
    for number in range(MAX_TEXTS + 5):
        reader.add_text(TextDelta("a", "worker", f"{number} "))
    assert len([*reader.texts()]) == MAX_TEXTS
    reader.add_text(TextDelta("b", "worker", "first"))
    reader.add_text(TextDelta("a", "worker", "newest"))
    assert [(each.text, each.reset) for each in reader.texts()] == [
        ("first", False),
        ("newest", True),
    ]


@pytest.mark.wall_clock
async def test_a_request_that_is_put_in_another_way_begins_again(
    model_server: ScriptedServer,
) -> None:
    model_server.configure(script="tests.models.scripts:words_first")
    workers = [Worker(name, f"Does {name}", instructions="Answer.") for name in ("x", "y")]
    run = await Supervisor(
        Team("desk", model="openai-chat:scripted", workers=workers, planner="ahead")
    ).start("Find out how high the tower is and when it was built")
    deltas = [each async for each in run.events(deltas=True) if isinstance(each, TextDelta)]
    written = ""
    for delta in deltas:
        if delta.role == "planner":
            written = ("" if delta.reset else written) + delta.text
    assert json.loads(written)["tasks"]
