"""What is read of a folder, and the places that are given for it."""

import zipfile
from pathlib import Path

from leadhand_teams.shared.reading import Reading, read, stamps
from tests.tools.files import samples


def folder(path: Path) -> Reading:
    return read([path])


def test_the_formats_of_a_trade_are_read_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    samples.docx(tmp_path / "b.docx", ["# Terms", "Payment is due."])
    (tmp_path / "c.pdf").write_bytes(samples.pdf(["first page", "second page"]))
    samples.xlsx(tmp_path / "d.xlsx", {"Prices": [["name", "price"], ["x", 1.5], ["y", 2]]})
    (tmp_path / "e.html").write_text("<h1>Hello</h1><p>there</p>")
    (tmp_path / "f.csv").write_text("name,price\nx,1\ny,2\n")
    (tmp_path / "g.jsonl").write_text('{"id": "s1", "title": "T", "text": "body"}\n')
    (tmp_path / "h.bin").write_bytes(b"\0\1")
    found = folder(tmp_path)
    assert [text.name for text in found.texts] == ["a.txt", "b.docx", "c.pdf", "e.html", "g.jsonl"]
    assert [table.name for table in found.tables] == ["d.xlsx#Prices", "f.csv"]
    assert found.tables[0].ref(1) == "d.xlsx#Prices:3"
    assert [one.name for one in found.unread] == ["h.bin"]
    plain, _, pages, _, row = found.texts
    assert pages.ref(pages.text.index("second")) == "c.pdf!2"
    assert (row.ref(2), row.title, row.text) == ("s1", "T", "body")
    assert plain.ref(4) == "a.txt:2"


def test_offsets_of_a_plain_text_are_those_of_the_file(tmp_path: Path) -> None:
    text = "a\r\nb\u200bc\x1b[31m\u202edone\n"
    (tmp_path / "a.txt").write_bytes(text.encode())
    (found,) = folder(tmp_path).texts
    assert len(found.text) == len(text)
    assert found.text.index("done") == text.index("done")
    assert not set("\x1b\u202e\u200b\r") & set(found.text)


def test_the_text_of_a_pdf_has_no_headers_ligatures_and_broken_words(tmp_path: Path) -> None:
    pages = [f"ACME annual report\n{text}\nPage {n} of 4" for n, text in enumerate(TEXTS, 1)]
    (tmp_path / "a.pdf").write_bytes(samples.pdf(pages))
    (found,) = folder(tmp_path).texts
    assert "ACME" not in found.text
    assert "Page" not in found.text
    assert "The department grew." in found.text
    assert [found.page(start) for start in found.page_starts] == [1, 2, 3, 4]


TEXTS = ("The depart-\nment grew.", "Revenue rose.", "Costs fell.", "Thanks.")


def test_numbers_of_a_spreadsheet_keep_their_value(tmp_path: Path) -> None:
    rows = [["name", "rate", "code"], ["x", 1.234, "1.234,5"], ["y", 10.5, "7"], ["z", 1e-7, "8"]]
    samples.xlsx(tmp_path / "a.xlsx", {"One": rows, "Empty": []})
    (table,) = folder(tmp_path).tables
    rate = table.column("rate")
    assert rate is not None
    assert rate.numbers == (1.234, 10.5, 1e-7)


def test_hostile_spreadsheets_are_named_and_harm_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("still here\n")
    (tmp_path / "b.xlsx").write_bytes(b"PK but no archive")
    bomb = samples.xlsx(tmp_path / "c.xlsx", {"One": [["a", "b"], [1, 2]]})
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED) as archive:
        for n in range(9):
            archive.writestr(f"xl/{n}.bin", bytes(32 << 20))
    far = samples.xlsx(tmp_path / "d.xlsx", {"One": [["a", "b"], [1, 2]]})
    sheet = samples.sheet_xml([["a"]]).replace('r="A1"', 'r="XFD1048576"')
    with zipfile.ZipFile(far) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(far, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, sheet if name.endswith("s1.xml") else data)
    found = folder(tmp_path)
    assert [text.name for text in found.texts] == ["a.txt"]
    assert {one.name for one in found.unread} <= {"b.xlsx", "c.xlsx", "d.xlsx"}
    why = {one.name: one.why for one in found.unread}
    assert "damaged" in why["b.xlsx"]
    assert "unpacks to more than 256 MiB" in why["c.xlsx"]
    assert "damaged" in why["d.xlsx"] or "memory" in why["d.xlsx"]


def test_what_was_read_is_known_by_each_file_of_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a\n1\n")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    before = stamps([tmp_path])
    assert stamps([tmp_path]) == before
    file.write_text("a\n1\n2\n")
    assert stamps([tmp_path]) != before
