"""Models are not paid twice for an answer that is safe, whenever the process was killed (F29)."""

import json
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from leadhand.contracts.answer import Answer
from leadhand.contracts.events import ModelCalled
from leadhand.journal import open_store
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object
from tests.patience import wait_until
from tests.run.resuming.office import REQUESTS, RESUME_IT, RUN_IT, office
from tests.run.resuming.processes import CLI, Processes

THINKERS = "tests.run.resuming.thinkers"
RUN = "thinking"
HANG: Object = {"misbehave": {"latency_ms": 600_000}}
"""An answer that comes long after its test is over."""
ONE_BY_ONE: Object = {
    "match": {"role": "planner", "system": "survey"},
    "reply": {
        "json": {
            "tasks": [
                {"id": "t1", "worker": "survey", "intent": "Find the height of the tower"},
                {"id": "t2", "worker": "law", "intent": "Who may climb", "depends_on": ["t1"]},
                {"id": "t3", "worker": "guide", "intent": "Find a guide", "depends_on": ["t2"]},
            ],
            "synthesis": "merge",
            "instruction": "Answer the question",
        }
    },
}
"""A plan in which no two calls are under way at once, so that each kill hits one."""


def asked(server: ScriptedServer) -> Counter[str]:
    """How often each request was made, to the letter."""
    return Counter(json.dumps(kept, sort_keys=True) for kept in server.stats().bodies)


def calls(home: Path, run_id: str = RUN) -> list[ModelCalled]:
    """The calls that are in the journal."""
    with closing(open_store(home)) as journal:
        return [event for event in journal.events(run_id) if isinstance(event, ModelCalled)]


def test_a_run_killed_after_every_single_answer_pays_for_each_of_them_once(
    processes: Processes, later: Processes, model_server: ScriptedServer, tmp_path: Path
) -> None:
    """Of planner, workers at each of their steps, a nested team, an agent, and synthesizers."""
    home, env = str(tmp_path / "home"), model_server.env()
    model_server.configure(script=[ONE_BY_ONE])
    whole = processes.run(f"{THINKERS}:begin", home, "whole", "1000", folder=tmp_path, env=env)
    undisturbed = Answer.model_validate_json(whole.out)
    requests = model_server.stats().requests
    assert requests == undisturbed.metrics.requests >= 10
    model_server.reset(script=[ONE_BY_ONE])
    ended = processes.run(f"{THINKERS}:begin", home, RUN, "1", folder=tmp_path, env=env)
    assert ended.status == -signal.SIGKILL
    kills = 1
    while ended.status == -signal.SIGKILL:
        assert kills <= requests, "it does not come to its end"
        place = (later, processes)[kills % 2]
        ended = place.run(f"{THINKERS}:go_on", home, RUN, "1", folder=tmp_path, env=env)
        kills += 1
    assert ended.err == ""
    answer = Answer.model_validate_json(ended.out)
    assert kills == requests + 1, "the last one ends by itself"
    assert {*asked(model_server).values()} == {1}
    assert model_server.stats().requests == requests
    assert answer.status == undisturbed.status == "complete"
    assert answer.metrics.requests == requests
    assert answer.metrics.input_tokens == sum(
        call.input_tokens for call in calls(tmp_path / "home")
    )
    assert answer.answer == undisturbed.answer


@pytest.mark.parametrize(
    ("match", "answered", "hanging"),
    [
        ({"role": "planner"}, 0, 1),
        ({"role": "worker", "step": 2}, 3, 2),
        ({"role": "worker", "step": 3}, 5, 1),
        ({"role": "synthesizer"}, 6, 1),
    ],
)
def test_what_was_asked_when_the_program_was_killed_is_asked_again_and_nothing_else(
    processes: Processes,
    later: Processes,
    model_server: ScriptedServer,
    tmp_path: Path,
    match: Object,
    answered: int,
    hanging: int,
) -> None:
    """`leadhand run`, killed, and `leadhand resume`: in the very same words."""
    office(tmp_path)
    model_server.configure(script=[{"match": match, "reply": HANG}])
    child = processes.start(CLI, *RUN_IT, folder=tmp_path, env=model_server.env())
    wait_until(lambda: model_server.stats().requests >= answered + hanging)
    child.kill(signal.SIGKILL)
    assert child.ended().out == ""
    hung = {*asked(model_server)}
    model_server.configure(script=None)
    ended = later.run(CLI, *RESUME_IT, folder=tmp_path, env=model_server.env())
    answer = Answer.model_validate_json(ended.out)
    assert (ended.status, answer.status) == (0, "complete")
    times = asked(model_server)
    assert sum(times.values()) == REQUESTS + hanging
    assert sorted(times.values()) == [1] * (REQUESTS - hanging) + [2] * hanging
    assert {request for request, count in times.items() if count == 2} <= hung
    assert answer.metrics.requests == REQUESTS
