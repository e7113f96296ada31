"""The tokens that well-known services issue: one table for redaction and the security lens.

Redaction must miss none and knows cut ones too; the lens reports only what is certain. That is why
each format has two patterns.
"""

from typing import NamedTuple


class TokenFormat(NamedTuple):
    """What the tokens of one kind look like."""

    kind: str
    """What a token is called in a message, with its article."""
    marks: tuple[str, ...]
    """Each such token contains one of these: a cheap test that most text fails."""
    documented: str
    """The pattern of a whole token that gives access, as its issuer describes it."""
    similar: str | None
    """The pattern of whatever begins like one. `None` if another format's covers it."""


FORMATS = (
    TokenFormat(
        "an AWS access key", ("AKIA", "ASIA"),
        r"(?<![A-Za-z0-9/+])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9/+=])",
        r"(?:AKIA|ASIA)[A-Z0-9]{16,}",
    ),
    TokenFormat(
        "a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b", r"gh[pousr]_[A-Za-z0-9]{30,}",
    ),
    TokenFormat(
        "a GitHub token", ("github_pat_",),
        r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b", r"github_pat_[A-Za-z0-9_]{30,}",
    ),
    TokenFormat(
        "a GitLab token", ("glpat-",),
        r"\bglpat-[A-Za-z0-9_-]{20,64}\b", r"glpat-[A-Za-z0-9_.-]{20,}",
    ),
    TokenFormat(
        "a Slack token", ("xox",),
        r"\bxox[baprs]-\d{8,14}-[A-Za-z0-9-]{16,200}", r"xox[abeoprs]-[A-Za-z0-9-]{16,}",
    ),
    TokenFormat(
        "a Slack webhook", ("hooks.slack.com",),
        r"hooks\.slack\.com/services/T[A-Z0-9]{7,12}/B[A-Z0-9]{7,12}/\w{20,30}",
        r"hooks\.slack\.com/services/T[A-Z0-9]{7,12}/B[A-Z0-9]{7,12}/[A-Za-z0-9]{8,}",
    ),
    TokenFormat(
        "a Stripe key", ("sk_live_", "rk_live_", "sk_test_", "rk_test_"),
        r"\b[sr]k_live_[A-Za-z0-9]{24,247}\b", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    ),
    TokenFormat(
        "a Google API key", ("AIza",),
        r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", r"AIza[A-Za-z0-9_-]{30,}",
    ),
    TokenFormat("an npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b", r"npm_[A-Za-z0-9]{30,}"),
    TokenFormat(
        "a PyPI token", ("pypi-",), r"\bpypi-AgEI[A-Za-z0-9_-]{50,300}", r"pypi-[A-Za-z0-9_-]{30,}"
    ),
    TokenFormat(
        "a SendGrid key", ("SG.",),
        r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b",
        r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{16,}",
    ),
    TokenFormat(
        "an Anthropic key", ("sk-",), r"\bsk-ant-[a-z0-9]{3,8}-[A-Za-z0-9_-]{60,120}", None
    ),
    TokenFormat(
        "an OpenAI key", ("sk-",),
        r"\bsk-(?:proj-)?[A-Za-z0-9_-]{20,90}T3BlbkFJ[A-Za-z0-9_-]{20,90}",
        r"sk-(?=[A-Za-z_-]{0,100}[0-9])[A-Za-z0-9_-]{20,}",
    ),
    TokenFormat("an xAI key", ("xai-",), r"\bxai-[A-Za-z0-9]{80}\b", r"xai-[A-Za-z0-9]{30,}"),
    TokenFormat("a Groq key", ("gsk_",), r"\bgsk_[A-Za-z0-9]{52}\b", r"gsk_[A-Za-z0-9]{30,}"),
    TokenFormat(
        "a Hugging Face token", ("hf_",), r"\bhf_[A-Za-z]{34}\b", r"hf_[A-Za-z0-9]{30,}"
    ),
    TokenFormat(
        "a DigitalOcean token", ("dop_v1_",), r"\bdop_v1_[a-f0-9]{64}\b", r"dop_v1_[a-f0-9]{40,}"
    ),
    TokenFormat(
        "a signed JWT", ("eyJ",),
        r"\beyJ[A-Za-z0-9_-]{12,400}\.eyJ[A-Za-z0-9_-]{12,3000}\.[\w-]{40,1000}",
        r"eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*){1,3}",
    ),
)  # fmt: skip
MARKS = tuple(dict.fromkeys(mark for form in FORMATS for mark in form.marks))
"""The marks of all formats."""
