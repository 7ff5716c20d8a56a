"""An export says of each label to which version it was given and by which decision it counts, for good."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.formats.bundle.bundle import Bundle, read_bundle, verify_bundle
from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.errors import Invalid
from rubricweb.models import Dataset, LabelDecision, ReviewQueue, RubricVersion, Run, User
from rubricweb.selectors.comparison.comparison import compare
from rubricweb.selectors.exports.ground_truth import ground_truth_items, settled_labels
from rubricweb.selectors.exports.recorded import recorded_exports
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services import adjudications, exports
from rubricweb.services.datasets import splits
from rubricweb.services.exports import EXPORT_FORMATS
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.worlds.remembered import remembered
from tests.worlds.versions import CRITERIA, changed, graded, label, said

OPTIONS = [{"label": one, "value": place / 2} for place, one in enumerate(("cold", "fair", "kind"))]
MAP = {"rude": "cold", "plain": "fair", "warm": "kind"}


@dataclass(frozen=True)
class World:
    """Three versions: the second rewords `capital`, the third has other options of `tone`; both are carried.

    `first` was labelled by ann and ben, `third` by cat, and of it "good" alone.
    """

    people: Cast
    dataset: Dataset
    versions: tuple[RubricVersion, RubricVersion, RubricVersion]
    first: ReviewQueue
    third: ReviewQueue

    @property
    def queues(self) -> list[ReviewQueue]:
        return [self.first, self.third]

    def carried(self, name: str) -> LabelDecision:
        """The decision that stands about a criterion."""
        return LabelDecision.objects.get(criterion__name=name, superseded_at=None)

    def file(self, what: str, format: str, *, run: Run | None = None, viewer: User | None = None) -> bytes:
        made = exports.export(
            self.people.team,
            viewer=viewer or self.people.bob,
            what=what,
            format=format,
            dataset=self.dataset,
            queues=self.queues,
            run=run,
        )
        return b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in made.chunks)

    def rows(self, what: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.file(what, "csv").decode())))

    def bundle(self, run: Run | None = None) -> Bundle:
        data = self.file("verdicts", "bundle", run=run)
        assert verify_bundle(data) == ()
        return read_bundle(data)


@pytest.fixture
def world(people: Cast) -> World:
    return remembered(("label lineage", people.team.pk), lambda: make_world(people))


def make_world(people: Cast) -> World:
    first = factories.version(people.team, people.ed, criteria=CRITERIA)
    dataset = factories.dataset(people.team, people.ed)
    queue = label(people, dataset, first, "first")
    assert first.rubric is not None
    second = changed(first.rubric, said(requirement="Says that Paris is the capital."))
    decide(second, uid(second, "capital"), NewLabelDecision("carry", reason="The same."), by=people.ed)
    third = changed(first.rubric, said(options=OPTIONS), position=3)
    decide(third, uid(third, "tone"), NewLabelDecision("carry", MAP), by=people.ed)
    lines = [
        f"good,{one.name},cat,{'kind' if one.kind == 'choice' else 'MET'}" for one in third.criteria.all()
    ]
    data = "\n".join(["item_id,criterion,rater,verdict", *lines]).encode()
    later = factories.import_labels(
        dataset, third, by=people.ed, data=data, filename="labels.csv", queue_name="third"
    )
    return World(people, dataset, (first, second, third), queue, later)


def uid(version: RubricVersion, name: str) -> str:
    return version.criteria.get(name=name).uid


def test_ground_truth_says_where_each_label_was_given_and_by_what_it_counts(world: World) -> None:
    capital, tone = (f"carry {world.carried(name).pk}" for name in ("capital", "tone"))
    rows = world.rows("ground_truth")
    assert list(rows[0])[-6:-4] == ["rubric_versions", "counts_by"]
    found = {
        (row["item_id"], row["criterion"]): (row["verdict"], row["rubric_versions"], row["counts_by"])
        for row in rows
    }
    assert found["bad", "capital"] == ("MET", "1", capital)
    assert found["bad", "concise"] == ("MET", "1", "same words")
    # What was said of "plain" counts as "fair".
    assert found["bad", "tone"] == ("fair", "1", tone)
    # ann and ben by the first version, cat by the third.
    assert found["good", "capital"] == ("MET", "1, 3", f"{capital}, same words")
    assert found["good", "tone"] == ("fair", "1, 3", f"{tone}, same words")
    [good] = [row for row in rows if (row["item_id"], row["criterion"]) == ("good", "tone")]
    assert [
        (one["rater"], one["verdict"], one["rubric_version"], one["counts_by"])
        for one in json.loads(good["labels"])
    ] == [("Ann", "fair", 1, tone), ("ben", "fair", 1, tone), ("cat", "kind", 3, "same words")]


def test_labels_carried_twice_name_both_decisions(world: World) -> None:
    rubric = world.versions[0].rubric
    assert rubric is not None
    fourth = changed(rubric, said(requirement="Names the capital: Paris."))
    decide(fourth, uid(fourth, "capital"), NewLabelDecision("carry"), by=world.people.ed)
    both = LabelDecision.objects.filter(criterion__name="capital").order_by("pk")
    alone = settled_labels([world.first], version=fourth.pk)
    capital = fourth.criteria.get(name="capital").pk
    [lineage] = [lineage for (_, read), lineage in alone.lineages.items() if read == capital]
    assert lineage.counts_by == ", ".join(f"carry {one.pk}" for one in both)
    assert [one.id for one in alone.decisions] == sorted(
        [*(one.pk for one in both), world.carried("tone").pk]
    )


def test_an_adjudication_says_on_which_words_it_was_made(world: World) -> None:
    first = world.versions[0]
    adjudications.adjudicate(
        world.dataset.items.get(key="bad"),
        first.criteria.get(name="capital"),
        by=world.people.rae,
        verdict="UNMET",
        cause="judge_wrong",
        reason="No.",
    )
    [row] = [r for r in world.rows("ground_truth") if (r["item_id"], r["criterion"]) == ("bad", "capital")]
    carried = f"carry {world.carried('capital').pk}"
    assert (row["verdict"], row["rule"]) == ("UNMET", "adjudicated")
    assert (row["rubric_versions"], row["counts_by"]) == ("1", carried)
    [decided] = world.bundle().adjudications
    assert (decided.rubric_version, decided.counts_by) == (1, carried)


@pytest.mark.parametrize("format", ["autorubric", "yaml", "parquet"])
def test_the_head_of_a_dataset_keeps_the_decisions_its_labels_count_by(world: World, format: str) -> None:
    capital, tone = world.carried("capital"), world.carried("tone")
    data = world.file("ground_truth", format)
    # Decided otherwise: the file says what it said.
    decide(
        capital.version,
        uid(capital.version, "capital"),
        NewLabelDecision("label_again"),
        by=None,
        seen=capital.pk,
    )
    file = read_dataset(data, filename=f"back{EXPORT_FORMATS[format].suffix}")
    assert [
        (one.id, one.kind, one.criterion, one.to_version, one.options, one.reason, one.decided_by)
        for one in file.label_decisions
    ] == [
        (capital.pk, "carry", "capital", 2, None, "The same.", "ed"),
        (tone.pk, "carry", "tone", 3, {"CANNOT_ASSESS": "CANNOT_ASSESS", **MAP}, "", "ed"),
    ]
    [bad] = [item for item in file.items if item.id == "bad"]
    assert bad.ground_truth == ("MET", "MET", "MET", "fair")
    assert bad.ground_truth_provenance is not None
    assert [one and (one.rubric_versions, one.counts_by) for one in bad.ground_truth_provenance] == [
        ((1,), (f"carry {capital.pk}",)),
        ((1,), ("same words",)),
        ((1,), ("same words",)),
        ((1,), (f"carry {tone.pk}",)),
    ]
    # An export of now leaves out what does not count any more.
    again = read_dataset(world.file("ground_truth", format), filename=f"back{EXPORT_FORMATS[format].suffix}")
    assert [one.id for one in again.label_decisions] == [tone.pk]
    assert [item.ground_truth for item in again.items if item.id == "bad"] == [(None, "MET", "MET", "fair")]


def test_a_file_whose_labels_need_no_decision_is_as_it_was(people: Cast) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    dataset = factories.dataset(people.team, people.ed)
    queue = label(people, dataset, version, "first")
    made = exports.export(
        people.team,
        viewer=people.bob,
        what="ground_truth",
        format="autorubric",
        dataset=dataset,
        queues=[queue],
    )
    assert made.decisions == ()
    assert set(json.loads("".join(map(str, made.chunks)))) == {"name", "prompt", "rubric", "items"}


FAULTY: dict[str, tuple[Any, str]] = {
    "no list": ("carry 3", "label_decisions"),
    "no object": ([3], "label_decisions[0]"),
    "no id": ([{"kind": "carry", "to_version": 2}], "label_decisions[0].id"),
    "another key": ([{"id": 3, "kind": "carry", "to_version": 2, "by": "ed"}], "label_decisions[0].by"),
    "options of numbers": (
        [{"id": 3, "kind": "carry", "to_version": 2, "options": {"a": 1}}],
        "label_decisions[0].options",
    ),
    "a day that is none": (
        [{"id": 3, "kind": "carry", "to_version": 2, "decided_at": "today"}],
        "label_decisions[0].decided_at",
    ),
}


@pytest.mark.parametrize("given", FAULTY)
def test_a_head_with_faulty_decisions_is_refused_with_the_place(given: str) -> None:
    value, place = FAULTY[given]
    data = json.dumps({"prompt": None, "rubric": None, "label_decisions": value, "items": []}).encode()
    with pytest.raises(Exception, match="label_decisions") as refusal:
        read_dataset(data, filename="back.json")
    assert place in {fault.place for fault in refusal.value.faults}  # type: ignore[attr-defined]  # InvalidFile


def test_verdicts_say_what_counts_for_the_newest_version_and_what_does_not(world: World) -> None:
    capital = world.carried("capital")
    decide(
        capital.version,
        uid(capital.version, "capital"),
        NewLabelDecision("label_again"),
        by=None,
        seen=capital.pk,
    )
    rows = world.rows("verdicts")
    assert list(rows[0])[-12:-9] == ["rubric_version", "counts_by", "origin"]
    found = {
        (row["item_id"], row["criterion"], row["rater"]): (
            row["verdict"],
            row["rubric_version"],
            row["counts_by"],
        )
        for row in rows
    }
    # As it counts: what was said of "plain" is "fair" there.
    assert found["bad", "tone", "ben"] == ("fair", "1", f"carry {world.carried('tone').pk}")
    assert found["bad", "capital (v1)", "ben"] == ("MET", "1", "not counted")
    assert found["bad", "concise", "ben"] == ("MET", "1", "same words")
    assert found["good", "capital", "cat"] == ("MET", "3", "same words")


def test_of_a_rater_who_labelled_twice_the_label_of_the_words_themselves_counts(world: World) -> None:
    world.third.delete()
    again = label(world.people, world.dataset, world.versions[2], "third again", {"tone": "kind"})
    counted = {
        (row["item_id"], row["criterion"], row["rater"], row["rubric_version"]): row["counts_by"]
        for row in World(world.people, world.dataset, world.versions, world.first, again).rows("verdicts")
    }
    assert counted["bad", "tone", "ben", "1"] == "not counted"
    assert counted["bad", "tone", "ben", "3"] == "same words"


def test_a_bundle_of_several_versions_is_whole_and_agrees_with_compare(world: World) -> None:
    first, second, third = world.versions
    run = graded(world.people, world.dataset, second)
    bundle = world.bundle(run)
    # Read by the run's version, as Compare does; the others stand beside it.
    assert bundle.dataset.rubric is not None
    assert bundle.dataset.rubric.criteria == second.to_engine().criteria
    assert [one.criteria for one in bundle.rubrics] == [
        third.to_engine().criteria,
        first.to_engine().criteria,
    ]
    numbers = {place: n for place, n in bundle.versions.items() if place.endswith((".json", "]"))}
    assert numbers == {"dataset.json": "2", "rubrics.json[0]": "3", "rubrics.json[1]": "1"}
    found = compare(run, world.queues, viewer=world.people.bob)
    assert bundle.agreement["units"] == found.units
    settled = [label for item in bundle.dataset.items for label in item.ground_truth or () if label]
    assert len(settled) == found.units == 12  # three items, four criteria
    assert [one.id for one in bundle.dataset.label_decisions] == [world.carried("capital").pk]
    by = {(row.rater, row.criterion, row.item_id): row for row in bundle.judgements}
    assert (by["ben", "capital", "bad"].rubric_version, by["ben", "capital", "bad"].counts_by) == (
        1,
        f"carry {world.carried('capital').pk}",
    )
    # Options are carried one way: what cat said by the third version does not count for the second.
    assert by["cat", "tone", "good"].counts_by == "not counted"
    judged = [row for row in bundle.judgements if row.rater_kind == "judge"]
    assert {(row.rubric_version, row.counts_by) for row in judged} == {(2, None)}


def test_a_bundle_of_an_earlier_release_is_read(world: World) -> None:
    data = world.file("verdicts", "bundle")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        others = {name: archive.read(name) for name in archive.namelist() if name != "manifest.json"}
    older = io.BytesIO()
    with zipfile.ZipFile(older, "w") as archive:
        for name, content in others.items():
            archive.writestr(name, content)
        archive.writestr("manifest.json", json.dumps(manifest | {"version": 1}))
    assert read_bundle(older.getvalue()).judgements == read_bundle(data).judgements
    with zipfile.ZipFile(older, "w") as archive:
        for name, content in others.items():
            archive.writestr(name, content)
        archive.writestr("manifest.json", json.dumps(manifest | {"version": 6}))
    found = [(fault.found, fault.allowed) for fault in verify_bundle(older.getvalue())]
    assert found == [("6", "1 or 2 or 3 or 4 or 5")]


def test_queues_of_two_rubrics_are_one_bundle_no_more_than_one_ground_truth(world: World) -> None:
    other = factories.version(world.people.team, world.people.ed, title="Another", criteria=CRITERIA[:1])
    queue = label(world.people, world.dataset, other, "another")
    for what, format in (("ground_truth", "csv"), ("verdicts", "bundle")):
        with pytest.raises(Invalid, match="different rubrics: take those of one"):
            exports.export(
                world.people.team,
                viewer=world.people.bob,
                what=what,
                format=format,
                dataset=world.dataset,
                queues=[world.first, queue],
            )
    with pytest.raises(Invalid, match="different rubrics: take those of one"):
        splits.split_dataset(world.dataset, n_dev=1, by=world.people.ed)


def truths(dataset: Dataset) -> dict[str, tuple[str | None, ...] | None]:
    found = ground_truth_items(dataset, settled_labels(list(labelled_queues(dataset.pk, team=dataset.team))))
    return {item.id: item.ground_truth for item in found}


def test_halves_of_a_split_have_the_labels_of_every_version_and_the_same_ground_truth(world: World) -> None:
    label(world.people, world.dataset, world.versions[2], "rest", {"tone": "cold"})
    whole = truths(world.dataset)
    made = splits.split_dataset(world.dataset, n_dev=1, by=world.people.ed, seed=2)
    assert truths(made.dev) | truths(made.test) == whole
    for half in (made.dev, made.test):
        queues = labelled_queues(half.pk, team=half.team)
        assert {queue.name: queue.rubric_version.number for queue in queues} == {  # type: ignore[union-attr]  # has one
            f"Labels by v1 of {half.name}": 1,
            f"Labels by v3 of {half.name}": 3,
        }
        for queue in queues:
            given = queue.reviews.values_list("judgements__criterion__version", flat=True)
            assert set(given) == {queue.rubric_version_id}


def test_earlier_exports_name_the_decisions_that_hold_no_more(
    world: World, sign_in: Callable[[User], Client], capsys: pytest.CaptureFixture[str]
) -> None:
    people = world.people
    world.file("ground_truth", "csv")
    capital = world.carried("capital")
    url = reverse("exports", args=[people.team.slug])
    page = sign_in(people.bob).get(url, {"dataset": world.dataset.pk}).content.decode()
    assert f"carry {capital.pk}" in page
    assert "decided otherwise since" not in page
    decide(
        capital.version,
        uid(capital.version, "capital"),
        NewLabelDecision("label_again"),
        by=None,
        seen=capital.pk,
    )
    world.file("verdicts", "jsonl")
    newest, oldest = recorded_exports(world.dataset, viewer=people.bob)
    assert [(one.criterion, one.version, one.replaced_at is not None) for one in oldest.decisions] == [
        ("capital", 2, True),
        ("tone", 3, False),
    ]
    assert [one.id for one in newest.decisions] == [world.carried("tone").pk]
    page = sign_in(people.bob).get(url, {"dataset": world.dataset.pk}).content.decode()
    assert page.count("decided otherwise since") == 1
    membership = people.team.memberships.get(user=people.bob)
    _, secret = teams.create_token(membership, name="tests", may_write=False, days=1, now=timezone.now())
    told = ApiClient(secret).get(f"/datasets/{world.dataset.pk}/exports")
    ended = terminal_of(people.team, people.bob, capsys)(
        "export", "--dataset", world.dataset.name, "--earlier", "--json"
    )
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert lines == told
    assert [(one["what"], one["format"], one["by"]) for one in lines] == [
        ("verdicts", "jsonl", "bob"),
        ("ground_truth", "csv", "bob"),
    ]
    assert lines[1]["decisions"][0]["name"] == f"carry {capital.pk}"
    assert lines[1]["decisions"][0]["replaced_at"]


def test_who_still_reviews_blind_is_not_told_by_what_exports_of_others_count(
    world: World, sign_in: Callable[[User], Client]
) -> None:
    people = world.people
    world.file("ground_truth", "csv", viewer=people.ed)
    factories.queue(
        people.team,
        people.ed,
        dataset=world.dataset,
        rubric_version=world.versions[2],
        raters=[people.rae],
        name="Blind",
        source=Source("items", item_ids=(world.dataset.items.get(key="bad").pk,)),
    )
    assert [bool(one.decisions) for one in recorded_exports(world.dataset, viewer=people.bob)] == [True]
    assert [bool(one.decisions) for one in recorded_exports(world.dataset, viewer=people.rae)] == [False]
    log = reverse("settings_audit_log", args=[people.team.slug])
    assert "label decisions" in sign_in(people.bob).get(log).content.decode()
    assert "label decisions" not in sign_in(people.rae).get(log).content.decode()
    # Their own export holds what they may see, and says so: labels of "bad" are not in it.
    world.file("ground_truth", "csv", viewer=people.rae)
    own, of_ed = recorded_exports(world.dataset, viewer=people.rae)
    assert (bool(own.decisions), of_ed.decisions) == (True, ())
