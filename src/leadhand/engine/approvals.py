"""Approvals: before a plan that a person approved is amended, that person is asked again.

They are shown the whole plan as it would be, one amendment at a time. Running tasks continue.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leadhand.contracts import events
from leadhand.contracts.people import Reply
from leadhand.contracts.task import Plan
from leadhand.engine.consultations import Consultations
from leadhand.engine.recorder import Recorder
from leadhand.ports import Person

REFUSED = "a person refused the amended plan"


@dataclass(frozen=True, slots=True)
class Proposal:
    """An amendment that needs an approval."""

    task_id: str
    """The task because of which the plan is to change."""
    why: str
    """What the person is told, in one line."""
    by: str
    """Who proposes it."""
    plan: Callable[[], Plan]
    """Gives the whole plan as it would be, with all that has happened until it is shown."""
    problems: Callable[[Plan], Sequence[str]]
    """What is wrong with a plan that the person gives instead."""
    then: Callable[[Plan | str], None]
    """Called with the plan that they approve, or with the reason why it is not amended."""


class Approvals:
    """The amendments of one run that wait for a person."""

    def __init__(
        self, recorder: Recorder, consultations: Consultations, person: Person | None
    ) -> None:
        self._recorder = recorder
        self._consultations = consultations
        self._person = person
        self._waiting: deque[Proposal] = deque()
        self._open: Proposal | None = None
        self.unanswered = 0
        """How many questions were left open by a person who was here."""

    def put(self, proposal: Proposal) -> None:
        """Ask for an approval, after those that are asked for already."""
        if self._open is not None:
            self._waiting.append(proposal)
            return
        if self._person is None:
            proposal.then("no person can be asked")
            return
        self._open = proposal
        state = self._recorder.state
        if not (state.amendment_open and state.proposed_for == proposal.task_id):
            stamp = self._recorder.stamp()
            self._recorder.record(
                events.PlanProposed(
                    **stamp, plan=proposal.plan(), by=proposal.by, task_id=proposal.task_id
                )
            )
        plan = state.proposed or proposal.plan()
        question = f"{proposal.why}\nIs the plan to be amended like this?"
        self._person.post_plan_question(question)
        self._consultations.ask(
            f"approve the plan amended after {proposal.task_id}",
            self._person.approve_plan(plan, question, problems=proposal.problems, patiently=True),
            lambda reply: self._answered(proposal, plan, reply),
            of_person=True,
        )

    def _answered(self, proposal: Proposal, plan: Plan, reply: Reply | None) -> None:
        if reply is None:
            self.unanswered = 1
            return
        self._open = None
        if reply.verdict == "approved":
            proposal.then(reply.plan or plan)
        else:
            proposal.then(f"{REFUSED}: {reply.text.strip()}".rstrip(": "))
        if self._waiting:
            self.put(self._waiting.popleft())
