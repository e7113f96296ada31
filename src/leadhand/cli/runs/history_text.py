"""A stored run for people: its tasks and their attempts, its plan, its costs. Text of models and
workers has no markup or escape sequence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from rich.text import Text

from leadhand.cli.options import is_debugging
from leadhand.cli.views.answer import conflict_line
from leadhand.cli.views.consoles import Line
from leadhand.cli.views.plan import worker_lines
from leadhand.cli.views.terminal import MARKS, safe, safe_block, sentence
from leadhand.contracts.outcome import Usage
from leadhand.run.gaps import reason
from leadhand.run.questions import in_a_line
from leadhand.run.stored import failed_for_good, is_over, own_plan_rejected
from leadhand.state.run_state import TaskState
from leadhand.state.times import critical_chain, planned_before, synthesis_time
from leadhand.tools.text import counted
from leadhand.trace.formatting import format_duration, format_gain, format_usage
from leadhand.trace.run_history import AttemptHistory, RunHistory, TaskHistory
from leadhand.trace.steps import QuestionHistory, Step

MAX_QUIET_TASKS = 40
"""Tasks that completed at the first attempt or did not start: more are counted."""
MAX_EVENTFUL_TASKS = 60
"""Other tasks of a status that are listed, with their history."""
NESTED_SHARE = 4
"""The tasks of a nested team get this share of these places."""
MAX_ITEMS = 40
"""The longest of all other lists."""
MAX_STOPS = 30
"""Tasks of the critical path that are named."""
MAX_SHOWN_CHARS = 200
_RETIRED = ("┄", "dim")
_QUIET = "tasks completed at the first attempt"
_ENDED_BY = {
    "person": "it was stopped",
    "budget": "its budget was used up before everything was done",
    "deadline": "its deadline came before everything was done",
}
_ENDS = {"running": "cyan", "completed": "green", "failed": "red"}


def history_lines(history: RunHistory, *, held: bool, options: str = "") -> list[Line]:
    notices = ((2, Text(_notice(step))) for step in history.notices)
    return [
        *_head(history, held=held),
        *_next_step(history, held=held, options=options),
        *_section("plan", _plan(history)),
        *_section("workers made for this plan", _workers(history)),
        *_section("tasks", _tasks(history, 2), most=None),
        *_section("people", _people(history)),
        *_section("notices", notices),
        *_section("missing", _gaps(history)),
        *_section("conflicts", _conflicts(history)),
        *_section("critical path", _critical_path(history)),
        *_section("used by role", _used_by(history.usage_by("role"))),
        *_section("used by worker", _used_by(history.usage_by("worker"))),
    ]


def _section(title: str, lines: Iterable[Line], most: int | None = MAX_ITEMS) -> Iterator[Line]:
    """The first `most` items, each with its lines, and how many more there are."""
    items = 0
    for indent, text in lines:
        if not items:
            yield from ((0, Text()), (0, Text(title, style="bold")))
        items += indent <= 2
        if most is None or items <= most:
            yield indent, text
    if most is not None and items > most:
        yield 2, Text(f"and {items - most:,} more: --json has them all")


def _head(history: RunHistory, *, held: bool) -> Iterator[Line]:
    state, figures = history.state, history.metrics
    standing = history.run_status(held=held)
    style = {"complete": "green", "failed": "red", "running": "cyan"}.get(standing, "yellow")
    yield 0, Text.assemble((safe(history.run_id), "bold"), "  ", (standing, f"bold {style}"))
    yield 0, Text(sentence(state.request))
    if state.after:
        earlier = state.after[0]
        name = safe(earlier.run_id) or "a conversation"
        yield 0, Text(f"follows {name}: {sentence(earlier.request)}", style="dim")
    yield 0, Text()
    engine = state.answer.engine if state.answer is not None else state.engine
    began = f"{history.started_at:%Y-%m-%d %H:%M:%S} UTC" if history.started_at else "not started"
    yield 0, Text(f"team {safe(state.team)} · engine: {engine} · {began}")
    counts = Counter(task.status for task in state.tasks.values())
    kinds = ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in counts.items())
    yield 0, Text(f"{counted(len(state.tasks), 'task')}{': ' if kinds else ''}{kinds}")
    times = format_duration(figures.makespan_s), format_gain(figures)
    yield 0, Text(", ".join(filter(None, times)))
    if figures.requests:
        yield 0, Text(f"{format_usage(state.usage)} in all")
    if state.answer is not None and state.answer.confidence is not None:
        yield 0, Text(f"confidence {state.answer.confidence} of 100")


def _next_step(history: RunHistory, *, held: bool, options: str) -> list[Line]:
    questions, answer = history.open_questions, history.state.answer
    if own_plan_rejected(history.state):
        return [(0, Text()), (0, Text("its plan was rejected: no task ran", style="bold yellow"))]
    if questions:
        title, command = "it waits for a person", "answer"
    elif answer is None and not held:
        title, command = "it has no answer, and no process works on it", "resume"
    elif answer is not None and answer.ended_by is not None:
        title, command = _ENDED_BY[answer.ended_by], "resume"
    elif answer is not None and not is_over(history.state):
        title, command = "some of it may succeed now", "resume"
    elif failed_for_good(history.state):
        title, command = "it has done all that it could", "resume"
    else:
        return []
    lines = [(2, Text(_question(asked))) for asked in questions]
    by_a_program = "command" not in history.state.origin
    team = " --team TEAM" if by_a_program and command == "resume" else ""
    typed = f"leadhand {command} {safe(history.run_id)}{options}{team}"
    again = command == "resume" and answer is not None and is_over(history.state)
    way = ("do a task again: ", f"{typed} --from TASK") if again else ("continue with: ", typed)
    lines.append((2, Text.assemble(way[0], (way[1], "bold"), no_wrap=True)))
    return [(0, Text()), (0, Text(title, style="bold yellow")), *lines]


def _question(asked: QuestionHistory) -> str:
    about = safe(asked.task_id) if asked.task_id is not None else "the plan"
    return f"{about}: {sentence(in_a_line(asked.question))}"


def _plan(history: RunHistory) -> Iterator[Line]:
    for version in history.plans:
        said = f": {sentence(version.said)}" if version.said else ""
        yield 2, Text(f"{safe(version.title)} after {format_duration(version.at_s)}{said}")
        for note in version.notes:
            yield 4, Text(f"- {sentence(note)}")
    if later := sum(task.round > 1 for task in history.state.tasks.values()):
        yield 2, Text(f"{counted(later, 'task')} added in rounds 2 to {history.state.round}")


def _workers(history: RunHistory) -> Iterator[Line]:
    plan = history.state.plan or history.state.proposed
    for worker in plan.workers if plan is not None else ():
        said, *rest = worker_lines(worker, max_chars=MAX_SHOWN_CHARS)
        yield 2, Text.assemble((safe(worker.name), "bold"), f": {said}")
        yield from ((4, Text(line, style="dim")) for line in rest)


def _tasks(history: RunHistory, indent: int, share: int = 1) -> Iterator[Line]:
    """Tasks, their attempts, and nested tasks: the first of each status, others are counted."""
    seen = Counter[str]()
    left: dict[tuple[str, str], Counter[str]] = {}
    for task in history.ordered_tasks():
        status = history.task_status(task.id)
        quiet = status == "completed" and not task.is_notable
        what = _QUIET if quiet else status.replace("_", " ")
        seen[what] += 1
        started = bool(task.attempts or task.before) and not quiet
        if seen[what] <= (MAX_EVENTFUL_TASKS if started else MAX_QUIET_TASKS) // share:
            yield from _task(history, task, indent + 2 * _depth(history, task), share)
        else:
            left.setdefault((what, status), Counter())[history.task_state(task.id).worker] += 1
    for (what, status), workers in left.items():
        mark, style = MARKS.get(status, _RETIRED)
        names = ", ".join(f"{safe(name)} {n:,}" for name, n in workers.most_common(10))
        names += f", and {len(workers) - 10:,} more workers" if len(workers) > 10 else ""
        said = f"{workers.total():,} more {what} ({names})"
        yield indent, Text.assemble((f"{mark} ", style), said)


def _depth(history: RunHistory, task: TaskHistory) -> int:
    depth = 0
    while task.part_of is not None:
        task = history.tasks[task.part_of]
        depth += 1
    return depth


def _task(history: RunHistory, task: TaskHistory, indent: int, share: int) -> Iterator[Line]:
    state, status = history.task_state(task.id), history.task_status(task.id)
    mark, style = MARKS.get(status, _RETIRED)
    head = (f"{mark} ", style), (safe(task.id), "bold"), " ", (status.replace("_", " "), style)
    yield indent, Text.assemble(*head, (_beside(state), "dim"))
    why = task.dropped or ("" if task.attempts else state.error or "")
    if why:
        yield indent + 2, Text(sentence(why))
    for step in task.before:
        yield from _step(step, indent + 2)
    if not task.is_notable:
        return
    for attempt in task.attempts:
        yield from _attempt(attempt, indent + 2, share, alone=len(task.attempts) == 1)


def _beside(state: TaskState) -> str:
    parts = [safe(state.worker)] if state.worker != state.task.id else []
    parts += [f"round {state.round}"] if state.round else []
    parts += ["started early"] if state.planned_s is not None and state.attempts else []
    parts += [format_duration(state.busy_s)] if state.attempts else []
    parts += [format_usage(state.usage)] if state.usage.requests else []
    return "".join(f" · {part}" for part in parts)


def _attempt(attempt: AttemptHistory, indent: int, share: int, *, alone: bool) -> Iterator[Line]:
    after = "" if attempt.ended_s is None else f" after {format_duration(attempt.took_s)}"
    kind = f" ({attempt.kind.replace('_', ' ')})" if attempt.kind else ""
    message = f": {sentence(attempt.message)}" if attempt.message else ""
    quiet = alone and attempt.end == "completed" and not message
    if not quiet:
        style = _ENDS.get(attempt.end, "yellow")
        head = f"attempt {attempt.number}, {safe(attempt.worker)}: "
        yield indent, Text.assemble(head, (attempt.end, style), f"{after}{kind}{message}")
    if attempt.traceback and is_debugging():
        lines = safe_block(attempt.traceback.rstrip("\n")).split("\n")
        yield from ((indent + 2, Text(line)) for line in lines)
    for step in attempt.steps:
        yield from _step(step, indent + 2)
    if attempt.nested is not None:
        yield from _tasks(attempt.nested, indent if quiet else indent + 2, share * NESTED_SHARE)


def _step(step: Step, indent: int) -> Iterator[Line]:
    yield indent, Text(f"→ {sentence(step.words)}")
    if step.changed is not None:
        old, new = step.changed
        yield indent + 2, Text(f"- {sentence(old)}", style="dim")
        yield indent + 2, Text(f"+ {sentence(new)}")


def _notice(step: Step) -> str:
    return f"after {format_duration(step.at_s)}: {sentence(step.words)}"


def _people(history: RunHistory) -> Iterator[Line]:
    for asked in history.questions:
        if asked.verdict is None:
            continue
        text = f": {sentence(asked.text)}" if asked.text else ""
        yield 2, Text(_question(asked))
        yield 4, Text(f"→ {asked.verdict} by {safe(asked.by)}{text}")
        for number, call in enumerate(asked.calls, start=1):
            given = asked.replies.get(call.id)
            if given is not None and (len(asked.calls) > 1 or given.reason):
                why = f": {sentence(given.reason)}" if given.reason else ""
                said = "approved" if given.approved else "refused"
                yield 6, Text(f"{number}. {safe(call.tool)} {said}{why}")


def _gaps(history: RunHistory) -> Iterator[Line]:
    answer = history.state.answer
    for gap in answer.gaps if answer is not None else ():
        yield 2, Text.assemble((safe(gap.task_id), "bold"), f": {reason(gap, sentence)}")


def _conflicts(history: RunHistory) -> Iterator[Line]:
    for conflict in history.conflicts:
        yield 2, Text(conflict_line(conflict, safe, sentence))


def _critical_path(history: RunHistory) -> Iterator[Line]:
    figures, state = history.metrics, history.state
    if not state.dispatched:
        return
    chain = critical_chain(state)
    stops = [("planning", planned_before(state, chain, figures.makespan_s))]
    stops += [(safe(part.name), part.took_s) for part in chain]
    if state.synthesis_started_s is not None:
        stops.append(("synthesis", synthesis_time(state, figures.makespan_s)))
    named = [f"{name} {format_duration(taken_s)}" for name, taken_s in stops]
    if len(named) > MAX_STOPS:
        named[MAX_STOPS // 2 : -MAX_STOPS // 2] = [f"{len(named) - MAX_STOPS:,} more"]
    yield 2, Text(" → ".join(named))
    share = f"{figures.critical_path_s / figures.makespan_s:.0%}" if figures.makespan_s else "0%"
    yield 2, Text(f"{format_duration(figures.critical_path_s)}, {share} of the whole run")


def _used_by(shares: Mapping[str, Usage]) -> Iterator[Line]:
    width = max((len(safe(name)) for name in shares), default=0)
    for name, usage in shares.items():
        yield 2, Text(f"{safe(name):<{width}}  {format_usage(usage)}")
