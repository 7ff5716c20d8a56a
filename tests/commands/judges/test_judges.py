"""Judges and their versions at the terminal: to files and back, compared, made current, graded with."""

import re
from pathlib import Path

import pytest
from django.utils import timezone

from rubricweb.api.judges import schemas
from rubricweb.engine.autograders import FormTexts, JudgeWording
from rubricweb.models import Judge, JudgeVersion, Run, VersionOrigin
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.judges.files import definition_from
from rubricweb.services.shared.archiving import archive, restore
from tests.commands.shapes import misfits
from tests.commands.terminal import Terminal
from tests.factories import Cast, dataset, version

pytestmark = pytest.mark.django_db

STRICT = "{{frame}}\n\nDecide UNMET when in doubt.\nSay why."


@pytest.fixture
def ed(people: Cast, at_terminal) -> Terminal:
    """ed's terminal, in a team with a model and a judge in two versions."""
    endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name="small",
        base_url="http://127.0.0.1:9/v1",
        model="m",
        api_key="sk-secret-key",
        extra_headers={"X-Team": "sesame"},
    )
    usual = definition_from(people.team, {"members": [{"endpoint": "small"}]})
    v1 = versions.create_judge(people.team, usual, by=people.ed, name="Support judge")
    wording = JudgeWording(instructions=FormTexts(without_options=STRICT))
    strict = usual.model_copy(update={"wording": wording})
    versions.keep_version(v1.judge, strict, by=people.ed, parent=v1, note="Strict.")
    return at_terminal(people.ed)


def test_a_version_is_written_in_readable_blocks_without_defaults_and_secrets(ed: Terminal) -> None:
    written = ed("judges", "export", "support-judge").out
    assert written == (
        "judge: support-judge\n"
        "version: 2\n"
        "name: Support judge\n"
        "wording:\n"
        "  instructions:\n"
        "    without_options: |-\n"
        "      {{frame}}\n"
        "\n"
        "      Decide UNMET when in doubt.\n"
        "      Say why.\n"
        "members:\n"
        "- name: small\n"
        "  endpoint: small\n"
        "  address: http://127.0.0.1:9/v1\n"
        "  model: m\n"
    )
    for said in (written, ed("judges", "show", "support-judge").out):
        assert "sk-secret-key" not in said
        assert "sesame" not in said


@pytest.mark.parametrize("which", ["support-judge@v1", "support-judge@v2"])
@pytest.mark.parametrize("how", [[], ["--shipped"]])
def test_what_was_exported_is_no_change(ed: Terminal, tmp_path: Path, which: str, how: list[str]) -> None:
    file = tmp_path / "judge.yaml"
    assert ed("judges", "export", which, "-o", file, *how).code == 0
    assert file.read_text().count("{{frame}}") == (2 if how else which.count("@v2"))
    ended = ed("judges", "import", file)
    assert ended.code == 0
    assert f"No change of what is asked: it is {which}" in ended.err
    assert "Nothing was stored." in ended.err
    assert JudgeVersion.objects.count() == 2


