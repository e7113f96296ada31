"""The text of valid files of each format, and how files that are too long are cut (F18)."""

import hashlib
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from leadhand.tools.files.documents import Document, Documents
from leadhand.tools.files.inputs import Inputs, UnreadableInput
from tests.tools.files import samples

Parsed = dict[str, Document | UnreadableInput]


def read(path: Path) -> Document:
    return Documents(Inputs.of([path])).read(path.name)


def text_of(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return read(path).text


class TestText:
    @pytest.mark.parametrize(
        ("data", "text"),
        [
            ("naïve €\n".encode(), "naïve €\n"),
            (b"\xef\xbb\xbfmarked", "marked"),
            ("naïve".encode("utf-16"), "naïve"),
            (b"\xfe\xff" + "naïve".encode("utf-16-be"), "naïve"),
            ("naïve".encode("utf-32"), "naïve"),
            (b"na\xefve", "naïve"),
            (b"a\r\nb\rc\n", "a\nb\nc\n"),
            (b"", ""),
        ],
    )
    def test_it_is_decoded_by_its_mark_else_as_utf8_else_as_latin1(
        self, tmp_path: Path, data: bytes, text: str
    ) -> None:
        assert text_of(tmp_path / "a.txt", data) == text

    def test_controls_are_made_visible_and_what_hides_or_turns_text_is_dropped(
        self, tmp_path: Path
    ) -> None:
        """F07, F34."""
        hostile = "a\0b\x1b[31mc\u202ed\u200be\U000e0041f\x7f\tg\u2028h\n".encode()
        assert text_of(tmp_path / "a.txt", hostile) == "a␀b␛[31mcdef␡\tg h\n"

    @pytest.mark.parametrize("name", ["a.csv", "a.json", "a.md"])
    def test_csv_json_and_markdown_are_read_as_they_are(self, tmp_path: Path, name: str) -> None:
        assert text_of(tmp_path / name, b'{"a": 1}\n1,2\n') == '{"a": 1}\n1,2\n'

    def test_of_a_100_mb_file_the_beginning_is_kept_with_size_and_hash_of_all(
        self, tmp_path: Path
    ) -> None:
        """F18."""
        line = b"all work and no play\n"
        data = line * (100_000_000 // len(line))
        (tmp_path / "big.log").write_bytes(data)
        document = read(tmp_path / "big.log")
        assert len(document.text) == 8 << 20
        assert document.cut is not None
        assert f"{len(data):,} bytes" in document.cut
        assert hashlib.sha256(data).hexdigest() in document.cut

    def test_a_character_cut_in_half_at_the_bound_does_not_change_the_encoding(
        self, tmp_path: Path
    ) -> None:
        text = text_of(tmp_path / "a.txt", b"x" + "é".encode() * (5 << 20))
        assert set(text) == {"x", "é"}

    @pytest.mark.parametrize(
        ("name", "data", "why"),
        [("a.parquet", b"PAR1", "query it as a table"), ("a.bin", b"\0\1\2", "it is not text")],
    )
    def test_what_has_no_text_says_so(
        self, tmp_path: Path, name: str, data: bytes, why: str
    ) -> None:
        with pytest.raises(UnreadableInput, match=why):
            text_of(tmp_path / name, data)

    def test_a_document_is_read_once_and_kept(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("first")
        documents = Documents(Inputs.of([tmp_path]))
        first = documents.read("a.txt")
        (tmp_path / "a.txt").write_text("later")
        assert documents.read("a.txt") is first


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    """What comes of each of the files that take parsing, all read by the same processes."""
    folder = tmp_path_factory.mktemp("rich")
    for name, data in {**PAGES, **PDFS, **BROKEN_PDFS, **BROKEN_DOCX}.items():
        (folder / name).write_bytes(data)
    samples.docx(folder / "word.docx", [], xml=word_xml())
    inputs = Inputs.of([folder])
    results = Documents(inputs).read_each(inputs.files, timeout_s=36_000)
    return {file.name: result for file, result in zip(inputs.files, results, strict=True)}


def text(result: Document | UnreadableInput) -> str:
    assert isinstance(result, Document)
    return result.text


def why(result: Document | UnreadableInput) -> str:
    assert isinstance(result, UnreadableInput)
    assert "\n" not in str(result)
    return str(result)


PAGES = {
    "page.html": b"""<!doctype html><html><head><title>Energy</title><style>p {}</style>
    <script>var hidden = 1</script></head><body><!-- a comment --><h2>Cost &amp; price</h2>
    <p>It   <b>fell</b> by
    half.<p>Twice.</p><ul><li>one<li><p>two</p></ul><p hidden>ignore this</p>
    <div style="color: red; DISPLAY : none">nor <span>this</span></div><i aria-hidden=true>x</i>
    <table><tr><td>a<td>b</tr></table><pre>if x:
    y</pre>first<br>second</body></html>""",
    "cyrillic.html": '<meta charset="windows-1251"><p>Привет</p>'.encode("windows-1251"),
    "unknown.html": b"<meta charset=x-none><p>caf\xc3\xa9",
    "nothing.html": b"<script>x</script>",
}


class TestHtml:
    def test_what_a_reader_sees_is_kept_as_lines_and_paragraphs(self, parsed: Parsed) -> None:
        assert text(parsed["page.html"]) == (
            "# Energy\n\n## Cost & price\n\nIt fell by half.\n\nTwice.\n\n- one\n- two\n\n"
            "a | b\n\nif x:\n    y\n\nfirst\nsecond\n"
        )

    def test_a_declared_character_set_is_believed(self, parsed: Parsed) -> None:
        assert text(parsed["cyrillic.html"]) == "Привет\n"

    def test_an_unknown_character_set_is_not(self, parsed: Parsed) -> None:
        assert text(parsed["unknown.html"]) == "café\n"

    def test_a_page_that_shows_nothing_says_so(self, parsed: Parsed) -> None:
        assert "holds no text" in why(parsed["nothing.html"])


def encrypted() -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(samples.pdf(["Secret"]))))
    writer.encrypt("password", algorithm="RC4-128")
    written = BytesIO()
    writer.write(written)
    return written.getvalue()


PDFS = {
    "two.pdf": samples.pdf(["First page", "Second page"]),
    "locked.pdf": encrypted(),
    "scan.pdf": samples.pdf([""]),
}
BROKEN_PDFS = {
    "empty.pdf": b"",
    "head.pdf": b"%PDF-1.4\n",
    "text.pdf": b"just text",
    "zeros.pdf": b"%PDF-1.7\n" + b"\0" * 999,
}


class TestPdf:
    def test_pages_keep_their_numbers(self, parsed: Parsed) -> None:
        document = parsed["two.pdf"]
        assert isinstance(document, Document)
        assert document.text == "First page\nSecond page\n"
        assert [document.page(at) for at in (0, 10, 11, 20)] == [1, 1, 2, 2]
        assert document.cut is None

    def test_a_password_is_asked_for_in_one_line(self, parsed: Parsed) -> None:
        said = why(parsed["locked.pdf"])
        assert said.startswith("locked.pdf: it is encrypted; hand in a copy")

    @pytest.mark.parametrize("name", BROKEN_PDFS)
    def test_a_broken_one_says_so_in_one_line(self, parsed: Parsed, name: str) -> None:
        assert why(parsed[name]).startswith(f"{name}: it is damaged, or no PDF")

    def test_a_scan_without_text_says_so(self, parsed: Parsed) -> None:
        assert "may hold images" in why(parsed["scan.pdf"])


BROKEN_DOCX = {"empty.docx": b"", "cut.docx": b"PK\x03\x04 cut", "text.docx": b"text"}


def word_xml() -> str:
    def cell(text: str) -> str:
        return f"<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"

    table = f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr></w:tbl>"
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Cost</w:t></w:r></w:p>'
    stops = '<w:pPr><w:pStyle w:val="Heading²"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>'
    para = f"<w:p>{stops}<w:r><w:t>It fell</w:t><w:tab/><w:t>&amp; fell.</w:t></w:r></w:p>"
    twice = "<mc:AlternateContent><w:r><w:t>left</w:t></w:r><mc:Fallback><w:t>left</w:t>"
    twice += "</mc:Fallback></mc:AlternateContent>"
    deleted = f"<w:p><w:r><w:delText>gone</w:delText></w:r>{twice}</w:p>"
    return samples.document_xml([heading, para, table, deleted])


class TestDocx:
    def test_paragraphs_headings_and_tables_are_kept(self, parsed: Parsed) -> None:
        document = parsed["word.docx"]
        assert text(document) == "## Cost\n\nIt fell\t& fell.\n\na | b\n\nleft\n"
        assert isinstance(document, Document)
        assert document.page(0) is None

    @pytest.mark.parametrize("name", BROKEN_DOCX)
    def test_a_broken_one_says_so_in_one_line(self, parsed: Parsed, name: str) -> None:
        assert why(parsed[name]).startswith(f"{name}: it is damaged, or no Word document")
