"""Tool calls that need an approval: the attempt pauses, a person is asked, and it continues.

This is no attempt of its own, and no rung of the ladder. While a person is asked, the task takes no
slot, and its timeout does not run.
"""

from leadhand.contracts.event_fields import NO_TIMES, AttemptTimes
from leadhand.contracts.outcome import PausedAttempt
from leadhand.contracts.task import Task
from leadhand.engine.consultations import Consultations
from leadhand.engine.recorder import Recorder
from leadhand.engine.run_tasks import RunTasks
from leadhand.ports import Person


class CallApprovals:
    """The paused attempts of one run."""

    def __init__(
        self,
        recorder: Recorder,
        tasks: RunTasks,
        consultations: Consultations,
        person: Person | None,
    ) -> None:
        self._state = recorder.state
        self._tasks = tasks
        self._consultations = consultations
        self._person = person
        self._postponed: list[tuple[Task, PausedAttempt, int, AttemptTimes]] = []
        self.unanswered = 0
        """Questions that a person who was asked left open."""

    def resume(self) -> None:
        """Ask again what had no reply when the run ended."""
        for task in list(self._state.tasks.values()):
            if task.paused is not None and task.waits_for_approval and not task.ended:
                self.pause(task.task, task.paused, attempt=task.attempts)

    def pause(
        self, task: Task, paused: PausedAttempt, *, attempt: int, work: AttemptTimes = NO_TIMES
    ) -> bool:
        """Ask about the calls of an attempt; False if no person can be asked."""
        person = self._person
        if person is None:
            return False
        if self._tasks.growing and self._tasks.stopped is None:
            self._postponed.append((task, paused, attempt, work))
            return True
        person.post_call_question(task, paused, attempt=attempt, work=work)
        if self._tasks.stopped is not None:
            # A run that is resumed asks again.
            self._tasks.cancel(task.id, attempt, reason=self._tasks.stopped)
            return True
        self._consultations.ask(
            f"approve calls of {task.id}",
            person.ask_about_calls(task),
            lambda replied: self._replied(task.id, replied=bool(replied)),
            patiently=True,
        )
        return True

    def ask_postponed(self) -> None:
        """Ask about the attempts that paused before there was a plan, as far as it has them."""
        for task, paused, attempt, work in self._postponed:
            now = self._state.tasks.get(task.id)
            if now is not None and (now.status == "running" or now.waits_for_approval):
                self.pause(task, paused, attempt=attempt, work=work)
        self._postponed.clear()

    def _replied(self, id: str, *, replied: bool) -> None:
        if not replied:
            self.unanswered += 1
        elif self._tasks.stopped is None:
            self._tasks.make_ready(id)
