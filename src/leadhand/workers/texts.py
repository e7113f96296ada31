"""What an attempt can read, a fenced page at a time: outputs of tools, results it depends on."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue
from pydantic_ai.tools import ToolDefinition
from pydantic_core import to_json

from leadhand.engine.failures import legible
from leadhand.untrusted.cutting import around, cut
from leadhand.untrusted.fence import Fence

SHOWN_CHARS = 16_000
KEPT_CHARS = 4_000_000
"""Characters of a text that can be read; the rest only counts in its hash."""

READ_MORE = ToolDefinition(
    name="read_more",
    description="Read on in a text that was cut.",
    parameters_json_schema={
        "type": "object",
        "properties": {
            "source": {"type": "string"},
            "offset": {"type": "integer", "description": "Characters to skip."},
        },
        "required": ["source", "offset"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class KeptText:
    """Stored with paused attempts: a new field needs a default."""

    text: str
    chars: int
    sha256: str
    """Of the whole text as UTF-8."""

    @classmethod
    def of(cls, text: str) -> "KeptText":
        """`text` without characters that UTF-8 can't encode, cut at `KEPT_CHARS`."""
        text = text if text.isascii() else legible(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls(cut(text, KEPT_CHARS), len(text), digest)


class ReadableTexts:
    def __init__(self, fence: Fence, results: Mapping[str, JsonValue]) -> None:
        self._fence = fence
        self._texts = {id: KeptText.of(as_text(output)) for id, output in results.items()}
        self._results = len(self._texts)

    def __getitem__(self, source: str) -> KeptText:
        return self._texts[source]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    @property
    def any_long(self) -> bool:
        """Whether any text is so long that the model may have to ask for the rest."""
        return any(text.chars > SHOWN_CHARS // 8 for text in self._texts.values())

    def keep(self, source: str, value: object) -> str:
        """The first page of a tool's output, whose other pages can be read from now on."""
        self._texts[source] = KeptText.of(as_text(value))
        return self._page(source, 0)

    def kept(self) -> dict[str, KeptText]:
        return dict([*self._texts.items()][self._results :])

    def restore(self, kept: Mapping[str, KeptText]) -> None:
        self._texts |= kept

    def read_on(self, source: object, offset: object) -> str | None:
        """The page from `offset`; None if there is no such place."""
        if not isinstance(source, str) or source not in self._texts:
            return None
        if not isinstance(offset, int) or not 0 <= offset <= len(self._texts[source].text):
            return None
        return self._page(source, offset)

    def _page(self, source: str, offset: int) -> str:
        kept = self._texts[source]
        end = around(kept.text, min(offset + SHOWN_CHARS, len(kept.text)))[0]
        end = end if end > offset else offset + SHOWN_CHARS
        page = self._fence.around(kept.text[offset:end], source=source)
        if end < len(kept.text):
            return (
                f"{page}\n(Cut: characters {offset:,} to {end:,} of {kept.chars:,}. Read on with "
                f"read_more(source={source!r}, offset={end}).)"
            )
        if kept.chars > len(kept.text):
            return f"{page}\n(Cut at {end:,} of {kept.chars:,} characters; sha256 {kept.sha256}.)"
        return page


def as_text(value: object) -> str:
    """A tool's output as text: JSON, unless it is text already."""
    if isinstance(value, str):
        return value
    try:
        return to_json(value, inf_nan_mode="constants", fallback=str).decode()
    except (ValueError, UnicodeError):
        return str(value)
