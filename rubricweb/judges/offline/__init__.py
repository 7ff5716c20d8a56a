"""An OpenAI-compatible judge that needs no network: lexical verdicts, or a script for tests."""
