"""Pages are fetched only from allowed addresses, at every hop, and within limits (F22)."""

import asyncio
import ssl
import subprocess
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx2
import pytest

from leadhand.tools.errors import ToolCallError
from leadhand.tools.web.fetch import FetchedPage, Fetcher, Resolve, look_up
from leadhand.tools.web.tools import WebSettings
from tests.patience import HANG_S
from tests.tools.web.server import Site, serving

DEFAULT_TLS = httpx2.create_ssl_context()
"""What a fetcher makes for itself, once for all of them."""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


class Names:
    """A resolver with names of its own; remembers what it was asked."""

    def __init__(self, **addresses: Sequence[str]) -> None:
        self.asked: list[str] = []
        self._addresses = {name.replace("_", "."): found for name, found in addresses.items()}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self._addresses:
            return await look_up(host, port)
        return self._addresses[host]


def fetch(
    url: str,
    *allowed: str,
    resolve: Resolve = look_up,
    tls: ssl.SSLContext = DEFAULT_TLS,
    max_bytes: int = 1 << 20,
    total_timeout_s: float = HANG_S,
) -> FetchedPage:
    settings = WebSettings(
        read_pages=True,
        allowed_hosts=frozenset(allowed),
        max_bytes=max_bytes,
        total_timeout_s=total_timeout_s,
    )
    return asyncio.run(Fetcher(settings, resolve=resolve, tls=tls).get(url))


def refusal(url: str, *allowed: str, resolve: Resolve = look_up, **bounds: float) -> str:
    with pytest.raises(ToolCallError) as caught:
        fetch(
            url,
            *allowed,
            resolve=resolve,
            max_bytes=int(bounds.get("max_bytes", 1 << 20)),
            total_timeout_s=bounds.get("total_timeout_s", HANG_S),
        )
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 500
    return said


def test_a_page_on_an_allowed_host_is_fetched(site: Site) -> None:
    page = fetch(f"{site.url}/page#part", site.host)
    assert (page.url, page.kind, page.charset) == (f"{site.url}/page", "text/html", "utf-8")
    assert b"<h1>Prices</h1>" in page.data


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0x0.0x0.0x1",
        "0177.0.0.1",
        "017700000001",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[fe80::1]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.0.1",
        "①②⑦.0.0.1",
    ],
)
def test_f22_hosts_on_private_addresses_are_refused_however_they_are_written(host: str) -> None:
    """F22: loopback, link-local, private; decimal, octal, hexadecimal, mapped, full-width."""
    said = refusal(f"http://{host}/page")
    assert "not on the public internet" in said or "no host" in said or "not a web address" in said


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///etc/passwd", "https://"),
        ("ftp://example.com/", "https://"),
        ("gopher://example.com/", "https://"),
        ("javascript:alert(1)", "https://"),
        ("data:text/html,hello", "https://"),
        ("example.com", "https://"),
        ("//example.com/", "https://"),
        ("http://", "https://"),
        ("http:///page", "https://"),
        ("", "https://"),
        ("http://a b/", "no host"),
        ("http://[::1/", "not a web address"),
        ("http://x:99999999/", "port 99999999"),
        ("http://x:port/", "not a web address"),
        ("http://user:pass@example.com/", "password"),
        ("http://example.com:22/", "port 22"),
        ("http://example.com:8080/", "port 8080"),
        ("https://example.com/" + "x" * 3_000, "longer than"),
        ("http://no-such-host.invalid/", "no host"),
    ],
)
def test_f22_only_web_addresses_on_the_usual_ports_are_read(url: str, words: str) -> None:
    """F22: other schemes, ports, and names in front of the host."""
    assert words in refusal(url)


def test_f22_a_port_that_is_not_allowed_is_refused_on_an_allowed_address(site: Site) -> None:
    """F22: what is allowed is one host with one port."""
    assert "port 1 is not allowed" in refusal("http://127.0.0.1:1/", site.host)
    assert "public internet" in refusal("http://127.0.0.1/", site.host)


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/",
        "http://localhost/secret",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://0x7f000001/",
        "//127.0.0.1/",
        "file:///etc/passwd",
        "http://user:x@example.com/",
        "http://example.com:22/",
        "javascript:alert(1)",
    ],
)
def test_f22_a_redirect_leads_nowhere_that_a_request_may_not(site: Site, target: str) -> None:
    """F22: the check is made at every hop."""
    for url in (f"/to?url={target}", f"/to?url=/to?url={target}"):
        assert "could not be read" not in refusal(f"{site.url}{url}", site.host)
        assert site.seen[-1][0].endswith(target)


