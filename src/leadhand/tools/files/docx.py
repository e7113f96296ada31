"""Extracts the text of a Word document, one line for each paragraph; runs in `child`.

A `.docx` may be a bomb as a zip or as XML (F23): sizes are checked before and while unpacking, and
XML with a document type, which could define entities, is refused.
"""

import zipfile
from collections.abc import Iterator
from typing import BinaryIO, Final
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from leadhand.tools.errors import TruncatedDocument, UnreadableDocument

BODY: Final = "word/document.xml"
MAX_MEMBERS: Final = 5_000
MAX_XML_BYTES: Final = 64 << 20
MAX_RATIO: Final = 200
"""Unpacked to packed size; prose never reaches it."""
_SMALL_BYTES: Final = 1 << 20
"""Below this unpacked size the ratio does not matter."""
_LEVELS: Final = tuple("123456")
_CHUNK_BYTES: Final = 1 << 16


def pages(stream: BinaryIO) -> Iterator[str]:
    handler = _Paragraphs()
    parser = DefusedExpatParser(forbid_dtd=True)
    parser.setContentHandler(handler)
    try:
        for chunk in _unpacked(stream):
            parser.feed(chunk)
        parser.close()
    except DefusedXmlException as error:
        raise UnreadableDocument(
            "its XML declares entities or a document type, which is refused"
        ) from error
    except TruncatedDocument:
        yield handler.text()
        raise
    yield handler.text()


def _unpacked(stream: BinaryIO) -> Iterator[bytes]:
    try:
        archive = zipfile.ZipFile(stream)
    except zipfile.BadZipFile as error:
        raise UnreadableDocument(
            "it is damaged, or no Word document (not a zip archive)"
        ) from error
    with archive:
        if len(archive.namelist()) > MAX_MEMBERS:
            raise UnreadableDocument(
                f"its archive has more than {MAX_MEMBERS:,} members, which is refused"
            )
        try:
            body = archive.getinfo(BODY)
        except KeyError as error:
            raise UnreadableDocument(
                f"it is no Word document (its archive has no {BODY})"
            ) from error
        if body.flag_bits & 1:
            raise UnreadableDocument(
                "it is encrypted; hand in a copy that opens without a password"
            )
        if body.file_size > max(_SMALL_BYTES, MAX_RATIO * body.compress_size):
            raise UnreadableDocument(
                f"it unpacks to more than {MAX_RATIO} times its size, which is refused"
            )
        with archive.open(body) as member:
            done = 0
            while chunk := member.read(_CHUNK_BYTES):
                done += len(chunk)
                if done > MAX_XML_BYTES:
                    raise TruncatedDocument(f"it unpacks to more than {MAX_XML_BYTES >> 20} MiB")
                yield chunk


class _Paragraphs(ContentHandler):
    """Collects the text of WordprocessingML, with any namespace prefix."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[str] = []
        self._in_text = False
        self._fallback = False
        """Whether this is the fallback of a drawing whose text was read already."""
        self._cell = 0
        """The number of the current table cell, from 1 in each row; 0 outside of tables."""

    def text(self) -> str:
        return "".join(self._parts).strip("\n") + "\n"

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        match name.rpartition(":")[2]:
            case "t":
                self._in_text = not self._fallback
            case "Fallback":
                self._fallback = True
            case "tab" if not attrs.getLength():  # With attributes it is a tab stop.
                self._parts.append("\t")
            case "br" | "cr":
                self._parts.append("\n")
            case "pStyle":
                self._heading(attrs)
            case "tc":
                self._cell += 1
                self._parts.append(" | " if self._cell > 1 else "")
            case _:
                pass

    def endElement(self, name: str) -> None:
        match name.rpartition(":")[2]:
            case "t":
                self._in_text = False
            case "Fallback":
                self._fallback = False
            case "p":
                self._parts.append(" " if self._cell else "\n\n")
            case "tc" if self._parts[-1] == " ":
                self._parts.pop()
            case "tr":
                self._cell = 0
                self._parts.append("\n")
            case "tbl":
                self._parts.append("\n")
            case _:
                pass

    def characters(self, content: str) -> None:
        if self._in_text:
            self._parts.append(content)

    def _heading(self, attrs: AttributesImpl) -> None:
        """Mark a heading as in Markdown, so that passages start there."""
        style = next((attrs.getValue(n) for n in attrs.getNames() if n.endswith("val")), "")
        if style.lower().startswith("heading") and style[-1:] in _LEVELS:
            self._parts.append("#" * int(style[-1]) + " ")
        elif style.lower() == "title":
            self._parts.append("# ")
