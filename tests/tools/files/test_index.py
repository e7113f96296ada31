"""Full-text search: results, their order, and queries that can not break it."""

import random
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadhand.tools.files.documents import Document, Documents
from leadhand.tools.files.index import SearchIndex
from leadhand.tools.files.inputs import Inputs
from leadhand.tools.files.passage import MAX_CHARS, split_into_passages
from leadhand.tools.files.queries import fts_expression
from tests.tools.files import samples

SOLAR = """# Energy report

An introduction.

## Solar cost

The price of photovoltaic modules fell by ninety percent in ten years.

## Wind cost

Turbines grew, and the price of a kilowatt hour of wind halved.
"""


def index_of(folder: Path, **files: str) -> SearchIndex:
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text)
    return SearchIndex(Documents(Inputs.of([folder])))


def places(index: SearchIndex, query: str) -> list[str]:
    return [passage.place for passage in index.search(query, 10)]


class TestCutting:
    @given(st.text(alphabet="ab #.\n", max_size=6_000), st.sets(st.integers(1, 6_000), max_size=4))
    def test_passages_are_all_of_the_text_in_order_and_bounded(
        self, text: str, starts: set[int]
    ) -> None:
        pages = (0, *sorted(at for at in starts if text[at - 1 : at] == "\n" and at < len(text)))
        document = Document("a", text, page_starts=pages)
        end = 0
        for passage in split_into_passages(document):
            assert text[end : passage.offset].isspace() or end == passage.offset
            end = passage.offset + len(passage.text)
            assert passage.text == text[passage.offset : end]
            assert 0 < len(passage.text) <= MAX_CHARS
            assert passage.line == document.line(passage.offset)
            assert passage.page == document.page(passage.offset) == document.page(end - 1)
        assert not text[end:].strip()

    def test_a_passage_begins_at_a_heading_and_knows_it(self) -> None:
        found = [(one.heading, one.line) for one in split_into_passages(Document("a.md", SOLAR))]
        assert found == [("Energy report", 1), ("Solar cost", 5), ("Wind cost", 9)]

    def test_a_passage_ends_with_a_paragraph_once_it_is_long_enough(self) -> None:
        text = "\n\n".join(["word " * 60] * 10)
        lengths = [len(passage.text) for passage in split_into_passages(Document("a.txt", text))]
        assert all(800 <= length <= MAX_CHARS for length in lengths[:-1])

    def test_a_line_that_is_too_long_is_cut_after_a_sentence(self) -> None:
        text = "A sentence of some words. " * 100
        first, *_ = split_into_passages(Document("a.txt", text))
        assert first.text.endswith("words.")


