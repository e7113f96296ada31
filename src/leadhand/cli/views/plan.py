"""A plan for people: its graph, and what each task is for."""

import json
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from leadhand.cli.views.consoles import MAX_WIDTH, print_line, print_page
from leadhand.cli.views.graph_drawing import Row, draw
from leadhand.cli.views.planned_workers import MAX_CHARS, first_chars, worker_lines
from leadhand.cli.views.terminal import safe, sentence
from leadhand.contracts.task import EarlierRun, Plan, Task
from leadhand.planners.earlier import listing
from leadhand.plans import graph
from leadhand.tools.text import counted

MAX_ARTIFACTS = 5


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
    """Print the plan's tasks in the order in which they can run, as a graph.

    `models` says which model each worker would use; workers that it lacks use none. `statuses` has
    those of tasks that have started; others are new.
    """
    width = min(console.width, MAX_WIDTH)
    workers = counted(len({task.worker for task in plan.tasks}), "worker")
    tasks = counted(len(plan.tasks), "task")
    print_page(console, Text(sentence(plan.goal), "bold"))
    print_page(console, Text(f"{tasks} for {workers}\n", "dim"))
    drawn = draw(plan.tasks)
    rows = drawn or _list(plan)
    gutter = max(len(part) for row in rows for part in (row.head, row.body)) if rows else 0
    for row in rows:
        # Wrapped here, so that the graph continues beside every line of a task's text.
        lines = [Text()]
        if row.task is not None:
            text = _task(row.task, models or {}, says_after=not drawn)
            if statuses:
                name, *rest = text.split("\n")
                name.append(f"  {statuses.get(row.task.id, 'new')}", "not bold dim")
                text = Text("\n").join([name, *rest])
            lines = list(text.wrap(console, max(20, width - gutter)))
        for number, line in enumerate(lines):
            beside = Text((row.body if number else row.head).ljust(gutter), "dim")
            beside.append_text(line)
            beside.rstrip()
            print_line(console, beside)
    _show_workers(plan, console, width, models or {})
    end = _ENDS.get(plan.synthesis, f"then {safe(plan.synthesis)}")
    if plan.max_rounds is not None:
        end = f"then the planner decides what is next, in at most {plan.max_rounds} rounds in all"
    elif len(plan.tasks) == 1:
        end = "then its result is the answer"
    if plan.instruction:
        end += f": {sentence(plan.instruction)}"
    print_page(console, Text(f"\n{end}", "dim"))


def show_earlier(after: Sequence[EarlierRun], console: Console) -> None:
    """Print what a planner sees of the runs that a request follows."""
    print_page(console, Text("\nthe planner sees of the earlier runs", "bold"))
    for line in map(sentence, listing(after).splitlines()):
        print_page(console, Text(line, "dim"))
    console.print()


def _show_workers(plan: Plan, console: Console, width: int, models: Mapping[str, str]) -> None:
    if not plan.workers:
        return
    made = counted(len(plan.workers), "worker")
    print_page(console, Text(f"\n{made} made for this plan", "bold"))
    for worker in plan.workers:
        print_page(console, Text(f"  {safe(worker.name)}", "cyan"))
        for line in worker_lines(worker, models.get(worker.name)):
            for part in Text(line).wrap(console, max(20, width - 4)):
                part.rstrip()
                print_line(console, Text("    ") + part)


def _list(plan: Plan) -> list[Row]:
    """The tasks as a list, if the graph is too large to draw."""
    by_id = {task.id: task for task in plan.tasks}
    return [Row("● ", "  ", by_id[id]) for id in graph.order(plan.tasks)]


def _task(task: Task, models: Mapping[str, str], *, says_after: bool) -> Text:
    text = Text(safe(task.id), "bold")
    if task.worker != task.id:
        text.append(f"  {safe(task.worker)}", "not bold cyan")
    if task.worker in models:
        text.append(f"  {safe(models[task.worker])}", "not bold dim")
    if says_after and task.depends_on:
        text.append(f"  after {safe(', '.join(task.depends_on))}", "not bold dim")
    text.append(f"\n{sentence(task.intent)}", "not bold")
    for said in _beside(task):
        text.append(f"\n{said}", "not bold dim")
    if task.done_when:
        text.append(f"\nDone when: {sentence(task.done_when)}", "not bold dim")
    return text


def _beside(task: Task) -> Iterator[str]:
    """What a task has besides its intent, a line each."""
    if task.payload is not None:
        data = json.dumps(task.payload, ensure_ascii=False)
        yield f"Payload: {first_chars(data, MAX_CHARS)}"
    if task.artifacts:
        more = len(task.artifacts) - MAX_ARTIFACTS
        names = [safe(name) for name in task.artifacts[:MAX_ARTIFACTS]]
        yield f"Works on: {', '.join([*names, *([f'and {more:,} more'] if more > 0 else [])])}"
    bounds = task.limits.model_dump(exclude_none=True)
    if bounds:
        yield "Limits: " + ", ".join(f"{name} {safe(str(one))}" for name, one in bounds.items())
