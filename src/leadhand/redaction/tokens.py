"""The tokens that well-known services issue: one table for redaction, which must miss none, and the
security lens, which reports only what is certain.

`source` names the issuer's page; lengths that it does not give are those of the rules of gitleaks.
"""

import re
from typing import NamedTuple


class TokenFormat(NamedTuple):
    kind: str
    """What a token is called in a message, with its article."""
    begins: str
    rest: str
    """The pattern of what follows in a whole token that gives access."""
    source: str
    similar: str = "[A-Za-z0-9_-]{12}"
    """The pattern of what follows at least in a cut or unusual one; empty if only a whole token can
    be told from other text."""
    before: str = ""
    """The pattern of what precedes `begins`."""

    @property
    def marks(self) -> tuple[str, ...]:
        """Each such token contains one of these: a cheap test that most text fails."""
        return tuple(self.begins.split())

    @property
    def documented(self) -> str:
        """The pattern of a whole token."""
        marks = "|".join(map(re.escape, self.marks))
        # A colour code ends in a letter, which does not belong to the word that it colours.
        start = r"(?:(?<![A-Za-z0-9])|(?<=[0-9;\[]m))"
        return rf"{start}{self.before}(?:{marks}){self.rest}(?![A-Za-z0-9_-])"


# A Discord token begins with the first digits of an id, in base64.
FORMATS = tuple(TokenFormat(*row) for row in (
    ("an AWS access key", "AKIA ASIA", "(?<![/+]A[KS]IA)[A-Z2-7]{16}(?![/+=])",
     "AWS IAM User Guide: IAM identifiers", "[A-Z2-7]{12}"),
    ("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{36,255}",
     "GitHub Docs: About authentication to GitHub"),
    ("a GitHub token", "github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
     "GitHub Docs: About authentication to GitHub"),
    ("a GitLab token", "glpat-", r"[A-Za-z0-9_-]{20,300}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7})?",
     "GitLab Docs: Token overview"),
    ("a Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp-",
     r"\d[A-Za-z0-9-]{24,250}", "Slack Developer Docs: Tokens"),
    ("a Slack app token", "xapp-", r"\d-[A-Z0-9]{8,14}-\d{8,16}-[a-z0-9]{32,80}",
     "Slack Developer Docs: Tokens"),
    ("a Slack webhook", "hooks.slack.com/services/", r"T[A-Z0-9]{7,12}/B[A-Z0-9]{7,12}/\w{8,30}",
     "Slack Developer Docs: Sending messages using incoming webhooks", ""),
    ("a Discord token", "MD MT Mj Mz ND NT Nj Nz OD OT",
     r"[A-Za-z0-9]{22,26}\.[\w-]{6}\.[\w-]{27,40}", "Discord Developer Docs: API Reference", ""),
    ("a Discord webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
     r"\d{17,20}/[\w-]{20,80}", "Discord Developer Docs: Webhook Resource", ""),
    ("a Telegram token", ":AA", r"[\w-]{33}", "Telegram Bot API: Authorizing your bot", "",
     r"(?:bot)?\d{8,10}"),
    ("a Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", "(?<=live_)[A-Za-z0-9]{24,247}",
     "Stripe Docs: API keys"),
    ("a Google API key", "AIza", "[A-Za-z0-9_-]{35}", "Google Cloud Docs: Manage API keys"),
    ("a Google access token", "ya29.", r"(?:c\.)?[\w-]{50,2000}", "Google Cloud Docs: Token types",
     "[A-Za-z0-9_.-]{12}"),
    ("a Google client secret", "GOCSPX-", r"[\w-]{28}",
     "Google Identity: Using OAuth 2.0 to Access Google APIs"),
    ("an npm token", "npm_", "[A-Za-z0-9]{36}", "npm Docs: About access tokens"),
    ("a PyPI token", "pypi-AgE", "[A-Za-z0-9_-]{50,1000}", "PyPI: API tokens"),
    ("a SendGrid key", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
     "Twilio SendGrid Docs: API keys", "[A-Za-z0-9_-]{22}"),
    ("an Anthropic key", "sk-ant-", "[a-z0-9]{3,8}-[A-Za-z0-9_-]{60,120}",
     "Claude Docs: API overview"),
    ("an OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-",
     "[A-Za-z0-9_-]{20,90}T3BlbkFJ[A-Za-z0-9_-]{20,90}", "OpenAI Docs: API Reference"),
    ("an OpenRouter key", "sk-or-v1-", "[a-f0-9]{64}", "OpenRouter Docs: Authentication"),
    ("an xAI key", "xai-", "[A-Za-z0-9]{80}", "xAI Docs: API Reference"),
    ("a Groq key", "gsk_", "[A-Za-z0-9]{52}", "Groq Docs: Quickstart"),
    ("a Hugging Face token", "hf_", "[A-Za-z]{34}", "Hugging Face: User access tokens"),
    ("a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[a-f0-9]{64}",
     "DigitalOcean Docs: Create a Personal Access Token"),
    ("a Databricks token", "dapi dose", r"[a-f0-9]{32}(?:-\d)?",
     "Databricks Docs: Authenticate with personal access tokens", "[a-f0-9]{12}"),
    ("a Vault token", "hvs. hvb. hvr.", "(?:[A-Za-z0-9]{24}|[A-Za-z0-9_-]{90,300})",
     "HashiCorp Vault Docs: Tokens"),
    ("a Notion token", "ntn_", r"\d{11}[A-Za-z0-9]{35}", "Notion Docs: Authorization"),
    ("a Notion token", "secret_", "[A-Za-z0-9]{43}", "Notion Docs: Authorization", ""),
    ("a Shopify token", "shpat_ shpca_ shppa_ shpss_", "[a-fA-F0-9]{32}",
     "Shopify changelog: Length of the Shopify access token is increasing"),
    ("a Grafana token", "glsa_", "[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}",
     "Grafana Docs: Service accounts"),
    ("a Grafana token", "glc_", "[A-Za-z0-9+/]{32,400}={0,2}",
     "Grafana Cloud Docs: Access policies"),
    ("a Supabase token", "sbp_", "[a-f0-9]{40}", "Supabase Docs: Management API"),
    ("a Supabase key", "sb_secret_", "[A-Za-z0-9_-]{22}_[A-Za-z0-9_-]{8}",
     "Supabase Docs: Understanding API keys"),
    ("an age key", "AGE-SECRET-KEY-1", "[02-9AC-HJ-NP-Z]{58}",
     "C2SP: The age file encryption format", "[02-9AC-HJ-NP-Z]{12}"),
    ("a Tailscale key", "tskey-api- tskey-auth- tskey-client- tskey-scim- tskey-webhook-",
     "[A-Za-z0-9]{6,24}-[A-Za-z0-9]{16,48}", "Tailscale Docs: Key prefixes"),
    ("a leadhand token", "lhs_", "[a-f0-9]{64}", "leadhand: docs/service.md"),
    ("a signed JWT", "eyJ", r"[A-Za-z0-9_-]{12,400}\.eyJ[A-Za-z0-9_-]{12,3000}\.[\w-]{40,1000}",
     "RFC 7519: JSON Web Token", r"[A-Za-z0-9_-]{12,600}\.[A-Za-z0-9_-]{10}"),
))  # fmt: skip
MARKS = tuple(dict.fromkeys(mark for form in FORMATS for mark in form.marks))
