"""Two teams with one of everything, for walks that ask every route, operation and command as every role."""

import re
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from rubricweb.models import UNENDED, Case, Item, JournalEntry, JudgeCall, Role, SharedKind, Team, User
from rubricweb.services import comments, notices
from rubricweb.services.datasets.halves.drawing import split_cases
from rubricweb.services.datasets.systems import named_versions
from rubricweb.services.deletions import deletions
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.reviews import queues
from rubricweb.services.runs import lifecycle
from rubricweb.services.sharing import links as sharing
from rubricweb.services.sharing.pages import Shown
from rubricweb.services.teams import invitations, teams
from rubricweb.services.teams.saved_views import save_view
from tests import factories
from tests.factories import Cast, cast
from tests.judging import InProcessJudge, grade

MADE = re.compile(r"auto-[0-9a-f]{16}")
"""What a key looks like that was made from the content."""


@dataclass(frozen=True)
class Furnished:
    """The cast, and the ids of what its own team and the stranger's team have, by the names routes use."""

    people: Cast
    ours: dict[str, Any]
    theirs: dict[str, Any]


def furnish_teams() -> Furnished:
    people = cast()
    return Furnished(
        people,
        ours=furnish(people.team, people.alice),
        theirs=furnish(people.other_team, people.charlie),
    )


def at_rest(furnished: Furnished) -> Cast:
    """The people of the furnished team, in which no run is unfinished and no queue open any more."""
    people = furnished.people
    for run in people.team.runs.filter(state__in=UNENDED):
        lifecycle.cancel_run(run, by=people.alice, now=timezone.now())
    queues.close_queue(people.team.queues.get(pk=furnished.ours["queue_id"]), by=people.alice)
    return people


def furnish(team: Team, owner: User) -> dict[str, Any]:
    """Gives a team one of everything."""
    version = factories.version(team, owner)
    gone = factories.dataset(team, owner, name="gone")
    deletion = deletions.delete(gone, "gone", by=owner, now=timezone.now(), enqueue=None)
    deletions.work(deletion.pk, worker="here:1", now=timezone.now)
    [version_of_system] = named_versions(team, ["assistant@v0"]).values()
    dataset = factories.dataset(team, owner)
    run = factories.run(team, owner, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    # Before somebody has a review of it open: nobody shares what a rater is not to see.
    link, _ = sharing.share(
        team, Shown(SharedKind.DASHBOARD), title="Scores", days=1, by=owner, now=timezone.now()
    )
    again = factories.run(team, owner, dataset=dataset, rubric_version=version)
    split_cases(dataset, n_dev=1, by=owner)  # who is to review items blind may not
    queue = factories.queue(team, owner, dataset=dataset, rubric_version=version, raters=[owner])
    review = queues.next_review(queue, owner, now=timezone.now())
    assert review is not None
    endpoint = endpoints.add_endpoint(
        team, by=owner, name="local", base_url="http://127.0.0.1:9/v1", model="m", api_key="sk-secret-key"
    )
    membership = team.memberships.get(user=owner)
    token, _ = teams.create_token(membership, name="ci", may_write=True, days=1, now=timezone.now())
    call = JudgeCall.objects.filter(run=run, item=review.item).first()
    assert call is not None
    assert run.judge_version is not None
    view = save_view(membership, kind="runs", name="Finished", query="state=finished", dataset=None)
    comment = comments.write(review.item, by=owner, text="Hm.")
    notices.notify_queue(queue, [owner])
    invited = invitations.invite(
        team, "a-newcomer", Role.VIEWER, by=owner, now=timezone.now(), link=lambda secret: secret
    )
    assert run.judge_version is not None
    judge = versions.create_judge(
        team,
        run.judge_version.definition,
        by=owner,
        name=f"Judge of {team.slug}",
        slug=f"judge-of-{team.slug}",
    )
    return {
        "judge_id": judge.judge_id,
        "judge_slug": judge.judge.slug,
        "judge_version_id": judge.pk,
        "baseline_version_id": run.judge_version.pk,
        "rubric_id": version.rubric_id,
        "version_id": version.pk,
        "number": 1,
        "format": "yaml",
        "dataset_id": dataset.pk,
        "import_id": factories.refused_import(team, owner).pk,
        "combination_id": factories.combination(team, owner, name="Both builds").pk,
        "kind": "dataset",
        "row_id": dataset.pk,
        "item_id": review.item_id,
        "case_id": review.item.case_id,
        "run_id": run.pk,
        "call_id": call.pk,
        "baseline_id": again.pk,
        "queue_id": queue.pk,
        "rater_id": review.rater_id,
        "review_id": review.pk,
        "criterion_id": version.criteria.all()[0].pk,
        "user_id": owner.pk,
        "invitation_id": invited.invitation.pk,
        "endpoint_id": endpoint.pk,
        "token_id": token.pk,
        "link_id": link.pk,
        "comment_id": comment.pk,
        "view_id": view.pk,
        "deletion_id": deletion.pk,
        "system_id": version_of_system.system_id,
        "system_version_id": version_of_system.pk,
        "notice_id": owner.notices.get(queue=queue).pk,
    }


def make_keys(team: Team) -> None:
    """Gives all items and cases of the team keys as files without ids do, made from the content.

    And the lines of its audit log what was written of them once.
    """
    for item in Item.objects.filter(dataset__team=team):
        item.key = f"auto-{item.pk:016x}"
        item.save(update_fields=["key"])
    for case in Case.objects.filter(dataset__team=team):
        case.key = f"auto-{case.pk:016x}"
        case.save(update_fields=["key"])
    for line in JournalEntry.objects.filter(team=team, target_kind="item"):
        line.target_label = f"auto-{line.target_id:016x}"
        line.save(update_fields=["target_label"])
    for line in JournalEntry.objects.filter(team=team, target_kind="review", detail__has_key="item"):
        line.detail["item"] = f"auto-{line.target_id:016x}"
        line.save(update_fields=["detail"])
