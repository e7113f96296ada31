"""The words that answers are made of: the question, the data in the request, tools' results."""

import re
from functools import cached_property

from leadhand.testing.exchange import Request
from leadhand.testing.json_data import Json

ENDINGS = ("final_answer", "final_result", "escalate")
"""The tools that end a worker's loop: leadhand's, and that of pydantic-ai's agents."""

_DATA = re.compile(
    r"<(?P<tag>data-\w+)(?: from=\"(?P<source>[^\"\n]*)\")?>\n(?P<text>.*?)\n?</(?P=tag)>", re.S
)
_HEADED = re.compile(
    r"^\W{0,4}(?:intent|request|task|question|goal)\W{0,3}:\W{0,3}(?P<said>\S[^\n]*)", re.I | re.M
)
_STEERING = re.compile(r"\b(?:lat_ms=\d+|tasks=\d+|ESCALATE:[^\n]*)")
_WORD = re.compile(r"[^\W\d_][\w'-]{2,}")
_PATH = re.compile(r"(?<![\w/:.])[\w./-]*\w\.(?:md|txt|html?|pdf|docx|csv|tsv|jsonl?|parquet|py)\b")
_TABLE = re.compile(r"\b([A-Za-z_]\w*)\.(?:csv|tsv|jsonl?|parquet)\b")
_URL = re.compile(r"https?://[^\s<>\"')\]]+")
_ENTRY = re.compile(r"^\[(?P<id>[^\[\]\n]{1,200})\] (?P<text>.*?)(?=^\[|\Z)", re.M | re.S)
_CITED = re.compile(r"(?P<text>[^\[\]]*)\[(?P<id>[\w.-]+)\]")
_TASK_ID = re.compile(r"\btask[_ ](?:id\W{1,5})?(?P<named>[\w.-]*\d)\b|\b(?P<short>t\d{1,5})\b")
_STOP = {
    *("about", "from", "have", "into", "than", "that", "their", "then", "there", "they", "this"),
    *("what", "when", "where", "which", "with", "your", "please", "would", "could", "should"),
}
_SHORT = 3
_EXCERPT_CHARS = 400
_MOST_SOURCES = 50


class Phrases:
    def __init__(self, request: Request) -> None:
        self._request = request
        self.said = _DATA.sub("", request.last_user)

    @property
    def has_data(self) -> bool:
        return self.said != self._request.last_user

    @cached_property
    def intent(self) -> str:
        """The line with the question, without the markers that control this server."""
        headed = _HEADED.search(self.said)
        line = headed["said"] if headed else _first_sentence(self.said)
        return " ".join(_STEERING.sub("", line).split()).strip(" \"'`") or "the request"

    @cached_property
    def keywords(self) -> tuple[str, ...]:
        """The significant words of the intent, in order, at most eight."""
        words = [word for word in _WORD.findall(self.intent) if word.lower() not in _STOP]
        long = [word for word in words if len(word) > _SHORT or word.isupper()]
        return tuple(dict.fromkeys(long or words))[:8] or ("request",)

    @cached_property
    def given(self) -> dict[str, str]:
        found = list(_DATA.finditer(self._request.last_user))
        # A source of several words, or `results`, describes the data and is not a task's id.
        marked = {match["source"]: match["text"] for match in found if _is_id(match["source"])}
        if marked:
            return marked
        texts = [match["text"] for match in found]
        listed = [entry for text in texts for entry in _ENTRY.finditer(text)]
        listed = listed or [entry for text in texts for entry in _CITED.finditer(text)]
        if listed:
            entries = {entry["id"]: entry["text"] for entry in listed}
            return {id: text for id, text in entries.items() if not text.startswith("no result")}
        named = [match["named"] or match["short"] for match in _TASK_ID.finditer(self.said)]
        return {task_id: self.said.partition(task_id)[2] for task_id in named[:_MOST_SOURCES]}

    @cached_property
    def found(self) -> tuple[str, ...]:
        messages = (one for one in self._request.messages if one.speaker == "tool")
        return tuple(
            _DATA.sub(r"\g<text>", one.text) for one in messages if one.tool not in ENDINGS
        )

    def mentions(self, name: str) -> bool:
        return any(name in text for text in (self._request.last_user, *self.found))

    @cached_property
    def derived(self) -> str:
        parts = [excerpt(result) for result in self.found]
        parts += [f"{excerpt(text, 160)} [{source}]" for source, text in self.given.items()]
        said = " ".join(parts) or f"it turns on {', '.join(self.keywords)}."
        return f"On {excerpt(self.intent)!r}: {said}"

    def for_tools(self, name: str) -> Json:
        """A suggested value for a tool's argument, by its name."""
        match name.lower():
            case "path" | "file" | "filename" | "file_path" | "document" | "doc":
                return self._latest(_PATH) or self.keywords[0]
            case "source":
                return next(iter(self.given), None) or self._latest(_PATH)
            case "url" | "link":
                return self._latest(_URL) or "https://example.com/"
            case "sql" | "statement":
                return self._sql()
            case "expression" | "formula":
                return " + ".join(re.findall(r"\b\d+(?:\.\d+)?\b", self.intent)) or "1 + 1"
            case "limit" | "top_k" | "max_results" | "count" | "n":
                return 5
            case "offset" | "start" | "page":
                return 0
            case "terms" | "keywords" | "queries":
                return list(self.keywords)
            case "pattern" | "regex":
                return self.keywords[0]
            case "query" | "q" | "question" | "text" | "search" | "":
                return " ".join(self.keywords)
            case _:
                return None

    def for_answers(self, name: str) -> Json:
        """A suggested value for a property of an answer, by its name."""
        match name.lower():
            case "answer" | "output" | "result" | "text" | "content" | "report" | "message":
                return self.derived
            case "summary" | "reason" | "why" | "explanation" | "rationale" | "":
                return excerpt(self.derived, 200)
            case "confidence" | "score":
                return 85
            case "contradict":
                return True
            case "evidence":
                return [excerpt(result, 120) for result in self.found]
            case "citations" | "cited" | "cites" | "sources" | "task_ids":
                return list(self.given)
            case "goal" | "intent" | "instruction" | "title" | "question":
                return self.intent
            case _:
                return None

    def _latest(self, pattern: re.Pattern[str]) -> str | None:
        # The latest result first, so that a reading tool reads what a search has just found.
        for text in (*reversed(self.found), self._request.last_user):
            if match := pattern.search(text):
                return match[0]
        return None

    def _sql(self) -> str:
        texts = (*reversed(self.found), self._request.last_user)
        table = next((match[1] for text in texts if (match := _TABLE.search(text))), None)
        return f'SELECT * FROM "{table}" LIMIT 5' if table else "SELECT 1 AS one"


def _is_id(source: str | None) -> bool:
    return bool(source) and source != "results" and " " not in source


def _first_sentence(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    spoken = [line for line in lines if line and not re.match(r"[#<`=\[{-]|[\w ]+:$", line)]
    return next((line for line in spoken if len(line.split()) > 2), (spoken or lines or [""])[0])


def excerpt(text: str, max_chars: int = _EXCERPT_CHARS) -> str:
    """`text` on one line, cut at `max_chars`."""
    joined = " ".join(text.split())
    return joined if len(joined) <= max_chars else joined[: max_chars - 3] + "..."
