"""Converts queries of people and models to valid FTS5 expressions; pure functions."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

MAX_TERMS: Final = 32
"""The maximum number of words in a query, and in a phrase."""

_PART: Final = re.compile(r'"([^"]*)"|([^"]+)')
_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
MIN_FRAGMENT: Final = 4

_ENGLISH: Final = """
a about above after again all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each few for from further give had has
have having he her here hers him his how i if in into is it its itself just list many me more most
much my no nor not of off on once only or other our out over own please same she should show so
some such tell than that the their them then there these they this those through to too under
until up us very was we were what when where which while who whom why will with would you your
"""
_STOP_WORDS: Final = frozenset(_ENGLISH.split())


def words(text: str) -> list[str]:
    return [match[0] for match in islice(_WORD.finditer(text), MAX_TERMS)]


def content_words(text: str) -> list[str]:
    """The words of `text` without stop words, each once; all words if there are no others."""
    every = list(dict.fromkeys(word.lower() for word in words(text)))
    return [word for word in every if word not in _STOP_WORDS] or every


def vocabulary(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def fts_expression(query: str) -> str | None:
    """An FTS5 expression for any word, quoted, and every phrase in quotes; `None` without words."""
    parts = [match.groups("") for match in _PART.finditer(query)]
    phrases = [" ".join(words(quoted)) for quoted, _ in parts]
    required = _quoted([phrase for phrase in phrases if phrase][:MAX_TERMS])
    single = _quoted(content_words(" ".join(bare for _, bare in parts)))
    if not required:
        return " OR ".join(single) or None
    # Words beside a phrase are optional, but raise the rank.
    every = " AND ".join(required)
    return f"{every} AND ({' OR '.join([*required, *single])})" if single else every


def fragments(query: str) -> list[str]:
    """Substrings to search for if no word of `query` is in the index: for Chinese, Japanese and
    Korean, pairs of characters. A query with a quoted phrase has none."""
    found: list[str] = []
    for word in [] if '"' in query else content_words(query):
        if _UNSPACED.search(word):
            found += [word[n : n + 2] for n in range(len(word) - 1)] or [word]
        elif len(word) >= MIN_FRAGMENT:
            found.append(word)
    return list(dict.fromkeys(found))[:MAX_TERMS]


def _quoted(terms: Sequence[str]) -> list[str]:
    return [f'"{term}"' for term in terms]
