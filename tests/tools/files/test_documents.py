"""The text of honest files of each format, and what is kept of files that are too long (F18)."""

import hashlib
from pathlib import Path

import pytest

from leadhand.tools.files import Document, Documents, Inputs, UnreadableInput
from tests.tools.files import samples


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
        [
            ("a.parquet", b"PAR1", "query it as a table"),
            ("a.bin", b"\0\1\2", "it is not text"),
        ],
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


class TestHtml:
    PAGE = b"""<!doctype html><html><head><title>Energy</title><style>p {}</style>
    <script>var hidden = 1</script></head><body><!-- a comment --><h2>Cost &amp; price</h2>
    <p>It   <b>fell</b> by
    half.<p>Twice.</p><ul><li>one<li><p>two</p></ul><p hidden>ignore this</p>
    <div style="color: red; DISPLAY : none">nor <span>this</span></div><i aria-hidden=true>x</i>
    <table><tr><td>a<td>b</tr></table><pre>if x:
    y</pre>first<br>second</body></html>"""

    def test_what_a_reader_sees_is_kept_as_lines_and_paragraphs(self, tmp_path: Path) -> None:
        assert text_of(tmp_path / "a.html", self.PAGE) == (
            "# Energy\n\n## Cost & price\n\nIt fell by half.\n\nTwice.\n\n- one\n- two\n\n"
            "a | b\n\nif x:\n    y\n\nfirst\nsecond\n"
        )

    def test_a_declared_character_set_is_believed(self, tmp_path: Path) -> None:
        page = '<meta charset="windows-1251"><p>Привет</p>'.encode("windows-1251")
        assert text_of(tmp_path / "a.html", page) == "Привет\n"

    def test_an_unknown_character_set_is_not(self, tmp_path: Path) -> None:
        assert text_of(tmp_path / "a.html", b"<meta charset=x-none><p>caf\xc3\xa9") == "café\n"

    def test_a_page_that_shows_nothing_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableInput, match="holds no text"):
            text_of(tmp_path / "a.html", b"<script>x</script>")


class TestPdf:
    def test_pages_keep_their_numbers(self, tmp_path: Path) -> None:
        (tmp_path / "a.pdf").write_bytes(samples.pdf(["First page", "Second page"]))
        document = read(tmp_path / "a.pdf")
        assert document.text == "First page\nSecond page\n"
        assert [document.page(at) for at in (0, 10, 11, 20)] == [1, 1, 2, 2]
        assert document.cut is None

    def test_a_password_is_asked_for_in_one_line(self, tmp_path: Path) -> None:
        from pypdf import PdfReader, PdfWriter

        (tmp_path / "open.pdf").write_bytes(samples.pdf(["Secret"]))
        writer = PdfWriter(clone_from=PdfReader(tmp_path / "open.pdf"))
        writer.encrypt("password", algorithm="RC4-128")
        writer.write(tmp_path / "a.pdf")
        with pytest.raises(UnreadableInput, match=r"^a\.pdf: it is encrypted; hand in a copy"):
            read(tmp_path / "a.pdf")

    @pytest.mark.parametrize(
        "data", [b"", b"%PDF-1.4\n", b"just text", b"%PDF-1.7\n" + b"\0" * 999]
    )
    def test_a_broken_one_says_so_in_one_line(self, tmp_path: Path, data: bytes) -> None:
        with pytest.raises(UnreadableInput, match=r"^a\.pdf: it is damaged, or no PDF") as caught:
            text_of(tmp_path / "a.pdf", data)
        assert "\n" not in str(caught.value)

    def test_a_scan_without_text_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableInput, match="may hold images"):
            text_of(tmp_path / "a.pdf", samples.pdf([""]))


class TestDocx:
    def test_paragraphs_headings_and_tables_are_kept(self, tmp_path: Path) -> None:
        def cell(text: str) -> str:
            return f"<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"

        table = f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr></w:tbl>"
        heading = '<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Cost</w:t></w:r></w:p>'
        stops = '<w:pPr><w:pStyle w:val="Heading²"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>'
        para = f"<w:p>{stops}<w:r><w:t>It fell</w:t><w:tab/><w:t>&amp; fell.</w:t></w:r></w:p>"
        twice = "<mc:AlternateContent><w:r><w:t>left</w:t></w:r><mc:Fallback><w:t>left</w:t>"
        twice += "</mc:Fallback></mc:AlternateContent>"
        deleted = f"<w:p><w:r><w:delText>gone</w:delText></w:r>{twice}</w:p>"
        xml = samples.document_xml([heading, para, table, deleted])
        document = read(samples.docx(tmp_path / "a.docx", [], xml=xml))
        assert document.text == "## Cost\n\nIt fell\t& fell.\n\na | b\n\nleft\n"
        assert document.page(0) is None

    @pytest.mark.parametrize("data", [b"", b"PK\x03\x04 cut", b"text"])
    def test_a_broken_one_says_so_in_one_line(self, tmp_path: Path, data: bytes) -> None:
        with pytest.raises(UnreadableInput, match=r"^a\.docx: it is damaged, or no Word document"):
            text_of(tmp_path / "a.docx", data)
