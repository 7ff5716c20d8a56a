"""The engine alone: no Django, no queue, no network client, nothing from the floors above."""

import subprocess
import sys

import pytest

import rubricweb.engine


def test_importing_the_whole_engine_imports_nothing_it_may_not_know():
    program = """
import pkgutil, sys, importlib, rubricweb.engine
for module in pkgutil.walk_packages(rubricweb.engine.__path__, "rubricweb.engine."):
    importlib.import_module(module.name)
forbidden = {"django", "celery", "openai", "psycopg", "httpx", "aiohttp"}
forbidden |= {f"rubricweb.{floor}" for floor in ("judges", "models", "selectors", "services", "web", "api")}
print(sorted(forbidden & set(sys.modules)))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_unknown_names_are_refused_as_python_does():
    with pytest.raises(AttributeError, match="no attribute 'default_fn'"):
        _ = rubricweb.engine.default_fn
