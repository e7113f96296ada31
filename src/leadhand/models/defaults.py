"""The default models for each API key in the environment: one table, to be kept current."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass

from leadhand.contracts.team import TIERS, Tier


@dataclass(frozen=True, slots=True)
class KeyedProvider:
    variable: str
    provider: str
    package: str
    """The package of its client; some providers use another provider's protocol."""
    models: tuple[str, str, str]
    """The model of each tier: fast, standard, strong."""
    extra: str = ""
    """The extra of pydantic-ai-slim that installs `package`, if leadhand itself does not."""

    @property
    def tiers(self) -> dict[Tier, str]:
        named = zip(TIERS, self.models, strict=True)
        return {tier: f"{self.provider}:{model}" for tier, model in named}

    @property
    def installed(self) -> bool:
        try:
            return importlib.util.find_spec(self.package) is not None
        except ModuleNotFoundError:
            return False


_GEMINI = ("gemini-3.5-flash-lite", "gemini-3.8-flash", "gemini-4-argon")
_GPT = ("gpt-6-luna", "gpt-6.1-terra", "gpt-6.1-sol")
_GPT_ROUTED = ("openai/gpt-6-luna", "openai/gpt-6.1-terra", "openai/gpt-6.1-sol")
_CLAUDE = ("claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5")
_MISTRAL = ("mistral-small-latest", "mistral-medium-latest", "mistral-large-latest")
_GROQ = ("openai/gpt-oss-20b", "openai/gpt-oss-120b", "openai/gpt-oss-120b")
_DEEPSEEK = ("deepseek-flash", "deepseek-flash", "deepseek-v4-pro")
_GLM = ("glm-5.3-flash", "glm-5.3", "glm-5.3")
_KIMI = ("kimi-k3", "kimi-k3", "kimi-k3.1-pro")
_GROK = ("grok-4-1-fast-reasoning", "grok-4.3", "grok-4.7")
_CEREBRAS = ("gpt-oss-120b", "gpt-oss-120b", "gpt-oss-120b")

PROVIDERS: tuple[KeyedProvider, ...] = (
    # The first one whose key is set is used.
    KeyedProvider("OPENAI_API_KEY", "openai", "openai", _GPT),
    KeyedProvider("ANTHROPIC_API_KEY", "anthropic", "anthropic", _CLAUDE),
    KeyedProvider("GOOGLE_API_KEY", "google", "google.genai", _GEMINI, "google"),
    KeyedProvider("GEMINI_API_KEY", "google", "google.genai", _GEMINI, "google"),
    KeyedProvider("GROQ_API_KEY", "groq", "groq", _GROQ, "groq"),
    KeyedProvider("MISTRAL_API_KEY", "mistral", "mistralai", _MISTRAL, "mistral"),
    KeyedProvider("OPENROUTER_API_KEY", "openrouter", "openai", _GPT_ROUTED),
    KeyedProvider("DEEPSEEK_API_KEY", "deepseek", "openai", _DEEPSEEK),
    KeyedProvider("MOONSHOTAI_API_KEY", "moonshotai", "openai", _KIMI),
    KeyedProvider("ZAI_API_KEY", "zai", "openai", _GLM),
    KeyedProvider("CEREBRAS_API_KEY", "cerebras", "openai", _CEREBRAS),
    KeyedProvider("XAI_API_KEY", "xai", "xai_sdk", _GROK, "xai"),
)


def keyed(environ: Mapping[str, str]) -> list[KeyedProvider]:
    """The providers whose keys are set, in the table's order, installed or not."""
    return [row for row in PROVIDERS if environ.get(row.variable, "").strip()]
