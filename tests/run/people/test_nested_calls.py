"""Tool calls that workers of nested teams want to make: approved by a person who is away."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic_ai.tools import Tool

from leadhand import (
    Answer,
    Escalated,
    Handoff,
    InputError,
    Reply,
    Supervisor,
    TaskTemplate,
    Team,
    Worker,
)
from leadhand.contracts.events import ApprovalRequested, RunStarted
from leadhand.contracts.outcome import PausedAttempt
from leadhand.contracts.people import CallReply, Question, ToolCall
from leadhand.journal import MemoryJournal
from leadhand.run.people import Ask
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer, VirtualClock, run_virtual
from tests.handles import replied, resumed
from tests.models.asking import OPENAI
from tests.plans.samples import plan, task
from tests.run.people.desk import RUN
from tests.run.resuming.story import RUN as STORY
from tests.run.resuming.story import Stops, kept
from tests.workers.model_runs import call, final, steps, worker


@dataclass
class Crew:
    """Workers that ask before they take a house down, and count what they took down."""

    down: list[str] = field(default_factory=list[str])

    async def work(self, handoff: Handoff) -> str | Escalated:
        """Asks once; does it if that is approved."""
        if handoff.paused is None:
            wanted = ToolCall(
                id=f"key of {handoff.task_id}", tool="demolish", worker=handoff.to_agent,
                arguments={"house": handoff.task_id},
            )  # fmt: skip
            paused = PausedAttempt(calls=(wanted,), conversation=["so far"])
            return Escalated(reason="ambiguous_input", message="may I?", paused=paused)
        assert handoff.paused.replies is not None
        (reply,) = handoff.paused.replies.values()
        if not reply.approved:
            return f"not done: {reply.reason}"
        self.down.append(handoff.task_id)
        return f"down, attempt {handoff.attempt}"

    def team(self) -> Team:
        """A worker that asks, one that does not, and teams of them, one in the other."""
        asks = Worker("asks", "Takes houses down", run=self.work)
        deep = Team("deep", workers=(asks, Worker("builds", "Builds", run=str)))
        middle = Team("middle", workers=(Worker("deep", "Takes rows down", team=deep),))
        outer = Worker("middle", "Takes streets down", team=middle)
        return Team("outer", workers=(outer, asks))

    def supervisor(self, journal: MemoryJournal, person: Ask | None = None) -> Supervisor:
        """As in another process."""
        return Supervisor(
            self.team(), synthesizer=Merge(), approve=(), journal=journal,
            person=person, clock=VirtualClock(), deadline_s=None,
        )  # fmt: skip


BOTH = plan(task("a", worker="middle"), task("b", worker="asks"))


def yes(id: str | None) -> Reply:
    """Approves all calls of a task."""
    return Reply(task_id=id, verdict="approved")


def test_the_call_of_a_nested_worker_is_approved_later_in_another_process_and_made_once(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    model_server.configure(script=steps(call("demolish", building="tower"), final("it is down")))
    keys: list[str] = []

    def supervisor() -> Supervisor:
        def demolish(building: str, idempotency_key: str) -> str:
            """Takes a building down."""
            keys.append(idempotency_key)
            return f"{building} is down"

        tools = [Tool(demolish, requires_approval=True)]
        one = TaskTemplate(id="tower", worker="surveyor", intent="Take the tower down")
        workers = (worker(tools=tools),)
        inner = Team("inner", model=OPENAI, workers=workers, planner="template", template=[one])
        outer = Team("outer", workers=(Worker("net", "Surveys", team=inner),))
        return Supervisor(outer, synthesizer=Merge(), home=tmp_path)

    async def begin() -> Answer:
        doing = supervisor()
        answer = await doing.run(plan=plan(task("t1", worker="net")), run_id=RUN)
        await doing.close()
        return answer

    async def reply(question: Question) -> Answer:
        doing = supervisor()
        (found,) = (await doing.handle(RUN).view()).questions
        assert found == question
        calls = {one.id: CallReply(approved=True) for one in question.calls}
        answer = await replied(doing, RUN, Reply(task_id=question.task_id, calls=calls))
        await doing.close()
        return answer

    waits = asyncio.run(begin())
    (question,) = waits.waiting
    assert (waits.status, question.task_id, keys) == ("waiting", "t1/tower", [])
    (wanted,) = question.calls
    assert (wanted.tool, wanted.arguments) == ("demolish", {"building": "tower"})
    answer = asyncio.run(reply(question))
    assert (answer.status, answer.gaps, keys) == ("complete", (), [wanted.id])
    assert "it is down" in answer.answer
    assert (answer.tasks[0].attempts, answer.metrics.requests) == (1, 2)


def test_calls_at_every_depth_are_answered_one_after_the_other() -> None:
    async def story(first: str, second: str) -> tuple[Answer, Crew]:
        crew, journal = Crew(), MemoryJournal()
        waits = await crew.supervisor(journal).run(plan=BOTH, run_id=RUN)
        assert {one.task_id for one in waits.waiting} == {"a/deep/asks", "b"}
        assert [gap.task_id for gap in waits.gaps] == [one.task_id for one in waits.waiting]
        with pytest.raises(InputError, match="asks nothing about task 'asks'"):
            await replied(crew.supervisor(journal), RUN, yes("asks"))
        waits = await replied(crew.supervisor(journal), RUN, yes(first))
        assert [one.task_id for one in waits.waiting] == [second]
        refused = Reply(task_id=second, verdict="refused", text="listed")
        return await replied(crew.supervisor(journal), RUN, refused), crew

    answer, crew = run_virtual(story("a/deep/asks", "b"))
    assert (crew.down, answer.status) == (["asks"], "partial")
    assert [gap.task_id for gap in answer.gaps] == ["b"]
    answer, crew = run_virtual(story("b", "a/deep/asks"))
    assert (crew.down, answer.status) == (["b"], "partial")
    assert [gap.task_id for gap in answer.gaps] == ["a/deep/asks"]


def test_f29_it_can_be_killed_at_any_commit_while_the_replies_come() -> None:
    async def to_the_end(crew: Crew, journal: MemoryJournal, *, resume: bool = False) -> Answer:
        doing = crew.supervisor(journal)
        answer = await (resumed(doing, STORY) if resume else doing.run(plan=BOTH, run_id=STORY))
        while answer.status == "waiting":
            replies = [yes(one.task_id) for one in answer.waiting]
            answer = await replied(crew.supervisor(journal), STORY, *replies)
        return answer

    journal, crew = Stops(), Crew()
    whole = run_virtual(to_the_end(crew, journal))
    assert (whole.status, sorted(crew.down)) == ("complete", ["asks", "b"])
    events = [*journal.store.events(STORY)]
    for stop in journal.commits:
        left, again = kept(events[:stop]), Crew()
        answer = run_virtual(to_the_end(again, left, resume=True))
        assert (answer.status, answer.answer) == ("complete", whole.answer), f"after event {stop}"
        log = left.store.events(STORY)
        for path in ((), ("a",), ("a", "deep")):
            assert len([e for e in log if isinstance(e, RunStarted) and e.within == path]) == 1
        assert len([one for one in log if isinstance(one, ApprovalRequested)]) == 2


def test_a_person_without_a_reply_leaves_the_nested_question_open() -> None:
    async def nobody(question: Question) -> None:
        return None

    async def story(crew: Crew) -> Answer:
        journal = MemoryJournal()
        waits = await crew.supervisor(journal, nobody).run(plan=BOTH, run_id=RUN)
        assert {one.task_id for one in waits.waiting} == {"a/deep/asks", "b"}
        replies = [yes(one.task_id) for one in waits.waiting]
        return await replied(crew.supervisor(journal), RUN, *replies)

    crew = Crew()
    assert run_virtual(story(crew)).status == "complete"
    assert sorted(crew.down) == ["asks", "b"]
