"""What the examples of a judge tell a person who still rates blind: nothing. They are people's labels."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rubricweb.engine.judging.definition import JudgeDefinition, JudgeExample
from rubricweb.models import JudgeVersion, User
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.judges.files import definition_from
from rubricweb.services.reviews import queues
from tests import factories
from tests.api.client import ApiClient, text_of
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.worlds.blinding.two_worlds import in_both_worlds, told_apart

pytestmark = pytest.mark.django_db

SECRET = "because the river is the Rhône"


def furnish(people: Cast, *, met: bool) -> tuple[JudgeVersion, JudgeVersion]:
    """A judge with no examples in v1 and one in v2, which a run was graded by; alice is to rate blind."""
    endpoints.add_endpoint(
        people.team, by=people.alice, name="small", base_url="http://127.0.0.1:9/v1", model="m"
    )
    answers, rubric = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    plain = definition_from(people.team, {"members": [{"endpoint": "small"}]})
    v1 = versions.create_judge(people.team, plain, by=people.ed, name="Support judge")
    v2 = versions.keep_version(v1.judge, shown(plain, met), by=people.ed, parent=v1, note=f"Is {met}.")
    factories.run(people.team, people.ed, dataset=answers, rubric_version=rubric, judge_id=str(v2))
    factories.queue(
        people.team,
        people.ed,
        dataset=answers,
        rubric_version=rubric,
        raters=[people.alice],
        name="Blind",
    )
    return v1, v2


def shown(definition: JudgeDefinition, met: bool) -> JudgeDefinition:
    example = JudgeExample(
        uid="capital",
        requirement="Names Paris.",
        label="MET" if met else "UNMET",
        reason=SECRET if met else "",
        key="other",
        output="Lyon.",
    )
    return definition.model_copy(update={"examples": (example,)})


def looks(
    people: Cast, viewer: User, as_member: Callable[[User], ApiClient], capsys: Any, tmp_path: Path, met: bool
) -> dict[str, str]:
    """Everything that could tell, as this person is answered."""
    v1, v2 = furnish(people, met=met)
    client, terminal = as_member(viewer), terminal_of(people.team, viewer, capsys)
    judge = f"/named-judges/{v1.judge_id}"
    against = f"/judge-versions/{v2.pk}/against/{v1.pk}"
    run = people.team.runs.get()
    reads = ["/named-judges", judge, f"{judge}/versions", against, "/runs", f"/runs/{run.pk}"]
    reads += [f"/judge-versions/{one.pk}" for one in (v1, v2)]
    found = {path: text_of(client.call("GET", path)) for path in reads}
    writes: list[tuple[str, dict[str, Any] | None]] = [
        (f"{judge}/versions", {"parent": 2, "changes": {}}),
        (
            f"{judge}/versions",
            {"parent": 2, "definition": shown(v1.definition, True).model_dump(mode="json")},
        ),
        (f"/judge-versions/{v1.pk}/current", None),
    ]
    for i, (path, body) in enumerate(writes):
        found[f"{i} {path}"] = text_of(client.call("POST", path, **({"body": body} if body else {})))
    guess = tmp_path / "guess.yaml"
    guess.write_text(
        "judge: support-judge\nmembers: [{endpoint: small}]\nexamples:\n"
        "- {uid: capital, requirement: Names Paris., label: MET, key: other, output: Lyon.,"
        f" reason: {SECRET}}}\n"
    )
    for command in (
        ("list",),
        ("list", "--json"),
        ("show", "support-judge"),
        ("show", "support-judge@v1"),
        ("show", "support-judge@v2"),
        ("export", "support-judge@v2"),
        ("show", "support-judge", "--json"),
        ("diff", "support-judge@v1", "support-judge@v2"),
        ("export", "support-judge"),
        ("export", "support-judge@v1"),
        ("import", guess, "--plan"),
        ("import", guess),
        ("use", "support-judge@v1"),
    ):
        ended = terminal("judges", *command)
        found[" ".join(map(str, command))] = ended.out + ended.err
    ended = terminal("runs", "show", run.pk)
    found["run"] = ended.out + ended.err
    # Ids that are made at random.
    return {place: re.sub("uid-[0-9a-f]+", "uid", text) for place, text in found.items()}


def test_who_still_rates_blind_learns_nothing_of_examples_and_history(
    people: Cast, as_member, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one, other = in_both_worlds(
        lambda unsure: looks(people, people.alice, as_member, capsys, tmp_path, not unsure)
    )
    assert not told_apart(one, other)
    assert SECRET not in "".join(one.values())
    assert "withheld" in one["0 " + next(path for path in one if path.endswith("/versions"))]
    assert '"withheld": true' in one["show support-judge --json"]
    assert "support-judge@v2" not in one["/runs"]
    assert "Support judge" in one["/runs"]


def test_who_does_not_rate_sees_them(
    people: Cast, as_member, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one, other = in_both_worlds(
        lambda unsure: looks(people, people.ed, as_member, capsys, tmp_path, not unsure)
    )
    told = " ".join(told_apart(one, other))
    for place in (
        "against",
        "/named-judges/",
        "show support-judge@v2:",
        "export support-judge@v2:",
        "import ",
    ):
        assert place in told
    assert "support-judge@v2" in one["/runs"]


def test_they_appear_when_nothing_is_left_to_review(people: Cast, as_member) -> None:
    v1, v2 = furnish(people, met=True)
    alice = as_member(people.alice)
    alice.refused(403, "GET", f"/judge-versions/{v1.pk}")
    assert alice.get(f"/judge-versions/{v2.pk}")["definition"]["examples"] == []
    queues.close_queue(people.team.queues.get(), by=people.ed)
    seen = alice.get(f"/judge-versions/{v2.pk}")
    assert (seen["withheld"], seen["definition"]["examples"][0]["reason"]) == (False, SECRET)
    assert alice.get(f"/judge-versions/{v1.pk}")["digest"] == v1.digest
    assert alice.get("/runs")["items"][0]["judge_version"] == "support-judge@v2"
