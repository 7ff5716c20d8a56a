"""Migrations and models say the same, and data they move arrives."""

import hmac
import json
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader

from rubricweb.engine.autograders.examples.few_shot import content_digest
from rubricweb.engine.judging.sampling import Sampling
from rubricweb.models import (
    Calibration,
    Case,
    Criterion,
    Dataset,
    Draw,
    HalfLook,
    Item,
    JudgeEndpoint,
    Judgement,
    Meaning,
    Review,
    ReviewQueue,
    Rubric,
    RubricVersion,
    Run,
    RunItem,
)
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.datasets.changes import retirement
from rubricweb.services.datasets.halves import drawing
from rubricweb.services.datasets.splits import split_dataset
from rubricweb.services.endpoints import endpoints
from rubricweb.services.reviews import queue_changes, queues, reviews
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from rubricweb.services.rubrics.meanings import assign_meanings
from rubricweb.services.shared.run_summaries import summarise, summarise_stopped
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.extended import extended_run
from tests.worlds.versions import CRITERIA, changed, said

ITEMS = [
    {"id": "own", "submission": "Caf\u00e9  noir", "prompt": "What to drink?"},
    {"id": "chat", "submission": "Tea.", "prompt": [{"role": "user", "content": "And\nyou?"}]},
    {"id": "none", "submission": "Cafe\u0301 noir"},
]


@pytest.fixture
def migrations(settings: Any) -> None:
    """The migrations there are, which other tests do without."""
    settings.MIGRATION_MODULES = {}


@pytest.mark.django_db
def test_no_model_waits_for_a_migration(migrations: None) -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_all_tables_at_once_are_those_that_the_earlier_migrations_make(migrations: None) -> None:
    loader = MigrationLoader(None, replace_migrations=False)
    ours = {key: one for key, one in loader.disk_migrations.items() if key[0] == "rubricweb"}
    [at_once] = [key for key, one in ours.items() if one.replaces]
    last = max(ours[at_once].replaces)
    assert set(ours[at_once].replaces) == {key for key in ours if key <= last} - {at_once}
    one_by_one, all_at_once = (loader.project_state([key]) for key in (last, at_once))
    for before, after in ((one_by_one, all_at_once), (all_at_once, one_by_one)):
        assert MigrationAutodetector(before, after).changes(loader.graph) == {}


def test_items_from_before_get_the_hash_new_items_have(people: Cast, django_assert_num_queries) -> None:
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    hashes = {item.key: item.content_hash for item in dataset.items.all()}
    assert hashes == {item.key: content_digest(item.to_engine()) for item in dataset.items.all()}
    Item.objects.update(content_hash="")
    move = import_module("rubricweb.migrations.0003_content_hash_of_items").hash_items
    move(apps, connection.schema_editor())
    assert {item.key: item.content_hash for item in dataset.items.all()} == hashes
    with django_assert_num_queries(1):
        move(apps, connection.schema_editor())


def _recorded(queue: ReviewQueue) -> list[tuple[int, str, int, int, set[int], set[int]]]:
    """Every stratum of a queue's draws: seed, value, sizes, which ids were drawn and which were not."""
    return [
        (draw.seed, one.value, one.size, one.drawn, set(one.items[: one.drawn]), set(one.items[one.drawn :]))
        for draw in queue.draws.all()
        for one in draw.strata.all()
    ]


@pytest.fixture
def judged(people: Cast) -> tuple[Run, RubricVersion]:
    """Twelve items; the judge says MET of every other one."""
    items = [
        {"id": f"{place:02}", "submission": f"Paris {'yes' * (place % 2)}", "metadata": {"third": place % 3}}
        for place in range(12)
    ]
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed, items=items)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    judge = InProcessJudge(lambda requirement, response: "MET" if "yes" in response else "UNMET")
    return grade(run, judge), version


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"search": "yes"},
        {"metadata": "third=1"},
        {"strata_metadata": "third"},
        {"strata_criterion": "capital"},
    ],
)
def test_samples_of_earlier_queues_get_the_draw_they_were(people: Cast, judged, asked) -> None:
    run, version = judged
    if "strata_criterion" in asked:
        asked = asked | {"run": run}
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=version,
        raters=[people.ann],
        source=Source("sample", size=3, seed=11, **asked),
        order="dataset",
    )
    queue_changes.extend_queue(queue, by=people.ed, source=Source("sample", size=4, seed=5))
    was = _recorded(queue)
    Draw.objects.all().delete()
    move = import_module("rubricweb.migrations.0013_draws_of_earlier_queues").record
    move(apps, connection.schema_editor())
    assert _recorded(queue) == was
    move(apps, connection.schema_editor())
    assert _recorded(queue) == was


