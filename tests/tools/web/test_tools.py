"""The web as a worker's tools: off by default, pages as text, results as lines."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest

from leadhand.errors import InputError
from leadhand.tools.errors import ToolCallError
from leadhand.tools.web import WebSettings, WebTools
from tests.patience import HANG_S
from tests.tools.web.server import Site, serving


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


def tools_for(site: Site) -> WebTools:
    hosts = frozenset({site.host})
    return WebTools(WebSettings(read_pages=True, allowed_hosts=hosts, total_timeout_s=HANG_S))


def read(tools: WebTools, url: str, offset: int = 0) -> str:
    return asyncio.run(tools.read_page(url, offset))


def search(site: Site, results: object, query: str = "prices", limit: int = 5) -> str:
    site.results = results
    tools = WebTools(WebSettings(search_url=site.url, total_timeout_s=HANG_S))
    return asyncio.run(tools.search_web(query, limit))


@pytest.mark.parametrize(
    "environ", [{}, {"LEADHAND_WEB": ""}, {"LEADHAND_WEB": "0"}, {"LEADHAND_SEARCH_URL": " "}]
)
def test_the_web_is_off_unless_it_is_switched_on(environ: dict[str, str]) -> None:
    assert WebSettings.from_environment(environ) is None


def test_pages_and_search_are_switched_on_one_by_one() -> None:
    pages = WebSettings.from_environment({"LEADHAND_WEB": "1"})
    assert pages == WebSettings(read_pages=True)
    url = "http://localhost:8080/search"
    search = WebSettings.from_environment({"LEADHAND_SEARCH_URL": url})
    assert search == WebSettings(search_url=url)
    assert pages is not None
    assert search is not None
    assert (WebTools(pages).can_read, WebTools(pages).can_search) == (True, False)
    assert (WebTools(search).can_read, WebTools(search).can_search) == (False, True)


@pytest.mark.parametrize(
    "environ",
    [
        {"LEADHAND_WEB": "yes"},
        {"LEADHAND_SEARCH_URL": "localhost:8080"},
        {"LEADHAND_SEARCH_URL": "file:///etc/passwd"},
        {"LEADHAND_SEARCH_URL": "http://"},
        {"LEADHAND_SEARCH_URL": "http://x:port/"},
    ],
)
def test_a_setting_that_makes_no_sense_is_named(environ: dict[str, str]) -> None:
    with pytest.raises(InputError, match=next(iter(environ))):
        WebSettings.from_environment(environ)


def test_a_tool_that_is_off_refuses(site: Site) -> None:
    with pytest.raises(ToolCallError, match="switched off"):
        read(WebTools(WebSettings(search_url=site.url)), f"{site.url}/page")
    with pytest.raises(ToolCallError, match="switched off"):
        asyncio.run(WebTools(WebSettings(read_pages=True)).search_web("x"))


def test_a_page_is_read_as_the_text_that_a_reader_sees(site: Site) -> None:
    text = read(tools_for(site), f"{site.url}/page")
    assert text.startswith(f"{site.url}/page\n(characters 0 to ")
    assert "Prices & terms" in text
    assert "One two" in text
    assert "plan | 12" in text
    for unseen in ("alert", "hidden", "remark", "p {}", "<"):
        assert unseen not in text


def test_the_encoding_that_the_server_names_wins_over_that_of_the_page(site: Site) -> None:
    assert "Köln" in read(tools_for(site), f"{site.url}/latin")


def test_a_long_page_is_read_on_from_an_offset_without_being_fetched_again(site: Site) -> None:
    tools = tools_for(site)
    begun = len(site.seen)
    first = read(tools, f"{site.url}/text")
    assert "(characters 0 to 8000 of 20000; continue with offset=8000)" in first
    second = read(tools, f"{site.url}/text", 16_000)
    assert "(characters 16000 to 20000 of 20000)" in second
    assert len(site.seen) == begun + 1
    for offset in (-1, 20_001):
        with pytest.raises(ToolCallError, match="use 0 to 20000"):
            read(tools, f"{site.url}/text", offset)


def test_f34_a_page_holds_nothing_that_acts_on_a_terminal(site: Site) -> None:
    """F34: escape sequences are shown."""
    text = read(tools_for(site), f"{site.url}/escapes")
    assert text.endswith("a␛[2Jb␛]52;c;eA==␇")


def test_what_is_no_text_is_refused(site: Site) -> None:
    with pytest.raises(ToolCallError, match="is not text"):
        read(tools_for(site), f"{site.url}/binary")


def test_a_search_lists_title_address_and_words(site: Site) -> None:
    found = [
        {"title": "A\x1b[2J  page", "url": "https://example.com/a", "content": "some\nwords"},
        {"title": "script", "url": "javascript:alert(1)", "content": "x"},
        {"title": None, "url": "http://example.com/b"},
        "nonsense",
        {"url": 5},
        {"title": "C", "url": "https://example.com/c", "content": "y" * 1_000},
        {"title": "D", "url": "https://example.com/d"},
    ]
    assert search(site, {"results": found}, "two words & more", 3).split("\n\n") == [
        "A␛[2J page\nhttps://example.com/a\nsome words",
        "http://example.com/b",
        "C\nhttps://example.com/c\n" + "y" * 300,
    ]
    assert site.seen[-1][0] == "/search?q=two+words+%26+more&format=json"


def test_the_path_and_parameters_of_the_endpoint_are_kept(site: Site) -> None:
    site.results = {"results": []}
    tools = WebTools(WebSettings(search_url=f"{site.url}/custom?language=en"))
    assert asyncio.run(tools.search_web("x")) == "nothing was found: try other words"
    assert site.seen[-1][0] == "/custom?language=en&q=x&format=json"


@pytest.mark.parametrize("answer", [[], {"results": 5}, "text", b"<html>", b"[" * 100_000, b"\xff"])
def test_an_endpoint_that_does_not_answer_in_json_is_named(site: Site, answer: object) -> None:
    with pytest.raises(ToolCallError, match="did not answer in JSON"):
        search(site, answer)


@pytest.mark.parametrize("query", ["", "  ", "x" * 500])
def test_a_query_is_a_few_words(site: Site, query: str) -> None:
    with pytest.raises(ToolCallError, match="1 to 400 characters"):
        search(site, {"results": []}, query)


def test_f22_the_endpoint_may_be_on_loopback_and_where_it_redirects_to_may_not(site: Site) -> None:
    """F22: the search endpoint is the user's own; what it answers is not."""
    with serving() as other:
        tools = WebTools(WebSettings(search_url=f"{site.url}/to?url={other.url}/search"))
        with pytest.raises(ToolCallError, match=r"not (read|allowed)"):
            asyncio.run(tools.search_web("x"))
        assert other.seen == []


def test_no_library_for_the_web_is_loaded_before_it_is_used() -> None:
    script = (
        "import sys; from leadhand.tools.web import WebSettings, WebTools; "
        "WebTools(WebSettings(read_pages=True)); "
        "print(sorted({'httpx2', 'httpcore2', 'bs4'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
