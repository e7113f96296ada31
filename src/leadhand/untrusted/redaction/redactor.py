"""The redactor: text in, the same text without its secrets out.

It knows the values that the environment calls secret and the shapes that give others away, and
looks for both through what JSON, URLs, hexadecimal and base64 make of them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from leadhand.untrusted.redaction import shapes
from leadhand.untrusted.redaction.encodings import (
    JSON_STRING,
    LINES,
    PERCENT,
    EncodedWords,
    Span,
    base64_runs,
)
from leadhand.untrusted.redaction.known import Needles, secrets_of

REDACTED = "[redacted]"
"""What stands where a secret stood: fit for any JSON string, and no secret itself."""

_DEPTH = 3
"""How many encodings around each other are undone: JSON in JSON in JSON."""
_MOST_PASSES = 4
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?', re.DOTALL)
_JSON_TOKENS = re.compile(r'(?:[^"]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)


class Redactor:
    """Replaces every secret in a text by `[redacted]`. What was JSON is still JSON of that shape.

    One for a whole process: it keeps no state, so any number of threads may call it. Twice is as
    good as once.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """`secrets` are values to be found wherever they stand, however ordinary they look."""
        self._known = Needles.of(secret for secret in secrets if secret)

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Redactor":
        """A redactor that knows the secrets in `environ` by their names."""
        return cls(secrets_of(environ))

    def __call__(self, text: str) -> str:
        """`text` without its secrets; `text` itself where there are none."""
        for _ in range(_MOST_PASSES):
            shorter = _without(text, self._all_spans(text))
            if shorter == text:
                break
            text = shorter  # and once more: this may uncover what stood right beside a secret
        return text

    def _all_spans(self, text: str) -> Iterable[Span]:
        if not text.lstrip().startswith(("{", "[", '"')):
            return self._spans(text, _DEPTH)
        # Looked through as if it were one string, which is quick; almost always that is all.
        if not self._spans(JSON_STRING.undo(text), _DEPTH):
            return ()
        return self._string_spans(text) if _is_json(text) else self._spans(text, _DEPTH)

    def _string_spans(self, document: str) -> Iterator[Span]:
        """The secrets in a JSON document: each within one string, so that no syntax is lost."""
        key = ""
        for string in _STRING.finditer(document):
            content = string[1]
            text = JSON_STRING.undo(content)
            # Under its key as it would stand in code: some secrets are known by their names only.
            before = f'{key}="' if key else ""
            found = [
                (max(start - len(before), 0), end - len(before))
                for start, end in self._spans(before + text, _DEPTH)
                if end > len(before)
            ]
            for start, end in JSON_STRING.outside(content, found):
                yield string.start(1) + start, string.start(1) + end
            key = text if string[2] else ""

    def _spans(self, text: str, depth: int) -> list[Span]:
        """Where secrets stand in `text`, at most `depth` encodings deep; in no order."""
        words = EncodedWords.of(text)
        spans = [*self._known.spans(text, words), *shapes.spans(text, words)]
        if not depth:
            return spans
        for encoding in (JSON_STRING, PERCENT, LINES):
            inside = encoding.undo(text)
            if inside != text and (found := self._spans(inside, depth - 1)):
                spans.extend(encoding.outside(text, found))
        if words.may_hold_base64():
            for span, reading in base64_runs(text):
                if self._spans(reading, min(depth - 1, 1)):
                    spans.append(span)
        return spans


def _without(text: str, spans: Iterable[Span]) -> str:
    """`text` with each part that `spans` cover, together or alone, replaced."""
    ordered = sorted(spans)
    if not ordered:
        return text
    parts: list[str] = []
    done = 0
    for start, end in ordered:
        if start > done or not parts:
            parts += (text[done:start], REDACTED)
        done = max(done, end)
    return "".join((*parts, text[done:]))


def _is_json(text: str) -> bool:
    """Whether `text` is a JSON document."""
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except RecursionError:
        return bool(_JSON_TOKENS.fullmatch(text))  # too deep to be sure, and whole as far as seen
    except ValueError:
        return False
    return True
