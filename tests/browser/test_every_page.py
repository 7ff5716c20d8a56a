"""Every page of a team, in both themes and two widths: what axe finds, and what sticks out."""

import json
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern
from django.utils import timezone
from playwright.sync_api import Page, expect

from rubricweb.models import Role, Run, User
from rubricweb.services.combinations import combinations
from rubricweb.services.combinations.matching import AskedPart
from rubricweb.services.combinations.plans import CombinationRequest
from rubricweb.services.endpoints import discovery
from rubricweb.web.urls import team_urls
from tests import factories
from tests.browser.conftest import Open
from tests.browser.faults import faults
from tests.judging import InProcessJudge, grade
from tests.web.test_access import PERSONAL, address
from tests.worlds.furnished import Furnished, furnish_teams

# Long: some fifty pages, each looked at twice, take a minute and a half.
pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.django_db(transaction=True)]

REPLIES = [{"id": key, "prompt": f"Where is {key}?", "submission": f"In {key}."} for key in "abc"]


@pytest.fixture
def world() -> Furnished:
    """One of everything, and labels of two people on every item of the run, on which figures rest."""
    world = furnish_teams()
    run = Run.objects.get(pk=world.ours["run_id"])
    assert run.rubric_version is not None
    lines = [
        {"item_id": item.key, "criterion": criterion.name, "rater": rater, "verdict": verdict}
        for item in run.dataset.items.all()
        for criterion in run.rubric_version.criteria.all()
        for rater, verdict in (("zoe", "MET"), ("yves", "MET" if item.position else "UNMET"))
    ]
    factories.import_labels(
        run.dataset,
        run.rubric_version,
        by=world.people.ed,
        data="\n".join(map(json.dumps, lines)).encode(),
        filename="labels.jsonl",
    )
    return world


def combined(world: Furnished) -> list[str]:
    """Addresses of combinations in every state, and of pages that an id of `world` does not lead to."""
    team, ed = world.people.team, world.people.ed
    builds = [factories.dataset(team, ed, name=f"Replies v{n}", items=REPLIES) for n in (1, 2)]
    version = Run.objects.get(pk=world.ours["run_id"]).rubric_version
    assert version is not None
    run = factories.run(team, ed, dataset=builds[0], rubric_version=version, name="Nightly")
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    parts = tuple(AskedPart(build, f"replies@v{n}") for n, build in enumerate(builds, 1))
    states = {}
    for name in ("Replies", "Waiting", "Taken"):
        begun = combinations.start(team, CombinationRequest(name, parts), by=ed, enqueue=None)
        states[name] = begun.pk
    factories.dataset(team, ed, name="Taken")
    for name in ("Replies", "Taken"):
        combinations.work(states[name], worker="here:1", now=timezone.now)
    here = f"/t/{team.slug}/"
    chosen = "&".join(f"dataset={build.pk}" for build in builds)
    split = world.ours["dataset_id"]
    return [
        f"{here}datasets/combine/?{chosen}",
        *(f"{here}datasets/combinations/{pk}/" for pk in states.values()),
        f"{here}datasets/{builds[0].pk}/split/",
        f"{here}datasets/{split}/?split=test",
        f"{here}runs/new/?dataset={split}",
        *("/help/", "/help/guides/read-compare/", "/help/reviewing/", "/help/?q=judge"),
    ]


def reader(pattern: URLPattern, world: Furnished) -> User:
    """An editor, from whom nothing is hidden; the owner where a page is theirs alone."""
    owners = pattern.callback.role > Role.EDITOR  # type: ignore[attr-defined]  # team_page gives it
    personal = any(name in str(pattern.pattern) for name in PERSONAL)
    return world.people.alice if owners or personal else world.people.ed


def pages(world: Furnished) -> Iterator[tuple[User, str]]:
    """Every address of the team that answers with a page of its own."""
    for pattern in team_urls:
        assert isinstance(pattern, URLPattern)
        person = reader(pattern, world)
        client = Client()
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        path = address(pattern, world.people.team.slug, world.ours)
        answer = client.get(path)
        if answer.status_code == 200 and b"<h1" in answer.content:
            yield person, path


def test_axe_finds_nothing_on_any_page_and_nothing_sticks_out(
    world: Furnished, open_as: Open, page: Page, violations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What listens on this machine is no part of a page, and is asked by a loop where Playwright has its own.
    monkeypatch.setattr(discovery, "local_servers", list)
    found = []
    more = [(world.people.ed, path) for path in combined(world)]
    walked = [*pages(world), *more]
    assert len(walked) > 52
    for person, path in walked:
        # Without motion no colour is between two themes when axe looks.
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.set_viewport_size({"width": 1280, "height": 800})
        open_as(person, path)
        found += [(path, *one) for one in looked_at(page)]
    open_as(world.people.ed, more[0][1]).get_by_label("Name of the combined dataset").fill("Both")
    page.get_by_role("button", name="Show what comes of it").click()
    expect(page.get_by_role("heading", name="What comes of it")).to_be_visible()
    found += [("the plan", *one) for one in looked_at(page)]
    assert found == [], json.dumps(found, indent=1)[:4000]
    assert violations == []


# Cells of tables that are narrow lists: a text after an element would stand in the column of the labels.
VALUES_AMONG_LABELS = """() => [...document.querySelectorAll(".table--stacked [data-label]")]
  .filter((cell) => [...cell.childNodes].some((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const { left, width } = range.getBoundingClientRect();
    return node.nodeType === Node.TEXT_NODE && width > 0 && left < cell.getBoundingClientRect().left + 100;
  }))
  .map((cell) => cell.textContent.trim())"""


def looked_at(page: Page) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What axe finds on a page in both themes, and whether it is wider than a phone."""
    page.set_viewport_size({"width": 1280, "height": 800})
    for one in faults(page):
        yield one.scheme, one.rule, one.elements
    page.set_viewport_size({"width": 360, "height": 740})
    if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        yield "light", "wider than 360 px", ()
    if cells := page.evaluate(VALUES_AMONG_LABELS):
        yield "light", "values in the column of the labels", tuple(cells)