def test_a_draw_that_cannot_be_told_any_more_is_not_made_up(people: Cast, judged) -> None:
    run, version = judged
    source = Source("sample", size=4, seed=11, strata_criterion="capital", run=run)
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=version,
        raters=[people.ann],
        source=source,
    )
    Draw.objects.all().delete()
    # The run was graded anew meanwhile: ten items are MET now instead of six.
    Judgement.objects.filter(run=run, item__position__lt=8).update(verdict="MET")
    import_module("rubricweb.migrations.0013_draws_of_earlier_queues").record(
        apps, connection.schema_editor()
    )
    assert not queue.draws.exists()


def test_criteria_from_before_are_found_again_by_their_words_and_names(people: Cast) -> None:
    drafts = [
        [("capital", "Names Paris."), (None, "Is short."), ("polite", "Is polite."), (None, "Is true.")],
        # Reworded under its name; moved; renamed; an unnamed one reworded is a new one.
        [("capital", "Names the city."), ("kind", "Is polite."), (None, "Is short."), (None, "Is right.")],
        [("capital", "Names Paris."), ("kind", "Is polite."), (None, "Is short."), (None, "Is right.")],
    ]
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="From before")
    for draft in drafts:
        criteria = [{"requirement": text} | ({"name": name} if name else {}) for name, text in draft]
        content = {"title": "From before", "criteria": criteria}
        rubrics.save_draft(rubric, draft=content, revision=rubric.draft_revision)
        rubrics.publish(rubric, by=people.ed)
    Criterion.objects.update(uid="", meaning=None)
    Meaning.objects.all().delete()
    Rubric.objects.filter(pk=rubric.pk).update(draft=content)
    import_module("rubricweb.migrations.0024_criteria_identified").identify(apps, connection.schema_editor())
    rows = {
        (row.version.number, row.requirement): row
        for row in Criterion.objects.filter(version__rubric=rubric).select_related("version")
    }
    uid = {place: row.uid for place, row in rows.items()}
    meaning = {place: row.meaning_id for place, row in rows.items()}
    assert uid[1, "Names Paris."] == uid[2, "Names the city."] == uid[3, "Names Paris."]
    assert uid[1, "Is polite."] == uid[2, "Is polite."]
    assert uid[1, "Is short."] == uid[2, "Is short."]
    assert uid[1, "Is true."] != uid[2, "Is right."]
    assert meaning[1, "Names Paris."] == meaning[3, "Names Paris."] != meaning[2, "Names the city."]
    assert meaning[1, "Is short."] == meaning[2, "Is short."] == meaning[3, "Is short."]
    assert len({*uid.values()}) == 5
    assert None not in meaning.values()
    assert "" not in uid.values()
    rubric.refresh_from_db()
    newest = rubric.versions.get(number=3).criteria.order_by("position")
    assert [entry["id"] for entry in rubric.draft["criteria"]] == [row.uid for row in newest]
    # What publishing gives them is the same.
    assign_meanings(rubric)
    assert {place: Criterion.objects.get(pk=row.pk).meaning_id for place, row in rows.items()} == meaning


@pytest.mark.parametrize(
    ("mark", "passed"), [(0.75, [False, False]), (0.5, [True, False]), (None, [True] * 2)]
)
def test_raters_whom_a_lowered_mark_has_let_on_have_passed_and_no_others(
    people: Cast, mark: float | None, passed: list[bool]
) -> None:
    """Three of six labels were right, and two of six; the mark was lowered since."""
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        raters=[people.ann, people.rae, people.alice],
    )
    ann, rae, alice = (queue.raters.get(user=user) for user in (people.ann, people.rae, people.alice))
    for rater, right in ((ann, 3), (rae, 2)):
        Calibration.objects.create(queue=queue, rater=rater, right=right, total=6)
    Calibration.objects.create(queue=queue, rater=alice)  # who was let try again
    ReviewQueue.objects.filter(pk=queue.pk).update(pass_mark=mark, calibration_items=2)
    when = list(Calibration.objects.order_by("pk").values_list("decided_at", flat=True))
    move = import_module("rubricweb.migrations.0052_raters_who_reach_the_mark").pass_who_reach
    for _ in range(2):
        move(apps, connection.schema_editor())
        rows = Calibration.objects.order_by("pk")
        assert list(rows.values_list("passed", flat=True)) == [*passed, False]
    assert list(rows.values_list("decided_at", flat=True)) == when