def test_a_file_shows_what_it_changes_and_becomes_the_next_version(ed: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "judge.yaml"
    ed("judges", "export", "support-judge", "-o", file)
    text = file.read_text().replace("Say why.", "Say where.").replace("  model: m", "  model: n\n  weight: 2")
    file.write_text(text)
    planned = ed("judges", "import", file, "--plan")
    for line in (
        "After support-judge@v2:",
        "members[small].model: m → n",
        "members[small].weight: 1.0 → 2.0",
    ):
        assert line in planned.err
    assert "[-why-]{+where+}" in planned.err
    assert "Nothing was stored." in planned.err
    assert JudgeVersion.objects.count() == 2
    ended = ed("judges", "import", file, "--note", "Where, not why.", "--json")
    assert misfits(schemas.JudgeVersion, ended.out) == []
    kept = JudgeVersion.objects.get(number=3)
    assert (kept.origin, kept.note, kept.parent.number) == (VersionOrigin.FILE, "Where, not why.", 2)
    assert kept.definition.members[0].model == "n"
    assert kept.judge.current == kept


def test_a_file_of_an_earlier_version_is_kept_after_another_when_that_is_said(
    ed: Terminal, tmp_path: Path
) -> None:
    file = tmp_path / "judge.yaml"
    ed("judges", "export", "support-judge@v1", "-o", file)
    file.write_text(file.read_text() + "reply_format: yes_no\n")
    refused = ed("judges", "import", file)
    assert refused.code == 1
    assert "kept support-judge@v2 meanwhile" in refused.err
    assert "--after" in refused.err
    assert ed("judges", "import", file, "--after", "v2").code == 0
    assert JudgeVersion.objects.get(number=3).parent.number == 2


def test_a_file_with_another_slug_is_another_judge(ed: Terminal, tmp_path: Path, people: Cast) -> None:
    file = tmp_path / "judge.yaml"
    file.write_text("judge: quick\nnote: For tries.\nmembers: [{endpoint: small}]\n")
    assert "A new judge, quick" in ed("judges", "import", file, "--plan").err
    assert not Judge.objects.filter(slug="quick").exists()
    assert ed("judges", "import", file).code == 0
    quick = Judge.objects.get(slug="quick")
    assert (quick.name, quick.note, quick.current.number) == ("quick", "For tries.", 1)
    assert ed("judges", "diff", "support-judge@v1", "quick").err.endswith("ask the same.\n")


LONG = "x" * 20_000  # with the frame more than instructions may have
MEMBERS = "members: [{endpoint: small}]\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("judge: x\nmembers: [{endpoint: small, api_key: sk-1}]\n", "members[0].api_key"),
        (f"judge: x\n{MEMBERS}headers: {{X: sk-1}}\n", "headers"),
        (f"judge: x\n{MEMBERS}patience: 3\n", "patience"),
        ("judge: x\nmembers: [{endpoint: small, weight: heavy}]\n", "members[0].weight"),
        ("judge: x\nmembers: [{endpoint: big}]\n", "members[0].endpoint"),
        (f"judge: x\n{MEMBERS}wording: {{instructions: {{with_options: ' '}}}}\n", "wording.instructions"),
        (f"judge: x\n{MEMBERS}wording: {{instructions: {{with_options: No}}}}\n", "wording.instructions"),
        (
            f"judge: x\n{MEMBERS}wording: {{instructions: {{with_options: '{{{{frame}}}}{LONG}'}}}}\n",
            "wording.instructions",
        ),
        (
            f"judge: x\n{MEMBERS}wording: {{instructions: {{with_options: '{{{{frame}}}} {{{{x}}}}'}}}}\n",
            "wording.instructions",
        ),
        (f"judge: offline\n{MEMBERS}", "slug"),
        (f"judge: endpoint-3\n{MEMBERS}", "slug"),
        (f"judge: 3\n{MEMBERS}", "judge"),
        (f"{MEMBERS}", "judge"),
        (f"judge: x\nversion: 0\n{MEMBERS}", "version"),
        ("judge: x\n", "members"),
        ("- 1\n", ""),
        ("judge: [\n", "line"),
    ],
)
def test_a_file_that_cannot_be_is_refused_with_its_place(
    ed: Terminal, tmp_path: Path, text: str, place: str
) -> None:
    file = tmp_path / "judge.yaml"
    file.write_text(text)
    for plan in (["--plan"], []):
        ended = ed("judges", "import", file, *plan)
        assert (ended.code, ended.out) == (1, "")
        assert re.search(r"judge\.yaml: \d fault", ended.err)
        assert f"\n  {place}" in ended.err
        assert "Nothing was stored." in ended.err
        assert "sk-1" not in ended.err
    assert JudgeVersion.objects.count() == 2


