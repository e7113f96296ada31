"""Scores of one worker that works alone: its output, its tools, and when it hands a task back."""

from collections.abc import Iterator

from leadhand.contracts import events
from leadhand.evals.cases import ExpectedWork
from leadhand.evals.outputs import output_scores
from leadhand.evals.trials import CaseScore, Trial, share


def work_scores(expected: ExpectedWork, trial: Trial) -> Iterator[CaseScore]:
    """The scores of a trial of the worker alone. Pure."""
    result = next(iter(trial.results.values()), None)
    escalated = [one for one in trial.own if isinstance(one, events.TaskEscalated)]
    if result is not None:
        yield from output_scores("workers", expected, result.output)
    elif expected.model_fields_set & {"output", "check"}:
        failed = [one for one in trial.own if isinstance(one, events.TaskFailed)]
        why = next((one.message for one in (*failed, *escalated)), "it has no result")
        yield CaseScore(name="workers.output", value=0.0, why=why)
    called = {event.tool for event in trial.own if isinstance(event, events.ToolCalled)}
    wrong = [f"{name} was not called" for name in expected.must_call if name not in called]
    wrong += [f"{name} was called" for name in expected.must_not_call if name in called]
    if total := len(expected.must_call) + len(expected.must_not_call):
        yield share("workers.tools", wrong, total)
    if (wanted := expected.escalates) is not None:
        reasons = [one.reason for one in escalated]
        right = bool(reasons) == wanted if isinstance(wanted, bool) else wanted in reasons
        said = f"it handed the task back: {reasons[0]}" if reasons else "it handed nothing back"
        yield CaseScore(name="workers.escalated", value=float(right), why="" if right else said)
