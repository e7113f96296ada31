"""What may stand in a team's files, field by field, and in words what is wrong with one.

Only single files are looked at here; how they fit together is the matter of `consistency`.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from leadhand.contracts.team import Isolation
from leadhand.teams.files import Document, Value
from leadhand.teams.notes import Notes, near


def _split(value: object) -> object:
    """A text as the list of its comma-separated parts; commas between brackets part nothing."""
    if not isinstance(value, str):
        return value
    parts, start, depth = list[str](), 0, 0
    for index, character in enumerate(f"{value},"):
        depth += (character == "(") - (character == ")")
        if character == "," and (depth <= 0 or index == len(value)):
            parts.append(value[start:index].strip())
            start = index + 1
    return [part for part in parts if part]


def _name(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise ValueError("must be one line of visible characters, without blanks around it")
    return text


def _line(text: str) -> str:
    return " ".join(text.split())


def _once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _listed(value: object) -> object:
    return [value] if isinstance(value, int | float) else value


def _function(text: str) -> str:
    module, _, name = text.partition(":")
    words = [*module.split("."), *name.split(".")]
    if not all(word.isidentifier() for word in words):
        raise ValueError("must name a function as `module:function`, for example `work:count`")
    return text


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_name)]
Names = Annotated[list[Name], BeforeValidator(_split), AfterValidator(_once)]
Sentence = Annotated[str, AfterValidator(_line)]
Said = Annotated[str, AfterValidator(_line), Field(min_length=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Wait = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Waits = Annotated[list[Wait], BeforeValidator(_listed), Field(min_length=1)]
Positive = Annotated[int, Field(gt=0)]


class Fields(BaseModel):
    """A mapping in a file. Texts are not taken for numbers, nor truth values for either."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    examples: ClassVar[dict[str, str]] = {}
    """How to fill in the fields that can't be left out."""


class LimitFields(Fields):
    """`limits` of team.yaml."""

    timeout_s: Seconds | None = None
    max_tokens: Positive | None = None
    max_steps: Positive | None = None
    tier: Name | None = None


class LadderFields(Fields):
    """`ladder` of team.yaml."""

    max_attempts: Annotated[int, Field(ge=1, le=100)] | None = None
    backoff_s: Waits | None = None


class EntryFields(Fields):
    """An entry of the plan template."""

    examples = {
        "id": "a name for the task, once in the template",
        "worker": "who does it",
        "intent": "what to do, in words that the worker can act on",
    }

    id: Name
    worker: Name
    intent: Said
    depends_on: Names = []
    for_each: Name | None = None
    done_when: Sentence = ""
    tolerates_missing: bool = False
    timeout_s: Seconds | None = None


class PlannerFields(Fields):
    """`planner` of team.yaml."""

    template: list[EntryFields] = []


class TeamFields(Fields):
    """team.yaml."""

    name: Name | None = None
    description: Sentence = ""
    planner: PlannerFields = PlannerFields()
    synthesizer: Name = "merge"
    limits: LimitFields = LimitFields()
    ladder: LadderFields = LadderFields()
    shared_tools: Names = []


class WorkerFields(Fields):
    """The front matter of a worker."""

    examples = {"description": "one line on what this worker does"}

    name: Name | None = None
    description: Said
    tools: Names = []
    fallback: Name | None = None
    concurrency: Positive | None = None
    timeout_s: Seconds | None = None
    max_steps: Positive | None = None
    isolate: Isolation = "none"
    offline: Annotated[str, AfterValidator(_function)] | None = None


M = TypeVar("M", bound=Fields)

_MAPPINGS: dict[tuple[type[Fields], str], type[Fields]] = {
    (TeamFields, "planner"): PlannerFields,
    (TeamFields, "limits"): LimitFields,
    (TeamFields, "ladder"): LadderFields,
    (PlannerFields, "template"): EntryFields,
}
"""Which model each nested mapping has."""


def validated(model: type[M], document: Document, notes: Notes) -> M | None:
    """The file as `model`, or none where `notes` now holds what is wrong with it."""
    _note_unknown(model, document.values, (), document, notes)
    try:
        return model.model_validate(document.values)
    except ValidationError as error:
        for row in error.errors(include_url=False):
            # Steps that are not in the file are pydantic's own, such as a branch of a union.
            notes.problem(document.place(*row["loc"]), _sentence(row, model))
        return None


def _note_unknown(
    model: type[Fields],
    values: dict[str, Value],
    path: tuple[str | int, ...],
    document: Document,
    notes: Notes,
) -> None:
    for key, value in values.items():
        nested = _MAPPINGS.get((model, key))
        if key not in model.model_fields:
            guess = near(key, model.model_fields)
            hint = f": did you mean `{guess}`?" if guess else ""
            notes.warn(document.place(*path, key), f"`{key}` has no effect in this version{hint}")
        elif nested is not None:
            for step, inner in _mappings(value):
                _note_unknown(nested, inner, (*path, key, *step), document, notes)


def _mappings(value: Value) -> Iterator[tuple[tuple[int, ...], dict[str, Value]]]:
    if isinstance(value, dict):
        yield (), value
    elif isinstance(value, list):
        yield from (((n,), item) for n, item in enumerate(value) if isinstance(item, dict))


def _sentence(row: ErrorDetails, model: type[Fields]) -> str:
    """What is wrong with one field and how to mend it, in words for who wrote the file."""
    keys = [step for step in row["loc"] if isinstance(step, str)]
    item = row["loc"][-1]
    field = f"`{keys[-1]}`" if keys else "the file"
    if isinstance(item, int):
        field = f"item {item + 1} of {field}"
    given, bounds = row["input"], row.get("ctx", {})
    match row["type"]:
        case "missing":
            return f"needs {field}: {_example(model, keys)}"
        case "string_type":
            quotes = ": put it in quotes" if isinstance(given, bool | int | float) else ""
            return f"{field} is {_shown(given)} and must be text{quotes}"
        case "string_too_short" | "too_short":
            return f"{field} is empty: write something, or leave the key out"
        case "string_too_long":
            return f"{field} is longer than {bounds['max_length']} characters: shorten it"
        case "bool_type":
            return f"{field} is {_shown(given)} and must be true or false"
        case "int_type" | "int_from_float":
            return f"{field} is {_shown(given)} and must be a whole number"
        case "float_type" | "finite_number":
            return f"{field} is {_shown(given)} and must be a number"
        case "list_type":
            return f"{field} is {_shown(given)} and must be a list: one `- item` a line"
        case "model_type" | "model_attributes_type":
            return f"{field} is {_shown(given)} and must hold `key: value` lines"
        case "literal_error":
            return f"{field} is {_shown(given)} and must be {bounds['expected']}"
        case "greater_than":
            return f"{field} is {_shown(given)} and must be more than {bounds['gt']:g}"
        case "greater_than_equal":
            return f"{field} is {_shown(given)} and must be {bounds['ge']:g} or more"
        case "less_than_equal":
            return f"{field} is {_shown(given)} and must be {bounds['le']:g} or less"
        case "value_error":
            return f"{field} is {_shown(given)} and {bounds['error']}"
        case _:
            return f"{field} is {_shown(given)}: {row['msg']}"


def _example(model: type[Fields], keys: Sequence[str]) -> str:
    for key in keys[:-1]:
        model = _MAPPINGS.get((model, key), model)
    return model.examples.get(keys[-1], "add it")


def _shown(given: object) -> str:
    match given:
        case bool():
            return "true" if given else "false"
        case str():
            return repr(given if len(given) <= 60 else f"{given[:60]}...")
        case int() | float():
            return repr(given)
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return "nothing" if given is None else "something else"
