"""Which judges can be tried, and whom the words for one mean."""

from dataclasses import dataclass

from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.models import PEOPLES, Judge, JudgeSnapshot, Team, User, unarchived
from rubricweb.selectors.judges import require_judge_visible, withheld_judges
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges.definitions import definition_of
from rubricweb.services.judges.versions import version_called


@dataclass(frozen=True)
class NamedDefinition:
    """What words for a judge mean; `judge` is None for a model by itself, which is asked criterion by
    criterion.
    """

    name: str
    definition: JudgeDefinition
    judge: Judge | None


def definition_called(team: Team, words: str, *, viewer: User) -> NamedDefinition:
    """A version of a judge, support-judge@v3, its current one, support-judge, or a model: endpoint-3,
    offline.

    Raises as `version_called` and `choose_judge`, Withheld for a judge whose examples this person must not
    see.
    """
    version = version_called(team, words)
    if version is not None:
        require_judge_visible(version.judge, viewer)
        return NamedDefinition(str(version), version.definition, version.judge)
    config = endpoints.choose_judge(team, words.strip())
    picked = definition_of(
        JudgeSnapshot.of(words.strip(), config), None, autograder="per_criterion", reply_format="json"
    )
    assert picked is not None, "somebody is asked"
    return NamedDefinition(config.name, picked, None)


def judges_to_try(team: Team, viewer: User) -> list[tuple[str, str]]:
    """The words for each judge that can be tried, and what it is called: versions that people made something
    of first, then models, the offline judge last.
    """
    judges = Judge.objects.filter(unarchived(), team=team, versions__origin__in=PEOPLES).distinct()
    withheld = withheld_judges(team, viewer)
    found = []
    for judge in judges.select_related("current").order_by("name"):
        if judge.current is not None and judge.pk not in withheld:
            judge.current.judge = judge
            found.append((str(judge.current), f"{judge.name} ({judge.current})"))
    models = endpoints.judges_of(team)
    named = [(judge_id, config.name) for judge_id, config in models.items()]
    return found + sorted(named, key=lambda one: one[0] == endpoints.OFFLINE)
