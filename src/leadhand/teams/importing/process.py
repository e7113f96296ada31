"""A crew's process as settings of a team: a template of its tasks, or a planner."""

from collections.abc import Sequence
from dataclasses import dataclass

from leadhand.teams.files import Value
from leadhand.teams.importing.definition import WorkerDefinition
from leadhand.teams.importing.placeholders import Placeholders


@dataclass(frozen=True, slots=True)
class Step:
    """A task of a crew."""

    name: str
    worker: str | None
    """None: the manager chooses."""
    text: str
    expected: str
    context: tuple[str, ...] | None
    """The tasks whose outputs it gets; None: those before it."""
    is_async: bool


def sequence(
    steps: Sequence[Step], placeholders: Placeholders, workers: Sequence[WorkerDefinition]
) -> dict[str, Value]:
    """A template in which each task depends on the tasks whose outputs crewAI would give it."""
    prompts = {worker.name: worker.instructions for worker in workers}
    needs = _needs(steps)
    entries: list[Value] = []
    for step in steps:
        expected = placeholders.in_prompt(step.expected)
        asks = placeholders.legend(prompts.get(step.worker or "", "") + expected)
        unfilled = not placeholders.names and not needs[step.name]
        intent = placeholders.in_intent(step.text, wants_request=bool(asks) or unfilled)
        entry: dict[str, Value] = {"id": step.name, "worker": step.worker, "intent": intent}
        if needs[step.name]:
            entry["depends_on"] = list(needs[step.name])
        if expected:
            entry["done_when"] = expected
        entries.append(entry)
    if not entries:
        return {}
    settings: dict[str, Value] = {"planner": {"kind": "template", "template": entries}}
    needed = {name for names in needs.values() for name in names}
    if len([step for step in steps if step.name not in needed]) == 1:
        settings["synthesizer"] = "last"
    return settings


def _needs(steps: Sequence[Step]) -> dict[str, list[str]]:
    """For each task the tasks whose outputs it gets.

    In crewAI a task gets the outputs of all tasks before it, or only those of a group of
    asynchronous tasks that ends right before it.
    """
    needs: dict[str, list[str]] = {}
    before: list[str] = []
    running: list[str] = []
    for step in steps:
        if step.is_async:
            needs[step.name] = before[-1:] if step.context is None else list(step.context)
            running.append(step.name)
            continue
        if running:
            before, running = running, []
        needs[step.name] = list(before) if step.context is None else list(step.context)
        before.append(step.name)
    return needs


def planned(steps: Sequence[Step], placeholders: Placeholders) -> dict[str, Value]:
    """A planner that is told the tasks, in place of the manager of a hierarchical process."""
    lines = ["The work consists of these tasks; each may use the results of those before it."]
    for number, step in enumerate(steps, 1):
        who = f" Worker: {step.worker}." if step.worker else ""
        expected = f" Expected: {step.expected}" if step.expected else ""
        uses = f" It uses the results of: {', '.join(step.context)}." if step.context else ""
        text = placeholders.in_prompt(step.text + expected).replace("\n", "\n   ")
        lines.append(f"{number}. {step.name}: {text}{who}{uses}")
    if placeholders.names:
        lines.append("The request states the values of what is in <>.")
    return {"planner": {"kind": "ahead", "instructions": "\n".join(lines)}}
