"""The version of a judge stands beside its figures: on pages, in the API, at the terminal, in files."""

import csv
import io
import json
import re
import zipfile
from dataclasses import dataclass

import pytest
from django.urls import reverse

from rubricweb.engine.formats.bundle.bundle import read_bundle
from rubricweb.engine.judging.definition import JudgeExample
from rubricweb.errors import Conflict
from rubricweb.models import Case, JudgeVersion, ReviewQueue, Run, User
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.judges.files import definition_from
from tests import factories
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

pytestmark = pytest.mark.django_db

V1, V2 = "support-judge@v1", "support-judge@v2"
PICKED = "small-criterion-by-criterion@v1"


@dataclass(frozen=True)
class Graded:
    """Runs over the same answers by two versions of a judge and by a model that was merely picked."""

    first: Run
    second: Run
    picked: Run
    queue: ReviewQueue
    version: JudgeVersion


@pytest.fixture
def graded(people: Cast) -> Graded:
    row = endpoints.add_endpoint(
        people.team, by=people.alice, name="small", base_url="http://127.0.0.1:9/v1", model="m"
    )
    rubric = factories.version(
        people.team,
        people.ed,
        title="Rightness",
        criteria=[{"name": "only", "weight": 1, "requirement": "Is right."}],
    )
    items = [{"id": f"a{n}", "submission": f"Text {n}", "case_id": f"c{n}"} for n in range(4)]
    data = factories.dataset(people.team, people.ed, items=items)
    said = "item_id,criterion,rater,verdict\n" + "".join(f"a{n},only,Xenia,MET\n" for n in range(4))
    queue = factories.import_labels(data, rubric, by=people.ed, data=said.encode(), filename="labels.csv")
    judge = InProcessJudge(lambda requirement, response: "MET" if response.strip()[-1] in "012" else "UNMET")

    def by(judge_id: str, name: str) -> Run:
        run = factories.run(
            people.team, people.ed, dataset=data, rubric_version=rubric, judge_id=judge_id, name=name
        )
        return grade(run, judge)

    picked = by(row.judge_id, "By a model")
    plain = definition_from(people.team, {"members": [{"endpoint": "small"}]})
    criterion = rubric.criteria.get()
    shown = JudgeExample(uid=criterion.uid, requirement="Is right.", label="MET", key="x", output="Paris.")
    v1 = versions.create_judge(people.team, plain, by=people.ed, name="Support judge")
    v2 = versions.keep_version(
        v1.judge, plain.model_copy(update={"examples": (shown,)}), by=people.ed, parent=v1
    )
    return Graded(by(V1, f"By {V1}"), by(V2, f"By {V2}"), picked, queue, v2)


def still_blind(people: Cast, viewer: User) -> None:
    """Something of the team is left for this person to review blind, elsewhere."""
    factories.queue(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.ed, name="Elsewhere"),
        rubric_version=factories.version(people.team, people.ed, title="Another"),
        raters=[viewer],
        name="Blind",
    )


def test_pages_name_it_beside_the_figures(people: Cast, sign_in, graded: Graded) -> None:
    client, slug = sign_in(people.bob), people.team.slug

    def page(name: str, *args: object, query: str = "") -> str:
        return " ".join(client.get(reverse(name, args=[slug, *args]) + query).content.decode().split())

    compared = page("compare", query=f"?run={graded.first.pk}")
    link = reverse("judge", args=[slug, graded.version.judge_id])
    assert f'Graded by <a class="wrap-anywhere" href="{link}">{V1}</a>.' in compared
    assert f"By {V2} <small>{V2} ·" in compared  # among the runs one may choose
    assert "By a model <small>small ·" in compared
    assert f"{V1}</small>" in page("run_diff", graded.second.pk, graded.first.pk)
    assert f"By {V1} <small>{V1} ·" in page("run_diff", graded.second.pk, graded.picked.pk)
    case = Case.objects.get(key="c0")
    assert f'by <span class="wrap-anywhere">{V2}</span>' in page("case", case.pk)
    assert f"By {V1} · {V1}" in page("exports")
    # What was merely picked is called as it is on the page of models.
    for name in ("compare", "exports", "dashboard", "runs"):
        assert PICKED not in page(name)


def test_a_series_keeps_its_place_and_its_label_gains_the_version(
    people: Cast, sign_in, graded: Graded
) -> None:
    client = sign_in(people.bob)
    board = client.get(reverse("dashboard", args=[people.team.slug]))
    places = {point.run_id: one.number for one, point in board.context["board"].points}
    assert places == {graded.picked.pk: "1", graded.first.pk: "1", graded.second.pk: "2"}
    labels = dict(board.context["choices"])
    # The first version asks just as the model that was picked, so that they are one line.
    assert labels["1"] == f"Rightness v1 · {V1} · no examples"
    assert labels["2"].startswith(f"Rightness v1 · {V2} · 1 example")
    rows = re.sub(r"\s+", " ", board.content.decode())
    assert f'<small class="table__sub">{V1} · criterion by criterion' in rows
    assert '<small class="table__sub">small · criterion by criterion' in rows
    numbers = client.get(reverse("dashboard", args=[people.team.slug]) + "?format=csv").content.decode()
    assert {row["run"]: row["judge_version"] for row in csv.DictReader(io.StringIO(numbers))} == {
        str(graded.picked): "",
        str(graded.first): V1,
        str(graded.second): V2,
    }


