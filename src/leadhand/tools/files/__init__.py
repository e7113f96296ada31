"""Lists, reads, searches and cites the files given with `--input`, and no others.

Faults F17, F18 and F23: `opening` decides which bytes may be read, `parsing` isolates hostile
documents, `legible` cleans their text. Names are imported on first use, so that a run without files
loads no database and no parser.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.tools.files.documents import Document, Documents
    from leadhand.tools.files.index import SearchIndex
    from leadhand.tools.files.inputs import InputFile, Inputs, UnreadableInput
    from leadhand.tools.files.kinds import FileKind
    from leadhand.tools.files.listing import ListingLimits
    from leadhand.tools.files.parsing import ParserLimits
    from leadhand.tools.files.passage import Passage
    from leadhand.tools.files.ranking import MAX_PER_FILE, best_passages, find_passages
    from leadhand.tools.files.toolset import FileTools

__all__ = [
    "MAX_PER_FILE",
    "Document",
    "Documents",
    "FileKind",
    "FileTools",
    "InputFile",
    "Inputs",
    "ListingLimits",
    "ParserLimits",
    "Passage",
    "SearchIndex",
    "UnreadableInput",
    "best_passages",
    "find_passages",
]

_MODULES = {
    "MAX_PER_FILE": "ranking",
    "best_passages": "ranking",
    "find_passages": "ranking",
    "Document": "documents",
    "Documents": "documents",
    "SearchIndex": "index",
    "InputFile": "inputs",
    "Inputs": "inputs",
    "UnreadableInput": "inputs",
    "FileKind": "kinds",
    "ListingLimits": "listing",
    "ParserLimits": "parsing",
    "Passage": "passage",
    "FileTools": "toolset",
}

__getattr__ = lazy_attributes(__name__, _MODULES)
