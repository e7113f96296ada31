"""Extracts the cells of a spreadsheet (XLSX, XLS, XLSB, ODS); runs in `child`.

A page is a sheet: `# NAME`, then each row on a line, its cells separated by tabs, so that row N is
line N + 1 of its page. A number keeps its value: it has neither thousands separators nor exactly
three decimals, which could be read as one. The sizes in the archive are checked before the library
(in Rust) unpacks it; the memory of the process limits what such a check can't see.
"""

import datetime as dt
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, Final

from leadhand.tools.errors import TruncatedDocument, UnreadableDocument

MAX_MEMBERS: Final = 5_000
MAX_UNPACKED_BYTES: Final = 256 << 20
MAX_ROWS: Final = 200_000
"""Rows of all sheets together."""
_EDGES: Final = str.maketrans("\t\r\n", "   ")


def pages(stream: BinaryIO) -> Iterator[str]:
    """The text of each sheet."""
    _check(stream)
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    except ImportError as error:
        raise UnreadableDocument(
            "spreadsheets need an extra: pip install 'leadhand[teams]'"
        ) from error
    try:
        book = CalamineWorkbook.from_filelike(stream)
    except PasswordError as error:
        raise UnreadableDocument(
            "it is encrypted; hand in a copy that opens without a password"
        ) from error
    except CalamineError as error:
        raise UnreadableDocument("it is damaged, or no spreadsheet") from error
    left = MAX_ROWS
    for name in book.sheet_names:
        try:
            rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False, nrows=left + 1)
        except CalamineError:  # A sheet of charts has no cells.
            rows = []
        lines = ["\t".join(map(_cell, row)).rstrip("\t") for row in rows[:left]]
        yield "\n".join([f"# {name.translate(_EDGES)}", *lines]).rstrip("\n") + "\n"
        left -= len(lines)
        if len(rows) > len(lines):
            raise TruncatedDocument(f"its first {MAX_ROWS:,} rows were read")


def _check(stream: BinaryIO) -> None:
    if stream.read(2) != b"PK":
        stream.seek(0)
        return
    try:
        with zipfile.ZipFile(stream) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise UnreadableDocument("it is damaged, or no spreadsheet") from error
    if len(members) > MAX_MEMBERS:
        raise UnreadableDocument(
            f"its archive has more than {MAX_MEMBERS:,} members, which is refused"
        )
    if sum(member.file_size for member in members) > MAX_UNPACKED_BYTES:
        raise UnreadableDocument(
            f"it unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB, which is refused"
        )
    stream.seek(0)


def _cell(value: object) -> str:
    if isinstance(value, float):
        text = f"{value:.0f}" if value.is_integer() else repr(value)
        return f"{text}0" if text[-4:-3] == "." and "e" not in text else text
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value).translate(_EDGES).strip()
