"""The placeholders of prompts and tasks, such as `{topic}`, which the request of a run fills."""

import re
from collections.abc import Iterable, Sequence

from leadhand.tools.text import joined_names

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w-]*)\}", re.ASCII)
REQUEST = "{request}"


def placeholders_in(texts: Iterable[str]) -> list[str]:
    """The names of the placeholders in `texts`, each once."""
    return [*dict.fromkeys(name for text in texts for name in _PLACEHOLDER.findall(text))]


def in_prompt(text: str) -> str:
    """`text` for a prompt that is the same in every run: `{topic}` becomes `<topic>`."""
    return _PLACEHOLDER.sub(r"<\1>", text)


def legend(text: str, names: Sequence[str]) -> str:
    """A sentence for a prompt that says where to find the values; empty without any in it."""
    used = [f"<{name}>" for name in names if f"<{name}>" in text]
    return f"Your task states what {joined_names(used, len(used))} stands for." if used else ""


def in_intent(text: str, names: Sequence[str], wants_request: bool) -> str:
    """`text` for an entry of a template, with `{request}` where its values are needed."""
    single = len(names) == 1  # it is the request; of several the request states the values
    written = _PLACEHOLDER.sub(REQUEST, text) if single else in_prompt(text)
    if REQUEST in written or (written == text and not wants_request):
        return written
    what = f"Here <{names[0]}> is" if single else "The request, with the values of what is in <>"
    return added(written, f"{what}: {REQUEST}")


def added(text: str, sentence: str) -> str:
    """`text` and a sentence more; a text of lines gets more lines."""
    return ("\n\n" if "\n" in text else " ").join(filter(None, (text, sentence)))


def request_of(names: Sequence[str]) -> str:
    """An example of a request that fills the placeholders."""
    if len(names) == 1:
        return f"<{names[0]}>"
    return "; ".join(f"{name}: ..." for name in names) or "..."


def outcome(names: Sequence[str], *, filled: bool) -> str:
    """What became of the placeholders, for people; `filled`: a task has the request."""
    named, stay = (", ".join(f"{a}{name}{z}" for name in names) for a, z in ("{}", "<>"))
    if len(names) > 1 or not filled:
        return f"{named}: not filled, stays as {stay}; the request has to say what it stands for"
    return (
        f"{named}: filled from the request of each run; elsewhere it stays as {stay}, and the task "
        "says what that is"
    )
