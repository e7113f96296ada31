"""A process that is killed between what a tool does and its commit calls it again by the same key.

F29: so the tool can tell that it has done this before.
"""

import signal
from collections import Counter
from pathlib import Path

from leadhand.contracts.answer import Answer
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object
from tests.run.resuming.letters import DEADLY, letters
from tests.run.resuming.processes import Processes

SEND: Object = {
    "tool_calls": [{"name": "send_letter", "arguments": {"to": to}} for to in (DEADLY, "bob")]
}
ESCALATE: Object = {
    "tool_calls": [
        {"name": "escalate", "arguments": {"reason": "ambiguous_input", "message": "which Bob?"}}
    ]
}


def test_a_call_has_the_same_key_after_a_kill_and_in_every_attempt(
    processes: Processes, later: Processes, model_server: ScriptedServer, tmp_path: Path
) -> None:
    """Of a worker and of one in a nested team; each call of its own has a key of its own."""
    post = {"role": "worker", "system": "You are the post."}
    model_server.configure(
        script=[
            {"match": {"role": "worker", "step": 1}, "reply": SEND},
            # By the first intent, not once: the process may be killed before it has the reply.
            {"match": {**post, "step": 2, "contains": "by hand"}, "reply": ESCALATE},
        ]
    )
    home, sent = tmp_path / "home", tmp_path / "letters"
    env, kills, function = model_server.env(), 0, "begin"
    while True:
        place = (processes, later)[kills % 2]
        ended = place.run(
            f"tests.run.resuming.letters:{function}", str(home), str(sent), folder=tmp_path, env=env
        )
        if ended.status != -signal.SIGKILL:
            break
        kills, function = kills + 1, "go_on"
        assert kills <= 2, "it is killed again and again"
    answer = Answer.model_validate_json(ended.out)
    assert answer.status == "complete"
    assert kills == 2
    assert {task.id: task.attempts for task in answer.tasks} == {"of-post": 2, "of-annex": 1}
    whom = dict(letters(sent))
    times = Counter(key for key, _ in letters(sent))
    assert Counter(whom.values()) == {DEADLY: 2, "bob": 2}, "a key for each call of each task"
    assert {(key, to) for key, to in letters(sent)} == {*whom.items()}, "one key, one call"
    of_ann = sorted(times[key] for key, to in whom.items() if to == DEADLY)
    assert of_ann[0] >= 2, "nobody made the call that was killed again"
    assert of_ann[1] >= 3, "another attempt had another key"
