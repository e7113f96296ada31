"""How one request is put to one model: in which way, how long the answer may be, what counts.

A model that answers in words, or never ends, is asked in the next way. `Habits` remember the one
that worked.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from leadhand.contracts.outcome import Usage
from leadhand.contracts.role import Answers
from leadhand.models.connections import Connection
from leadhand.models.endless import Endless, is_endless
from leadhand.models.failures import Failure
from leadhand.models.forecast import BYTES_A_TOKEN
from leadhand.models.request import CallRequest
from leadhand.models.structured import answer_in, arguments_of
from leadhand.models.usage import is_known

_LIMIT = re.compile(r"max_\w*tokens|completion tokens|output tokens|in the completion|num_predict")
"""What an endpoint names that refuses the limit of an answer."""
_UNKNOWN = re.compile(r"unsupported param|unrecognized|unknown|not permitted|extra inputs", re.I)
_CONTEXT = re.compile(r"context (?:\w+ is|limit:.*>) (\d[\d,]*)")
_NUMBER = re.compile(r"(?<![\w.-])(?<!HTTP )\d[\d,]*(?![\w-])")
"""A number of tokens, and not a part of a model's name or the status."""
_LONG_CONTEXTS = 8
"""The request is not measured for a context that is so many times as long as the answer."""


