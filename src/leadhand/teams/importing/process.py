"""A crew's tasks as settings of a team: a template of them, or a planner that is told them.

The request of a run fills the placeholders of their texts, such as `{topic}`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leadhand.teams.files import Value
from leadhand.teams.importing.definition import WorkerDefinition
from leadhand.tools.text import joined_names

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w-]*)\}", re.ASCII)
_REQUEST = "{request}"


class Placeholders:
    """A crew's placeholders: a single one is the request; of several it states the values."""

    def __init__(self, texts: Iterable[str]) -> None:
        found = (name for text in texts for name in _PLACEHOLDER.findall(text))
        self.names = tuple(dict.fromkeys(found))

    @property
    def request(self) -> str:
        """An example of a request that fills them."""
        if len(self.names) == 1:
            return f"<{self.names[0]}>"
        return "; ".join(f"{name}: ..." for name in self.names) or "..."

    def outcome(self, written: str) -> str:
        """What became of them in the team as it is written, for people."""
        named = ", ".join(f"{{{name}}}" for name in self.names)
        stay = ", ".join(f"<{name}>" for name in self.names if f"<{name}>" in written)
        if len(self.names) > 1 or _REQUEST not in written:
            return (
                f"{named}: not filled, stays as {stay}; the request has to say what it stands for"
            )
        kept = f"; elsewhere it stays as {stay}, and the task says what that is" if stay else ""
        return f"{named}: filled from the request of each run{kept}"

    def in_prompt(self, text: str) -> str:
        """`text` for a prompt that is the same in every run: `{topic}` becomes `<topic>`."""
        return _PLACEHOLDER.sub(lambda match: f"<{match[1]}>", text)

    def legend(self, text: str) -> str:
        """A sentence for a prompt that says where to find the values; empty without any in it."""
        used = [f"<{name}>" for name in self.names if f"<{name}>" in text]
        return f"Your task states what {joined_names(used, len(used))} stands for." if used else ""

    def in_intent(self, text: str, *, wants_request: bool) -> str:
        """`text` for an entry of a template, with `{request}` where its values are needed."""
        if len(self.names) == 1:
            text = _PLACEHOLDER.sub(_REQUEST, text)
            stands_for = f"{separator(text)}Here <{self.names[0]}> is: {_REQUEST}"
            return text + (stands_for if wants_request and _REQUEST not in text else "")
        written = self.in_prompt(text)
        if written != text or wants_request:
            told = f"The request, with the values of what is in <>: {_REQUEST}"
            return f"{written}{separator(written)}{told}"
        return written


def separator(text: str) -> str:
    """What comes before a sentence that is added to `text`: a text of lines gets more lines."""
    return "\n\n" if "\n" in text else " "


@dataclass(frozen=True, slots=True)
class CrewTask:
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
    steps: Sequence[CrewTask], placeholders: Placeholders, workers: Sequence[WorkerDefinition]
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


def _needs(steps: Sequence[CrewTask]) -> dict[str, list[str]]:
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


def planned(steps: Sequence[CrewTask], placeholders: Placeholders) -> dict[str, Value]:
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
    return {"kind": "ahead", "instructions": "\n".join(lines)}
