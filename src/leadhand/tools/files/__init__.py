"""The files handed in with `--input`: listed, read, searched and cited, and nothing beyond them.

Held here are rows F17, F18 and F23 of the faults: see `opening` for which byte may be read,
`parsing` for how a hostile document is kept from doing harm, `legible` for what its text may hold.
Names resolve on first use: a run without files needs no database and no parser.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.tools.files.answers import MAX_PER_FILE, best, passages
    from leadhand.tools.files.documents import Document, Documents
    from leadhand.tools.files.index import Index, SearchGap
    from leadhand.tools.files.inputs import InputFile, Inputs, UnreadableInput
    from leadhand.tools.files.kinds import Kind
    from leadhand.tools.files.listing import ListingLimits, Skipped
    from leadhand.tools.files.parsing import ParserLimits
    from leadhand.tools.files.passage import Passage
    from leadhand.tools.files.toolset import FileTools

__all__ = [
    "MAX_PER_FILE",
    "Document",
    "Documents",
    "FileTools",
    "Index",
    "InputFile",
    "Inputs",
    "Kind",
    "ListingLimits",
    "ParserLimits",
    "Passage",
    "SearchGap",
    "Skipped",
    "UnreadableInput",
    "best",
    "passages",
]

_MODULES = {
    "MAX_PER_FILE": "answers",
    "best": "answers",
    "passages": "answers",
    "Document": "documents",
    "Documents": "documents",
    "SearchGap": "index",
    "Index": "index",
    "InputFile": "inputs",
    "Inputs": "inputs",
    "UnreadableInput": "inputs",
    "Kind": "kinds",
    "ListingLimits": "listing",
    "Skipped": "listing",
    "ParserLimits": "parsing",
    "Passage": "passage",
    "FileTools": "toolset",
}

__getattr__ = lazy_attributes(__name__, _MODULES)
