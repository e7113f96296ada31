"""A run that a person, its deadline, its budget or another owner stopped goes on (F30, F37).

On the command line, with models over HTTP.
"""

import signal
from contextlib import closing
from pathlib import Path

import pytest

from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event, ModelCalled
from leadhand.journal import open_store
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object
from tests.patience import wait_until
from tests.programs import Ended, Program
from tests.run.resuming.office import REQUESTS, RESUME_IT, RUN_IT, office
from tests.run.resuming.processes import CLI, Processes
from tests.run.resuming.test_killed_models import HANG, asked

SECOND_STEP: Object = {"role": "worker", "step": 2}
LOUD_RUN, LOUD_RESUME = RUN_IT[:-1], RESUME_IT[:-1]


def answer_of(ended: Ended) -> Answer:
    """The answer that was printed."""
    return Answer.model_validate_json(ended.out)


def events(folder: Path) -> list[Event]:
    """What is kept of the one run."""
    with closing(open_store(folder / "home")) as journal:
        (run,) = journal.runs()
        return [*journal.events(run.run_id)]


def hanging(
    processes: Processes, server: ScriptedServer, folder: Path, match: Object, *, requests: int
) -> Program:
    """The program, where the models don't answer what `match` says, once so much was asked."""
    office(folder)
    server.configure(script=[{"match": match, "reply": HANG}])
    child = processes.start(CLI, *LOUD_RUN, folder=folder, env=server.env())
    wait_until(lambda: server.stats().requests >= requests)
    return child


def assert_counted_once(answer: Answer, folder: Path) -> None:
    """What both processes used is in the last answer, and nothing of it twice."""
    calls = [event for event in events(folder) if isinstance(event, ModelCalled)]
    assert answer.metrics.requests == len(calls)
    assert answer.metrics.input_tokens == sum(call.input_tokens for call in calls)
    assert answer.metrics.output_tokens == sum(call.output_tokens for call in calls)
    of_tasks = sum(task.input_tokens for task in answer.tasks)
    assert of_tasks == sum(call.input_tokens for call in calls if call.task_id is not None)


def test_a_run_has_one_owner_and_is_free_as_soon_as_that_is_killed(
    processes: Processes, later: Processes, model_server: ScriptedServer, tmp_path: Path
) -> None:
    """F30: who comes second is told who has it, and does nothing."""
    env = model_server.env()
    owner = hanging(processes, model_server, tmp_path, SECOND_STEP, requests=5)
    told = later.run(CLI, *RESUME_IT, folder=tmp_path, env=env)
    assert (told.status, told.out) == (2, "")
    assert f"is under way: process {owner.pid} on " in told.err
    assert told.err.count("\n") == 1
    assert model_server.stats().requests == 5
    owner.kill(signal.SIGKILL)
    owner.ended()
    racers = [
        place.start(CLI, *RESUME_IT, folder=tmp_path, env=env) for place in (processes, later)
    ]
    wait_until(lambda: any(racer.said("err") for racer in racers))
    (loser,) = [racer for racer in racers if racer.said("err")]
    (winner,) = [racer for racer in racers if racer is not loser]
    ended = loser.ended()
    assert (ended.status, ended.out) == (2, "")
    assert f"process {winner.pid} on " in ended.err
    winner.kill(signal.SIGKILL)
    winner.ended()
    model_server.configure(script=None)
    last = later.run(CLI, *RESUME_IT, folder=tmp_path, env=env)
    assert (last.status, answer_of(last).status) == (0, "complete")


@pytest.mark.parametrize(
    ("number", "match", "requests", "hung"),
    [
        (signal.SIGINT, {"role": "planner"}, 1, 1),
        (signal.SIGINT, SECOND_STEP, 5, 2),
        (signal.SIGTERM, {"role": "synthesizer"}, 7, 1),
    ],
)
def test_a_signal_stops_the_run_with_an_answer_and_it_goes_on_as_it_was_told(
    processes: Processes,
    later: Processes,
    model_server: ScriptedServer,
    tmp_path: Path,
    number: int,
    match: Object,
    requests: int,
    hung: int,
) -> None:
    """F37: while it plans, works and writes the answer. Cancelled attempts go on, none is lost."""
    child = hanging(processes, model_server, tmp_path, match, requests=requests)
    child.kill(number)
    stopped = child.ended()
    answer = answer_of(stopped)
    assert (stopped.status, answer.status, answer.ended_by) == (130, "cancelled", "person")
    assert (
        stopped.err.splitlines()[-1] == f"leadhand: continue with: leadhand resume {answer.run_id}"
    )
    model_server.configure(script=None)
    ended = later.run(
        CLI, "resume", answer.run_id, "--json", folder=tmp_path, env=model_server.env()
    )
    whole = answer_of(ended)
    assert (ended.status, whole.status, whole.gaps) == (0, "complete", ())
    assert {task.id: task.attempts for task in whole.tasks} == {"t1": 1, "t2": 1}
    assert model_server.stats().requests == REQUESTS + hung
    assert sorted(asked(model_server).values()) == [1] * (REQUESTS - hung) + [2] * hung
    assert_counted_once(whole, tmp_path)


