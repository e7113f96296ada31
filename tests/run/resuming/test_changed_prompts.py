"""A run that is resumed with other prompts than it was started with says so, and only then."""

import dataclasses
from collections.abc import Sequence

import pytest

from leadhand import Supervisor, Team, Worker
from leadhand.contracts.events import Event, ModelCalled, RunResumed, RunStarted
from leadhand.contracts.team import Role
from leadhand.testing import VirtualClock, run_virtual
from leadhand.testing.json_data import Json, Object
from tests.handles import resumed
from tests.models.in_process import InProcess
from tests.run.resuming.story import RUN, Stops, kept
from tests.synthesis.deliberation import rule, script
from tests.workers.model_runs import call, final

TASKS: Json = [
    {"id": "t1", "worker": "surveyor", "intent": "Find the height."},
    {"id": "t2", "worker": "law", "intent": "Say who may climb it.", "depends_on": ["t1"]},
]
INNER: Json = [{"id": "rules", "worker": "reader", "intent": "Read the rules."}]


def height(building: str) -> str:
    """How high a building is."""
    return f"{building}: 91 m"


def team(server: InProcess, told: str = "") -> Team:
    """A team with a team in it; `told` goes at the end of all instructions."""
    role = Role(instructions=told)
    reader = Worker("reader", "Reads rules", instructions=f"You read.{told}")
    law = Team("law", workers=(reader,), planner=role, synthesizer=role)
    return Team(
        "office",
        model=server.model,
        workers=(
            Worker("surveyor", "Heights", instructions=f"You survey.{told}", tools=(height,)),
            Worker("law", "Who may do what", team=law),
        ),
        planner=role,
        synthesizer=role,
    )


@pytest.fixture(name="server", scope="module")
def _server() -> InProcess:
    server = InProcess()
    plans = [
        {**rule("planner", json={"tasks": tasks, "synthesis": "merge", "instruction": ""})}
        for tasks in (TASKS, INNER)
    ]
    plans[0]["match"] = {"role": "planner", "system": "`law`"}
    measured: Object = {
        "match": {"system": "You survey.", "step": 1},
        "reply": call("height", building=""),
    }
    script(server, *plans, measured, {"match": {"role": "worker"}, "reply": final("91 m")})
    return server


@pytest.fixture(name="past", scope="module")
def _past(server: InProcess) -> tuple[Sequence[Event], Sequence[int]]:
    """The events of a run, and how many of them each of its commits kept."""
    journal = Stops()
    supervisor = Supervisor(team(server), deadline_s=None, journal=journal, clock=VirtualClock())
    answer = run_virtual(supervisor.run("How high is it, and who may climb it?", run_id=RUN))
    assert answer.status == "complete"
    return journal.store.events(RUN), journal.commits


def resume(server: InProcess, past: Sequence[Event], told: str = "") -> tuple[bool, int]:
    """Whether the resumed run says that its prompts have changed, and how many calls it makes."""
    journal, before = kept(past), server.stats().requests
    supervisor = Supervisor(
        team(server, told), deadline_s=None, journal=journal, clock=VirtualClock()
    )
    answer = run_virtual(resumed(supervisor, RUN))
    assert answer.status == "complete"
    events = journal.store.events(RUN)[len(past) :]
    said = any(isinstance(event, RunResumed) and event.prompts_changed for event in events)
    return said, server.stats().requests - before


def test_it_says_so_exactly_where_answers_are_no_longer_used(
    server: InProcess, past: tuple[Sequence[Event], Sequence[int]]
) -> None:
    """Stopped at any of its commits, with the prompts that it had and with others."""
    events, commits = past
    calls = sum(isinstance(event, ModelCalled) for event in events)
    said: list[bool] = []
    for stop in commits:
        answered = sum(isinstance(event, ModelCalled) for event in events[:stop])
        same, left = resume(server, events[:stop])
        changed, asked = resume(server, events[:stop], " Be brief.")
        assert not same
        assert left == calls - answered
        assert changed == (asked > left), f"after event {stop}"
        said.append(changed)
    assert {*said} == {True, False}


def test_a_journal_from_before_prompts_were_recorded_counts_as_changed(
    server: InProcess, past: tuple[Sequence[Event], Sequence[int]]
) -> None:
    events = [
        dataclasses.replace(event, prompts="") if isinstance(event, RunStarted) else event
        for event in past[0]
    ]
    first = next(n for n, event in enumerate(events) if isinstance(event, ModelCalled))
    assert resume(server, events[: first + 1])[0]
    assert not resume(server, events[:first])[0], "no call was unfinished"


def test_it_is_said_once_and_not_again_when_the_run_is_resumed_with_the_same_prompts(
    server: InProcess, past: tuple[Sequence[Event], Sequence[int]]
) -> None:
    events = past[0]
    first = next(n for n, event in enumerate(events) if isinstance(event, ModelCalled))
    journal = kept(events[: first + 1])
    other = team(server, " Be brief.")
    supervisor = Supervisor(other, deadline_s=None, journal=journal, clock=VirtualClock())
    run_virtual(resumed(supervisor, RUN))
    log = journal.store.events(RUN)
    again = next(n for n, event in enumerate(log) if isinstance(event, ModelCalled) and n > first)
    assert resume(server, log[: again + 1], " Be brief.")[0] is False
