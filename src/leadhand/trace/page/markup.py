"""Builds HTML from tags and escaped text; marks of task statuses, and anchors of tasks."""

import hashlib
import html

from leadhand.tools.files.legible import cleaned

Value = str | int | float | bool | None
MARKS = {
    "pending": "○",
    "running": "●",
    "completed": "✓",
    "escalated": "▲",
    "failed": "✗",
    "timed_out": "✗",
    "cancelled": "✗",
    "skipped": "–",
}


class Html(str):
    """Text that is markup. Created only here and in `markdown`."""

    __slots__ = ()


def shown(text: str) -> Html:
    """`text` escaped, without invisible and control characters (F07, F32)."""
    return text if isinstance(text, Html) else Html(html.escape(cleaned(text)))


def joined(*parts: str) -> Html:
    """The parts concatenated; plain strings are escaped."""
    return Html("".join(map(shown, parts)))


def tag(name: str, *content: str, **attributes: Value) -> Html:
    """An element. `class_` becomes `class`, `aria_label` `aria-label`; `None` is left out."""
    told = "".join(
        f" {_name(key)}" if value is True else f' {_name(key)}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{name}{told}>{joined(*content)}</{name}>")


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | int | float) -> str:
    return f"{value:.5g}" if isinstance(value, float) else shown(str(value))


def anchor(path: str) -> str:
    """Whatever characters the task's id has."""
    return f"t-{hashlib.sha256(path.encode('utf-8', 'replace')).hexdigest()[:12]}"
