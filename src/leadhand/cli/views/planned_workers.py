"""The workers that a plan describes, for people: line by line."""

from leadhand.cli.views.terminal import sentence
from leadhand.contracts.task import PlannedWorker
from leadhand.plans.payloads import outline

MAX_CHARS = 400
"""How much of a text that a model wrote is shown."""


def worker_lines(
    worker: PlannedWorker, model: str | None = None, *, max_chars: int = MAX_CHARS
) -> list[str]:
    """A worker that a plan describes, a safe line for each of its parts.

    Its instructions and the schema of its output are cut at `max_chars`.
    """
    tools = ", ".join(worker.tools or ()) or "no tools"
    facts = [tools if tools == "no tools" else f"tools: {tools}"]
    facts += [f"tier {worker.tier}"] if worker.tier is not None else []
    facts += [model] if model is not None else []
    lines = [sentence(worker.description), sentence(" · ".join(facts))]
    lines.append(f"Instructions: {first_chars(worker.instructions, max_chars)}")
    if worker.output is not None:
        form = outline(worker.output) if isinstance(worker.output, dict) else str(worker.output)
        lines.append(f"Output: {first_chars(form, max_chars)}")
    return lines


def first_chars(text: str, max_chars: int) -> str:
    """The safe beginning of a text, and how long it is."""
    more = f"… ({len(text):,} characters in all)" if len(text) > max_chars else ""
    return f"{sentence(text[:max_chars])}{more}"
