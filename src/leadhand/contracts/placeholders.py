"""The placeholders in the intents of a template. Pure."""

import re
from collections.abc import Mapping

from leadhand.errors import InputError

_NAMES = ("request", "batch", "count", "batches", "names")
_PLACEHOLDER = r"\{( *[A-Za-z_][\w.-]* *(?:![rsa])?)\}"
_ANY = re.compile(rf"\{{{_PLACEHOLDER}\}}|{_PLACEHOLDER}")


def check_placeholders(of: str, intent: str) -> None:
    """Raises `InputError` if no planner fills a placeholder of the intent `of` an entry."""
    for _, name in _ANY.findall(intent):
        if name and name not in _NAMES:
            known = ", ".join(f"{{{one}}}" for one in _NAMES)
            raise InputError(
                f"{of}: nothing fills {{{name}}} in its intent; there are {known}, and for "
                f"{{{name}}} itself write {{{{{name}}}}}"
            )


def filled(intent: str, values: Mapping[str, str]) -> str:
    """The intent with its placeholders filled; `{{id}}` is `{id}`. Nothing in a value is filled."""
    return _ANY.sub(lambda one: values[one[2]] if one[2] else one[0][1:-1], intent)


def literal(text: str) -> str:
    """`text` as a part of an intent, in which nothing of it is filled."""
    return re.sub(_PLACEHOLDER, r"{\g<0>}", text)
