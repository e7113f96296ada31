"""Forecasts the usage of a call before it is made: quickly, and rather too high.

Four bytes count as a token, and the length of answers is learned from those before.
"""

from collections import deque
from collections.abc import Sequence
from statistics import fmean

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from leadhand.models.usage import cost_usd

BYTES_A_TOKEN = 4
FIRST_ANSWER_TOKENS = 1_000
"""When there is none to learn from."""
_REMEMBERED = 20
_MARGIN = 2


class Forecast:
    def __init__(self, model: Model) -> None:
        self._model = model
        self._written: deque[int] = deque(maxlen=_REMEMBERED)

    def tokens(
        self,
        messages: Sequence[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> tuple[int, int]:
        """Tokens in and out; out, as many as the settings allow, else as many as usual."""
        sent = sum(_bytes_of(message) for message in messages)
        sent += sum(len(part.content) for part in parameters.instruction_parts or ())
        for tool in (*parameters.function_tools, *parameters.output_tools):
            sent += len(tool.name) + len(tool.description or "")
            sent += len(str(tool.parameters_json_schema))
        return -(-sent // BYTES_A_TOKEN), self._answer(settings)

    def learn(self, output_tokens: int) -> None:
        self._written.append(output_tokens)

    def usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """None if the model's prices are unknown."""
        usage = RequestUsage(input_tokens=input_tokens, output_tokens=output_tokens)
        model, provider, url = self._model.model_name, self._model.system, self._model.base_url
        return cost_usd(
            ModelResponse(
                [], usage=usage, model_name=model, provider_name=provider, provider_url=url
            )
        )

    def _answer(self, settings: ModelSettings | None) -> int:
        for given in (settings, self._model.settings):
            if given and "max_tokens" in given:
                return given["max_tokens"]
        usual = round(_MARGIN * fmean(self._written)) + 1 if self._written else None
        return usual or FIRST_ANSWER_TOKENS


def _bytes_of(message: ModelMessage) -> int:
    contents = (getattr(part, name, None) for part in message.parts for name in ("content", "args"))
    texts = (one if isinstance(one, str) else str(one) for one in contents if one is not None)
    return sum(
        len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts
    )
