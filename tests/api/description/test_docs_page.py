"""The page that shows the API lives under the same strict policy as every other page."""

import re

from django.test import Client


def test_the_page_runs_no_inline_script_and_loads_nothing_from_elsewhere(db: None) -> None:
    answer = Client().get("/api/v1/docs")
    assert answer.status_code == 200
    assert "unsafe" not in answer["Content-Security-Policy"]
    page = answer.content.decode()
    scripts = re.findall(r"<script([^>]*)>", page)
    assert all("src=" in script or 'type="application/json"' in script for script in scripts)
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert loaded
    assert all(address.startswith("/static/ninja/") for address in loaded)
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)


def test_the_page_and_the_description_hold_no_data(people) -> None:
    for path in ("/api/v1/docs", "/api/v1/openapi.json"):
        text = Client().get(path).content.decode()
        assert people.team.name not in text
        assert "@example.org" not in text