def test_the_reason_of_an_earlier_skip_leaves_the_place_of_the_note(people: Cast) -> None:
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        raters=[people.ann],
    )
    skipped, draft, newer = (
        queues.start_review(queue, item, people.ann) for item in queue.dataset.items.order_by("position")[:3]
    )
    reviews.save_note(draft, note="Odd.")
    reviews.save_note(newer, note="Cut off.")
    reviews.skip(newer, reason="Not mine.")
    reviews.skip(skipped, reason="passing")
    # As it was before: the reason in the note.
    Review.objects.filter(pk=skipped.pk).update(note="Not my field.", skip_reason="")
    move = import_module("rubricweb.migrations.0055_reasons_of_earlier_skips").move_reasons
    for _ in range(2):  # it can be run again
        move(apps, connection.schema_editor())
        assert list(Review.objects.order_by("item__position").values_list("note", "skip_reason")) == [
            ("", "Not my field."),
            ("Odd.", ""),
            ("Cut off.", "Not mine."),
        ]


def test_options_that_were_spaced_otherwise_get_the_meanings_new_versions_have(people: Cast) -> None:
    first = factories.version(people.team, people.ed, criteria=CRITERIA)
    assert first.rubric is not None

    def options(*labels: str) -> list[dict[str, Any]]:
        return [{"label": label, "value": place} for place, label in enumerate(labels)]

    versions = [
        changed(first.rubric, said(options=options(*labels)), position=3)
        for labels in (("rude", "very  kind"), ("rude", "very kind"), ("no", "yes"))
    ]
    spaced, corrected, mapped = (version.criteria.get(position=3) for version in versions)
    decide(
        versions[2], mapped.uid, NewLabelDecision("carry", {"rude": "no", "very kind": "yes"}), by=people.ed
    )

    def told() -> list[list[int | None]]:
        rows = Criterion.objects.filter(version__in=versions, position=3).order_by("version__number")
        return list(map(list, rows.values_list("meaning", "meaning__source")))

    for row in (spaced, corrected, mapped):
        row.refresh_from_db()
    assert told()[2] == [mapped.meaning_id, corrected.meaning_id]
    # As it was before: both spellings in one meaning, which the map leads on from.
    Criterion.objects.filter(pk=corrected.pk).update(meaning=spaced.meaning_id)
    Meaning.objects.filter(pk=mapped.meaning_id).update(source=spaced.meaning_id)
    Meaning.objects.filter(pk=corrected.meaning_id).delete()
    part = import_module("rubricweb.migrations.0057_meanings_of_options_spaced_otherwise").tell_apart
    for _ in range(2):
        part(apps, connection.schema_editor())
        (one, none), (other, nothing), (last, source) = told()
        assert (one, last, source) == (spaced.meaning_id, mapped.meaning_id, other)
        assert (none, nothing) == (None, None)
        assert other not in (one, last)
    # What publishing gives them is the same.
    before = told()
    assign_meanings(first.rubric)
    assert told() == before


def test_seals_from_before_get_a_salt_and_are_proved_by_the_same_items_and_labels(people: Cast) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    keys = dataset.items.values_list("key", flat=True)
    lines = "item_id,criterion,rater,verdict\n" + "".join(f"{key},capital,x,MET\n" for key in keys)
    factories.import_labels(dataset, version, by=people.ed, data=lines.encode(), filename="labels.csv")
    made = split_dataset(dataset, n_dev=1, by=people.ed)
    drawing.split_cases(dataset, n_dev=1, by=people.ed)
    then = {made.dev.pk: "d" * 64, made.test.pk: "e" * 64}
    for pk, seal in then.items():
        # As the release before stored them.
        Dataset.objects.filter(pk=pk).update(seal=seal)
    about = {"units": 1, "items": 1, "dataset_version": 1}
    for data in ("a", "b"):
        HalfLook.objects.create(dataset=dataset, data=data * 64, seal="f" * 64, **about)
    salt_seals = import_module("rubricweb.migrations.0063_salts_of_seals").salt_seals
    Dataset.objects.update(seal_salt="")
    salt_seals(apps, connection.schema_editor())
    for half in Dataset.objects.filter(pk__in=then):
        assert half.seal == hmac.new(half.seal_salt.encode(), then[half.pk].encode(), "sha256").hexdigest()
    salt = Dataset.objects.get(pk=dataset.pk).seal_salt
    # Two looks at the same answers still have one seal.
    expected = hmac.new(salt.encode(), b"f" * 64, "sha256").hexdigest()
    assert [look.seal for look in dataset.looks.all()] == [expected, expected]
    again = list(Dataset.objects.order_by("pk").values_list("seal", "seal_salt"))
    salt_seals(apps, connection.schema_editor())
    assert list(Dataset.objects.order_by("pk").values_list("seal", "seal_salt")) == again