def test_redirects_are_followed_and_the_last_address_is_given(site: Site) -> None:
    page = fetch(f"{site.url}/to?url=/page", site.host)
    assert page.url == f"{site.url}/page"


def test_f22_redirects_without_end_are_given_up(site: Site) -> None:
    """F22: at most five."""
    begun = len(site.seen)
    assert "more than 5 redirects" in refusal(f"{site.url}/round?n=0", site.host)
    assert len(site.seen) - begun == 6


def test_f22_a_name_is_looked_up_once_and_the_connection_goes_where_that_said(site: Site) -> None:
    """F22, rebinding: there is no second look-up that could answer otherwise."""
    names = Names(pages_test=["127.0.0.1"])
    port = site.host.partition(":")[2]
    page = fetch(f"http://pages.test:{port}/page", f"pages.test:{port}", resolve=names)
    assert names.asked == ["pages.test"]
    assert site.seen[-1] == ("/page", f"pages.test:{port}")
    assert page.url == f"http://pages.test:{port}/page"


@pytest.mark.parametrize(
    "found", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::1"], ["8.8.8.8", "fd00::1"], []]
)
def test_f22_a_name_with_any_private_address_is_refused(found: list[str]) -> None:
    """F22, rebinding: all the addresses of a name have to be public."""
    assert "public internet" in refusal("http://pages.test/", resolve=Names(pages_test=found))


def test_the_next_address_of_a_host_is_tried_where_one_does_not_answer(site: Site) -> None:
    names = Names(pages_test=["127.0.0.2", "127.0.0.1"])
    port = site.host.partition(":")[2]
    page = fetch(f"http://pages.test:{port}/page", f"pages.test:{port}", resolve=names)
    assert b"Prices" in page.data


@pytest.mark.parametrize("path", ["/bomb", "/double-bomb", "/large"])
def test_f22_what_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    site: Site, path: str
) -> None:
    """F22: compressed bombs cost no more than the bound, and a piece of it."""
    tracemalloc.start()
    try:
        assert "is larger than 1 MiB" in refusal(f"{site.url}{path}", site.host)
        _, peak = tracemalloc.get_traced_memory()
        # The server is in this process too and holds the page that is only large.
        assert peak < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("path", ["/slow-head", "/slow-body"])
def test_f22_an_answer_that_trickles_in_is_given_up_in_time(site: Site, path: str) -> None:
    """F22: the time counts from first to last, not from byte to byte."""
    said = refusal(f"{site.url}{path}", site.host, total_timeout_s=0.5)
    assert "took longer than 0.5 s" in said


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/image", "only pages, text and PDF"),
        ("/gone", "answered with status 404"),
        ("/rude", "could not be read"),
        ("/torn", "could not be read"),
    ],
)
def test_what_is_no_page_is_one_line(site: Site, path: str, words: str) -> None:
    assert words in refusal(f"{site.url}{path}", site.host)


def test_f22_tls_is_verified_against_the_name_and_not_the_address(tmp_path: Path) -> None:
    """F22: connecting to a checked address must not cost the check of the certificate."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-nodes", "-days", "1"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    command += ["-subj", "/CN=pages.test", "-addext", "subjectAltName=DNS:pages.test"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(certificate))
    names = Names(pages_test=["127.0.0.1"], other_test=["127.0.0.1"])
    with serving(ours) as site:
        port = site.host.partition(":")[2]
        hosts = [f"pages.test:{port}", f"other.test:{port}"]
        page = fetch(f"https://{hosts[0]}/page", *hosts, resolve=names, tls=trusting)
        assert b"Prices" in page.data
        with pytest.raises(ToolCallError, match="could not be read"):
            fetch(f"https://{hosts[1]}/page", *hosts, resolve=names, tls=trusting)
        with pytest.raises(ToolCallError, match="could not be read"):
            fetch(f"https://{hosts[0]}/page", *hosts, resolve=names)


def test_an_environment_proxy_is_not_asked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert b"Prices" in fetch(f"{site.url}/page", site.host).data
