"""Names that would steer a terminal: what a command says is read, not obeyed."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rubricweb.models import Run, User
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.commands.terminal import Terminal
from tests.factories import Cast
from tests.installation import COMMAND, ROOT, Installation
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.django_db]

# Clears the screen, names the window, goes red by the one-byte form, overwrites what stands there.
NAME = "Run\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x7f one"
SHOWN = "Run␛[2J␛]0;owned␇\N{REPLACEMENT CHARACTER}31m␈\N{REPLACEMENT CHARACTER} one"


def controls(said: str) -> set[str]:
    return {sign for sign in said if (ord(sign) < 0x20 and sign != "\n") or 0x7F <= ord(sign) < 0xA0}


@pytest.fixture
def run(people: Cast) -> Run:
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, name=NAME),
        rubric_version=factories.version(people.team, people.ed),
        name=NAME,
    )


@pytest.fixture
def ed(people: Cast, at_terminal: Callable[[User], Terminal]) -> Terminal:
    return at_terminal(people.ed)


def test_a_refusal_shows_the_control_characters_of_a_name(ed: Terminal, run: Run) -> None:
    ended = ed("runs", "resume", run.pk)
    assert (ended.code, ended.err) == (1, f"{SHOWN} is already running.\n")


def test_a_refused_argument_is_repeated_without_its_control_characters(ed: Terminal) -> None:
    ended = ed("runs", "watch", NAME)
    assert ended.code == 2
    assert SHOWN in ended.err
    assert not controls(ended.err)


def test_what_is_watched_and_listed_steers_no_terminal(ed: Terminal, people: Cast, run: Run) -> None:
    lifecycle.give_up(run, f"The judge said {NAME}.", run.created_at)
    watched = ed("runs", "watch", run.pk)
    assert f"The judge said {SHOWN}." in watched.out
    assert f"The run is failed: The judge said {SHOWN}." in watched.err
    listed = ed("runs", "list")
    assert SHOWN.split()[0] in listed.out
    assert not controls(watched.out + watched.err + listed.out + ed("runs", "show", run.pk).out)


@pytest.mark.parametrize("command", [("runs", "list"), ("runs", "show")])
def test_json_keeps_every_character_and_sends_none_of_them(
    ed: Terminal, people: Cast, run: Run, command: tuple[str, ...]
) -> None:
    lifecycle.cancel_run(run, by=people.ed, now=run.created_at)
    ended = ed(*command, *[run.pk] * (command == ("runs", "show")), "--json")
    assert json.loads(ended.out)["name"] == NAME
    assert not controls(ended.out)


def test_the_live_display_obeys_no_name(installation: Installation, tmp_path: Path) -> None:
    """Rich drops some control characters by itself, but not the one every sequence begins with."""
    (tmp_path / "rubric.yaml").write_text("criteria:\n  - {check: length_between, params: {max: 9}}\n")
    (tmp_path / "answers.jsonl").write_text('{"submission": "Paris"}')
    graded = installation.run("grade", tmp_path / "rubric.yaml", tmp_path / "answers.jsonl", "--name", NAME)
    assert graded.returncode == 0, graded.stderr
    seen = at_a_terminal(installation, "runs", "watch", "1")
    assert "\x1b[?25l" in seen, "it is the live display, which hides the cursor"
    assert "Run␛[2J␛]0;owned" in seen
    assert not [own for own in ("\x1b[2J", "\x1b]0;", "\x07", "\x9b") if own in seen]


def test_a_file_has_every_character_and_a_terminal_none(installation: Installation, tmp_path: Path) -> None:
    rubric = {"criteria": [{"name": "odd", "requirement": f"Says {NAME}"}]}
    (tmp_path / "odd.json").write_text(json.dumps(rubric))
    stored = installation.run("import-rubric", tmp_path / "odd.json")
    [version] = re.findall(r"\(id:(\d+)\)", stored.stderr)
    command = ("rubrics", "show", f"id:{version}", "--format", "json")
    written = json.loads(installation.run(*command).stdout)
    assert written["criteria"][0]["requirement"] == f"Says {NAME}"
    seen = at_a_terminal(installation, *command)
    assert "\N{REPLACEMENT CHARACTER}31m" in seen
    assert not controls(seen.replace("\r\n", "\n"))


def at_a_terminal(installation: Installation, *arguments: str) -> str:
    """All that a command writes to the terminal it is started at."""
    ours, its = pty.openpty()
    command = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env={**installation.env, "TERM": "xterm-256color"},
        stdin=its,
        stdout=its,
        stderr=its,
    )
    os.close(its)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # nobody holds the other end any more
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert command.wait(timeout=PATIENCE_SECONDS) == 0, said
    return said.decode()
