"""Second opinions: of two results of a task a judge picks one, or the more confident one counts."""

from dataclasses import dataclass, field

from leadhand.contracts import events
from leadhand.contracts.outcome import Completed, Result
from leadhand.engine.attempts import EndedAttempt
from leadhand.engine.consultations import Consultations
from leadhand.engine.recorder import Recorder
from leadhand.engine.run_tasks import RunTasks
from leadhand.policies.rungs import JudgeOpinions, more_confident
from leadhand.ports import Remedies


@dataclass(eq=False)
class Opinions:
    recorder: Recorder
    tasks: RunTasks
    consultations: Consultations
    remedies: Remedies | None
    _judging: dict[str, tuple[EndedAttempt, JudgeOpinions, bool]] = field(
        init=False, default_factory=dict
    )

    def compare(self, attempt: EndedAttempt, completed: Completed, first: Result) -> None:
        reason = f"{attempt.worker} gave a second opinion"
        self.judge(attempt, JudgeOpinions(first, completed.result, reason), doubted=False)

    def judge(self, attempt: EndedAttempt, action: JudgeOpinions, *, doubted: bool) -> None:
        """`doubted`: the second worker was unsure too."""
        if self.remedies is None or self.tasks.stopped is not None:
            self._record(attempt, action, None, doubted=doubted)
            return
        task = attempt.task.task
        self._judging[task.id] = (attempt, action, doubted)
        self.consultations.ask(
            f"judge {task.id}",
            self.remedies.judge(task, action.first, action.second),
            lambda verdict: self._record(attempt, action, verdict, doubted=doubted),
        )

    def settle(self) -> None:
        """End open judgements: of two results, the one with the higher confidence counts."""
        for attempt, action, doubted in list(self._judging.values()):
            self._record(attempt, action, None, doubted=doubted)

    def _record(
        self,
        attempt: EndedAttempt,
        action: JudgeOpinions,
        verdict: tuple[bool, str] | None,
        *,
        doubted: bool,
    ) -> None:
        """`verdict`: whether the second is better, and why; `None`: the more confident one is."""
        task = attempt.task
        id = task.id
        if task.ended:
            return
        self._judging.pop(id, None)
        second, why = verdict or more_confident(action.first, action.second, doubted=doubted)
        workers = (task.tried[-2], task.tried[-1])
        self.recorder.record(
            events.OpinionJudged(
                **self.recorder.task_stamp(id, attempt.number),
                workers=workers,
                taken="second" if second else "first",
                second=action.second,
                reason=why,
                by="code" if verdict is None else "judge",
            )
        )
        sound = second and not doubted
        self.tasks.complete(
            id,
            attempt.number,
            action.second if second else action.first,
            work=attempt.times,
            flag=None if sound else f"accepted at low confidence: {workers[second]}'s, as {why}",
        )
