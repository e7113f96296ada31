"""What a synthesizer's model is shown: each result under its task's id, and what is missing.

Pure. The texts are untrusted and go inside a fence; in there no text can pass for another task's
result either, because only ids that code wrote stand in brackets at the start of a line.
"""

import json
import re
from collections.abc import Sequence

from leadhand.contracts.outcome import Result, TaskResult

MAX_WHY_CHARS = 300
_LINE_START_BRACKET = re.compile("(?<=[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])\\[")


def entries(results: Sequence[TaskResult]) -> list[str]:
    """One text a task, in order: `[id] what it gave`, or that it gave nothing and why."""
    return [_entry(one) for one in results]


def _entry(one: TaskResult) -> str:
    label = f"[{_line(one.task.id)}]"
    why = _line(one.why or "")[:MAX_WHY_CHARS]
    said = f"{one.status}: {why}" if why else one.status
    if one.result is None:
        return f"{label} no result ({said})"
    text = _LINE_START_BRACKET.sub(" [", _shown(one.result))
    return f"{label} {text}" if said == "completed" else f"{label} ({said}) {text}"


def _shown(result: Result) -> str:
    """All that a result says, once and without decoration."""
    output = result.output
    if output is None:
        text = result.summary
    else:
        text = output if isinstance(output, str) else _compact(output)
        if result.summary.strip() not in text:
            text = f"{result.summary}\n{text}"
    if result.missing:
        text = "\n".join([text, *(f"Not done: {_line(line)}" for line in result.missing)])
    # A lone surrogate can't be sent to anyone.
    return text.strip().encode("utf-8", "replace").decode()


def _compact(output: object) -> str:
    return json.dumps(output, ensure_ascii=False, separators=(",", ":"))


def _line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())
