"""Tool calls that need an approval: the attempt pauses, and continues after the reply."""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset

from leadhand import (
    Answer,
    Escalated,
    Handoff,
    InputError,
    Limits,
    Plan,
    Supervisor,
    Task,
    Team,
    Worker,
)
from leadhand.contracts.events import ApprovalGiven, ApprovalRequested, Event, TaskEscalated
from leadhand.contracts.outcome import PausedAttempt
from leadhand.contracts.people import CallReply, Question, Reply, RunMessage, ToolCall, Verdict
from leadhand.journal import MemoryJournal
from leadhand.ports import Journal
from leadhand.run.people import Ask
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer, VirtualClock, run_virtual
from leadhand.threads import DaemonThreads
from leadhand.workers.idempotency import key
from leadhand.workers.toolsets import toolset_of
from tests.handles import resumed
from tests.models.asking import OPENAI
from tests.run.people.desk import says
from tests.workers.model_runs import bodies, call, calls, final, one_task, said, steps, worker

RUN = "allowed"
TOWER = call("demolish", building="tower")


def wrapped(done: list[str]) -> object:
    """A toolset all of whose calls have to be allowed."""

    def demolish(building: str) -> str:
        """Takes a building down."""
        done.append(building)
        return f"{building} is down"

    return FunctionToolset[None]([demolish]).approval_required()


def declared(done: list[str]) -> object:
    """A tool that is declared to need an approval."""

    def demolish(building: str) -> str:
        """Takes a building down."""
        done.append(building)
        return f"{building} is down"

    return Tool(demolish, requires_approval=True)


def asking(done: list[str]) -> object:
    """A tool that asks for itself."""

    def demolish(ctx: RunContext[None], building: str) -> str:
        """Takes a building down."""
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        done.append(building)
        return f"{building} is down"

    return FunctionToolset[None]([demolish])


def supervisor(
    *tools: object, person: Ask | None = None, journal: Journal, clock: VirtualClock | None = None
) -> Supervisor:
    """The supervisor of a worker with these tools."""
    team = Team("surveyors", workers=(worker(tools=tools),), model=OPENAI)
    return Supervisor(
        team, synthesizer=Merge(), person=person, approve=(), journal=journal, clock=clock
    )


@pytest.mark.parametrize("make", [wrapped, declared, asking])
def test_an_approved_call_is_made_in_the_same_attempt(
    model_server: ScriptedServer, make: Callable[[list[str]], object]
) -> None:
    model_server.configure(script=steps(TOWER, final("done")))
    done: list[str] = []
    ask, asked = says(Reply(verdict="approved"))
    doing = supervisor(make(done), person=ask, journal=MemoryJournal())
    answer = asyncio.run(doing.run(plan=one_task(), run_id=RUN))
    assert (answer.status, answer.output, done) == ("complete", "done", ["tower"])
    assert (answer.tasks[0].attempts, answer.metrics.requests) == (1, 2)
    (question,) = asked
    assert question.call
    assert [(one.tool, one.worker, one.arguments) for one in question.calls] == [
        ("demolish", "surveyor", {"building": "tower"})
    ]
    assert 'demolish needs a person\'s approval: {"building": "tower"}' in question.text


def test_a_refusal_goes_to_the_worker_and_into_the_answer(model_server: ScriptedServer) -> None:
    church = call("demolish", building="church")
    model_server.configure(script=steps(TOWER, church, church, final("done")))
    done: list[str] = []
    ask, asked = says(
        Reply(verdict="approved"), Reply(verdict="declined", text="it is listed", by="ada")
    )
    doing = supervisor(wrapped(done), person=ask, journal=MemoryJournal())
    answer = asyncio.run(doing.run(plan=one_task(), run_id=RUN))
    assert (answer.status, answer.output, done) == ("partial", "done", ["tower"])
    assert len(asked) == 2  # not again about the church
    told = said(bodies(model_server)[-1], "tool")[1:]
    assert [text for text in told if "refused this call, so it was not made: it is" in text] == told
    assert len(told) == 2
    refused = 'not done: ada refused the call demolish {"building": "church"}: it is listed'
    assert [gap.why for gap in answer.gaps] == [refused]
    assert refused in answer.answer.replace("\\", "")


def test_the_calls_of_one_response_are_one_question_and_each_has_its_reply(
    model_server: ScriptedServer,
) -> None:
    both = calls(
        ("demolish", {"building": "tower"}),
        ("measure", {"building": "tower"}),
        ("demolish", {"building": "church"}),
    )
    model_server.configure(script=steps(both, final("done")))
    done: list[str] = []
    measured: list[str] = []

    async def ask(question: Question) -> Reply:
        tower, church = question.calls
        assert measured == ["tower"]  # the others need not wait
        return Reply(
            task_id=question.task_id,
            calls={tower.id: True, church.id: CallReply(approved=False, reason="listed")},
        )

    def measure(building: str) -> str:
        """Measures a building."""
        measured.append(building)
        return "324 m"

    events: list[Event] = []
    doing = supervisor(wrapped(done), measure, person=ask, journal=MemoryJournal())
    answer = asyncio.run(doing.run(plan=one_task(), run_id=RUN, listener=events.append))
    assert (answer.status, done, measured) == ("partial", ["tower"], ["tower"])
    results = said(bodies(model_server)[-1], "tool")
    assert "324 m" in results[0]
    assert "tower is down" in results[1]
    assert "A person refused this call, so it was not made: listed" in results[2]
    (given,) = [one for one in events if isinstance(one, ApprovalGiven)]
    assert (given.verdict, [one.approved for one in given.calls.values()]) == (
        "approved",
        [True, False],
    )