def test_a_second_signal_ends_it_at_once_and_it_goes_on_all_the_same(
    processes: Processes, later: Processes, model_server: ScriptedServer, tmp_path: Path
) -> None:
    """F37."""
    child = hanging(processes, model_server, tmp_path, SECOND_STEP, requests=5)
    child.kill(signal.SIGSTOP)  # so that both are there when it looks
    child.kill(signal.SIGINT)
    child.kill(signal.SIGTERM)
    child.kill(signal.SIGCONT)
    ended = child.ended()
    assert (ended.status, ended.out) == (130, "")
    assert "leadhand: continue with: leadhand resume run-" in ended.err
    model_server.configure(script=None)
    last = later.run(CLI, *RESUME_IT, folder=tmp_path, env=model_server.env())
    assert (last.status, answer_of(last).status) == (0, "complete")
    assert model_server.stats().requests == REQUESTS + 2


def test_what_the_deadline_did_not_reach_for_is_done_when_there_is_more_time(
    processes: Processes, later: Processes, model_server: ScriptedServer, tmp_path: Path
) -> None:
    env = model_server.env()
    hangs: Object = {"match": {**SECOND_STEP, "tool": "find_rules"}, "reply": HANG}
    for seconds in (2, 8, 32, 128):  # as long as this machine takes to get one task done
        folder = tmp_path / str(seconds)
        folder.mkdir()
        office(folder)
        model_server.reset(script=[hangs])
        first = processes.run(CLI, *RUN_IT, "--deadline", f"{seconds}s", folder=folder, env=env)
        late = answer_of(first)
        assert (first.status, late.ended_by) == (4, "deadline")
        done = {task.id for task in late.tasks if task.status == "completed"}
        if done:
            break
    assert done
    before = model_server.stats().requests
    model_server.configure(script=None)
    ended = later.run(CLI, *RESUME_IT, "--deadline", "1h", folder=folder, env=env)
    whole = answer_of(ended)
    assert (ended.status, whole.status, whole.ended_by) == (0, "complete", None)
    since = events(folder)[-_since_resumed(folder) :]
    assert not done & {getattr(event, "task_id", None) for event in since}
    assert model_server.stats().requests > before
    assert_counted_once(whole, folder)


def test_what_the_budget_did_not_reach_for_is_done_when_there_is_more_to_spend(
    processes: Processes, later: Processes, model_server: ScriptedServer, tmp_path: Path
) -> None:
    """The budget is the run's in all: what was spent before counts, and is not counted twice."""
    office(tmp_path)
    env = model_server.env()
    first = processes.run(CLI, *RUN_IT, "--budget-tokens", "6000", folder=tmp_path, env=env)
    short = answer_of(first)
    assert (first.status, short.ended_by) == (4, "budget")
    before = model_server.stats().requests
    assert 1 <= before < REQUESTS
    same = later.run(CLI, *RESUME_IT, folder=tmp_path, env=env)
    assert (same.status, answer_of(same).ended_by) == (4, "budget")
    assert model_server.stats().requests == before
    ended = processes.run(CLI, *RESUME_IT, "--budget-tokens", "1000000", folder=tmp_path, env=env)
    whole = answer_of(ended)
    assert (ended.status, whole.status, whole.ended_by) == (0, "complete", None)
    assert model_server.stats().requests == REQUESTS
    assert {*asked(model_server).values()} == {1}
    assert_counted_once(whole, tmp_path)


def _since_resumed(folder: Path) -> int:
    """How many events there are after the run was gone on with."""
    log = events(folder)
    return len(log) - max(n for n, event in enumerate(log) if event.type == "run_resumed")
