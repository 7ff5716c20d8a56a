"""A sentence in the instructions changes the verdicts, by whichever door it comes; the version before stays.

The judge is a server that reads its instructions: it says UNMET where they tell it to, else MET. Every run is
asked anew, over HTTP.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Action, Request, Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import Dataset, Judgement, JudgeVersion, RubricVersion, Run
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.judges.files import definition_from
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import Terminal
from tests.factories import Cast

pytestmark = pytest.mark.django_db

SENTENCE = "Decide UNMET when in doubt."
STRICT = f"{{{{frame}}}}\n\n{SENTENCE}"


def obedient(request: Request) -> Action:
    says = "UNMET" if SENTENCE in request.body["messages"][0]["content"] else "MET"
    return Say(f'{{"explanation": "So I was told.", "criterion_status": "{says}"}}')


class Door:
    """A team with a judge, support-judge@v1, and what it is to grade; one person at three doors."""

    def __init__(self, people: Cast, url: str, terminal: Terminal, browser: Client) -> None:
        self.people, self.terminal, self.browser = people, terminal, browser
        endpoints.add_endpoint(people.team, by=people.alice, name="small", base_url=url, model="m")
        usual = definition_from(people.team, {"members": [{"endpoint": "small"}]})
        self.first = versions.create_judge(people.team, usual, by=people.ed, name="Support judge")
        self.dataset: Dataset = factories.dataset(people.team, people.ed)
        self.rubric: RubricVersion = factories.version(people.team, people.ed)
        membership = people.team.memberships.get(user=people.ed)
        _, secret = teams.create_token(membership, name="tests", may_write=True, days=1, now=timezone.now())
        self.api = ApiClient(secret)

    def url(self, name: str, *ids: int) -> str:
        return reverse(name, args=[self.people.team.slug, *ids])

    # ── Changing a sentence ───────────────────────────────────────────────────────────────────────

    def change_by_page(self) -> None:
        there = self.url("judge_edit", self.first.judge_id)
        form = self.browser.get(there).context["form"]
        sent = {
            field.html_name: field.value()
            for part in form.parts
            for field in part
            if field.value() not in (None, False)
        }
        answer = self.browser.post(there, sent | {"text_without_options": STRICT, "action": "keep"})
        assert answer.status_code == 302

    def change_by_api(self) -> None:
        changes = {"wording": {"instructions": {"without_options": STRICT}}}
        there = f"/named-judges/{self.first.judge_id}/versions"
        self.api.send("POST", there, {"parent": 1, "changes": changes})

    def change_by_terminal(self, folder: Path) -> None:
        """What is exported with the shipped instructions, with a sentence more, is imported."""
        file = folder / "judge.yaml"
        assert self.terminal("judges", "export", "support-judge", "--shipped", "-o", file).code == 0
        written = file.read_text()
        with_options = written.index("    with_options:")
        head = written[:with_options].replace(
            "      {{frame}}\n", f"      {{{{frame}}}}\n\n      {SENTENCE}\n"
        )
        file.write_text(head + written[with_options:])
        assert self.terminal("judges", "import", file).code == 0

    def change_by_file(self, folder: Path) -> None:
        """A file that somebody wrote by hand."""
        file = folder / "judge.yaml"
        file.write_text(
            "judge: support-judge\n"
            "members: [{endpoint: small}]\n"
            "wording:\n"
            "  instructions:\n"
            f"    without_options: '{{{{frame}}}} {SENTENCE}'\n"
        )
        assert self.terminal("judges", "import", file).code == 0

    # ── Grading ───────────────────────────────────────────────────────────────────────────────────

    def start_by_page(self, judge: str) -> Run:
        sent = {
            "sent": "1",
            "dataset": self.dataset.pk,
            "rubric_version": self.rubric.pk,
            "judge": judge,
            "name": f"Run {Run.objects.count() + 1}",  # the same form sent twice starts one run
            "repeats": "1",
            "no_cap": "on",
            "normalize": "on",
        }
        answer = self.browser.post(self.url("run_new"), sent)
        assert answer.status_code == 302, answer.context["form"].errors
        return self._graded()

    def start_by_api(self, judge: str) -> Run:
        body = {"dataset_id": self.dataset.pk, "rubric_version_id": self.rubric.pk, "judge": judge}
        self.api.send("POST", "/runs", body | {"no_cap": True, "use_cache": False})
        return self._graded()

    def start_by_terminal(self, judge: str) -> Run:
        what = (f"id:{self.rubric.pk}", f"id:{self.dataset.pk}")
        ended = self.terminal("grade", *what, "--no-cap", "--no-cache", "--judge", judge)
        assert ended.code == 0, ended.err
        return Run.objects.latest("pk")

    def _graded(self) -> Run:
        run = Run.objects.latest("pk")
        assert self.terminal("grade", "--resume", run.pk).code == 0
        return run


@pytest.fixture
def door(people: Cast, at_terminal, sign_in: Callable[..., Client]) -> Iterator[Door]:
    with running_server(Script(obedient)) as url:
        yield Door(people, url, at_terminal(people.ed), sign_in(people.ed))
    close_clients()


def verdicts(run: Run) -> set[str | None]:
    return set(Judgement.objects.filter(run=run).values_list("verdict", flat=True))


@pytest.mark.parametrize("name", ["page", "api", "terminal", "file"])
def test_a_sentence_more_changes_the_verdicts_and_the_version_before_grades_as_before(
    door: Door, tmp_path: Path, name: str
) -> None:
    start = {"page": door.start_by_page, "api": door.start_by_api}.get(name, door.start_by_terminal)
    assert verdicts(start("support-judge@v1")) == {"MET"}
    folder = (tmp_path,) if name in ("terminal", "file") else ()
    getattr(door, f"change_by_{name}")(*folder)
    second = JudgeVersion.objects.get(number=2)
    assert SENTENCE in second.definition.wording.instructions.without_options
    changed = start("support-judge@v2")
    assert (verdicts(changed), changed.judge_version) == ({"UNMET"}, second)
    before = start("support-judge@v1")
    assert (verdicts(before), before.judge_version) == ({"MET"}, door.first)
    calls = Run.objects.all().values_list("calls__cached_from", flat=True)
    assert set(calls) == {None}  # every question was asked
