"""Human and LLM rubric review. Importing this package imports nothing: `rubricweb.engine` is the library."""

__version__ = "0.1.0"