def test_all_faults_of_a_file_are_told_at_once(ed: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "judge.yaml"
    file.write_text("judge: x\nmembers: [{endpoint: big, weight: heavy}, {endpoint: small}]\npatience: 3\n")
    ended = ed("judges", "import", file)
    assert "judge.yaml: 3 faults. Nothing was stored." in ended.err
    for place in ("members[0].endpoint", "members[0].weight", "patience"):
        assert f"\n  {place}: found" in ended.err


def test_a_judge_is_edited_used_archived_and_restored(ed: Terminal) -> None:
    assert "support-judge is support-judge@v1 now" in ed("judges", "use", "support-judge@v1").out
    assert Judge.objects.get().current.number == 1
    assert ed("judges", "edit", "support-judge").code == 1
    assert ed("judges", "edit", "support-judge", "--slug", "strict", "--name", "Strict").code == 0
    assert ed("judges", "archive", "strict").code == 0
    listed = ed("judges", "list")
    assert "Strict" not in listed.out
    assert "1 judge: it is archived" in listed.err
    assert "Strict" in ed("judges", "list", "--archived").out
    assert ed("judges", "restore", "strict").code == 0
    assert "Strict" in ed("judges", "list", "--search", "stri").out
    assert "Strict." in ed("judges", "show", "strict").out  # what v2 was kept for


def test_a_run_is_graded_by_a_version_at_the_terminal(ed: Terminal, people: Cast) -> None:
    definition = definition_from(people.team, {"members": [{"endpoint": "small"}], "autograder": "one_shot"})
    versions.create_judge(people.team, definition, by=people.ed, name="At once")
    answers = dataset(people.team, people.ed)
    rubric = version(people.team, people.ed)
    graded = ("grade", f"id:{rubric.pk}", f"id:{answers.pk}", "--no-cap", "--judge")
    planned = ed(*graded, "at-once@v1", "--plan")
    assert planned.code == 0, planned.err
    assert ed(*graded, "at-once@v7", "--plan").code == 1
    assert ed(*graded, "at-once", "--model", "other", "--plan").code == 1
    ed(*graded, "at-once")  # nobody answers there
    started = Run.objects.get()
    assert (str(started.judge_version), started.autograder) == ("at-once@v1", "one_shot")
    assert ed("runs", "list", "--judge", "at-once", "--json").out.count("at-once@v1") == 1
    assert ed("runs", "list", "--judge", "support-judge", "--json").out == ""
    assert ed("runs", "list", "--judge", "nobody").code == 1
    assert "At once, at-once@v1" in ed("runs", "show", started.pk).out


def test_a_version_is_asked_several_times_and_in_a_panel_at_the_terminal(ed: Terminal, people: Cast) -> None:
    answers, rubric = dataset(people.team, people.ed), version(people.team, people.ed)
    graded = ("grade", f"id:{rubric.pk}", f"id:{answers.pk}", "--no-cap")
    ed(*graded, "--judge", "support-judge@v2", "--repeats", "2")  # nobody answers there
    twice = Run.objects.latest("pk").judge_version
    assert twice.definition.wording.instructions.without_options == STRICT
    assert twice.judge.name == "support-judge@v2 × 2, criterion by criterion"
    pair = ("--judge", "small", "--judge", "support-judge@v2")
    ed(*graded, *pair)
    usual, strict = Run.objects.latest("pk").judge_version.definition.members
    assert (usual.name, usual.wording, strict.name) == ("small", None, "support-judge@v2")
    assert strict.wording.instructions.without_options == STRICT
    refused = ed(*graded, "--judge", f"{twice}", "--repeats", "2")
    assert refused.code == 1
    assert f"{twice}, which casts several votes itself; allowed: a model, or a version" in refused.err
    assert Run.objects.count() == 2


def test_a_slug_that_names_something_else_is_refused_at_the_terminal(ed: Terminal) -> None:
    for slug in ("offline", "endpoint-3", "none"):
        refused = ed("judges", "edit", "support-judge", "--slug", slug)
        assert refused.code == 1
        assert f"slug: found '{slug}'; allowed: a word that names no other judge" in refused.err
    assert Judge.objects.get().slug == "support-judge"


def test_an_endpoint_that_is_archived_meanwhile_is_said_and_the_file_stays(
    ed: Terminal, people: Cast, tmp_path: Path
) -> None:
    file = tmp_path / "judge.yaml"
    ed("judges", "export", "support-judge", "-o", file)
    written = file.read_text() + "reply_format: yes_no\n"
    file.write_text(written)
    [row] = endpoints.endpoints_of(people.team)
    archive(row, by=people.alice, now=timezone.now())
    refused = ed("judges", "import", file)
    assert refused.code == 1
    assert "The endpoint small that small is asked at is archived: restore it first." in refused.err
    assert file.read_text() == written
    restore(row, by=people.alice)
    endpoints.change_endpoint(row, by=people.alice, now=timezone.now(), name="tiny")
    assert ed("judges", "import", file).code == 0  # it goes by the address
