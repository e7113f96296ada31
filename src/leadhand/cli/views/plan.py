"""A plan for people: its tasks, what each waits for and is for, and the workers made for it."""

import json
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from leadhand.cli.views.consoles import Line, print_lines
from leadhand.cli.views.terminal import safe, sentence
from leadhand.contracts.task import EarlierRun, Plan, PlannedWorker, Task
from leadhand.planners.earlier_runs import listing
from leadhand.plans import graph
from leadhand.plans.payloads import outline
from leadhand.tools.text import counted

MAX_CHARS = 400
"""How much of a text that a model wrote is shown."""
MAX_NAMES = 10
"""Of the tasks that a task waits for, or of its artifacts, so many are named."""
_ENDS = {
    "merge": "then the results are put together",
    "select": "then the best result is taken",
    "reduce": "then the results are condensed step by step",
    "last": "then the last task's result is the answer",
}


def show_plan(
    plan: Plan,
    console: Console,
    *,
    models: Mapping[str, str] | None = None,
    statuses: Mapping[str, str] | None = None,
) -> None:
    """In an order in which the tasks can run; `models` and `statuses` are by worker and task."""
    print_lines(_lines(plan, models or {}, statuses), console)


def show_earlier(after: Sequence[EarlierRun], console: Console) -> None:
    """Print what a planner sees of the runs that a request follows."""
    lines = [(0, Text()), (0, Text("the planner sees of the earlier runs", "bold"))]
    lines += [(0, Text(sentence(line), "dim")) for line in listing(after).splitlines()]
    print_lines([*lines, (0, Text())], console)


def worker_lines(
    worker: PlannedWorker, model: str | None = None, *, max_chars: int = MAX_CHARS
) -> list[str]:
    """A safe line for each part; instructions and schema are cut at `max_chars`."""
    tools = ", ".join(worker.tools or ())
    facts = [f"tools: {tools}" if tools else "no tools"]
    facts += [f"tier {worker.tier}"] if worker.tier is not None else []
    facts += [model] if model is not None else []
    lines = [sentence(worker.description), sentence(" · ".join(facts))]
    lines.append(f"Instructions: {_first_chars(worker.instructions, max_chars)}")
    if worker.output is not None:
        form = outline(worker.output) if isinstance(worker.output, dict) else str(worker.output)
        lines.append(f"Output: {_first_chars(form, max_chars)}")
    return lines


def _lines(
    plan: Plan, models: Mapping[str, str], statuses: Mapping[str, str] | None
) -> Iterator[Line]:
    workers = counted(len({task.worker for task in plan.tasks}), "worker")
    yield 0, Text(sentence(plan.goal), "bold")
    yield 0, Text(f"{counted(len(plan.tasks), 'task')} for {workers}", "dim")
    yield 0, Text()
    by_id = {task.id: task for task in plan.tasks}
    for id in graph.order(plan.tasks):
        status = statuses.get(id, "new") if statuses else ""
        yield 0, _head(by_id[id], models, status)
        yield 2, Text(sentence(by_id[id].intent))
        yield from ((2, Text(line, "dim")) for line in _details(by_id[id]))
    if plan.workers:
        yield 0, Text()
        yield 0, Text(f"{counted(len(plan.workers), 'worker')} made for this plan", "bold")
    for worker in plan.workers:
        yield 2, Text(safe(worker.name), "cyan")
        yield from ((4, Text(line)) for line in worker_lines(worker, models.get(worker.name)))
    end = _ENDS.get(plan.synthesis, f"then {safe(plan.synthesis)}")
    if plan.max_rounds is not None:
        end = f"then the planner decides what is next, in at most {plan.max_rounds} rounds in all"
    elif len(plan.tasks) == 1:
        end = "then its result is the answer"
    if plan.instruction:
        end += f": {sentence(plan.instruction)}"
    yield 0, Text()
    yield 0, Text(end, "dim")


def _head(task: Task, models: Mapping[str, str], status: str) -> Text:
    text = Text.assemble(("● ", "dim"), (safe(task.id), "bold"))
    after = f"after {_named(task.depends_on)}" if task.depends_on else ""
    worker = safe(task.worker) if task.worker != task.id else ""
    text.append(f"  {worker}" if worker else "", "cyan")
    for fact in filter(None, (safe(models.get(task.worker, "")), status, after)):
        text.append(f"  {fact}", "dim")
    return text


def _details(task: Task) -> Iterator[str]:
    if task.payload is not None:
        data = json.dumps(task.payload, ensure_ascii=False)
        yield f"Payload: {_first_chars(data, MAX_CHARS)}"
    if task.artifacts:
        yield f"Works on: {_named(task.artifacts)}"
    if bounds := task.limits.model_dump(exclude_none=True):
        yield "Limits: " + ", ".join(f"{name} {safe(str(one))}" for name, one in bounds.items())
    if task.done_when:
        yield f"Done when: {sentence(task.done_when)}"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return safe(", ".join(names[:MAX_NAMES])) + more


def _first_chars(text: str, max_chars: int) -> str:
    """The safe beginning of a text, and how long it is."""
    more = f"… ({len(text):,} characters in all)" if len(text) > max_chars else ""
    return f"{sentence(text[:max_chars])}{more}"