@dataclass(slots=True)
class Asking:
    """One request to one model, until there is an answer that counts."""

    request: CallRequest | None
    """None for a request of another loop, which is sent as it is."""
    connection: Connection
    given: ModelRequestParameters
    settings: ModelSettings | None
    end: Endless | None = None
    """What watches this try for its end; None if the model is known to end such an answer."""
    streams: bool = True
    """Whether it may be streamed, which some servers can't."""
    _limit: int | None = None
    """The `max_tokens` of this try, if they are set here."""
    _wanted: int = 0
    _way: Answers | None = None
    _doubled: bool = False
    _lowered: bool = False
    _room: int | None = None
    """What the context leaves for this answer, if the endpoint said so."""

    @property
    def _form(self) -> CallRequest | None:
        return self.request if self.request is not None and self.request.output else None

    @property
    def _set(self) -> Answers | None:
        """The way that the user or the team says."""
        return (self._form.answers if self._form else None) or self.connection.answers

    def sent(
        self, messages: Sequence[ModelMessage], budget_left: int | None
    ) -> tuple[ModelRequestParameters, ModelSettings | None]:
        """The request as it is tried next; `budget_left` is in tokens."""
        habits, form = self.connection.habits, self._form
        self.end = None
        if form is None:
            return self.given, self.settings
        self._way = self._set or habits.way
        if habits.endless or not habits.ends(self._way, form.size):
            self.end = Endless() if self.streams and self.connection.can_stream else None
        given = self.given
        if self._set is not None or self._way != habits.ways[0]:
            given = form.put(
                self._way,
                calls_in_format=habits.calls_in_format,
                limits_texts=habits.limits_texts,
            )
        return given, self._limited(form, messages, budget_left)

    def too_long(self, messages: Sequence[ModelMessage]) -> Failure | None:
        """Why the request can't be sent: it does not fit into the model's context."""
        context = self.connection.context_tokens
        if context is None or self.request is None:
            return None
        sent = self._tokens_in(messages)
        if sent < context:
            return None
        why = (
            f"the request takes about {sent:,} tokens, and the model's context has {context:,}: "
            "use a model, or a server, with a longer context"
        )
        return Failure("too_long", why, unbilled=True)

    def _limited(
        self, form: CallRequest, messages: Sequence[ModelMessage], budget_left: int | None
    ) -> ModelSettings | None:
        """The settings, with a limit for an answer that has none."""
        habits, own = self.connection.habits, self.connection.model.settings or {}
        settings = {**own, **(self.settings or {})}
        self._limit = None
        if "max_tokens" in settings or habits.max_tokens == 0:
            return self.settings
        self._wanted = form.tokens * (2 if self._thinks(settings) else 1)
        last = messages[-2] if len(messages) > 1 else None
        if isinstance(last, ModelResponse) and last.finish_reason == "length":
            self._doubled = True  # the answer to repair was asked for with double
        self._wanted *= 2 if self._doubled else 1
        bounds = [self._wanted]
        context = self.connection.context_tokens
        if context is not None and context < _LONG_CONTEXTS * self._wanted:
            bounds.append(context - self._tokens_in(messages))
        known = (budget_left, habits.max_tokens, self._room)
        bounds += [bound for bound in known if bound is not None]
        self._limit = max(min(bounds), 1)
        return cast("ModelSettings", {**(self.settings or {}), "max_tokens": self._limit})

    def _tokens_in(self, messages: Sequence[ModelMessage]) -> int:
        return self.connection.forecast.tokens(messages, self.settings, self.given)[0]

    def with_estimate(
        self, response: ModelResponse, messages: Sequence[ModelMessage]
    ) -> ModelResponse:
        """A response that was cut off, with an estimate of what it used."""
        written, usage = self.end.chars if self.end is not None else 0, response.usage
        if not is_known(usage):  # at its beginning an answer may say what was read
            usage = RequestUsage(input_tokens=self._tokens_in(messages))
        return replace(response, usage=replace(usage, output_tokens=-(-written // BYTES_A_TOKEN)))

    def asks_differently(self, failure: Failure) -> bool:
        """Whether the same request is put in another way after a failure."""
        return failure.kind == "unstructured" or self._is_lowered(failure) or self._is_left(failure)

    def _is_left(self, failure: Failure) -> bool:
        """Whether a way is left in which an answer took too long: it may have had no end."""
        form, way = self._form, self._way
        if failure.kind != "slow" or form is None or way is None or self._set is not None:
            return False
        return self.connection.habits.failed(way, form.size) is not None

    def _thinks(self, settings: Mapping[str, object]) -> bool:
        profile, asked = self.connection.model.profile, settings.get("thinking")
        if profile.get("thinking_always_enabled", False) or asked:
            return True
        return asked is None and profile.get("thinking_enabled_by_default", False)

    def _is_lowered(self, failure: Failure) -> bool:
        """Whether a refusal is about the limit of the answer, which is then lower or gone."""
        sent, said = self._limit, failure.message
        if sent is None or self._lowered or failure.kind not in ("refused", "too_long"):
            return False
        if not _LIMIT.search(said):
            return False
        self._lowered = True
        habits, numbers = self.connection.habits, {*map(_whole, _NUMBER.findall(said))} - {sent}
        if context := _CONTEXT.search(said):  # a part of it is the request's
            tokens = _whole(context[1])
            habits.context_tokens = habits.context_tokens or tokens
            room = tokens - min(numbers - {tokens}, default=tokens // 4)
            self._room = room if 0 < room < sent else -(-sent // 2)
            return True
        lower = max((number for number in numbers if number < sent), default=-(-sent // 2))
        habits.max_tokens = 0 if _UNKNOWN.search(said) else lower
        habits.keep()
        return True

    def again(self, response: ModelResponse, usage: Usage) -> Failure | None:
        """Why the request is to be sent once more in another way; None: the response counts."""
        form, habits = self._form, self.connection.habits
        if form is None or self._way is None:
            return None
        cut, way = self.end is not None and self.end.cut, self._way
        at_limit = response.finish_reason == "length"
        complete = _is_complete(response, form)
        without_end = cut or (at_limit and (complete or is_endless(response.text or "")))
        if without_end:
            habits.wrote_without_end()
        if complete:
            if without_end and self._set is None:
                habits.failed(way, form.size)  # the next request is put so that it ends
            elif self._set is None and _has_output(response, form):
                habits.succeeded(way, form.size)
            elif not without_end and not habits.ends(way, form.size):
                habits.has_ended(way, form.size)
            return None
        if at_limit and not without_end:
            if self._doubled or self._limit != self._wanted:
                return None
            self._doubled = True
            said = (
                f"its answer was cut off at {self._limit:,} tokens, so it may write twice as many"
            )
            return Failure("unstructured", said, usage=usage)
        if self._set is not None or (not without_end and (response.tool_calls or form.words)):
            return None
        after = habits.failed(way, form.size)
        if after is None:
            return None
        why = "it wrote without end" if without_end else "it answered in words"
        return Failure("unstructured", f"{why} as `{way}`, so `{after}` is tried", usage=usage)


def _whole(digits: str) -> int:
    return int(digits.replace(",", ""))


def _is_complete(response: ModelResponse, request: CallRequest) -> bool:
    calls = response.tool_calls
    if calls:
        return all(isinstance(arguments_of(one, max_bytes=10**9), dict) for one in calls)
    return answer_in(response, request).data is not None


def _has_output(response: ModelResponse, request: CallRequest) -> bool:
    return not response.tool_calls or answer_in(response, request).call is not None
