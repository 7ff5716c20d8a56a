"""A template loads the libraries it needs, and no others."""

import re
from pathlib import Path

from django.conf import settings
from django.template import Template, TemplateSyntaxError

TEMPLATES = Path(settings.TEMPLATES[0]["DIRS"][0])
LOAD = re.compile(r"\{% load ([\w ]+?) %\}")


def test_no_template_loads_a_library_it_could_do_without() -> None:
    loaded = 0
    needless = []
    for file in TEMPLATES.rglob("*.html"):
        text = file.read_text()
        for load in LOAD.finditer(text):
            libraries = load[1].split()
            for library in libraries:
                others = " ".join(name for name in libraries if name != library)
                without = (
                    text[: load.start()] + (f"{{% load {others} %}}" if others else "") + text[load.end() :]
                )
                loaded += 1
                try:
                    Template(without)
                except TemplateSyntaxError:
                    continue
                needless.append(f"{file.relative_to(TEMPLATES)}: {library}")
    assert loaded > 50
    assert needless == []
