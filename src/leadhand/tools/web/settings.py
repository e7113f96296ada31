"""The user's settings for web access; without them a run has none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from leadhand.errors import InputError


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
    """The maximum size of a page after decompression."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self | None:
        """The settings in `environ`; None if nothing is switched on.

        `LEADHAND_WEB=1` lets workers read public web pages. `LEADHAND_SEARCH_URL` names a
        SearXNG-compatible search endpoint, which may be on this machine, and lets them search.
        Raises `InputError` for other values.
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


def _is_endpoint(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
