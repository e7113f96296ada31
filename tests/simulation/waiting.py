"""What a run that waits for people promises."""

from collections.abc import Iterator

from leadhand.run.questions import open_questions
from tests.simulation.recording import Recording


def waits(recording: Recording) -> Iterator[str]:
    """A run that waits for people waits for nothing else, and one that does not has ended."""
    answer, state = recording.answer, recording.state
    if answer is None:
        return
    early = any(task.status == "completed" for task in state.tasks.values())
    ends = ("partial" if early else "failed", "cancelled")
    if state.plan is None and not answer.waiting and answer.status not in ends:
        yield f"the answer is {answer.status}, and there is no plan"
    if (answer.status == "waiting") != bool(answer.waiting):
        yield f"the answer is {answer.status}, and waits for {answer.waiting}"
    if not answer.waiting:
        if state.answer != answer:
            yield "nobody is waited for, and the answer is not in the log"
        return
    asked = {one.task_id for one in open_questions(state)}
    if {one.task_id for one in answer.waiting} != asked:
        yield f"the answer waits for {answer.waiting}, and the run for {asked}"
    if recording.process.people == "nobody":
        yield "somebody is waited for, and there is nobody"
    for id, task in state.tasks.items():
        open_needs = [need for need in task.task.depends_on if not state.tasks[need].ended]
        within = any(one is not None and f"{one}/".startswith(f"{id}/") for one in asked)
        # No task starts while a person is asked about an amendment; splits wait for each other.
        asked_of = id in state.questions or state.amendment_open
        may_wait = task.ended or open_needs or asked_of or within
        if not may_wait or (task.status == "running" and not within):
            yield f"{id} is {task.status} while the run waits for people"
