"""The page that brings in labels of any shape: it shows what they would become, and takes corrections."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, JournalEntry, Judgement, Rater, ReviewQueue
from rubricweb.services.deletions import deletions
from tests import factories
from tests.factories import Cast

WIDE = """id,annotator,Capital,concise,capital comment
good,kim,yes,fine,clear
bad,kim,no,,
missing,kim,no,no,
"""


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def ed(people: Cast, sign_in) -> Client:
    return sign_in(people.ed)


def send(ed: Client, people: Cast, dataset: Dataset, text: str, filename: str = "ratings.csv") -> str:
    """The address of the preview of this file."""
    version = dataset.team.rubrics.first() and dataset.team.rubrics.first().versions.first()
    version = version or factories.version(people.team, people.ed)
    form = {"file": SimpleUploadedFile(filename, text.encode()), "rubric_version": version.pk}
    response = ed.post(reverse("labels_import", args=[people.team.slug, dataset.pk]), form)
    assert response.status_code == 302, response.content.decode()
    return response.url


def test_a_wide_file_is_shown_as_it_would_be_read_and_nothing_is_stored(people, ed, dataset) -> None:
    page = ed.get(send(ed, people, dataset, WIDE)).content.decode()
    assert "2 labels on 2 items" in page.replace("\n", " ").replace("      ", " ")
    assert '<option value="criteria" selected>A column for each criterion</option>' in page
    assert '<option value="capital reason" selected>Reasons of capital</option>' in page
    assert "1 row on 1 item that is not in this dataset: missing" in page
    assert "1 label with 1 value that is no answer here: fine" in page
    assert not ReviewQueue.objects.exists()
    assert not Rater.objects.filter(name="kim").exists()


def test_values_raters_and_columns_are_changed_and_looked_at_again_before_the_import(
    people, ed, dataset
) -> None:
    address = send(ed, people, dataset, WIDE)
    changed = {"value_0": "MET", "kind_0": "machine", "column_4": "", "action": "import"}
    again = ed.post(address, changed, follow=True)
    page = again.content.decode()
    assert "The preview is new. Look at it, then import." in page
    assert not ReviewQueue.objects.exists(), "what nobody has seen is not imported"
    assert "no answer here" not in page
    assert '<option value="" selected>– not read –</option>' in page
    done = ed.post(address, {"action": "import"}, follow=True).content.decode()
    assert "Left out: 1 row on 1 item that is not in this dataset: missing." in done
    stored = Judgement.objects.filter(run__rater__name="kim").order_by("pk")
    assert {(row.verdict, row.reason) for row in stored} == {("MET", ""), ("UNMET", "")}
    assert stored.count() == 3
    assert Rater.objects.get(name="kim").kind == "machine"
    entry = JournalEntry.objects.get(verb="imported labels")
    assert entry.detail["left_out"] == "1 row on 1 item that is not in this dataset: missing"


def test_columns_that_are_not_recognised_are_named_once_and_can_be_said(people, ed, dataset) -> None:
    address = send(ed, people, dataset, "alpha,beta,gamma\nx,1,kim\ny,0,kim\n")
    page = ed.get(address).content.decode()
    assert page.count("the columns alpha, beta, gamma") == 1
    assert 'value="import"' not in page
    said = {"column_0": "item_id", "column_1": "verdict", "column_2": "rater", "criterion": "concise"}
    page = ed.post(address, said | {"action": "preview"}, follow=True).content.decode()
    assert "2 rows on 2 items that are not in this dataset: x, y" in page
    assert '<option value="long" selected>' in page
    twice = ed.post(address, {"column_0": "rater", "column_2": "rater"})
    assert twice.status_code == 422
    assert "alpha is that already." in twice.content.decode()


def test_another_shape_recognises_the_columns_anew(people, ed, dataset) -> None:
    address = send(ed, people, dataset, "id,capital,concise\ngood,yes,no\n")
    page = ed.post(address, {"shape": "raters", "criterion": "", "action": "preview"}, follow=True)
    assert "Say below what the columns are" in page.content.decode()
    page = ed.post(address, {"criterion": "concise", "action": "preview"}, follow=True).content.decode()
    assert '<option value="raters" selected>' in page


def test_contradictory_rows_are_left_out_and_listed_and_the_others_are_imported(people, ed, dataset) -> None:
    rows = "good,kim,yes\ngood,kim,no\ngood,lee,yes\n"
    address = send(ed, people, dataset, f"id,rater,capital\n{rows}")
    page = ed.get(address).content.decode()
    assert "2 labels beside a different one by the same rater" in page
    assert 'value="import"' in page
    ed.post(address, {"action": "import"})
    # Of three labels the two of kim say different things.
    (label,) = Judgement.objects.in_reviews()
    assert (label.review.rater.name, label.verdict) == ("lee", "MET")


def test_a_file_of_nothing_but_contradictions_is_not_imported(people, ed, dataset) -> None:
    address = send(ed, people, dataset, "id,rater,capital\ngood,kim,yes\ngood,kim,no\n")
    page = ed.get(address).content.decode()
    assert 'value="import"' not in page
    assert ed.post(address, {"action": "import"}).status_code == 422
    assert not ReviewQueue.objects.exists()


def test_what_is_left_out_is_a_file_row_by_row_without_formulas(people, ed, dataset) -> None:
    address = send(ed, people, dataset, "id,rater,capital\n=1+1,kim,yes\ngood,kim,yes\n")
    answer = ed.get(f"{address}&left_out=1")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="ratings left out.csv"'
    lines = answer.content.decode().splitlines()
    assert lines[0] == "where,found,allowed"
    assert lines[1].startswith("line 2: id,")
    assert not any(cell.startswith("=") for line in lines for cell in line.split(","))


def test_choices_that_are_refused_are_not_kept_and_the_name_can_be_another(people, ed, dataset) -> None:
    version = factories.version(people.team, people.ed)
    factories.import_labels(
        dataset,
        version,
        by=people.ed,
        data=b"item_id,criterion,rater,verdict\ngood,capital,kim,MET\n",
        filename="ratings.csv",
    )
    address = send(ed, people, dataset, "alpha,beta,gamma\ngood,1,lee\nbad,0,lee\n")
    said = {"column_0": "item_id", "column_1": "verdict", "column_2": "rater", "criterion": "concise"}
    refused = ed.post(address, said | {"action": "preview"})
    page = refused.content.decode()
    assert refused.status_code == 422
    assert "already has a queue called &#x27;ratings&#x27;" in page
    assert '<option value="verdict" selected>' in page, "what was chosen stands there still"
    assert ed.get(address).status_code == 200
    named = ed.post(address, said | {"queue_name": "More ratings", "action": "preview"}, follow=True)
    assert "become the closed review queue More ratings" in named.content.decode()
    ed.post(address, {"queue_name": "More ratings", "action": "import"})
    assert set(ReviewQueue.objects.values_list("name", flat=True)) == {"ratings", "More ratings"}


def test_an_answer_for_a_value_can_be_taken_back(people, ed, dataset) -> None:
    address = send(ed, people, dataset, WIDE)
    page = ed.post(address, {"value_0": "MET", "action": "preview"}, follow=True).content.decode()
    assert "no answer here" not in page
    assert '<select name="said_0" id="id_said_0"><option value="">– leave out –</option>' in page
    assert '<option value="MET" selected>MET</option>' in page
    # It stays as long as nobody says otherwise.
    page = ed.post(address, {"said_0": "MET", "action": "preview"}, follow=True).content.decode()
    assert "no answer here" not in page
    page = ed.post(address, {"said_0": "", "action": "preview"}, follow=True).content.decode()
    assert "1 label with 1 value that is no answer here: fine" in page
    ed.post(address, {"value_0": "UNMET", "action": "preview"})
    ed.post(address, {"action": "import"})
    assert Judgement.objects.get(item__key="good", criterion__name="concise").verdict == "UNMET"


def test_whom_the_file_has_as_a_person_and_as_a_machine_stays_both(people, ed, dataset) -> None:
    text = "item_id,criterion,rater,verdict,rater_kind\n"
    text += "good,capital,kim,MET,human\ngood,capital,kim,UNMET,machine\nbad,capital,lee,MET,human\n"
    address = send(ed, people, dataset, text)
    rows = ed.get(address).context["form"].rater_rows()
    fields = [(one.name, field and field.name, words) for one, field, words in rows]
    assert fields == [
        ("kim", None, "a person"),
        ("kim", None, "a program or model"),
        ("lee", "kind_2", "a person"),
    ]
    changed = ed.post(address, {"kind_0": "settled", "kind_2": "settled", "action": "preview"}, follow=True)
    kinds = [(one.name, one.rater_kind) for one in changed.context["plan"].raters]
    assert kinds == [("kim", "human"), ("kim", "machine"), ("lee", "settled")]


def test_a_line_without_a_kind_is_of_whoever_the_team_knows_by_that_name(people, ed, dataset) -> None:
    """Also in a file that says of other lines what their raters are."""
    text = "item_id,criterion,rater,verdict,rater_kind\n"
    ed.post(send(ed, people, dataset, text + "good,capital,gpt-4,MET,machine\n"), {"action": "import"})
    lines = "bad,capital,ann,MET,human\nbad,capital,gpt-4,UNMET,\nbad,concise,gpt-4,MET,human\n"
    address = send(ed, people, dataset, text + lines, "second.csv")
    shown = ed.get(address).context["plan"].raters
    assert [(one.name, one.rater_kind, one.labels) for one in shown] == [
        ("ann", "human", 1),
        ("gpt-4", "human", 1),  # its own line says so
        ("gpt-4", "machine", 1),
    ]
    ed.post(address, {"action": "import"})
    assert Judgement.objects.get(item__key="bad", verdict="UNMET").run.judge.name == "gpt-4"


def test_the_columns_of_raters_are_of_whom_the_team_knows_by_their_names(people, ed, dataset) -> None:
    text = "item_id,criterion,rater,verdict,rater_kind\ngood,capital,gpt-4,MET,machine\n"
    ed.post(send(ed, people, dataset, text), {"action": "import"})
    wide = "id,ann: capital,gpt-4: capital\nbad,yes,no\n"
    shown = ed.get(send(ed, people, dataset, wide, "wide.csv")).context["plan"].raters
    assert [(one.name, one.rater_kind) for one in shown] == [("ann", "human"), ("gpt-4", "machine")]


LONG = "item_id,criterion,rater,verdict,reason\n"


def test_a_file_that_grew_brings_what_is_new_in_it(people, ed, dataset) -> None:
    before = ["good,capital,kim,MET,", "bad,capital,kim,UNMET,"]
    ed.post(send(ed, people, dataset, LONG + "\n".join(before), "week 1.csv"), {"action": "import"})
    after = [*before[:1], "bad,capital,kim,MET,", "good,concise,kim,MET,", "bad,concise,kim,MET,"]
    address = send(ed, people, dataset, LONG + "\n".join(after), "week 2.csv")
    page = " ".join(ed.get(address).content.decode().split())
    assert "3 labels on 2 items" in page, "one was changed, two are new"
    assert "1 label that was imported before: the queue week 1" in page
    ed.post(address, {"action": "import"})
    stored = Judgement.objects.filter(review__rater__name="kim").order_by("pk")
    assert list(stored.values_list("review__queue__name", "item__key", "criterion__name", "verdict")) == [
        ("week 1", "good", "capital", "MET"),
        ("week 1", "bad", "capital", "UNMET"),
        ("week 2", "bad", "capital", "MET"),
        ("week 2", "good", "concise", "MET"),
        ("week 2", "bad", "concise", "MET"),
    ]
    again = {"file": SimpleUploadedFile("week 3.csv", (LONG + "\n".join(reversed(after))).encode())}
    refused = ed.post(address.partition("?")[0], again | {"rubric_version": stored[0].criterion.version_id})
    assert "All labels in this file were imported before, as the queue week 2 and the queue week 1" in (
        refused.content.decode()
    )


def test_values_left_out_before_can_be_said_when_the_file_comes_again(people, ed, dataset) -> None:
    ed.post(send(ed, people, dataset, WIDE), {"action": "import"})
    address = send(ed, people, dataset, WIDE, "again.csv")
    page = " ".join(ed.get(address).content.decode().split())
    assert "2 labels that were imported before: the queue ratings" in page
    assert "1 label with 1 value that is no answer here: fine" in page
    refused = ed.post(address, {"action": "import"}).content.decode()
    assert "All other labels in this file were imported before, as the queue ratings." in refused
    assert "Left out: 1 row on 1 item that is not in this dataset: missing; 1 label with 1 value" in refused
    ed.post(address, {"value_0": "MET", "action": "preview"})
    ed.post(address, {"action": "import"})
    [said] = Judgement.objects.filter(review__queue__name="again")
    assert (said.item.key, said.criterion.name, said.verdict) == ("good", "concise", "MET")


def test_the_first_labels_are_of_those_that_will_be_imported(people, ed, dataset) -> None:
    of_ann = "".join(
        f"{item},{name},ann,MET,\n" for item in ("good", "bad") for name in ("capital", "concise")
    )
    ed.post(send(ed, people, dataset, LONG + of_ann, "ann.csv"), {"action": "import"})
    both = LONG + of_ann + of_ann.replace("ann", "ben") + "good,capital,gpt,UNMET,\n"
    address = send(ed, people, dataset, both, "both.csv")
    ed.post(address, {"kind_1": "machine", "action": "preview"})
    first = ed.get(address).context["plan"].first
    assert [(one.rater, one.item_id, one.criterion) for one in first] == [
        ("ben", "good", "capital"),
        ("ben", "good", "concise"),
        ("ben", "bad", "capital"),
        ("ben", "bad", "concise"),
        ("gpt", "good", "capital"),
    ]


def test_a_name_somebody_took_since_costs_nothing_of_what_was_chosen(people, ed, dataset) -> None:
    address = send(ed, people, dataset, WIDE)
    ed.post(address, {"value_0": "MET", "action": "preview"})
    taken = {"by": people.alice, "data": f"{LONG}bad,capital,lee,MET,".encode(), "filename": "ratings.csv"}
    version = people.team.rubrics.get().versions.get()
    factories.import_labels(dataset, version, **taken)
    # Sent before he knew: he is told, and what he chose on the page stays in it.
    refused = ed.post(address, {"queue_name": "ratings", "kind_0": "settled", "action": "import"})
    page = refused.content.decode()
    assert (refused.status_code, ReviewQueue.objects.count()) == (422, 1)
    assert "The team already has a queue called &#x27;ratings&#x27;; give these labels another name." in page
    assert '<option value="settled" selected>' in page
    assert "no answer here" not in page
    # Opened again the page has a name that is free.
    shown = ed.get(address)
    assert "The team already has a queue called &#x27;ratings&#x27;" in shown.content.decode()
    name = shown.context["form"]["queue_name"].value()
    assert name == "ratings (2)"
    ed.post(address, {"queue_name": name, "action": "import"})
    assert ReviewQueue.objects.filter(name="ratings (2)", raters__name="kim").exists()
    assert Judgement.objects.get(item__key="good", criterion__name="concise").verdict == "MET"


@pytest.mark.parametrize("what", ["imported", "deleted"])
def test_a_preview_that_somebody_made_vain_says_so_and_leads_on(people, ed, dataset, what) -> None:
    address = send(ed, people, dataset, f"{LONG}good,capital,kim,MET,\n")
    rubric = people.team.rubrics.get()
    if what == "imported":
        same = f"{LONG}good,capital,kim,MET,".encode()
        given = {"by": people.alice, "data": same, "filename": "of alice.csv"}
        factories.import_labels(dataset, rubric.versions.get(), **given)
    else:
        deletions.delete(rubric, rubric.title, by=people.ed, now=timezone.now(), enqueue=None)
    for answer in (ed.get(address), ed.post(address, {"action": "import"})):
        page = answer.content.decode()
        assert answer.status_code == 422
        assert "Something has changed since ratings.csv was chosen. Nothing was stored." in page
        why = "imported before, as the queue of alice" if what == "imported" else "no such rubric version"
        assert why in page
        assert f'href="{address.partition("?")[0]}">Choose a file again</a>' in page
        assert f'href="{reverse("dataset", args=[people.team.slug, dataset.pk])}">Back to' in page
    assert ReviewQueue.objects.count() == (what == "imported")


def test_of_a_column_of_a_check_it_is_said_why_it_is_not_read(people, ed, dataset) -> None:
    criteria = [
        {"name": "capital", "weight": 1.0, "requirement": "Names Paris"},
        {"name": "short", "weight": 1.0, "check": "length_between", "params": {"max": 31}},
    ]
    factories.version(people.team, people.ed, criteria=criteria)
    file = "id,annotator,Capital,Short\ngood,kim,yes,yes\n"
    page = ed.get(send(ed, people, dataset, file)).content.decode()
    assert page.count("A check: computed, and labelled by nobody.") == 1
    assert 'aria-describedby="id_column_3_helptext"' in page


def test_more_raters_than_a_file_may_name_are_said_on_the_page_where_another_column_can_be_theirs(
    people, ed, dataset
) -> None:
    """1,001 rows, each of another rater, who is the same one in the column beside it."""
    text = "id,rater,who,capital\n" + "".join(f"good,kim{number},lee,yes\n" for number in range(1_001))
    address = send(ed, people, dataset, text)
    page = ed.get(address).content.decode()
    assert "This keeps the file from being imported" in page
    assert "1,001 raters" in page
    assert "at most 1,000 in one file" in page
    assert 'value="import"' not in page
    assert ed.post(address, {"action": "import"}).status_code == 422
    assert not ReviewQueue.objects.exists()


def test_who_is_to_label_an_item_blind_brings_in_no_labels_of_it(people, ed, dataset) -> None:
    version = factories.version(people.team, people.ed)
    given = {"dataset": dataset, "rubric_version": version, "raters": [people.ed], "name": "Blind"}
    factories.queue(people.team, people.rae, **given)
    file = SimpleUploadedFile("ratings.csv", b"item_id,criterion,rater,verdict\ngood,capital,kim,MET\n")
    form = {"file": file, "rubric_version": version.pk}
    refused = ed.post(reverse("labels_import", args=[people.team.slug, dataset.pk]), form)
    assert refused.status_code == 403
    assert "are hidden from you" in refused.content.decode()
