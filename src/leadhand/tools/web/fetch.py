"""Fetches a public page, and checks the address of every hop before connecting to it.

All addresses of a host have to be public, and the connection goes to one of these: a second look-up
could return another. TLS is verified against the name. Proxies would look the name up again.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

import httpx2

from leadhand.tools.errors import ToolCallError
from leadhand.tools.text import size_text
from leadhand.tools.web.tools import WebSettings
from leadhand.untrusted.cutting import cut

MAX_REDIRECTS: Final = 5
MAX_URL_CHARS: Final = 2_000
_PORTS: Final = frozenset({80, 443})
_MAX_ADDRESSES: Final = 4
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_HEADERS: Final = {
    "User-Agent": "leadhand",
    "Accept": "text/html, application/xhtml+xml, application/json, application/pdf, text/*",
    "Accept-Encoding": "gzip, deflate",
}
_PUBLIC_6: Final = IPv6Network("2000::/3")
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")
"""NAT64, whose last four bytes are an IPv4 address."""
_RELAYED: Final = (
    IPv6Network("2001::/32"),
    IPv6Network("2002::/16"),
    IPv4Network("192.88.99.0/24"),
)
"""Teredo and 6to4, which lead to IPv4 addresses that a relay chooses."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a host as text; raises `OSError` if there are none."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The body of a response, decompressed but not decoded."""

    url: str
    """The address after redirects."""
    kind: str
    """The media type, in lower case and without parameters; may be empty."""
    charset: str | None
    data: bytes


async def look_up(host: str, port: int) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Fetcher:
    """Fetches pages within the limits of `settings`, without cookies or cache."""

    def __init__(
        self,
        settings: WebSettings,
        *,
        resolve: Resolve = look_up,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._settings = settings
        self._resolve = resolve
        self._tls = tls or httpx2.create_ssl_context()

    async def get(
        self, url: str, *, params: Mapping[str, str] | None = None, own_host: str | None = None
    ) -> FetchedPage:
        """After redirects. Raises `ToolCallError`. `own_host`, a `host:port`, may be private."""
        allowed = self._settings.allowed_hosts
        if own_host is not None:
            allowed = allowed | {own_host}
        timeout_s = self._settings.total_timeout_s
        try:
            async with asyncio.timeout(timeout_s):
                return await self._follow(_parsed(url, params), allowed)
        except TimeoutError:
            raise ToolCallError(f"{_shown(url)} took longer than {timeout_s:g} s") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            reason = cut(str(error), 200) or type(error).__name__
            raise ToolCallError(f"{_shown(url)} could not be read: {reason}") from error

    async def _follow(self, url: httpx2.URL, allowed: frozenset[str]) -> FetchedPage:
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._hop(url, await self._addresses(url, allowed))
            if isinstance(answer, FetchedPage):
                return answer
            url = _parsed(str(url.join(answer)))
        raise ToolCallError(f"{_shown(str(url))}: more than {MAX_REDIRECTS} redirects")

    async def _addresses(self, url: httpx2.URL, allowed: frozenset[str]) -> list[str]:
        """Raises `ToolCallError` unless all of them are allowed."""
        host, port = url.host, url.port or (443 if url.scheme == "https" else 80)
        is_allowed = f"{host}:{port}" in allowed
        if not is_allowed and port not in _PORTS:
            raise ToolCallError(f"port {port} is not allowed: only 80 and 443 are")
        try:
            found = await self._resolve(host, port)
        except (OSError, UnicodeError):
            raise ToolCallError(f"there is no host {_shown(host)}: check the address") from None
        if not found or not (is_allowed or all(map(is_public, found))):
            raise ToolCallError(f"{_shown(host)} is not on the public internet, so it is not read")
        return list(found[:_MAX_ADDRESSES])

    async def _hop(self, url: httpx2.URL, addresses: Sequence[str]) -> FetchedPage | str:
        """The page from the first reachable address, or the address that it redirects to."""
        # A client for each hop: hosts with the same address must not share connections.
        async with httpx2.AsyncClient(
            verify=self._tls,
            trust_env=False,
            follow_redirects=False,
            headers=_HEADERS,
            timeout=self._settings.total_timeout_s,
        ) as client:
            for address in addresses[:-1]:
                try:
                    return await self._exchange(client, url, address)
                except (httpx2.ConnectError, httpx2.ConnectTimeout):
                    continue
            return await self._exchange(client, url, addresses[-1])

    async def _exchange(
        self, client: httpx2.AsyncClient, url: httpx2.URL, address: str
    ) -> FetchedPage | str:
        pinned = url.copy_with(host=address)
        host = url.netloc.decode("ascii")
        async with client.stream(
            "GET",
            pinned,
            headers={"Host": host},
            extensions={"sni_hostname": url.raw_host.decode("ascii").strip("[]")},
        ) as response:
            location = response.headers.get("location")
            if response.status_code in _REDIRECTS and location is not None:
                return location
            if response.status_code != 200:
                raise ToolCallError(
                    f"{_shown(str(url))} answered with status {response.status_code}"
                )
            return await self._read(url, response)

    async def _read(self, url: httpx2.URL, response: httpx2.Response) -> FetchedPage:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not _is_readable(kind):
            raise ToolCallError(
                f"{_shown(str(url))} is {_shown(kind[:80])}: only pages, text and PDF are read"
            )
        most = self._settings.max_bytes
        data = bytearray()
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > most:
                raise ToolCallError(f"{_shown(str(url))} is larger than {size_text(most)}")
        return FetchedPage(str(url), kind, response.charset_encoding, bytes(data))


def _is_readable(kind: str) -> bool:
    """Whether pages of a media type can be read; without one, the page may be text."""
    return (
        not kind
        or kind.startswith("text/")
        or kind in ("application/json", "application/pdf", "application/xml")
        or kind.endswith(("+json", "+xml"))
    )


def _parsed(text: str, params: Mapping[str, str] | None = None) -> httpx2.URL:
    if len(text) > MAX_URL_CHARS:
        raise ToolCallError(f"the address is longer than {MAX_URL_CHARS:,} characters")
    try:
        url = httpx2.URL(text.strip())
        url = url.copy_merge_params(params) if params else url
    except (httpx2.InvalidURL, ValueError, UnicodeError):
        raise ToolCallError(f"{_shown(text)} is not a web address") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ToolCallError(f"{_shown(text)} is not a web address: it needs https:// and a host")
    if url.userinfo:
        raise ToolCallError("an address with a user name or password is not allowed")
    return url.copy_with(fragment=None)


def _shown(text: str) -> str:
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain if len(plain) <= 200 else cut(plain, 199, "…")


def is_public(address: str) -> bool:
    """Whether `address`, from a resolver and so in one form, is on the public internet (F22)."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        elif found in _TRANSLATED:
            found = IPv4Address(int(found) & 0xFFFF_FFFF)
        elif found not in _PUBLIC_6:
            return False
    is_relayed = any(found in network for network in _RELAYED)
    return found.is_global and not (found.is_multicast or found.is_reserved or is_relayed)
