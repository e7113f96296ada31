"""A plan as a person reads it before anything is done."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from leadhand import graph
from leadhand.cli.terminal import safe, sentence
from leadhand.contracts.task import Plan


def show_plan(plan: Plan, console: Console) -> None:
    """Print the plan's tasks in the order in which they can run, with what each waits for."""
    by_id = {task.id: task for task in plan.tasks}
    width = min(console.width, 100)
    console.print(Text(safe(plan.goal), style="bold"), width=width)
    workers = len({task.worker for task in plan.tasks})
    console.print(Text(f"{len(plan.tasks)} tasks for {workers} workers\n", style="dim"))
    for id in graph.order(plan.tasks):
        task = by_id[id]
        head = Text(safe(id), style="bold")
        if task.worker != id:
            head.append(f"  {safe(task.worker)}", style="cyan")
        if task.depends_on:
            head.append(f"  after {safe(', '.join(task.depends_on))}", style="dim")
        console.print(head, width=width)
        console.print(Padding(Text(sentence(task.intent)), (0, 0, 0, 2)), width=width)
        if task.done_when:
            done = Text(f"Done when: {sentence(task.done_when)}", style="dim")
            console.print(Padding(done, (0, 0, 0, 2)), width=width)
    console.print(Text(f"\nThen: {safe(plan.synthesis)}", style="dim"), width=width)
