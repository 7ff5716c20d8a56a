"""What a page says above a form that was refused."""

import re
from typing import Any


def problems(answer: Any) -> list[str]:
    """The labels of the fields that the summary leads to. It alone has the focus; no link leads nowhere."""
    page = answer.content.decode()
    main = page.partition("<main")[2].partition("</main>")[0]
    assert main.count("autofocus") == 1, "one element of a page has the focus"
    summary = re.search(r'<div class="form-errors"[^>]* tabindex="-1" autofocus>(.*?)</div>', main, re.DOTALL)
    assert summary is not None, main
    links = re.findall(r'<a href="#([^"]+)">([^<]+)</a>:', summary[1])
    assert all(main.count(f'id="{place}"') == 1 for place, _ in links), links
    return [label for _, label in links]
