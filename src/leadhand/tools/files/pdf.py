"""Extracts the text of a PDF with pypdf; runs in `child`, which limits its time and memory."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError, PyPdfError

from leadhand.tools.errors import TruncatedDocument, UnreadableDocument

MAX_PAGES: Final = 2_000


def pages(stream: BinaryIO) -> Iterator[str]:
    """Empty for a page that is only an image or can't be read."""
    try:
        reader = PdfReader(stream)
        count = len(reader.pages)
    except (FileNotDecryptedError, DependencyError) as error:
        raise UnreadableDocument(
            "it is encrypted; hand in a copy that opens without a password"
        ) from error
    except LimitReachedError as error:
        raise UnreadableDocument("it is built to take too much work to read") from error
    except PyPdfError as error:
        raise UnreadableDocument(f"it is damaged, or no PDF ({type(error).__name__})") from error
    damaged: list[int] = []
    for number in range(min(count, MAX_PAGES)):
        try:
            yield reader.pages[number].extract_text()
        except MemoryError:
            raise
        except Exception:  # A damaged page may raise anything, and the next one may be fine.
            damaged.append(number + 1)
            yield ""
    if damaged and len(damaged) == min(count, MAX_PAGES):
        raise UnreadableDocument("none of its pages can be read")
    if damaged:
        raise TruncatedDocument(
            f"{len(damaged):,} of its pages can't be read, the first is p.{damaged[0]}"
        )
    if count > MAX_PAGES:
        raise TruncatedDocument(f"{MAX_PAGES:,} of its {count:,} pages were read")
