"""What a synthesizer's model sees: each result under its task's id, and what is missing. Pure.

The texts are untrusted and go inside a fence. Within the fence no text can pass for another task's
result, because only code writes ids in brackets at the start of a line.
"""

import json
import re
from collections.abc import Sequence

from leadhand.contracts.outcome import Result, TaskResult

MAX_WHY_CHARS = 300
_LINE_START_BRACKET = re.compile("(?<=[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])\\[")


def entries(results: Sequence[TaskResult]) -> list[str]:
    """One text for each task, in order: `[id] result`, or why there is none."""
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
    """All content of a result, without repetition or formatting."""
    output = result.output
    if output is None:
        text = result.summary
    else:
        text = output if isinstance(output, str) else _compact(output)
        if result.summary.strip() not in text:
            text = f"{result.summary}\n{text}"
    if result.missing:
        text = "\n".join([text, *(f"Not done: {_line(line)}" for line in result.missing)])
    # Lone surrogates can't be encoded.
    return text.strip().encode("utf-8", "replace").decode()


def _compact(output: object) -> str:
    return json.dumps(output, ensure_ascii=False, separators=(",", ":"))


def _line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())