@dataclass
class Demolition:
    """Tools that note what they did, under which key."""

    home: Path
    measured: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    copy_to: Path | None = None
    """Where to copy the journal when a building is taken down, as it is then."""

    def supervisor(self, home: Path | None = None) -> Supervisor:
        """A supervisor of its own, as in another process."""

        def measure(building: str) -> str:
            """Measures a building."""
            self.measured.append(building)
            return f"{building}: 324 m. {'Long. ' * 20_000}"

        def demolish(building: str, idempotency_key: str) -> str:
            """Takes a building down."""
            self.keys.append(idempotency_key)
            if self.copy_to is not None:
                shutil.copytree(self.home, self.copy_to)
                self.copy_to = None
            return f"{building} is down"

        tools = (measure, toolset_of([demolish], DaemonThreads()).approval_required())
        team = Team("surveyors", workers=(worker(tools=tools),), model=OPENAI)
        return Supervisor(team, synthesizer=Merge(), home=home or self.home)


async def replied(supervisor: Supervisor, verdict: Verdict = "approved") -> Answer:
    """The answer of the resumed run after a reply to its only question."""
    await supervisor.handle(RUN).reply(Reply(task_id="t1", verdict=verdict), resume=False)
    answer = await resumed(supervisor, RUN)
    await supervisor.close()
    return answer


