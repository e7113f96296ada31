"""The redactor finds the secret values of the environment, and other secrets by their shape,
also in JSON, URLs, hexadecimal or base64."""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from leadhand.redaction import scanner
from leadhand.redaction.encodings import ENCODINGS, JSON_STRING, EncodedWords, Span, base64_runs
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

    def spans(self, text: str) -> list[Span]:
        """Where secrets are in `text`, in no order; what stands beside them may hide more."""
        return self._spans(text, _MAX_DEPTH)

    def _redacted(self, text: str) -> str:
        if text.lstrip().startswith(("{", "[", '"')):
            # Searching it as one string is quick, and most documents have no secrets.
            found = self._spans(JSON_STRING.undo(text), _MAX_DEPTH)
            if not found:
                return text
            if _is_json(text):
                return _without_in_strings(text, JSON_STRING.outside(text, found))
        return without(text, self._spans(text, _MAX_DEPTH))

    def _spans(self, text: str, depth: int) -> list[Span]:
        """The secrets in `text`, at most `depth` encodings deep, in no order."""
        words = EncodedWords.of(text)
        spans = [*self._known.spans(text, words), *scanner.spans(text, words)]
        if not depth:
            return spans
        for encoding in ENCODINGS:
            inside = encoding.undo(text)
            if inside != text and (found := self._spans(inside, depth - 1)):
                spans.extend(encoding.outside(text, found))
        for span, reading in base64_runs(text, words):
            if self._spans(reading, min(depth - 1, 1)):
                spans.append(span)
        return spans


def without(text: str, spans: Iterable[Span]) -> str:
    """`text` with `spans` replaced, overlapping and adjacent ones by one `[redacted]`."""
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start > done or not parts:
            parts += (text[done:start], REDACTED)
        done = max(done, end)
    return "".join((*parts, text[done:])) if parts else text


def _without_in_strings(document: str, spans: Iterable[Span]) -> str:
    """A JSON document without `spans`, each up to the end of the string in which it begins, so that
    no syntax is lost. Keys that would be equal get a number."""
    ordered = sorted(spans)
    taken = {match[1] for match in _STRING.finditer(document) if match[2]}
    names: dict[str, str] = {}
    numbers = Counter[str]()

    def redacted(string: re.Match[str]) -> str:
        content, (first, last) = string[1], string.span(1)
        inside = ordered[bisect_left(ordered, (first, 0)) : bisect_left(ordered, (last, 0))]
        clean = without(content, [(start - first, end - first) for start, end in inside])
        if string[2] and clean != content:
            name = names.get(content, clean)
            while content not in names and name in taken:
                numbers[clean] += 1
                name = f" {numbers[clean] + 1}]".join(clean.rsplit("]", 1))
            taken.add(name)
            clean = names[content] = name
        return f'"{clean}"{string[2] or ""}'

    return _STRING.sub(redacted, document)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except RecursionError:
        return bool(_JSON_TOKENS.fullmatch(text))  # too deep to parse, but its strings are closed
    except ValueError:
        return False
    return True