def test_the_api_and_the_terminal_name_it(
    people: Cast, as_member, capsys: pytest.CaptureFixture[str], graded: Graded
) -> None:
    bob, terminal = as_member(people.bob), terminal_of(people.team, people.bob, capsys)
    assert bob.get(f"/runs/{graded.second.pk}/comparison")["judge_version"] == V2
    assert bob.get(f"/runs/{graded.picked.pk}/comparison")["judge_version"] == PICKED
    sides = bob.get(f"/runs/{graded.second.pk}/against/{graded.first.pk}")
    assert [sides[name]["judge_version"] for name in ("run", "baseline")] == [V2, V1]
    [answer] = bob.get(f"/cases/{Case.objects.get(key='c0').pk}")["answers"]
    assert (answer["grading"]["run_id"], answer["grading"]["judge_version"]) == (graded.second.pk, V2)
    compared = terminal("compare", graded.first.pk)
    assert f"graded by {V1}, against" in compared.out
    assert json.loads(terminal("compare", graded.first.pk, "--json").out)["judge_version"] == V1
    listed = terminal("runs", "list").out
    # Once in the name somebody gave the run, and once behind it.
    assert (listed.count(V2), listed.count(V1), PICKED in listed) == (2, 2, False)
    both = terminal("compare", graded.second.pk, "--with", graded.first.pk).out
    assert f"({V2}, finished)" in both
    assert f"({V1}, finished)" in both


def test_exports_name_it_and_are_read_again(people: Cast, as_member, graded: Graded) -> None:
    bob = as_member(people.bob)

    def exported(format: str) -> bytes:
        asked = f"what=verdicts&format={format}&run={graded.second.pk}&queue={graded.queue.pk}"
        answer = bob.call("GET", f"/exports?dataset={graded.queue.dataset_id}&{asked}")
        assert answer.status_code == 200
        return b"".join(answer.streaming_content)

    rows = list(csv.DictReader(io.StringIO(exported("csv").decode())))
    assert {(row["rater_kind"], row["judge_version"]) for row in rows} == {("human", ""), ("judge", V2)}
    lines = [json.loads(line) for line in exported("jsonl").decode().splitlines()]
    assert {(row["rater_kind"], row["judge_version"]) for row in lines} == {("human", None), ("judge", V2)}
    data = exported("bundle")
    bundle = read_bundle(data)
    versions_said = {(one.rater_kind, one.judge_version) for one in bundle.judgements}
    assert versions_said == {("human", None), ("judge", V2)}
    assert bundle.agreement["judge_version"] == V2
    # A file of an earlier release says nothing of it, and is read as before.
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert json.loads(archive.read("manifest.json"))["version"] == 5
    again = factories.dataset(
        people.team, people.ed, name="Again", items=[{"id": f"a{n}", "submission": "x"} for n in range(4)]
    )
    rubric = graded.queue.rubric_version
    factories.import_labels(again, rubric, by=people.ed, data=exported("csv"), filename="said.csv")
    assert again.runs.count() == 1  # the machine's verdicts
    with pytest.raises(Conflict, match="All labels in this file were imported before"):
        factories.import_labels(again, rubric, by=people.ed, data=exported("jsonl"), filename="said.jsonl")


def test_who_still_reviews_blind_is_not_told_it(
    people: Cast, sign_in, as_member, capsys: pytest.CaptureFixture[str], graded: Graded
) -> None:
    still_blind(people, people.alice)
    client, slug = sign_in(people.alice), people.team.slug
    pair = (graded.second.pk, graded.first.pk)
    addresses = [
        reverse("compare", args=[slug]) + f"?run={graded.first.pk}",
        reverse("run_diff", args=[slug, *pair]),
        reverse("dashboard", args=[slug]),
        reverse("dashboard", args=[slug]) + "?format=csv",
        reverse("case", args=[slug, Case.objects.get(key="c0").pk]),
        reverse("exports", args=[slug]) + f"?dataset={graded.queue.dataset_id}",
        reverse("runs", args=[slug]),
    ]
    seen = {address: client.get(address) for address in addresses}
    alice, terminal = as_member(people.alice), terminal_of(people.team, people.alice, capsys)
    asked = f"what=verdicts&format=csv&run={graded.second.pk}"
    export = alice.call("GET", f"/exports?dataset={graded.queue.dataset_id}&{asked}")
    said = {
        **{address: answer.content.decode() for address, answer in seen.items()},
        "export": b"".join(export.streaming_content).decode(),
        "comparison": json.dumps(alice.get(f"/runs/{graded.first.pk}/comparison")),
        "diff": json.dumps(alice.get(f"/runs/{pair[0]}/against/{pair[1]}")),
        "compare": terminal("compare", graded.first.pk).out,
        "compare with": terminal("compare", pair[0], "--with", pair[1]).out,
        "runs": terminal("runs", "list").out,
    }
    assert all(answer.status_code == 200 for answer in (*seen.values(), export))
    for place, text in said.items():
        # The names of the runs, which people gave, hold the versions here.
        told = text.replace(f"By {V1}", "").replace(f"By {V2}", "")
        assert "support-judge@" not in told, place
