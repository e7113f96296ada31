"""The context of a run as data for a worker process. No error has its values."""

import functools
from collections.abc import Iterable
from typing import cast

from pydantic import Field, PydanticUserError, SecretBytes, SecretStr, TypeAdapter
from pydantic_core import to_json

from leadhand.contracts.data import Record
from leadhand.errors import InputError
from leadhand.workers.reference import FunctionReference


class ContextData(Record):
    kind: FunctionReference
    data: str = Field(repr=False)

    @classmethod
    def of(cls, context: object) -> "ContextData":
        """Raises `InputError` saying why it can't be sent."""
        kind = type(context)
        name = kind.__qualname__
        try:
            reference = FunctionReference.of(kind)
        except InputError:
            raise InputError(
                f"{name} has no name that another process could import: define it at the top level "
                "of a module"
            ) from None
        try:
            adapter = _adapter(kind)
            # Not as pydantic's own JSON, which masks secrets.
            data = to_json(_revealed(adapter.dump_python(context, warnings=False)))
            same = bool(adapter.validate_json(data) == context) or kind.__eq__ is object.__eq__
        except Exception as error:
            # Only messages that name types, never values.
            why, _, _ = str(error).partition("\n")
            if isinstance(error, PydanticUserError) or why.startswith("Unable to serialize"):
                raise InputError(why) from None
            same, data = False, b""
        if not same:
            raise InputError(f"{name} changes on the way through JSON")
        return cls(kind=reference, data=data.decode())

    def load(self) -> object:
        try:
            return _adapter(cast("type", self.kind.load())).validate_json(self.data)
        except ValueError:
            raise InputError(f"the run's context is no {self.kind.function} any more") from None


@functools.cache
def _adapter(kind: type) -> TypeAdapter[object]:
    return TypeAdapter(kind)


def _revealed(value: object) -> object:
    match value:
        case SecretStr() | SecretBytes():
            return value.get_secret_value()
        case dict():
            items = cast("dict[object, object]", value).items()
            return {key: _revealed(item) for key, item in items}
        case list() | tuple() | set() | frozenset():
            return [_revealed(item) for item in cast("Iterable[object]", value)]
        case _:
            return value
