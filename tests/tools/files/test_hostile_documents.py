"""Files made to hurt whoever parses them: refused or cut, quickly, and their neighbours read (F23).

Each runs in the real process with the real parsers; some with less time than in earnest.
"""

import shutil
import sys
import time
import zipfile
from pathlib import Path

import pytest

from leadhand.errors import ToolError
from leadhand.tools.files import Document, Documents, Inputs, Limits, Unreadable
from tests.tools.files import samples

QUICK = Limits(cpu_s=1.0)


def read(path: Path, *, limits: Limits = QUICK) -> Document:
    return Documents(Inputs.of([path]), limits=limits).read(path.name)


def test_html_that_keeps_the_parser_busy_for_hours_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<a " * 100_000)
    with pytest.raises(Unreadable, match="it takes more than 1 s of work"):
        read(tmp_path / "a.html")


def test_html_nested_ten_thousand_deep_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<b>" * 10_000 + "core")
    assert read(tmp_path / "a.html", limits=Limits()).text == "core\n"


def test_memory_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>" * 100_000)
    with pytest.raises(Unreadable, match="80 MiB of memory"):
        read(tmp_path / "a.html", limits=Limits(memory_bytes=80 << 20))


def test_a_reader_that_does_not_start_is_a_broken_environment_and_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.html").write_text("<p>fine")
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(ToolError, match="the reader of documents did not start"):
        read(tmp_path / "a.html")


def test_a_file_that_kills_the_reader_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>before")
    (tmp_path / "b.html").write_text("<a " * 100_000)
    (tmp_path / "c.pdf").write_bytes(samples.pdf(["after"]))
    samples.docx(tmp_path / "d.docx", ["last"])
    inputs = Inputs.of([tmp_path])
    results = list(Documents(inputs, limits=QUICK).read_each(inputs.files))
    texts = [result.text if isinstance(result, Document) else None for result in results]
    assert texts == ["before\n", None, "after\n", "last\n"]


def test_what_is_not_read_in_time_is_given_up_and_plain_text_is_read_all_the_same(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.html").write_text("<a " * 100_000)
    (tmp_path / "b.html").write_text("<p>fine")
    (tmp_path / "c.txt").write_text("plain")
    inputs = Inputs.of([tmp_path])
    slow, late, plain = Documents(inputs).read_each(inputs.files, timeout_s=0.5)
    assert isinstance(slow, Unreadable)
    assert isinstance(late, Unreadable)
    assert late.why == "not read: the files before it took too long"
    assert isinstance(plain, Document)


def test_a_pdf_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(samples.pdf_bomb(100_000_000))
    assert (tmp_path / "a.pdf").stat().st_size < 10_000
    with pytest.raises(Unreadable, match="holds no text that can be read"):
        read(tmp_path / "a.pdf", limits=Limits())


def test_a_pdf_of_a_hundred_thousand_objects_is_read_or_stopped_in_time(tmp_path: Path) -> None:
    extra = b"".join(
        b"%d 0 obj\n<< /Type /Catalog /Pages %d 0 R >>\nendobj\n" % (n, n)
        for n in range(100, 100_100)
    )
    data = samples.pdf(["core"], extra=extra)
    (tmp_path / "whole.pdf").write_bytes(data)
    assert read(tmp_path / "whole.pdf", limits=Limits()).text == "core\n"
    # Without its table the parser has to look for all the objects.
    (tmp_path / "torn.pdf").write_bytes(data[: data.rindex(b"xref\n0")])
    began = time.monotonic()
    with pytest.raises(Unreadable):
        read(tmp_path / "torn.pdf")
    assert time.monotonic() - began < 10


def test_a_pdf_whose_page_tree_contains_itself_is_refused(tmp_path: Path) -> None:
    data = samples.pdf(["core"]).replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(Unreadable):
        read(tmp_path / "a.pdf")


def test_pages_read_before_the_time_was_up_are_kept_and_marked_as_cut(tmp_path: Path) -> None:
    busy = "BT (x) Tj ET " * 1_500_000
    (tmp_path / "a.pdf").write_bytes(samples.pdf(["first", f") Tj ET {busy} BT (last"]))
    document = read(tmp_path / "a.pdf")
    assert document.text == "first\n"
    assert document.cut is not None
    assert "the rest was not read: it takes more than 1 s" in document.cut
    assert "sha256" in document.cut


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = samples.docx(tmp_path / "a.docx", [], xml=" " * 100_000_000)
    assert path.stat().st_size < 200_000
    with pytest.raises(Unreadable, match="unpacks to more than 200 times its size"):
        read(path)


def test_a_zip_that_lies_about_its_size_is_not_believed(tmp_path: Path) -> None:
    path = samples.docx(tmp_path / "a.docx", [], xml=" " * 20_000_000)
    data = path.read_bytes()
    path.write_bytes(data.replace((20_000_000).to_bytes(4, "little"), b"\x10\0\0\0"))
    with pytest.raises(Unreadable):
        read(path)


def test_an_archive_of_too_many_members_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for number in range(5_001):
            archive.writestr(f"m{number}", "")
    with pytest.raises(Unreadable, match="more than 5,000 members"):
        read(tmp_path / "a.docx", limits=Limits())


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE d [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE d SYSTEM "http://127.0.0.1/evil.dtd">',
    ],
    ids=["expanding", "of a file", "of another host"],
)
def test_xml_entities_are_refused(tmp_path: Path, declaration: str) -> None:
    body = samples.document_xml(["<w:p><w:r><w:t>&b;</w:t></w:r></w:p>"])
    xml = body.replace("<w:document", f"{declaration}<w:document", 1)
    with pytest.raises(Unreadable, match="entities or a document type, which is refused"):
        read(samples.docx(tmp_path / "a.docx", [], xml=xml))


def test_xml_nested_fifty_thousand_deep_hurts_nobody(tmp_path: Path) -> None:
    deep = "<w:r>" * 50_000 + "<w:t>core</w:t>" + "</w:r>" * 50_000
    path = samples.docx(tmp_path / "a.docx", [], xml=samples.document_xml([deep]))
    assert read(path, limits=Limits()).text == "core\n"


def test_an_encrypted_word_document_asks_for_an_open_copy(tmp_path: Path) -> None:
    path = samples.docx(tmp_path / "a.docx", ["x"])
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(Unreadable, match="it is encrypted"):
        read(path)