def test_runs_that_were_extended_by_corrected_answers_count_the_wrong_ones_no_more(people: Cast) -> None:
    run, wrong, right = extended_run(people)
    alone = run.dataset.items.get(key="i1")
    retirement.retire(run.dataset, [alone.pk], by=people.ed)
    # As it was before: the wrong words beside the right ones.
    RunItem.every.filter(run=run).update(replaced=False)
    summarise(run)
    # The first of four cases had 0 and 1.
    assert Run.objects.get(pk=run.pk).summary.score_mean == 0.875
    mark = import_module("rubricweb.migrations.0061_replaced_answers_of_runs").mark_replaced
    for _ in range(2):
        mark(apps, connection.schema_editor())
        summarise_stopped()
        summary = Run.objects.get(pk=run.pk).summary
        assert (summary.items, summary.score_mean) == (4, 1.0)
        assert list(RunItem.every.filter(replaced=True).values_list("run", "item")) == [(run.pk, wrong.pk)]
    # Of what was restored, what its version of the dataset held counts.
    retirement.retire(run.dataset, [right.pk], by=people.ed)
    retirement.restore(run.dataset, [wrong.pk], by=people.ed)
    RunItem.every.filter(run=run).update(replaced=False)
    mark(apps, connection.schema_editor())
    assert list(RunItem.every.filter(replaced=True).values_list("item", flat=True)) == [wrong.pk]


def test_cases_marked_before_got_their_half_by_the_draw_they_had_an_answer_for(people: Cast) -> None:
    """a to d were split, e and f drawn later; a case that was away at the first draw is of the second."""
    rows = [{"id": key, "submission": f"Answer {key}."} for key in "abcdxef"]
    dataset = factories.dataset(people.team, people.ed, items=rows[:5])
    away = dataset.items.get(key="x")
    retirement.retire(dataset, [away.pk], by=people.ed)
    first = drawing.split_cases(dataset, n_dev=2, by=people.ed)
    retirement.restore(dataset, [away.pk], by=people.ed)
    factories.add_items(dataset, by=people.ed, data=json.dumps(rows[5:]).encode(), filename="more.json")
    second = drawing.extend_split(dataset, by=people.ed)
    retirement.retire(dataset, [dataset.items.get(key="a").pk], by=people.ed)
    factories.add_items(dataset, by=people.ed, data=b'[{"id": "new", "submission": "-"}]', filename="1.json")
    Case.objects.update(half_since=None)
    move = import_module("rubricweb.migrations.0060_when_cases_got_their_half").date_halves
    for _ in range(2):  # it can be run again
        move(apps, connection.schema_editor())
        since = dict(Case.objects.values_list("key", "half_since"))
        assert since == {
            **dict.fromkeys("abcd", first.created_at),
            **dict.fromkeys("xef", second.created_at),
            "new": None,
        }


@pytest.mark.django_db(transaction=True)
def test_the_sampling_of_earlier_endpoints_is_gathered_and_can_be_spread_again(
    people: Cast, migrations: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[dict[str, Any]] = [
        {},
        {"temperature": None, "top_p": 0.5, "reasoning_effort": "low"},
        {"temperature": 1.5, "max_output_tokens": 400, "logprobs": True},
    ]
    for number, options in enumerate(said):
        address: Any = {"name": f"e{number}", "base_url": "https://judge.example/v1", "model": "m"}
        endpoints.add_endpoint(people.team, by=people.alice, **address, **options)
    loader = MigrationLoader(None, replace_migrations=False)
    before, after = "0068_cached_tokens", "0069_sampling_of_endpoints"
    monkeypatch.setattr(import_module(f"rubricweb.migrations.{after}"), "BATCH", 2)  # three rows: two batches

    def then() -> Any:
        return loader.project_state([("rubricweb", before)])

    with connection.schema_editor() as editor:
        loader.get_migration("rubricweb", after).unapply(then(), editor)
    moved = ("temperature", "top_p", "max_output_tokens", "reasoning_effort", "logprobs")
    earlier = then().apps.get_model("rubricweb", "JudgeEndpoint").objects.order_by("pk")
    as_it_was = list(earlier.values_list(*moved))
    with connection.schema_editor() as editor:
        loader.get_migration("rubricweb", after).apply(then(), editor)
    assert as_it_was == [
        (0.0, None, None, "", False),
        (None, 0.5, None, "low", False),
        (1.5, None, 400, "", True),
    ]
    assert [one.sampling for one in JudgeEndpoint.objects.order_by("pk")] == [
        Sampling(**options) for options in said
    ]
