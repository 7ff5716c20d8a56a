"""The usual providers of OpenAI-compatible endpoints."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider whose address needs no typing. `environment` names the variable its key is usually in."""

    slug: str
    name: str
    base_url: str
    environment: str
    cache_marks: bool = False


PROVIDERS = (
    Provider("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    Provider("anthropic", "Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    Provider(
        "google", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"
    ),
    Provider("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    Provider("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", True),
    Provider("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Provider("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    Provider("together", "Together AI", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
)
"""The usual providers, by what people call them. Prices are those of the shipped list or the team's own."""
