"""Small files of the supported formats, valid and hostile, built byte by byte."""

import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf(pages: Sequence[str], *, extra: bytes = b"") -> bytes:
    """A PDF with the lines of a text a page; `extra` objects go in before its table."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(pages):
        bodies.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * n} 0 R >>"
        )
        lines = " T* ".join(f"({line}) Tj" for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {lines} ET"
        bodies.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    return _assembled([body.encode() for body in bodies], extra)


def pdf_bomb(unpacked_bytes: int) -> bytes:
    """A PDF of one page whose content, packed twice, is `unpacked_bytes` of drawing."""
    line = b"BT (x) Tj ET\n"
    packed = zlib.compress(zlib.compress(line * (unpacked_bytes // len(line)), 9), 9)
    return _assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
            b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%b\nendstream"
            % (len(packed), packed),
        ],
        b"",
    )


def _assembled(bodies: Sequence[bytes], extra: bytes) -> bytes:
    out = b"%PDF-1.4\n"
    starts: list[int] = []
    for number, body in enumerate(bodies, start=1):
        starts.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    out += extra
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(bodies) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<< /Size %d /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF\n" % (size, table, size, len(out))
    )


def docx(path: Path, paragraphs: Sequence[str], *, xml: str | None = None) -> Path:
    """A Word document; a paragraph that begins with `# ` is a heading; `xml` replaces the body."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", xml or document_xml(map(_paragraph, paragraphs)))
    return path


Cell = str | float


def xlsx(path: Path, sheets: Mapping[str, Sequence[Sequence[Cell]]]) -> Path:
    """A spreadsheet with inline strings; an empty cell is an empty string."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spread = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>'
        for n, name in enumerate(sheets, 1)
    )
    related = "".join(
        f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n in numbers
    )
    parts = "".join(
        f'<Override PartName="/xl/worksheets/s{n}.xml" ContentType="{kind}.worksheet+xml"/>'
        for n in numbers
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
            f"{parts}</Types>",
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r0" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{spread}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{related}</Relationships>',
        )
        for n, rows in enumerate(sheets.values(), 1):
            archive.writestr(f"xl/worksheets/s{n}.xml", sheet_xml(rows))
    return path


def sheet_xml(rows: Sequence[Sequence[Cell]]) -> str:
    def cell(place: str, value: Cell) -> str:
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f'<c r="{place}"><v>{value!r}</v></c>'

    lines = "".join(
        f'<row r="{n}">'
        + "".join(cell(f"{chr(65 + c)}{n}", value) for c, value in enumerate(row) if value != "")
        + "</row>"
        for n, row in enumerate(rows, 1)
    )
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{space}"><sheetData>{lines}</sheetData></worksheet>'


def document_xml(elements: Iterable[str]) -> str:
    body = "".join(elements)
    return f'<?xml version="1.0"?><w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'


def _paragraph(text: str) -> str:
    bare = text.removeprefix("# ")
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' if bare != text else ""
    return f"<w:p>{style}<w:r><w:t>{escape(bare)}</w:t></w:r></w:p>"
