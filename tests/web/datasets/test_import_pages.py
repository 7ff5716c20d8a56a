"""Pages of imports: small files are done with at once, large ones say how far they are."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, DatasetImport, ImportState, Item, JournalEntry
from rubricweb.services.datasets import imports
from tests import factories

TWICE = b'{"id": "a", "submission": "So."}\n{"id": "b", "submission": "So."}\n'


@pytest.fixture
def ed(people, sign_in):
    return sign_in(people.ed)


def url(people, name, *args):
    return reverse(name, args=[people.team.slug, *args])


def send(client, people, data, filename="answers.jsonl"):
    step = client.post(url(people, "dataset_import"), {"file": SimpleUploadedFile(filename, data)}).url
    return client.post(step)


def test_a_large_file_is_left_to_a_worker_and_the_page_says_how_far_it_is(people, ed) -> None:
    rows = "".join(json.dumps({"id": f"i{n}", "submission": f"{n} {'x' * 1000}"}) + "\n" for n in range(1100))
    page = send(ed, people, rows.encode()).url
    found = DatasetImport.objects.get()
    assert (found.state, page) == (ImportState.WAITING, url(people, "dataset_import_progress", found.pk))
    shown = ed.get(page)
    assert b"Waiting for a worker" in shown.content
    assert b'hx-trigger="every 2s"' in shown.content
    assert "answers.jsonl" in ed.get(url(people, "datasets")).content.decode()
    imports.work(found.pk, worker="w:1", now=timezone.now)
    answer = ed.get(page, headers={"HX-Request": "true"})
    assert (answer.status_code, b"Everything is stored" in answer.content) == (286, True)
    assert Item.objects.count() == 1100


def test_duplicates_are_shown_and_skipped(people, ed) -> None:
    page = send(ed, people, TWICE)
    shown = ed.get(page.url).content.decode()
    assert "Some items say what others say" in shown
    assert Dataset.objects.count() == 0
    found = DatasetImport.objects.get()
    done = ed.post(url(people, "dataset_import_duplicates", found.pk), {"duplicates": "skip"})
    dataset = Dataset.objects.get()
    assert done.url == url(people, "dataset", dataset.pk)
    assert dataset.items.count() == 1


def test_a_preview_asks_and_leads_back_to_the_columns(people, ed) -> None:
    rows = b'{"id": "a", "submission": "So.", "system": "bot@v1"}\n'
    file = {"file": SimpleUploadedFile("answers.jsonl", rows)}
    step = ed.post(url(people, "dataset_import"), file).url
    page = ed.post(step, {"action": "preview"}).url
    shown = ed.get(page).content.decode()
    assert ("Nothing is stored yet." in shown, "bot@v1" in shown, "Store the items" in shown) == (True,) * 3
    assert step in shown
    # Sent again with other choices, it takes the place of the import that asks.
    done = ed.post(step, {"name": "again"}, follow=True).content.decode()
    assert "With it came: new system bot@v1." in done
    assert [job.state for job in DatasetImport.objects.order_by("pk")] == ["cancelled", "done"]
    assert Dataset.objects.get().name == "again"


def test_a_misspelt_system_is_asked_about_and_stored_once_it_is_meant(people, ed) -> None:
    row = {"case_id": "q", "prompt": "Q?", "submission": "So.", "system": "assistant@v1"}
    dataset = factories.dataset(people.team, people.ed, items=[row])
    file = {"file": SimpleUploadedFile("b.jsonl", b'{"id": "q", "submission": "So."}')}
    step = ed.post(url(people, "dataset_add", dataset.pk), file).url
    page = ed.post(step, {"system": "asistant@v2"}).url
    shown = ed.get(page).content.decode()
    assert "A new name resembles another" in shown
    assert "is this one meant?" in shown
    found = DatasetImport.objects.get()
    ed.post(url(people, "dataset_import_duplicates", found.pk), {"duplicates": "keep"})
    assert dataset.items.count() == 2


def test_a_cancelled_import_stores_nothing(people, ed) -> None:
    send(ed, people, TWICE)
    found = DatasetImport.objects.get()
    page = ed.post(url(people, "dataset_import_cancel", found.pk), follow=True)
    assert "nothing of it was stored" in page.content.decode()
    again = ed.post(url(people, "dataset_import_cancel", found.pk), follow=True)
    assert "has ended already: cancelled" in again.content.decode()


def test_faults_are_all_in_a_file_and_the_columns_can_be_said_again(people, ed) -> None:
    rows = "".join(f'{{"id": "{n}"}}\n' for n in range(3))
    first = b'{"id": "ok", "submission": "So."}\n'
    step = ed.post(
        url(people, "dataset_import"), {"file": SimpleUploadedFile("a.jsonl", first + rows.encode())}
    ).url
    refused = ed.post(step)
    assert refused.status_code == 422
    focused = '<section class="faults" role="alert" tabindex="-1" autofocus>'
    assert refused.content.decode().partition("<main")[2].partition("</main>")[0].count("autofocus") == 1
    assert focused in refused.content.decode()
    found = DatasetImport.objects.get()
    # What a page asks for while it waits takes the focus from nobody.
    waited = ed.get(url(people, "dataset_import_progress", found.pk), headers={"HX-Request": "true"})
    assert (b"faults" in waited.content, b"autofocus" in waited.content) == (True, False)
    lines = ed.get(url(people, "dataset_import_faults", found.pk)).content.decode().splitlines()
    assert len(lines) == 4
    assert (
        f"{url(people, 'dataset_import')}?upload="
        in ed.get(url(people, "dataset_import_progress", found.pk)).content.decode()
    )


def test_a_text_beyond_the_limit_is_refused_by_row(people, ed) -> None:
    rows = b'{"id": "a", "submission": "So."}\n{"id": "b", "submission": "%s"}\n' % (b"x" * 5_000_001)
    page = send(ed, people, rows).url
    imports.work(DatasetImport.objects.get().pk, worker="w:1", now=timezone.now)
    refused = ed.get(page).content.decode()
    assert "line 2: submission" in refused
    assert "a text of 5,000,001 characters" in refused
    assert not Dataset.objects.exists()


def test_rows_that_cannot_be_read_are_named_before_columns_are_chosen(people, ed) -> None:
    file = SimpleUploadedFile("a.csv", b"id,submission\nok,So.\nbroken,So,so.\n")
    step = ed.post(url(people, "dataset_import"), {"file": file}).url
    page = ed.get(step).content.decode()
    assert "These rows cannot be read" in page
    assert '<td class="faults__place">line 3</td>' in page
    assert "autofocus" not in page.partition('class="faults"')[2].partition(">")[0]
    refused = ed.post(step)  # and it is refused as a whole
    said = "a.csv, read as a table of items: 1 fault, nothing was imported."
    assert (refused.status_code, said in refused.content.decode()) == (422, True)
    assert not Dataset.objects.exists()


def test_a_file_of_which_nothing_can_be_read_is_refused_with_what_it_was_taken_for(people, ed) -> None:
    file = SimpleUploadedFile("a.json", b"[{]")
    refused = ed.post(url(people, "dataset_import"), {"file": file})
    assert (refused.status_code, "a.json, read as JSON of items: 1 fault." in refused.content.decode()) == (
        422,
        True,
    )


def test_what_no_database_stores_is_shown_written_out_and_refused(people, ed) -> None:
    row = '{"id": "a", "submission": "N\\u0000L", "note": ["\\ud800"], "metadata": {"k\\u0000": 1}, '
    row += '"\\udc00": 2}\n'
    step = ed.post(url(people, "dataset_import"), {"file": SimpleUploadedFile("a.jsonl", row.encode())}).url
    shown = ed.get(step).content.decode()
    assert all(text in shown for text in ("N\\u0000L", "\\ud800", "\\udc00"))
    refused = ed.post(step)
    assert refused.status_code == 422
    found = DatasetImport.objects.get()
    assert found.state == ImportState.REFUSED
    assert "\0" not in str(found.faults)


def test_values_that_no_database_stores_are_left_out_of_labels(people, ed) -> None:
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    said = ("MET", "N\\u0000L", "\\ud800")
    rows = "".join(
        f'{{"item_id": "good", "criterion": "{criterion}", "rater": "ann", "verdict": "{verdict}"}}\n'
        for criterion, verdict in zip(("capital", "concise", "wrong_country"), said, strict=True)
    )
    file = SimpleUploadedFile("labels.jsonl", rows.encode())
    at = url(people, "labels_import", dataset.pk)
    step = ed.post(at, {"file": file, "rubric_version": version.pk}).url
    shown = ed.get(step).content.decode()
    assert all(text in shown for text in ("N\\u0000L", "\\ud800"))
    ed.post(step, {"action": "import"})
    entry = JournalEntry.objects.get(verb__startswith="imported labels")
    assert "N\\u0000L" in entry.detail["left_out"]


def test_the_first_file_may_say_which_version_answered_so_that_the_next_is_compared(people, ed) -> None:
    first = url(people, "dataset_import")
    rows = '{"id": "a", "prompt": "Why?", "submission": "%s"}\n'
    step = ed.post(first, {"file": SimpleUploadedFile("replies.jsonl", (rows % "So.").encode())}).url
    assert b"System version" in ed.get(step).content
    assert b'name="keep_all"' not in ed.get(step).content  # there are none before
    wrong = ed.post(step, {"system": "a/b"})
    assert (wrong.status_code, Dataset.objects.exists()) == (422, False)
    assert "system" in wrong.context["form"].errors
    page = ed.post(step, {"system": "assistant@v1"}, follow=True).content.decode()
    dataset = Dataset.objects.get()
    assert "Compare the version" not in page

    more = url(people, "dataset_add", dataset.pk)
    step = ed.post(more, {"file": SimpleUploadedFile("next.jsonl", (rows % "No.").encode())}).url
    page = ed.post(step, {"system": "assistant@v2"}, follow=True).content.decode()
    assert "Added 1 item" in page
    assert "Compare the version" in page
    answers = dataset.items.values_list("case__key", "system_version__label")
    assert list(answers) == [("a", "v1"), ("a", "v2")]


def test_a_file_that_names_another_version_is_refused(people, ed) -> None:
    row = b'{"case_id": "a", "system": "assistant@v2", "submission": "So."}\n'
    step = ed.post(url(people, "dataset_import"), {"file": SimpleUploadedFile("a.jsonl", row)}).url
    refused = ed.post(step, {"system": "assistant@v1"})
    assert refused.status_code == 422
    assert "assistant@v1, the version of the whole file" in refused.content.decode()
    assert not Dataset.objects.exists()


def test_another_teams_import_is_not_there(people, sign_in) -> None:
    found = factories.refused_import(people.team, people.ed)
    own = reverse("dataset_import_progress", args=[people.team.slug, found.pk])
    assert "Rows read" not in sign_in(people.ed).get(own).content.decode(), "not all were"
    stranger = sign_in(people.charlie)
    theirs = reverse("dataset_import_progress", args=[people.other_team.slug, found.pk])
    assert stranger.get(theirs).status_code == 404


def test_columns_are_declared_on_the_page_and_stay_in_its_address(people, ed) -> None:
    rows = [
        {"id": key, "submission": "So.", "language": tongue} for key, tongue in (("a", "de"), ("b", "en"))
    ]
    dataset = factories.dataset(people.team, people.ed, items=rows)
    page = ed.post(url(people, "dataset_columns", dataset.pk), {"column": "language"}, follow=True)
    assert "language: de" in page.content.decode()
    narrowed = ed.get(url(people, "dataset", dataset.pk), {"where": ["language=de", ""]})
    assert [row.key for row in narrowed.context["page"].rows] == ["a"]
    assert '<option value="language=de" selected>' in narrowed.content.decode()
    none = ed.get(
        url(people, "dataset", dataset.pk), {"where": "language=it"}, headers={"HX-Request": "true"}
    )
    assert "No item matches" in none.content.decode()
    assert ed.get(url(people, "dataset", dataset.pk), {"where": "colour=red"}).status_code == 400


ASKED = b"question_id,output\nq1,Rome.\nq2,Oslo.\n"


def test_a_column_of_own_ids_is_preselected_and_may_be_declined(people, ed) -> None:
    step = ed.post(url(people, "dataset_import"), {"file": SimpleUploadedFile("a.csv", ASKED)}).url
    shown = ed.get(step)
    assert shown.context["form"]["column_id"].value() == "question_id"
    assert "question_id is another name of it: its values are unique." in shown.content.decode()
    ed.post(step, {"column_id": "question_id", "column_submission": "output", "name": "own"})
    assert list(Dataset.objects.get(name="own").items.values_list("key", flat=True)) == ["q1", "q2"]
    step = ed.post(url(people, "dataset_import"), {"file": SimpleUploadedFile("a.csv", ASKED)}).url
    ed.post(step, {"column_id": "", "column_submission": "output", "name": "made"})
    keys = Dataset.objects.get(name="made").items.values_list("key", flat=True)
    assert all(key.startswith("auto-") for key in keys)
    assert Dataset.objects.get(name="made").items.first().metadata == {"question_id": "q1"}


def test_the_page_asks_only_about_columns_it_is_unsure_of(people, ed) -> None:
    def form(data: bytes):
        step = ed.post(url(people, "dataset_import"), {"file": SimpleUploadedFile("a.csv", data)}).url
        return step, ed.get(step).context["form"]

    _, sure = form(b"output,prompt,topic\nRome.,Capital of Italy?,cities\n")
    assert sure.unsure == []
    assert sure.read_as == [("Submission", "output"), ("Prompt", "prompt")]
    assert sure.kept_as_metadata == ["topic"]
    step, unsure = form(b"words,prompt\nRome.,Capital of Italy?\n")
    assert [field.name for field in unsure.unsure] == ["column_submission"]
    page = ed.get(step).content.decode()
    assert '<option value="words">words – Rome.</option>' in page
    asked = page.partition('id="id_column_submission"')[0]
    assert asked.rpartition("<details")[2].count("disclosure--inline") == 0  # not in the fold
    ed.post(step, {"column_submission": "words", "column_prompt": "prompt", "name": "mine"})
    assert Dataset.objects.get(name="mine").items.get().submission == "Rome."
