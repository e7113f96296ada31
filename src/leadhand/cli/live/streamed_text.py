"""A line of the live view: the end of what a planner or synthesizer is writing."""

from collections.abc import Iterator
from typing import cast

from pydantic_core import from_json

from leadhand.cli.views.terminal import sentence
from leadhand.models.progress import Progress


def streaming_line(progress: Progress, width: int) -> str:
    """The task that a planner is writing, or the end of another role's text, in `width` columns."""
    who = f"{progress.path}{progress.role}"
    form = _form(progress.text)
    tasks = form.get("tasks") if form is not None else None
    if isinstance(tasks, list):
        tasks = cast("list[object]", tasks)
        last = _last(tasks)
        said = ": ".join(str(last[name]) for name in ("worker", "intent") if last.get(name))
        return sentence(f"{who} writes task {max(len(tasks), 1)}: {said}")
    text = progress.text if form is None else max(_texts(form), key=len, default="")
    start = f"{who} writes: "
    said = sentence(text[-4 * width :])
    room = max(width - len(start) - 2, 1)
    return start + (said if len(said) <= room else f"…{said[1 - room :]}")


def _form(text: str) -> dict[str, object] | None:
    """The start of a JSON object, as far as it can be read."""
    if not text.startswith("{"):
        return None
    try:
        data: object = from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return None
    return cast("dict[str, object]", data) if isinstance(data, dict) else {}


def _texts(form: dict[str, object]) -> Iterator[str]:
    return (value for value in form.values() if isinstance(value, str))


def _last(tasks: list[object]) -> dict[str, object]:
    last = tasks[-1] if tasks else None
    return cast("dict[str, object]", last) if isinstance(last, dict) else {}