def test_five_approvals_in_one_task_each_in_another_process(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    houses = [call("demolish", building=f"house {n}") for n in range(5)]
    model_server.configure(script=steps(call("measure", building="tower"), *houses, final("done")))
    crew = Demolition(tmp_path)
    first = crew.supervisor()
    answer = asyncio.run(first.run(plan=one_task(), run_id=RUN))
    asyncio.run(first.close())
    asked: list[str] = []
    while answer.status == "waiting":
        asked += [one.id for question in answer.waiting for one in question.calls]
        answer = asyncio.run(replied(crew.supervisor()))
    assert (answer.status, answer.output) == ("complete", "done")
    assert crew.keys == asked
    assert len({*asked}) == 5
    assert crew.measured == ["tower"]
    assert (answer.tasks[0].attempts, answer.metrics.requests) == (1, 7)


def test_a_call_that_was_cut_off_by_a_crash_is_made_again_under_the_same_key(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    model_server.configure(script=steps(call("measure", building="a"), TOWER, final("done")))
    crew = Demolition(tmp_path / "first", copy_to=tmp_path / "second")
    first = crew.supervisor()
    parked = asyncio.run(first.run(plan=one_task(), run_id=RUN))
    asyncio.run(first.close())
    asyncio.run(replied(crew.supervisor()))
    second = crew.supervisor(tmp_path / "second")
    answer = asyncio.run(resumed(second, RUN))
    asyncio.run(second.close())
    assert answer.status == "complete"
    (call_,) = parked.waiting[0].calls
    assert crew.keys == [call_.id] * 2
    assert crew.measured == ["a"]
    assert answer.tasks[0].attempts == 1


def test_the_wait_for_a_person_counts_neither_as_time_nor_as_a_slot() -> None:
    other = asyncio.Event()
    wanted = ToolCall(id="k", tool="demolish", worker="crew", arguments={})

    async def ask(question: Question) -> Reply:
        await other.wait()
        await asyncio.sleep(2_000)
        return Reply(verdict="approved")

    async def work(handoff: Handoff) -> str | Escalated:
        if handoff.task_id == "t2":
            other.set()
            return "measured"
        if handoff.paused is None:
            paused = PausedAttempt(calls=(wanted,), conversation={"said": "so far"})
            return Escalated(reason="ambiguous_input", message="may I?", paused=paused)
        assert handoff.paused.replies == {"k": CallReply(approved=True)}
        return f"{handoff.paused.conversation}, attempt {handoff.attempt}"

    limits = Limits(timeout_s=1_000)
    tasks = tuple(Task(id=id, worker="crew", intent="Do it", limits=limits) for id in ("t1", "t2"))
    doing = Supervisor(
        Team("crews", workers=(Worker("crew", "Does it", run=work),)),
        synthesizer=Merge(),
        person=ask,
        approve=(),
        concurrency=1,
        deadline_s=None,
        clock=VirtualClock(),
    )
    answer = run_virtual(doing.run(plan=Plan(goal="work", tasks=tasks)))
    assert answer.status == "complete"
    assert answer.output == {"t1": "{'said': 'so far'}, attempt 1", "t2": "measured"}
    assert answer.tasks[0].started_s == 0
    assert answer.metrics.sequential_s == 0


def test_a_person_without_a_reply_leaves_the_question_open(model_server: ScriptedServer) -> None:
    model_server.configure(script=steps(TOWER, final("done")))
    done: list[str] = []

    async def ask(question: Question) -> None:
        return None

    journal = MemoryJournal()
    doing = supervisor(wrapped(done), person=ask, journal=journal)
    answer = asyncio.run(doing.run(plan=one_task(), run_id=RUN))
    assert (answer.status, done) == ("waiting", [])
    later = asyncio.run(replied(supervisor(wrapped(done), journal=journal)))
    assert (later.status, done) == ("complete", ["tower"])


def test_a_reply_names_all_calls_of_the_question_and_no_others(
    model_server: ScriptedServer,
) -> None:
    model_server.configure(script=steps(TOWER, call("demolish", building="church"), final("done")))
    done: list[str] = []
    journal = MemoryJournal()
    parked = supervisor(wrapped(done), journal=journal)
    (question,) = asyncio.run(parked.run(plan=one_task(), run_id=RUN)).waiting
    with pytest.raises(InputError, match="must name exactly the calls"):
        asyncio.run(
            parked.handle(RUN).reply(Reply(task_id="t1", calls={"another": True}), resume=False)
        )
    # A reply to the first question that arrives twice is no reply to the second.
    twice = Reply(task_id="t1", calls={question.calls[0].id: True})
    for _ in range(2):
        asyncio.run(parked.handle(RUN).reply(twice, resume=False))
    answer = asyncio.run(resumed(parked, RUN))
    assert (answer.status, done) == ("waiting", ["tower"])
    asyncio.run(journal.post(RunMessage(run_id=RUN, reply=twice)))
    answer = asyncio.run(resumed(parked, RUN))
    assert (answer.status, done) == ("waiting", ["tower"])


def test_arguments_without_their_secrets_are_never_carried_out(
    model_server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-Zt4Qm81xVbn39Lw0aPdR"
    monkeypatch.setenv("DOOR_TOKEN", secret)
    opened = call("demolish", building=f"vault {secret}")
    model_server.configure(script=steps(opened, opened, final("done")))
    done: list[str] = []

    def fresh() -> Supervisor:
        team = Team("surveyors", workers=(worker(tools=(wrapped(done),)),), model=OPENAI)
        return Supervisor(team, synthesizer=Merge(), home=tmp_path)

    first = fresh()
    parked = asyncio.run(first.run(plan=one_task(), run_id=RUN))
    asyncio.run(first.close())
    second = fresh()
    again = asyncio.run(replied(second))
    assert (parked.status, again.status, done) == ("waiting", "waiting", [])
    assert "stored without the secrets" in said(bodies(model_server)[-1], "tool")[-1]
    assert not any(secret.encode() in file.read_bytes() for file in tmp_path.rglob("*.db*"))

    async def allow(question: Question) -> Reply:
        return Reply(verdict="approved")

    team = Team("surveyors", workers=(worker(tools=(wrapped(done),)),), model=OPENAI)
    at_once = Supervisor(team, synthesizer=Merge(), home=tmp_path, person=allow, approve=())
    asyncio.run(at_once.run(plan=one_task(), run_id="at-once"))
    asyncio.run(at_once.close())
    assert done == [f"vault {secret}"] * 2


def test_a_run_that_an_older_release_parked_is_resumed(model_server: ScriptedServer) -> None:
    """It kept the key of the call and no conversation."""
    model_server.configure(script=steps(TOWER, final("done")))
    done: list[str] = []
    journal = MemoryJournal()
    doing = supervisor(wrapped(done), journal=journal)
    asyncio.run(doing.run(plan=one_task(), run_id="new"))
    old = key(f"{RUN}/t1", "demolish", {"building": "tower"}, occurrence=1)
    for event in asyncio.run(journal.events("new")):
        if isinstance(event, ApprovalRequested):
            escalated = TaskEscalated(
                seq=event.seq,
                at=event.at,
                elapsed_s=event.elapsed_s,
                run_id=RUN,
                task_id="t1",
                attempt=1,
                reason="ambiguous_input",
                message="may I?",
                call=old,
                final=False,
                decision="ask",
            )
            asked = replace(
                event, run_id=RUN, seq=event.seq + 1, calls=(), conversation=None, attempt=None
            )
            journal.append(escalated)
            journal.append(asked)
            break
        journal.append(replace(event, run_id=RUN))
    asyncio.run(journal.commit())
    answer = asyncio.run(replied(doing))
    assert (answer.status, done) == ("complete", ["tower"])
    assert answer.tasks[0].attempts == 2
