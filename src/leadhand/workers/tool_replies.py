"""What tools return and raise, as replies to the model."""

from typing import cast

from pydantic import ValidationError
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.messages import ToolReturn

from leadhand.engine.failures import legible
from leadhand.errors import LeadhandError
from leadhand.untrusted.cutting import cut


def unwrapped(value: object) -> object:
    """A tool's output, with any extra content that it returned for the model."""
    if not isinstance(value, ToolReturn):
        return value
    given, aside = cast("object", value.return_value), value.content
    return [given, *([aside] if isinstance(aside, str) else aside)] if aside else given


def is_rich(value: object) -> bool:
    """Whether a part of an output goes to the model as it is, such as an image."""
    return type(value).__module__.startswith("pydantic_ai.")


def error_reply(error: BaseException) -> str:
    """What the model is told about an exception that a call raised: how to call the tool right."""
    if isinstance(error, ValidationError):
        rows = error.errors(include_url=False, include_input=False, include_context=False)
        lines = [f"{'.'.join(map(str, row['loc'])) or 'arguments'}: {row['msg']}" for row in rows]
        return f"Invalid arguments: {'; '.join(lines[:10])}. Nothing was done."
    if isinstance(error, TimeoutError):
        return "The tool took too long and was stopped."
    if isinstance(error, ModelRetry | ToolFailed):
        return str(error.message if isinstance(error, ModelRetry) else error)
    if isinstance(error, LeadhandError):
        return cut(legible(str(error)), 1_000)
    message = cut(legible(" ".join(str(error).split())), 1_000)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
