"""Keys that were made from the content are shown to nobody: items are named by their words."""

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from rubricweb.judges.base import JudgeError
from rubricweb.models import DatasetImport, JournalEntry
from rubricweb.selectors.datasets.titles import case_names, item_title
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services import comments
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.furnished import MADE

ASKED = [
    {"system": f"{name}@v1", "prompt": f"{word}?", "submission": f"{word} by {name}"}
    for word in ("Rome", "Oslo")
    for name in ("warm", "cold")
]
TWICE = b'{"submission": "Rome it is."}\n{"submission": " Rome it is. "}\n'


def test_no_page_of_a_dataset_shows_a_made_key(people: Cast, sign_in) -> None:
    dataset = factories.dataset(people.team, people.ed, name="asked", items=ASKED)
    ed = sign_in(people.ed)
    item = dataset.items.select_related("case").first()
    assert MADE.match(item.key)
    assert MADE.match(item.case.key)
    for name, pk in (("dataset", dataset.pk), ("item", item.pk), ("case", item.case_id)):
        page = ed.get(reverse(name, args=[people.team.slug, pk]), follow=True).content.decode()
        assert "Rome" in page
        assert not MADE.search(page), name


def test_a_given_key_is_still_shown(people: Cast, sign_in) -> None:
    items = [{"id": "auto-pilot", "case_id": "q1", "system": "bot@v1", "submission": "Yes."}]
    dataset = factories.dataset(people.team, people.ed, name="given", items=items)
    item = dataset.items.get()
    page = sign_in(people.ed).get(reverse("item", args=[people.team.slug, item.pk])).content.decode()
    assert "Id auto-pilot" in page
    assert ">q1</a>" in page
    assert item_title(item, viewer=people.ed, team=people.team).key == "auto-pilot"


def test_an_import_names_duplicates_by_their_words(people: Cast, sign_in) -> None:
    job = factories.imported(people.team, people.ed, TWICE, name="twice")
    assert [MADE.match(key) is not None for key in job.found["duplicates"][0][:2]] == [True, True]
    at = reverse("dataset_import_progress", args=[people.team.slug, job.pk])
    page = sign_in(people.ed).get(at).content.decode()
    assert "“Rome it is.”" in page
    assert "an earlier item" in page
    assert not MADE.search(page)


def test_an_import_of_an_earlier_release_names_what_it_can(people: Cast, sign_in) -> None:
    job = factories.imported(people.team, people.ed, TWICE, name="twice")
    job.found["duplicates"] = [one[:2] for one in job.found["duplicates"]]
    for one in job.found["preview"]["first_duplicates"]:
        del one["words"]
    job.save(update_fields=["found"])
    at = reverse("dataset_import_progress", args=[people.team.slug, job.pk])
    page = sign_in(people.ed).get(at).content.decode()
    assert "one without an id" in page
    assert not MADE.search(page)


def test_cases_that_a_version_did_not_answer_are_named_by_what_is_asked(people: Cast, sign_in) -> None:
    dataset = factories.dataset(people.team, people.ed, name="asked", items=ASKED)
    case = dataset.cases.get(items__submission="Rome by warm")
    assert case_names(dataset, [case.key, "given"]) == ["“Rome?”", "given"]
    answers = f'{{"case_id": "{case.key}", "submission": "Rome by bot"}}\n'.encode()
    ed, at = sign_in(people.ed), reverse("dataset_add", args=[people.team.slug, dataset.pk])
    form = {"file": SimpleUploadedFile("bot.jsonl", answers), "system": "bot@v2"}
    mapping = ed.post(at, form)
    sent = {"system": "bot@v2", "column_submission": "submission", "column_case_id": "case_id"}
    page = ed.post(mapping["Location"], sent | {"keep_all": "on"}, follow=True).content.decode()
    if "Store the items" in page:
        job = DatasetImport.objects.get()
        at = reverse("dataset_import_duplicates", args=[people.team.slug, job.pk])
        page = ed.post(at, {"duplicates": "keep"}, follow=True).content.decode()
    assert "1 case of asked without an answer of bot@v2: “Oslo?”." in page
    assert not MADE.search(page)


def test_labels_of_a_file_are_shown_beside_the_words_of_their_items(people: Cast, sign_in) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed, name="plain", items=[{"submission": "Rome it is."}])
    key, slug = dataset.items.get().key, people.team.slug
    file = SimpleUploadedFile("l.csv", f"item_id,criterion,rater,verdict\n{key},capital,ann,MET\n".encode())
    at = reverse("labels_import", args=[slug, dataset.pk])
    page = (
        sign_in(people.ed)
        .post(at, {"file": file, "rubric_version": version.pk}, follow=True)
        .content.decode()
    )
    assert ">1 Rome it is.</td>" in page
    assert MADE.findall(page) == [key]  # the example of what stands in the column of the file


def test_an_error_of_a_run_names_its_item_by_words(people: Cast, sign_in) -> None:
    dataset = factories.dataset(people.team, people.ed, name="plain", items=[{"submission": "Rome it is."}])
    version = factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: JudgeError("timeout", "No answer within 60 s.")))
    ed, of_run = sign_in(people.ed), [people.team.slug, run.pk]
    page = ed.get(reverse("run", args=of_run)).content.decode()
    polled = ed.get(reverse("run_live", args=of_run), {"seen": "finished"}, headers={"HX-Request": "true"})
    for shown in (page, polled.content.decode()):
        assert "Rome it is." in shown
        assert not MADE.search(shown)


def test_the_audit_log_keeps_no_made_key_and_no_words(people: Cast, sign_in) -> None:
    dataset = factories.dataset(people.team, people.ed, name="plain", items=[{"submission": "Rome it is."}])
    item = dataset.items.get()
    comments.write(item, by=people.ed, text="Hm.")
    line = JournalEntry.objects.get(target_kind="item")
    assert line.target_label == f"id:{item.pk}"
    page = sign_in(people.ed).get(reverse("settings_audit_log", args=[people.team.slug])).content.decode()
    assert "Rome it is." in page  # looked up; what is deleted leaves no words behind
    dataset.delete()
    page = sign_in(people.ed).get(reverse("settings_audit_log", args=[people.team.slug])).content.decode()
    assert "commented on" in page
    assert "Rome" not in page


def test_what_an_export_withholds_is_named_by_words(people: Cast, sign_in) -> None:
    items = [{"submission": "Rome it is."}, {"id": "given", "submission": "Oslo."}, {"submission": "Bern."}]
    dataset = factories.dataset(people.team, people.ed, name="plain", items=items)
    version = factories.version(people.team, people.ed)
    source = Source(
        kind="items", item_ids=tuple(dataset.items.exclude(submission="Bern.").values_list("pk", flat=True))
    )
    queue = {"dataset": dataset, "rubric_version": version, "raters": [people.ann], "source": source}
    factories.queue(people.team, people.ed, **queue)
    at = reverse("exports", args=[people.team.slug])
    page = sign_in(people.ann).get(at, {"dataset": dataset.pk}).content.decode()
    assert "Left out: “Rome it is.”, given" in page
    assert not MADE.search(page)
