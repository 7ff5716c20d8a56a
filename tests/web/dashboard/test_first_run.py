"""The path of a team without a run, from a starter and sample data to the first run."""

import html
import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.lint import lint
from rubricweb.models import Dataset, Rubric, User
from rubricweb.selectors.rubrics.versions import draft_state
from rubricweb.services import demo
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.starters import NAMES, Starter, starters
from rubricweb.services.runs import control
from rubricweb.services.shared import archiving
from tests import factories
from tests.factories import Cast

SignIn = Callable[[User], Client]
ALL = pytest.mark.parametrize("starter", starters(), ids=NAMES)


def address(people: Cast, name: str, *args: int) -> str:
    return reverse(name, args=[people.team.slug, *args])


def shown(people: Cast, client: Client) -> str:
    return " ".join(client.get(address(people, "dashboard")).content.decode().split())


def states(page: str) -> list[str]:
    return re.findall(r'class="path__step is-(\w+)"', page)


# ── The path ─────────────────────────────────────────────────────────────────────────────────────


def test_an_empty_team_chooses_a_rubric_first(people: Cast, sign_in: SignIn) -> None:
    page = shown(people, sign_in(people.ed))
    assert states(page) == ["now", "later", "later", "later", "later"]
    assert "0 of 5" in page
    assert re.findall(r'name="starter" value="(\w+)"', page) == list(NAMES[:6])
    assert address(people, "rubric_new") in page
    assert address(people, "rubric_import") in page
    assert address(people, "dataset_sample") in page


def test_a_draft_is_to_be_published(people: Cast, sign_in: SignIn) -> None:
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="Mine")
    page = shown(people, sign_in(people.ed))
    assert states(page)[0] == "now"
    assert "Mine is a draft." in page
    assert address(people, "rubric_publish", rubric.pk) in page
    assert 'name="starter"' not in page


def test_what_is_done_is_ticked_and_the_next_step_opens(people: Cast, sign_in: SignIn) -> None:
    ed = sign_in(people.ed)
    dataset = factories.dataset(people.team, people.ed)
    page = shown(people, ed)
    assert states(page) == ["now", "done", "later", "later", "later"]
    assert address(people, "dataset_sample") not in page  # it is for a team without any dataset
    version = factories.version(people.team, people.ed)
    page = shown(people, ed)
    assert states(page) == ["done", "done", "now", "later", "later"]
    assert "2 of 5" in page
    assert f'href="{address(people, "run_new")}"' in page
    labels = b"item_id,criterion,rater,verdict,reason\ngood,capital,x,MET,\n"
    factories.import_labels(dataset, version, by=people.ed, data=labels, filename="labels.csv")
    assert states(shown(people, ed)) == ["done", "done", "now", "done", "later"]


def test_with_a_rubric_alone_the_dataset_comes_next(people: Cast, sign_in: SignIn) -> None:
    factories.version(people.team, people.ed)
    page = shown(people, sign_in(people.ed))
    assert states(page) == ["done", "now", "later", "later", "later"]
    assert f'href="{address(people, "dataset_import")}"' in page


def test_with_the_first_run_the_path_is_gone(people: Cast, sign_in: SignIn) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    assert states(shown(people, sign_in(people.ed))) == []
    control.cancel_run(run, by=people.ed, now=timezone.now())
    assert states(shown(people, sign_in(people.ed))) == []


def test_a_queue_that_waits_stands_below_the_path(people: Cast, sign_in: SignIn) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    factories.queue(people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann])
    assert "First look" in shown(people, sign_in(people.ann))
    assert "Needs you" not in shown(people, sign_in(people.ed))


@pytest.mark.parametrize("name", ["bob", "ann", "rae"])
def test_who_may_not_edit_sees_the_path_without_buttons(people: Cast, sign_in: SignIn, name: str) -> None:
    client = sign_in(getattr(people, name))
    page = shown(people, client)
    assert states(page) == ["now", "later", "later", "later", "later"]
    assert "An editor of this team does this." in page
    for forbidden in ("rubric_new", "rubric_import", "dataset_sample", "dataset_import", "run_new"):
        assert address(people, forbidden) not in page, forbidden
    assert "Invite people" not in page
    assert client.post(address(people, "dataset_sample")).status_code == 403
    assert client.post(address(people, "rubric_new"), {"starter": "summary"}).status_code == 403
    assert not Rubric.objects.filter(team=people.team).exists()


def test_an_archived_team_has_no_path(people: Cast, sign_in: SignIn) -> None:
    archiving.archive(people.team, by=people.alice, now=timezone.now())
    page = shown(people, sign_in(people.ed))
    assert states(page) == []
    assert "No runs yet" in page


# ── Starters ─────────────────────────────────────────────────────────────────────────────────────


@ALL
def test_every_starter_is_a_sound_rubric(starter: Starter) -> None:
    assert list(lint(starter.content)) == []
    assert 5 <= len(starter.content.criteria) <= 8
    assert starter.errors >= 1
    assert starter.purpose.endswith(".")
    assert starter.source.startswith("After the idea of ")


@ALL
def test_one_press_makes_a_draft_that_publishes(people: Cast, sign_in: SignIn, starter: Starter) -> None:
    ed = sign_in(people.ed)
    answer = ed.post(address(people, "rubric_new"), {"starter": starter.name})
    rubric = Rubric.objects.get(team=people.team)
    assert answer["Location"] == address(people, "rubric_edit", rubric.pk)
    assert not rubric.versions.exists()
    state = draft_state(rubric, viewer=people.ed)
    assert list(state.faults) == []
    editor = html.unescape(ed.get(answer["Location"]).content.decode())
    assert str(starter.content.criteria[0].requirement) in editor
    ed.post(address(people, "rubric_publish", rubric.pk), {"note": "", "revision": rubric.draft_revision})
    published = rubric.versions.get().to_engine()
    assert published.to_dict(ids=False) == starter.content.to_dict(ids=False)


def test_the_page_of_a_new_rubric_offers_them_all_with_their_sources(people: Cast, sign_in: SignIn) -> None:
    page = sign_in(people.ed).get(address(people, "rubric_new")).content.decode()
    assert re.findall(r'name="starter" value="(\w+)"', page) == list(NAMES)
    assert "After the idea of marking errors by kind and weight, as in MQM." in page


def test_a_starter_that_is_not_there_is_refused(people: Cast, sign_in: SignIn) -> None:
    answer = sign_in(people.ed).post(address(people, "rubric_new"), {"starter": "../demo"})
    assert answer.status_code == 404
    assert not Rubric.objects.filter(team=people.team).exists()


# ── Sample data ──────────────────────────────────────────────────────────────────────────────────


def test_sample_data_come_in_once(people: Cast, sign_in: SignIn) -> None:
    ed = sign_in(people.ed)
    for _ in range(2):
        answer = ed.post(address(people, "dataset_sample"), follow=True)
        assert "Sample: support replies is a dataset of this team: 32 items." in answer.content.decode()
        assert states(" ".join(answer.content.decode().split()))[1] == "done"
    dataset = Dataset.objects.get(team=people.team)
    assert (dataset.name, dataset.items.count()) == (demo.SAMPLE, 32)