class TestSearch:
    def test_any_word_finds_and_more_and_rarer_words_come_first(self, tmp_path: Path) -> None:
        index = index_of(tmp_path, a=SOLAR)
        assert places(index, "price of photovoltaic") == ["[a.md:5]", "[a.md:9]"]

    def test_other_forms_of_a_word_match(self, tmp_path: Path) -> None:
        assert places(index_of(tmp_path, a=SOLAR), "turbine growing halving") == ["[a.md:9]"]

    def test_a_phrase_in_quotes_must_be_there_as_it_stands(self, tmp_path: Path) -> None:
        index = index_of(tmp_path, a=SOLAR)
        assert places(index, '"price of photovoltaic" wind') == ["[a.md:5]"]
        assert places(index, '"photovoltaic price"') == []

    def test_the_pages_of_a_pdf_are_cited(self, tmp_path: Path) -> None:
        (tmp_path / "p.pdf").write_bytes(samples.pdf(["On wind", "On solar power"]))
        assert places(index_of(tmp_path), "solar") == ["[p.pdf p.2]"]

    def test_text_without_spaces_between_words_is_found_by_its_parts(self, tmp_path: Path) -> None:
        index = index_of(tmp_path, a="太阳能发电的成本在十年内下降了。", b="风力发电机变大了。")
        assert places(index, "太阳能成本")[0] == "[a.md:1]"

    @pytest.mark.parametrize(
        "query",
        [
            'AND', 'NOT', 'OR OR', 'NEAR(a b)', '"', '""', '"""', "'", "a*", "^a", "body:a",
            "{a b}: c",
            "(", ")", "-", "a - b", "a AND", '"a" + "b"', "a\0b", "\ud800", ";DROP TABLE passage",
            "e\u0301",
            "___", "%", "\\", "a" * 100_000, "a " * 10_000, '"a" ' * 1_000,
        ],
    )  # fmt: skip
    def test_no_query_is_a_mistake_of_syntax(self, tmp_path: Path, query: str) -> None:
        index = index_of(tmp_path, a="a b c body")
        index.search(query, 5)
        index.near(query)

    @given(st.text(alphabet=st.characters(), max_size=200))
    def test_every_expression_is_one_that_sqlite_takes(self, query: str) -> None:
        match = fts_expression(query)
        if match is not None:
            assert EMPTY.execute("SELECT 1 FROM t WHERE t MATCH ?", (match,)).fetchall() == []

    def test_nothing_found_offers_words_that_look_alike(self, tmp_path: Path) -> None:
        index = index_of(tmp_path, a=SOLAR)
        assert index.search("fotovoltaic", 5) == []
        assert index.near("fotovoltaic") == ["photovoltaic"]

    def test_files_that_are_not_searched_in_full_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "bad.pdf").write_bytes(b"no pdf")
        (tmp_path / "long.txt").write_bytes(b"some words\n" * 1_000_000)
        gaps = {gap.name: gap.why for gap in index_of(tmp_path, a=SOLAR).gaps()}
        assert "damaged" in gaps["bad.pdf"]
        assert "only its first 8 MiB were read" in gaps["long.txt"]
        assert "a.md" not in gaps

    def test_many_passages_are_indexed_and_searched_without_a_look_at_each(
        self, tmp_path: Path
    ) -> None:
        """By ratios that a wrong order of growth alone exceeds: one has 50 times the passages."""
        dice = random.Random(7)
        words = ["".join(dice.choices("abcdefghij", k=6)) for _ in range(2_000)]
        costs = list[tuple[float, float]]()
        for passages in (60, 3_000):
            text = "\n\n".join(" ".join(dice.choices(words, k=130)) for _ in range(passages))
            folder = tmp_path / f"{passages}"
            folder.mkdir()
            (folder / "a.txt").write_text(f"{text}\n\n# Once\n\nfound")
            index = index_of(folder)
            began = time.process_time()
            assert len(index.search(words[0], 2)) == 2
            indexed = time.process_time()
            searched = [cpu_s_of_search(index) for _ in range(10)]
            costs.append((indexed - began, min(searched)))
        (few_s, few_search_s), (many_s, many_search_s) = costs
        assert many_s < 500 * few_s
        assert many_search_s < 15 * few_search_s

    def test_threads_that_search_at_once_share_one_index(self, tmp_path: Path) -> None:
        index = index_of(tmp_path, a=SOLAR)
        together = threading.Barrier(8)

        def search(_: int) -> list[str]:
            together.wait(timeout=600)
            return places(index, "photovoltaic")

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(search, range(8))) == [["[a.md:5]"]] * 8


def cpu_s_of_search(index: SearchIndex) -> float:
    began = time.process_time()
    assert len(index.search("found", 2)) == 1
    return time.process_time() - began


def _empty() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'porter unicode61')")
    return database


EMPTY = _empty()


def test_small_documents_are_read_before_large_ones(tmp_path: Path) -> None:
    """F43: where time runs out, it is the large ones that are not read."""
    for name, count in (("a-large", 2_000), ("b-small", 1), ("c-middle", 50)):
        (tmp_path / f"{name}.html").write_text(f"<p>{'tower ' * count}</p>")
    (tmp_path / "z.txt").write_text("tower")
    index = SearchIndex(Documents(Inputs.of([tmp_path])))
    index.search("tower", 1)
    order = [file.name for file in index._order()]  # pyright: ignore[reportPrivateUsage]
    assert order == ["z.txt", "b-small.html", "c-middle.html", "a-large.html"]
