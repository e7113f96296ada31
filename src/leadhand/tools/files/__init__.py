"""Lists, reads, searches and cites the files given with `--input`, and no others.

Faults F17, F18 and F23: `opening` decides which bytes may be read, `parsing` isolates hostile
documents, `legible` cleans their text.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.tools.files.documents import Document, Documents, citation
    from leadhand.tools.files.index import SearchIndex, best_passages
    from leadhand.tools.files.inputs import InputFile, Inputs
    from leadhand.tools.files.kinds import NOT_READ, FileKind
    from leadhand.tools.files.legible import cleaned
    from leadhand.tools.files.listing import HIDDEN
    from leadhand.tools.files.passage import Passage, split_into_passages
    from leadhand.tools.files.queries import content_words

__all__ = [
    "HIDDEN",
    "NOT_READ",
    "Document",
    "Documents",
    "FileKind",
    "InputFile",
    "Inputs",
    "Passage",
    "SearchIndex",
    "best_passages",
    "citation",
    "cleaned",
    "content_words",
    "split_into_passages",
]

_MODULES = {
    "documents": "Document Documents citation",
    "index": "SearchIndex best_passages",
    "inputs": "InputFile Inputs",
    "kinds": "NOT_READ FileKind",
    "legible": "cleaned",
    "listing": "HIDDEN",
    "passage": "Passage split_into_passages",
    "queries": "content_words",
}

if not TYPE_CHECKING:  # else checkers would take any name for one of the package's
    __getattr__ = lazy_attributes(__name__, _MODULES)
