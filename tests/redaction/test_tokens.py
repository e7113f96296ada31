"""Redaction and the security lens find every format of the table."""

import pytest

from leadhand.redaction import REDACTED, Redactor
from leadhand.redaction.formats import FORMATS, TokenFormat
from leadhand_teams.review.secrets import mask_secrets

BODY = "aZ3kQ9xW2mB7nR5tY8uL1cV6eD4fG0hJsKpQ" * 4
HEX = "9f2a7c4e8b1d3065" * 6
_EXAMPLES = (
    "AKIA" + "QZ3K7XW2MB5NRTYU",
    "ghp_" + BODY[:36],
    "github_pat_" + BODY[:22] + "_" + BODY[:59],
    "glpat-" + BODY[:20],
    "xoxb-" + "8429173650-" + BODY[:24],
    "xapp-" + "1-A0Q3K7XW2MB-8429173650421-" + HEX[:64],
    "hooks.slack.com/services/" + "T0Q3K7XW2/B5NRTYU2M/" + BODY[:24],
    "MTE" + "4NDI5MTczNjUwNDIxODQyOTE" + "." + "GxY3aZ." + BODY[:38],
    "discord.com/api/webhooks/" + "842917365042184291/" + BODY[:68],
    "842917365" + ":AA" + BODY[:33],
    "sk_live_" + BODY[:24],
    "AIza" + BODY[:35],
    "ya29." + "a0" + BODY[:120],
    "GOCSPX-" + BODY[:28],
    "npm_" + BODY[:36],
    "pypi-" + "AgEI" + BODY[:60],
    "SG." + BODY[:22] + "." + BODY[:43],
    "sk-ant-" + "api03-" + BODY[:90],
    "sk-proj-" + BODY[:30] + "T3BlbkFJ" + BODY[:30],
    "sk-or-v1-" + HEX[:64],
    "xai-" + BODY[:80],
    "gsk_" + BODY[:52],
    "hf_" + "aZkQxWmBnRtYuLcVeDfGhJsKpQaZkQxWmB",
    "dop_v1_" + HEX[:64],
    "dapi" + HEX[:32],
    "hvs." + BODY[:95],
    "ntn_" + "84291736504" + BODY[:35],
    "secret_" + BODY[:43],
    "shpat_" + HEX[:32],
    "glsa_" + BODY[:32] + "_" + HEX[:8],
    "glc_" + "eyJvIjoi" + BODY[:60],
    "sbp_" + HEX[:40],
    "sb_secret_" + BODY[:22] + "_" + BODY[:8],
    "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"[::-1] * 2,
    "tskey-auth-" + "k8429CNTRL-" + BODY[:32],
    "lhs_" + HEX[:64],
    "eyJ" + BODY[:20] + ".eyJ" + BODY[:30] + "." + BODY[:43],
)
EXAMPLES = tuple(one[:74] if one.startswith("AGE") else one for one in _EXAMPLES)
FOUND_WHOLE = ("a Hugging Face token", "a Discord token", "a Telegram token")
"""Within a longer word they could be part of a name, an id or base64."""


@pytest.mark.parametrize(
    ("form", "token"), list(zip(FORMATS, EXAMPLES, strict=True)), ids=[e[:9] for e in EXAMPLES]
)
def test_each_format_is_found_by_the_lens_and_by_redaction(form: TokenFormat, token: str) -> None:
    assert form.source
    assert any(mark in token for mark in form.marks)
    assert mask_secrets(f"use {token}") == f"use {token[:4]}***"
    assert Redactor()(f"use {token} now") == f"use {REDACTED} now"
    assert Redactor()(f"\x1b[1;31m{token}\x1b[0m") == f"\x1b[1;31m{REDACTED}\x1b[0m"
    if form.similar and form.kind not in FOUND_WHOLE:
        assert Redactor()(f"key{token}") == f"key{REDACTED}"


@pytest.mark.parametrize(
    "text",
    [
        "task-550e8400e29b41d4a716446655440000 and disk-3f2a9b1c-4d5e-6f70-8192-a3b4c5d6e7f8",
        "risk_test_internationalization, my-pypi-upload-of-the-package-to-the-index",
        "with_github_pat_of_the_whole_organisation_and_more",
    ],
)
def test_a_word_that_a_token_could_end_stays(text: str) -> None:
    assert Redactor()(text) == text
