"""The redactor finds the secret values of the environment, and other secrets by their shape,
also in JSON, URLs, hexadecimal or base64."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from leadhand.redaction import encodings, shapes
from leadhand.redaction.known import Needles, secrets_of

REDACTED = "[redacted]"
"""Replaces a secret: valid within any JSON string, and not taken for a secret itself."""

_MAX_DEPTH = 3
"""How many nested encodings are decoded, such as JSON in JSON in JSON."""
_MAX_PASSES = 4
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?', re.DOTALL)
_JSON_TOKENS = re.compile(r'(?:[^"]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)


class Redactor:
    """Replaces every secret in a text by `[redacted]`. JSON keeps its shape. Stateless;
    redacting a text twice changes nothing more."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """`secrets` are values that are always replaced, however ordinary they look."""
        self._known = Needles.of(secret for secret in secrets if secret)

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Redactor":
        """With the values in `environ` whose names say that they are secret."""
        return cls(secrets_of(environ))

    def __call__(self, text: str) -> str:
        """`text` without its secrets; `text` itself if there are none."""
        for _ in range(_MAX_PASSES):
            redacted = self._redacted(text)
            if redacted == text:
                break
            text = redacted  # which may uncover another secret right beside the first
        return text

    def spans(self, text: str) -> list[encodings.Span]:
        """Where secrets are in `text`, in no order; what stands beside them may hide more."""
        return self._spans(text, _MAX_DEPTH)

    def _redacted(self, text: str) -> str:
        if text.lstrip().startswith(("{", "[", '"')):
            # Searching it as one string is quick, and most documents have no secrets.
            if not self._spans(encodings.JSON_STRING.undo(text), _MAX_DEPTH):
                return text
            if _is_json(text):
                return self._redacted_json(text)
        return without(text, self._spans(text, _MAX_DEPTH))

    def _redacted_json(self, document: str) -> str:
        """Secrets are within strings, so no syntax is lost. Keys that would be equal get a
        number."""
        taken = {match[1] for match in _STRING.finditer(document) if match[2]}
        names: dict[str, str] = {}
        numbers, key = Counter[str](), ""

        def redacted(string: re.Match[str]) -> str:
            nonlocal key
            content = string[1]
            text = encodings.JSON_STRING.undo(content)
            # With its key before it, because some secrets are recognized only by their names.
            before = f'{key}="' if key else ""
            found = [
                (max(start - len(before), 0), end - len(before))
                for start, end in self._spans(before + text, _MAX_DEPTH)
                if end > len(before)
            ]
            key = text if string[2] else ""
            clean = without(content, encodings.JSON_STRING.outside(content, found))
            if string[2] and clean != content:
                name = names.get(content, clean)
                while content not in names and name in taken:
                    numbers[clean] += 1
                    name = f" {numbers[clean] + 1}]".join(clean.rsplit("]", 1))
                taken.add(name)
                clean = names[content] = name
            return f'"{clean}"{string[2] or ""}'

        return _STRING.sub(redacted, document)

    def _spans(self, text: str, depth: int) -> list[encodings.Span]:
        """The secrets in `text`, at most `depth` encodings deep, in no order."""
        words = encodings.EncodedWords.of(text)
        spans = [*self._known.spans(text, words), *shapes.spans(text, words)]
        if not depth:
            return spans
        for encoding in (encodings.JSON_STRING, encodings.PERCENT, encodings.LINES):
            inside = encoding.undo(text)
            if inside != text and (found := self._spans(inside, depth - 1)):
                spans.extend(encoding.outside(text, found))
        if words.may_hold_base64():
            for span, reading in encodings.base64_runs(text):
                if self._spans(reading, min(depth - 1, 1)):
                    spans.append(span)
        return spans


def without(text: str, spans: Iterable[encodings.Span]) -> str:
    """`text` with `spans` replaced, overlapping and adjacent ones by one `[redacted]`."""
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
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except RecursionError:
        return bool(_JSON_TOKENS.fullmatch(text))  # too deep to parse, but its strings are closed
    except ValueError:
        return False
    return True
