"""The list of tasks: intent, attempts, decisions and result of each."""

import json
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from leadhand.contracts.outcome import Result
from leadhand.trace.formatting import format_duration, format_usage
from leadhand.trace.page.markup import MARKS, Html, anchor, joined, tag
from leadhand.trace.run_history import AttemptHistory, RunHistory
from leadhand.trace.steps import Step

MAX_TASKS = 2_000
"""Tasks that are listed; of more, notable ones come first."""
MAX_OUTPUT_CHARS = 4_000


def tasks(history: RunHistory, *, path: str = "") -> Html:
    ids = [task.id for task in history.ordered_tasks()]
    left_out = len(ids) - MAX_TASKS
    if left_out > 0:
        kept = set(sorted(ids, key=lambda id: not history.tasks[id].is_notable)[:MAX_TASKS])
        ids = [id for id in ids if id in kept]
    more = f"{left_out:,} more tasks are left out here; `leadhand trace --format json` has them."
    told = [_task(history, id, path) for id in ids]
    return joined(*told, tag("p", more, class_="quiet") if left_out > 0 else Html())


def _task(history: RunHistory, id: str, path: str) -> Html:
    task, facts, status = history.tasks[id], history.task_state(id), history.task_status(id)
    parts = [facts.worker] if facts.worker != id else []
    parts += [status.replace("_", " ")]
    parts += [f"{len(task.attempts)} attempts"] if len(task.attempts) > 1 else []
    parts += [format_duration(facts.busy_s)] if task.attempts else []
    parts += [format_usage(facts.usage)] if facts.usage.requests else []
    head = tag(
        "summary",
        tag("span", MARKS.get(status, "┄"), class_=f"mark {status}", aria_hidden="true"),
        tag("b", id),
        " ",
        tag("span", " · ".join(parts), class_="quiet"),
    )
    needs = facts.task.depends_on
    body = [
        tag("p", facts.task.intent, class_="intent"),
        tag("p", f"Needs {', '.join(needs)}.", class_="quiet") if needs else Html(),
        tag("p", f"Dropped {task.dropped}", class_="quiet") if task.dropped else Html(),
        tag("p", facts.error, class_="why") if facts.error and not task.attempts else Html(),
        *(_step(step) for step in task.before),
        *(_attempt(attempt, f"{path}{id}/") for attempt in task.attempts),
        *(_result(facts.result) if facts.result is not None else ()),
    ]
    return tag("details", head, *body, id=anchor(path + id), class_="task")


def _attempt(attempt: AttemptHistory, path: str) -> Html:
    kind = f" ({attempt.kind.replace('_', ' ')})" if attempt.kind else ""
    took = f" after {format_duration(attempt.took_s)}" if not attempt.running else ""
    tools = ", ".join(f"{name} ×{count}" for name, count in attempt.tools.most_common())
    said = [attempt.worker, *([attempt.model] if attempt.model else [])]
    said += [format_usage(attempt.usage)] if attempt.usage.requests else []
    said += [f"tools: {tools}"] if tools else []
    inside = attempt.nested
    return tag(
        "div",
        tag(
            "p",
            f"Attempt {attempt.number}: ",
            tag("span", attempt.end, class_=f"end {attempt.end}"),
            f"{took}{kind}{f': {attempt.message}' if attempt.message else ''} ",
            tag("span", " · ".join(said), class_="quiet"),
        ),
        _traceback(attempt.traceback),
        *(_step(step) for step in attempt.steps),
        tag("div", tasks(inside, path=path), class_="inside") if inside is not None else Html(),
        class_="attempt",
    )


def _traceback(text: str) -> Html:
    return (
        tag("details", tag("summary", "Traceback"), tag("pre", text, tabindex="0"))
        if text
        else Html()
    )


def _step(step: Step) -> Html:
    words: Sequence[Html] = ()
    if step.changed is not None:
        old, new = step.changed
        words = (tag("del", old), tag("ins", new))
    return tag("div", f"→ {step.words}", *words, class_="step")


def _result(result: Result) -> Iterator[Html]:
    sure = f" (confidence {result.confidence} of 100)" if result.confidence is not None else ""
    yield tag("p", tag("b", "Result: "), result.summary, tag("span", sure, class_="quiet"))
    text = _text(result.output)
    if text and text != result.summary:
        cut = f"{text[:MAX_OUTPUT_CHARS]}\n… {len(text):,} characters in all"
        shown = text if len(text) <= MAX_OUTPUT_CHARS else cut
        yield tag("pre", shown, tabindex="0")


def _text(output: JsonValue) -> str:
    if output is None or isinstance(output, str):
        return output or ""
    return json.dumps(output, indent=2, ensure_ascii=False)
