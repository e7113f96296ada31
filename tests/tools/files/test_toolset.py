"""Results of the file tools: short, with references, or a helpful error."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from leadhand.tools.errors import ToolCallError
from leadhand.tools.files.inputs import Inputs
from leadhand.tools.files.toolset import FileTools
from tests.tools.files import samples


def write(folder: Path) -> Path:
    (folder / "report.md").write_text("# Cost\n\nSolar fell\nby half.\n\nWind as well.\n")
    (folder / "paper.pdf").write_bytes(samples.pdf(["Nothing here", "Solar power rose"]))
    (folder / ".hidden").write_text("x")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("in"))


@pytest.fixture(scope="module")
def sample(folder: Path) -> FileTools:
    """The tools over the folder that no test changes."""
    return tools(folder)


def tools(folder: Path) -> FileTools:
    return FileTools(Inputs.of([folder]))


def test_listing_gives_names_kinds_sizes_and_what_was_skipped(
    folder: Path, sample: FileTools
) -> None:
    assert sample.list_files().splitlines() == [
        "1 Markdown file, 1 PDF file; 1 skipped",
        f"paper.pdf (pdf, {(folder / 'paper.pdf').stat().st_size} bytes)",
        "report.md (markdown, 43 bytes)",
    ]


def test_a_long_listing_is_cut_and_says_so(tmp_path: Path) -> None:
    for n in range(400):
        (tmp_path / f"{n:03} {'x' * 60}.txt").touch()
    listing = tools(tmp_path).list_files()
    assert len(listing) <= 12_000
    assert re.search(r"\.\.\. and \d+ more; search_files covers them too$", listing)


def test_hits_come_with_references_and_the_offset_to_read_on(sample: FileTools) -> None:
    found = sample.search_files("solar")
    assert "[report.md:1] (offset=0)\n# Cost\nSolar fell\nby half." in found
    assert "[paper.pdf p.2] (offset=13)\nSolar power rose" in found
    assert sample.read_file("paper.pdf", 13).endswith("[paper.pdf p.2]\nSolar power rose")


def test_the_snippet_of_a_long_passage_has_the_words_and_cites_its_own_line(tmp_path: Path) -> None:
    lines = [f"line {n} has filler of some length in it" for n in range(1, 25)]
    lines[19] = "here the photovoltaic price is told"
    (tmp_path / "a.txt").write_text("\n".join(lines))
    hit = tools(tmp_path).search_files("photovoltaics prices")
    reference = re.match(r"\[a\.txt:(\d+)\]", hit)
    assert reference is not None
    shown = hit.splitlines()[1].strip("…")
    assert shown in lines[int(reference[1]) - 1]
    assert "the photovoltaic price is told" in hit
    assert len(hit) < 700


def test_no_hit_says_what_to_try_and_names_what_was_not_searched(tmp_path: Path) -> None:
    (write(tmp_path) / "broken.pdf").write_bytes(b"no")
    answer = tools(tmp_path).search_files("sollar")
    assert "No passage has 'sollar'; similar words in the files: Solar" in answer
    assert "Not searched, or not in full: broken.pdf: it is damaged" in answer


@pytest.mark.parametrize("limit", [-1, 0, 1, 10**9])
def test_any_limit_gives_some_hits_but_never_too_many(sample: FileTools, limit: int) -> None:
    assert 1 <= sample.search_files("solar", limit).count("offset=") <= 15


def test_a_file_is_read_with_line_numbers_to_cite(sample: FileTools) -> None:
    assert sample.read_file("report.md") == (
        "report.md, characters 0 to 43 of 43\n"
        "1| # Cost\n\n3| Solar fell\nby half.\n\n6| Wind as well."
    )


def test_a_long_file_is_read_page_by_page_and_nothing_is_lost(tmp_path: Path) -> None:
    lines = [f"row {n} " + "x" * (n % 90) for n in range(1, 2_000)]
    lines[500] = "y" * 30_000
    text = "\n".join(lines) + "\n"
    (tmp_path / "a.txt").write_text(text)
    reader = tools(tmp_path)
    offset, seen = 0, ""
    while offset < len(text):
        page = reader.read_file("a.txt", offset)
        assert len(page) <= 12_000
        head, _, body = page.partition("\n")
        end = re.search(r"characters [\d,]+ to ([\d,]+) of", head)
        assert end is not None
        for number, line in re.findall(r"^(\d+)\| (.*)$", body, re.MULTILINE):
            assert line in lines[int(number) - 1]
        seen += re.sub(r"^\d+\| ", "", body, flags=re.MULTILINE)
        offset = int(end[1].replace(",", ""))
        assert (f"continue with offset={offset}" in head) == (offset < len(text))
    assert seen.replace("\n", "") == text.replace("\n", "")


def test_the_last_page_of_a_file_that_was_cut_says_what_is_missing(tmp_path: Path) -> None:
    """F18."""
    (tmp_path / "a.log").write_bytes(b"some words\n" * 1_000_000)
    page = tools(tmp_path).read_file("a.log", (8 << 20) - 20)
    assert "there is more that is not shown: only its first 8 MiB were read" in page
    assert "11,000,000 bytes, sha256 " in page


MISTAKES: list[tuple[Callable[[FileTools], str], str]] = [
    (lambda tools: tools.read_file("../secret"), "as list_files shows it"),
    (lambda tools: tools.read_file("raport.md"), "did you mean report.md"),
    (lambda tools: tools.read_file("report.md", 43), "use 0 to 42"),
    (lambda tools: tools.read_file("report.md", -1), "use 0 to 42"),
    (lambda tools: tools.search_files("  "), "give words to search for"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES)
def test_an_error_is_one_helpful_line(
    sample: FileTools, call: Callable[[FileTools], str], words: str
) -> None:
    with pytest.raises(ToolCallError, match=re.escape(words)) as caught:
        call(sample)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "tool", [FileTools.list_files, FileTools.search_files, FileTools.read_file]
)
def test_each_tool_tells_a_model_what_it_does_and_takes(tool: Callable[..., str]) -> None:
    told = inspect.getdoc(tool) or ""
    assert told.partition("\n")[0].endswith(".")
    for argument in set(inspect.signature(tool).parameters) - {"self"}:
        assert f"\n    {argument}: " in told
