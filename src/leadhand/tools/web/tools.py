"""The web tools, read a page by its address and search, and the settings that switch them on."""

import asyncio
import codecs
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, Self, cast
from urllib.parse import urlsplit, urlunsplit

from leadhand.errors import InputError
from leadhand.tools.errors import ToolCallError
from leadhand.tools.files.legible import cleaned, decoded
from leadhand.tools.files.parsing import ParserLimits, parse_file
from leadhand.tools.text import is_binary
from leadhand.untrusted.cutting import cut

if TYPE_CHECKING:
    from leadhand.tools.web.fetch import FetchedPage, Fetcher

PAGE_CHARS: Final = 8_000
MAX_RESULTS: Final = 10
_SNIPPET_CHARS: Final = 300
_KEPT_PAGES: Final = 8
"""Pages cached for calls that read more of them."""
_PARSING_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The web tools that are switched on, and their limits."""

    read_pages: bool = False
    search_url: str | None = None
    """A SearXNG-compatible endpoint that answers in JSON: `http://localhost:8080/search`."""
    allowed_hosts: frozenset[str] = frozenset()
    """`host:port` pairs that are allowed despite a private address or an unusual port."""
    total_timeout_s: float = 20.0
    """From the first look-up to the last byte, redirects included."""
    max_bytes: int = 4 << 20

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self | None:
        """The settings in `environ`; None if nothing is switched on.

        `LEADHAND_WEB=1` lets workers read public pages; `LEADHAND_SEARCH_URL` names a
        SearXNG-compatible endpoint, and lets them search. Raises `InputError` for other values.
        """
        switch = environ.get("LEADHAND_WEB", "").strip()
        if switch not in ("", "0", "1"):
            raise InputError(f"LEADHAND_WEB is {switch!r}: write 1 to let workers read web pages")
        search_url = environ.get("LEADHAND_SEARCH_URL", "").strip() or None
        if search_url is not None and not _is_endpoint(search_url):
            raise InputError(
                "LEADHAND_SEARCH_URL is not an address of a search endpoint: "
                "write it like http://localhost:8080/search"
            )
        if switch != "1" and search_url is None:
            return None
        return cls(read_pages=switch == "1", search_url=search_url)


class WebTools:
    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._pages: dict[str, tuple[str, str]] = {}

    @property
    def can_read(self) -> bool:
        return self._settings.read_pages

    @property
    def can_search(self) -> bool:
        return self._settings.search_url is not None

    async def read_page(self, url: str, offset: int = 0) -> str:
        """Read the text of a public web page or PDF, 8,000 characters from `offset` on."""
        if not self.can_read:
            raise ToolCallError("reading web pages is switched off (LEADHAND_WEB=1 allows it)")
        if url not in self._pages:
            fetched = await self._fetcher.get(url)
            self._pages[url] = await asyncio.to_thread(_page, fetched)
            for oldest in list(self._pages)[:-_KEPT_PAGES]:
                self._pages.pop(oldest, None)
        address, text = self._pages[url]
        if not 0 <= offset <= len(text):
            raise ToolCallError(f"offset {offset} is outside the page; use 0 to {len(text)}")
        end = min(len(text), offset + PAGE_CHARS)
        rest = f"; continue with offset={end}" if end < len(text) else ""
        return (
            f"{address}\n(characters {offset} to {end} of {len(text)}{rest})\n\n{text[offset:end]}"
        )

    async def search_web(self, query: str, limit: int = 5) -> str:
        """Search the web: title, address and a few words of each result."""
        endpoint = self._settings.search_url
        if endpoint is None:
            raise ToolCallError("web search is switched off (LEADHAND_SEARCH_URL allows it)")
        if not query.strip() or len(query) > 400:
            raise ToolCallError(
                "a query has 1 to 400 characters: use a few words that name the subject"
            )
        parts = urlsplit(endpoint)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        path = "/search" if parts.path in ("", "/") else parts.path
        fetched = await self._fetcher.get(
            urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")),
            params={"q": query, "format": "json"},
            own_host=f"{parts.hostname}:{port}",
        )
        found = _results(fetched)[: max(1, min(limit, MAX_RESULTS))]
        return cleaned("\n\n".join(found)) or "nothing was found: try other words"

    @cached_property
    def _fetcher(self) -> "Fetcher":
        # Imported here because most runs do not use the web.
        from leadhand.tools.web.fetch import Fetcher

        return Fetcher(self._settings)


def _page(fetched: "FetchedPage") -> tuple[str, str]:
    """The address of a page and its text, which is parsed in another process if necessary."""
    data, cut = fetched.data, None
    if fetched.kind == "application/pdf":
        text, cut = _parsed("pdf", data)
    elif is_binary(data):
        raise ToolCallError(f"{fetched.url} is not text")
    else:
        text = _decoded(fetched)
        if "html" in fetched.kind or (not fetched.kind and "<html" in text[:2000].lower()):
            # The byte order mark overrides the character set that the page declares.
            text, cut = _parsed("html", codecs.BOM_UTF8 + text.encode("utf-8", "replace"))
    return cleaned(fetched.url), cleaned(text) + (f"\n({cut})" if cut else "")


def _parsed(kind: Literal["html", "pdf"], data: bytes) -> tuple[str, str | None]:
    """The text, and what it lacks. Raises `ToolCallError`."""
    with tempfile.TemporaryFile(prefix="leadhand-page-") as copy:
        copy.write(data)
        copy.seek(0)
        outcome = parse_file(
            kind, copy, limits=ParserLimits(cpu_s=_PARSING_S), timeout_s=_PARSING_S
        )
    if outcome.error is not None:
        raise ToolCallError(f"the page can't be read: {outcome.error}")
    return "\n".join(outcome.pages), outcome.cut


def _decoded(fetched: "FetchedPage") -> str:
    """The text of a page, in the text encoding that it declares, else as `decoded` does."""
    named = fetched.charset
    if named is None and (declared := _CHARSET.search(fetched.data[:2000])) is not None:
        named = declared[1].decode("ascii")
    try:
        if named is not None and _ENCODING.match(codecs.lookup(named).name):
            return fetched.data.decode(named, errors="replace")
    except (LookupError, UnicodeError):
        pass
    return decoded(fetched.data)


_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{2,20})", re.IGNORECASE)
_ENCODING: Final = re.compile("utf-(8|16|32)|iso8859|cp|koi8|gb|big5|shift_jis|euc|mac|ascii")
"""Python's text encodings; other codecs are slow, or not for text."""


def _results(fetched: "FetchedPage") -> list[str]:
    try:
        answer = cast("object", json.loads(fetched.data))
    except (ValueError, RecursionError):
        answer = None
    listed = cast("dict[str, object]", answer).get("results") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise ToolCallError(
            "the search endpoint did not answer in JSON; its operator must allow `format=json`"
        )
    found: list[str] = []
    for item in cast("list[object]", listed):
        if isinstance(item, dict):
            fields = cast("dict[str, object]", item)
            words = [" ".join(str(fields.get(key) or "").split()) for key in _FIELDS]
            if words[1].startswith(("http://", "https://")):
                lines = (cut(words[0], 200), cut(words[1], 2000), cut(words[2], _SNIPPET_CHARS))
                found.append("\n".join(line for line in lines if line))
    return found


_FIELDS: Final = ("title", "url", "content")


def _is_endpoint(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
