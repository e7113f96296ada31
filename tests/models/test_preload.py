"""The background import: the libraries of the provider whose model will be called."""

from collections.abc import Mapping

import pytest

from leadhand.models.preload import expected_provider

KEY = {"ANTHROPIC_API_KEY": "k"}


@pytest.mark.parametrize(
    ("model", "environ", "provider"),
    [
        ("openai-chat:x", KEY, "openai-chat"),
        (None, {"LEADHAND_MODEL": " anthropic:x "}, "anthropic"),
        ("none", KEY, None),
        (None, {"LEADHAND_MODEL": "none", **KEY}, None),
        (None, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", **KEY}, "openai"),
        (None, KEY, "anthropic"),
        (None, {"OPENAI_API_KEY": " ", "OPENAI_BASE_URL": ""}, None),
        (None, {}, None),
    ],
)
def test_whose_model_will_be_asked_is_known_from_what_was_typed_and_the_environment(
    model: str | None, environ: Mapping[str, str], provider: str | None
) -> None:
    assert expected_provider(model, environ) == provider
