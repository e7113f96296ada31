"""The placeholders of a crew's texts, such as `{topic}`, which the request of a run fills."""

import re
from collections.abc import Iterable

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w-]*)\}", re.ASCII)
_REQUEST = "{request}"


class Placeholders:
    """How the placeholders in a crew's texts are written in a team.

    A single one is the request. Of several, the request states the values.
    """

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
        return f"Your task states what {_and(used)} stands for." if used else ""

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


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
