"""The forms of a folder's files and of a question, and how an answer is judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.tools.files import samples

Verdict = Literal["right", "wrong", "doubt stated", "refused"]
Rows = Sequence[Sequence[str | float]]


@dataclass(frozen=True, slots=True)
class Pdf:
    pages: Sequence[str]


@dataclass(frozen=True, slots=True)
class Xlsx:
    sheets: Mapping[str, Rows]


@dataclass(frozen=True, slots=True)
class Docx:
    paragraphs: Sequence[str]


Content = str | bytes | Pdf | Xlsx | Docx


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what a right answer has."""

    kind: str
    text: str
    value: float | None = None
    """The number to be answered, within half a percent."""
    words: tuple[str, ...] = ()
    """All of them are in the answer; `a|b` is either."""
    files: tuple[str, ...] = ()
    """All of them are cited."""
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class Folder:
    name: str
    files: Mapping[str, Content]
    questions: Sequence[Question]


@dataclass(slots=True)
class Given:
    """The team's answer: the promised fields of `output`, and the status of the run."""

    answer: str
    answered: bool
    value: float | str | None
    status: str
    doubts: Sequence[str] = ()
    cited: Sequence[str] = field(default_factory=tuple)
    """`ref` of each citation."""


def verdict(question: Question, given: Given) -> Verdict:
    """What `given` is as an answer to `question`."""
    if not question.answerable:
        is_right = not given.answered and given.status == "partial"
        return "right" if is_right else "doubt stated" if given.doubts else "wrong"
    if not given.answered:
        return "refused"
    if _fits(question, given):
        return "right"
    return "doubt stated" if given.doubts else "wrong"


def _fits(question: Question, given: Given) -> bool:
    if question.value is not None:
        number = given.value if isinstance(given.value, int | float) else None
        if number is None or abs(number - question.value) > 0.005 * abs(question.value) + 1e-9:
            return False
    text = f"{given.answer} {given.value}".lower()
    has_words = all(
        any(part.lower() in text for part in words.split("|")) for words in question.words
    )
    has_files = all(any(ref.startswith(name) for ref in given.cited) for name in question.files)
    return has_words and has_files


def write(folder: Folder, path: Path) -> None:
    """Write the files of a folder to `path`."""
    path.mkdir(parents=True, exist_ok=True)
    for name, content in folder.files.items():
        match content:
            case str():
                (path / name).write_text(content, encoding="utf-8")
            case bytes():
                (path / name).write_bytes(content)
            case Pdf():
                (path / name).write_bytes(samples.pdf(content.pages))
            case Xlsx():
                samples.xlsx(path / name, content.sheets)
            case Docx():
                samples.docx(path / name, content.paragraphs)


def csv(header: str, rows: Rows, mark: str = ",") -> str:
    lines = [header, *(mark.join(map(str, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def total(
    rows: Rows, column: int, keep: Callable[[Sequence[str | float]], bool] = lambda _: True
) -> float:
    return sum(float(row[column]) for row in rows if keep(row))


def by(rows: Rows, key: int, column: int) -> dict[str, float]:
    """The sums of `column` for each value of `key`, largest first."""
    sums: dict[str, float] = {}
    for row in rows:
        sums[str(row[key])] = sums.get(str(row[key]), 0) + float(row[column])
    return dict(sorted(sums.items(), key=lambda pair: -pair[1]))


def unanswerable(text: str) -> Question:
    return Question("unanswerable", text, answerable=False)
