"""Every page of a team, asked by every role, by a stranger and by nobody, and with another team's ids."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, reverse
from django.utils import timezone

from rubricweb.models import JudgeCall, Role
from rubricweb.services import comments, endpoints, notices, queues, teams
from rubricweb.web.urls import team_urls
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


def routes() -> Iterator[Any]:
    for pattern in team_urls:
        assert isinstance(pattern, URLPattern)
        yield pytest.param(pattern, id=str(pattern.name))


def furnished(team: Any, owner: Any) -> dict[str, Any]:
    """A team with one of everything; the ids by the names routes use."""
    version = factories.version(team, owner)
    dataset = factories.dataset(team, owner)
    run = factories.run(team, owner, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    again = factories.run(team, owner, dataset=dataset, rubric_version=version)
    queue = factories.queue(team, owner, dataset=dataset, rubric_version=version, raters=[owner])
    review = queues.next_review(queue, owner, now=timezone.now())
    assert review is not None
    endpoint = endpoints.add_endpoint(
        team, by=owner, name="local", base_url="http://127.0.0.1:9/v1", model="m", api_key="sk-secret-key"
    )
    membership = team.memberships.get(user=owner)
    token, _ = teams.create_token(membership, name="ci", may_write=True, days=1, now=timezone.now())
    item = dataset.items.last()
    call = JudgeCall.objects.filter(run=run, item=item).first()
    assert call is not None
    comment = comments.write(item, by=owner, text="Hm.")
    notices.notify_queue(queue, [owner])
    return {
        "rubric_id": version.rubric_id,
        "number": 1,
        "format": "yaml",
        "dataset_id": dataset.pk,
        "item_id": item.pk,
        "run_id": run.pk,
        "call_id": call.pk,
        "baseline_id": again.pk,
        "queue_id": queue.pk,
        "rater_id": review.rater_id,
        "review_id": review.pk,
        "criterion_id": version.criteria.all()[0].pk,
        "user_id": owner.pk,
        "endpoint_id": endpoint.pk,
        "token_id": token.pk,
        "comment_id": comment.pk,
        "notice_id": owner.notices.get(queue=queue).pk,
    }


def address(pattern: URLPattern, slug: str, ids: dict[str, Any]) -> str:
    names = re.findall(r"<(?:\w+:)?(\w+)>", str(pattern.pattern))
    unknown = set(names) - set(ids)
    assert not unknown, f"tests/test_access.py must learn an id for {unknown}"
    return reverse(str(pattern.name), args=[slug, *(ids[name] for name in names)])


# Doors that open for one person only, whatever their role, and otherwise say "not found".
PERSONAL = {"review_id", "token_id", "notice_id"}


@pytest.mark.parametrize("pattern", list(routes()))
def test_every_route_keeps_its_roles(pattern: URLPattern, people: Cast, sign_in) -> None:
    view = pattern.callback
    assert hasattr(view, "role"), f"{pattern.name} does not say who may open it: use @team_page"
    ids = furnished(people.team, people.alice)
    url = address(pattern, people.team.slug, ids)
    personal = any(name in str(pattern.pattern) for name in PERSONAL)
    for role, person in people.members.items():
        status = sign_in(person).get(url).status_code
        if role < view.role:
            assert status == 403, f"{role.label} reads {pattern.name}"
        else:
            allowed = {200, 302, 405} | ({400, 403, 404, 409} if personal else set())
            assert status in allowed, f"{role.label} is kept from {pattern.name}: {status}"
        if role < view.post_role:
            assert sign_in(person).post(url).status_code == 403, f"{role.label} changes {pattern.name}"


@pytest.mark.parametrize("pattern", list(routes()))
def test_strangers_are_told_nothing(pattern: URLPattern, people: Cast, sign_in) -> None:
    url = address(pattern, people.team.slug, furnished(people.team, people.alice))
    for method in ("get", "post"):
        assert getattr(sign_in(people.charlie), method)(url).status_code == 404
        answer = getattr(Client(), method)(url)
        assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/accounts/login/")


@pytest.mark.parametrize("pattern", [route for route in routes() if "<" in str(route.values[0].pattern)])
def test_another_teams_ids_are_not_found(pattern: URLPattern, people: Cast, sign_in) -> None:
    theirs = furnished(people.other_team, people.charlie)
    url = address(pattern, people.team.slug, theirs)
    client = sign_in(people.alice)
    assert client.get(url).status_code in (404, 405), pattern.name
    assert client.post(url).status_code in (404, 405), pattern.name


def test_every_page_carries_the_strict_policy(people: Cast, sign_in) -> None:
    answer = sign_in(people.alice).get(reverse("dashboard", args=[people.team.slug]))
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Frame-Options"] == "DENY"


def test_nobody_signs_up() -> None:
    answer = Client().get("/accounts/signup/")
    assert b"password1" not in answer.content


def test_a_role_below_viewer_does_not_exist() -> None:
    assert min(Role) == Role.VIEWER
