"""Lists, reads, searches and cites the files given with `--input`, no others (F17, F18, F23)."""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.tools.files.documents import Document as Document
    from leadhand.tools.files.documents import Documents as Documents
    from leadhand.tools.files.documents import citation as citation
    from leadhand.tools.files.index import SearchIndex as SearchIndex
    from leadhand.tools.files.index import best_passages as best_passages
    from leadhand.tools.files.inputs import InputFile as InputFile
    from leadhand.tools.files.inputs import Inputs as Inputs
    from leadhand.tools.files.kinds import NOT_READ as NOT_READ
    from leadhand.tools.files.kinds import FileKind as FileKind
    from leadhand.tools.files.legible import cleaned as cleaned
    from leadhand.tools.files.legible import decoded as decoded
    from leadhand.tools.files.listing import HIDDEN as HIDDEN
    from leadhand.tools.files.passage import Passage as Passage
    from leadhand.tools.files.passage import split_into_passages as split_into_passages
    from leadhand.tools.files.queries import content_words as content_words
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
