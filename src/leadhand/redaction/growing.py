"""Redacts a text that is still growing: what may be the beginning of a secret is held back."""

import re

from leadhand.redaction.redactor import Redactor, without

HELD_CHARS = 64
"""The newest characters are held back, and then the rest of a word: a secret may begin in them."""
_BEFORE = 400
"""What stood before tells whether a value is a secret."""
_LONGEST_WORD = 4_000
"""More characters without a place to divide them are no word: the older ones are passed on."""
_BETWEEN = re.compile(r"\s|[^\x00-\x7f]")


class GrowingText:
    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._done = 0

    def next(self, text: str, *, ended: bool) -> str:
        """What can be shown now beyond what was before; `text` is all so far."""
        end = len(text) if ended else self._safe_end(text)
        if end <= self._done:
            return ""
        start = max(self._done - _BEFORE, 0)
        found = self._redactor.spans(text[start:])
        spans = [(start + first, start + last) for first, last in found]
        if not ended:  # a secret that is not over by then may still grow
            for first, last in sorted(spans, reverse=True):
                end = first if first < end < last else end
        done, self._done = self._done, max(end, self._done)
        inside = [
            (max(first - done, 0), min(last, end) - done)
            for first, last in spans
            if first < end and last > done
        ]
        return self._redactor(without(text[done:end], inside))

    def _safe_end(self, text: str) -> int:
        newest = len(text) - HELD_CHARS
        oldest = max(self._done, newest - _LONGEST_WORD)
        ends = [match.end() for match in _BETWEEN.finditer(text, oldest, max(newest, oldest))]
        return ends[-1] if ends else newest - _LONGEST_WORD
