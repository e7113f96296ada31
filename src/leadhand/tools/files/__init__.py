"""The files handed in with `--input`: listed, read, searched and cited, and nothing beyond them.

Held here are rows F17, F18 and F23 of the faults: see `opening` for which byte may be read,
`parsing` for how a hostile document is kept from doing harm, `legible` for what its text may hold.
Names resolve on first use: a run without files needs no database and no parser.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadhand.tools.files.answers import MAX_PER_FILE, best, passages
    from leadhand.tools.files.documents import Document, Documents
    from leadhand.tools.files.index import Gap, Index
    from leadhand.tools.files.inputs import InputFile, Inputs, Unreadable
    from leadhand.tools.files.kinds import Kind
    from leadhand.tools.files.listing import Bounds, Skipped
    from leadhand.tools.files.parsing import Limits
    from leadhand.tools.files.passage import Passage
    from leadhand.tools.files.toolset import FileTools

__all__ = [
    "MAX_PER_FILE",
    "Bounds",
    "Document",
    "Documents",
    "FileTools",
    "Gap",
    "Index",
    "InputFile",
    "Inputs",
    "Kind",
    "Limits",
    "Passage",
    "Skipped",
    "Unreadable",
    "best",
    "passages",
]

_MODULES = {
    "MAX_PER_FILE": "answers",
    "best": "answers",
    "passages": "answers",
    "Document": "documents",
    "Documents": "documents",
    "Gap": "index",
    "Index": "index",
    "InputFile": "inputs",
    "Inputs": "inputs",
    "Unreadable": "inputs",
    "Kind": "kinds",
    "Bounds": "listing",
    "Skipped": "listing",
    "Limits": "parsing",
    "Passage": "passage",
    "FileTools": "toolset",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
