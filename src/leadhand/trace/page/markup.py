"""HTML out of tags and text, in which text stays text: nothing that others wrote becomes markup."""

import html

from leadhand.tools.files.legible import cleaned

Value = str | int | float | bool | None


class Html(str):
    """Text that is markup already. Made here and in `prose` alone."""

    __slots__ = ()


def shown(text: str) -> Html:
    """`text` as it is to be read: escaped, and without characters that hide or act (F07, F32)."""
    return text if isinstance(text, Html) else Html(html.escape(cleaned(text)))


def joined(*parts: str) -> Html:
    """The parts one after the other; what is no `Html` is escaped."""
    return Html("".join(map(shown, parts)))


def tag(name: str, *content: str, **attributes: Value) -> Html:
    """An element. `class_` and `for_` lose the line, `aria_label` gets a dash; None is left out."""
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
