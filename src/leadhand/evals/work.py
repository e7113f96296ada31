"""Scores of one worker that works alone: its output, its tools, and when it hands a task back."""

from collections.abc import Iterator

from leadhand.contracts import events
from leadhand.evals.cases import ExpectedWork
from leadhand.evals.outputs import output_scores
from leadhand.evals.trials import CaseScore, Trial, share


def work_scores(expected: ExpectedWork, trial: Trial) -> Iterator[CaseScore]:
    """The scores of a trial of the worker alone. Pure."""
    result = next(iter(trial.results.values()), None)
    if result is not None:
        yield from output_scores("workers", expected, result.output)
    elif expected.model_fields_set & {"output", "check"}:
        ended = [
            one for one in trial.own if isinstance(one, events.TaskFailed | events.TaskEscalated)
        ]
        why = ended[-1].message if ended else "it has no result"
        yield CaseScore(name="workers.output", value=0.0, why=why)
    called = {event.tool for event in trial.own if isinstance(event, events.ToolCalled)}
    if expected.must_call or expected.must_not_call:
        wrong = [f"{name} was not called" for name in expected.must_call if name not in called]
        wrong += [f"{name} was called" for name in expected.must_not_call if name in called]
        yield share("workers.tools", wrong, len(expected.must_call) + len(expected.must_not_call))
    if expected.escalates is not None:
        yield _escalation(expected, trial)


def _escalation(expected: ExpectedWork, trial: Trial) -> CaseScore:
    reasons = [one.reason for one in trial.own if isinstance(one, events.TaskEscalated)]
    wanted = expected.escalates
    right = bool(reasons) == wanted if isinstance(wanted, bool) else wanted in reasons
    said = f"it handed the task back: {reasons[0]}" if reasons else "it did not hand the task back"
    return CaseScore(name="workers.escalated", value=float(right), why="" if right else said)
