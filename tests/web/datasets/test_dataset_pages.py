"""Pages of the datasets room, at the HTTP interface."""

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.formats.datasets.files import ALIASES
from rubricweb.engine.verdict import Verdict
from rubricweb.models import (
    Dataset,
    Item,
    Judgement,
    KeptFile,
    Rater,
    ReviewQueue,
)
from rubricweb.services import adjudications
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.shared import uploads
from rubricweb.templatetags.texts import MARKDOWN_BUDGET
from rubricweb.web.datasets.forms import FIELDS
from tests import factories

CSV = b"key,question,text,score\n1,What?,This.,3\n2,Why?,Because.,4\n"


def url(people, name, *args):
    return reverse(name, args=[people.team.slug, *args])


@pytest.fixture
def ed(people, sign_in):
    return sign_in(people.ed)


@pytest.fixture
def dataset(people):
    """Three items, good, bad and empty-ish, each with its prompt."""
    return factories.dataset(people.team, people.ed)


def send(client, people, data, filename="answers.csv", **form):
    return client.post(url(people, "dataset_import"), {"file": SimpleUploadedFile(filename, data), **form})


class TestList:
    def test_shows_names_with_items_and_runs(self, people, sign_in, dataset):
        page = sign_in(people.bob).get(url(people, "datasets"))
        [row] = page.context["page"].rows
        assert (row.name, row.item_count, row.run_count) == ("capital answers", 3, 0)

    def test_a_team_without_datasets_is_offered_the_first_step(self, people, ed):
        assert "No datasets yet" in ed.get(url(people, "datasets")).content.decode()

    def test_search_finds_by_name_and_says_when_nothing_does(self, people, ed, dataset):
        assert "capital answers" in ed.get(url(people, "datasets"), {"q": "CAPITAL"}).content.decode()
        assert (
            "No dataset has these words" in ed.get(url(people, "datasets"), {"q": "zebra"}).content.decode()
        )

    def test_number_of_queries_does_not_grow_with_the_list(self, people, ed, django_assert_max_num_queries):
        for number in range(12):
            factories.dataset(people.team, people.ed, name=f"Dataset {number}")
        with django_assert_max_num_queries(16):
            ed.get(url(people, "datasets"))


class TestImport:
    def test_every_field_of_a_file_can_be_mapped(self):
        assert set(FIELDS) == set(ALIASES)

    def test_a_file_is_looked_at_before_it_is_imported(self, people, ed):
        response = send(ed, people, CSV, name="My answers")
        page = ed.get(response.url)
        assert "Because." in page.content.decode()
        assert page.context["form"]["column_prompt"].value() == "question"
        assert page.context["form"]["name"].value() == "My answers"
        assert not Dataset.objects.exists()

    def test_a_file_is_imported_with_the_columns_one_chose(self, people, ed):
        step = send(ed, people, CSV).url
        form = {"column_submission": "text", "column_id": "key", "column_prompt": "", "name": "Mine"}
        response = ed.post(step, form)
        dataset = Dataset.objects.get()
        assert response.url == url(people, "dataset", dataset.pk)
        first = dataset.items.order_by("position").first()
        assert (first.key, first.submission, first.prompt) == ("1", "This.", None)
        assert first.metadata == {"question": "What?", "score": "3"}

    def test_it_says_of_how_many_prompts_a_judge_is_not_shown_everything(self, people, ed):
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
        rows = [
            {"id": "a", "prompt": [{"role": "user", "content": [picture]}], "submission": "A dog."},
            {"id": "b", "prompt": [{"role": "user", "content": "Which?"}], "submission": "A cat."},
        ]
        data = "\n".join(map(json.dumps, rows)).encode()
        page = ed.post(send(ed, people, data, "pictures.jsonl").url, {}, follow=True).content.decode()
        assert "the pictures, sounds and files in the prompts of 1 item: a placeholder" in page

    def test_the_file_and_the_choices_survive_a_refusal(self, people, ed):
        step = send(ed, people, b"key,text\n1,This.\n1,That.\n").url
        form = {"column_submission": "text", "column_id": "key", "name": "Mine"}
        response = ed.post(step, form)
        page = response.content.decode()
        assert response.status_code == 422
        assert "line 3: key" in page
        assert response.context["form"]["column_submission"].value() == "text"
        assert not Dataset.objects.exists()
        assert ed.post(step, form | {"column_id": ""}).status_code == 302
        assert Item.objects.count() == 2

    def test_every_fault_is_listed_with_its_line(self, people, ed):
        step = send(ed, people, b'{"output": "a"}\n{"output": 3}\n{"text": "b"}\n', "items.jsonl").url
        page = ed.post(step, {}).content.decode()
        assert "line 2: output" in page
        assert "line 3: submission" in page

    def test_keys_that_only_later_rows_have_are_still_understood(self, people, ed):
        rows = [{"id": f"i{n}", "output": f"x{n}"} for n in range(8)] + [
            {"id": "last", "output": "x", "ideal": "y"}
        ]
        data = "\n".join(map(json.dumps, rows)).encode()
        step = send(ed, people, data, "items.jsonl").url
        form = ed.get(step).context["form"]
        ed.post(step, {bound.html_name: bound.value() or "" for bound in (*form.unsure, *form.settled)})
        assert Item.objects.get(key="last").reference == "y"

    def test_a_name_that_is_taken_is_refused_at_its_field(self, people, ed, dataset):
        step = send(ed, people, CSV, name=dataset.name).url
        response = ed.post(step, {"column_submission": "text", "name": dataset.name})
        assert response.status_code == 422
        assert response.context["form"]["name"].errors

    @pytest.mark.parametrize(
        ("data", "filename", "words"),
        [
            (b"", "empty.json", "read as JSON of items"),
            (b"{not json", "broken.json", "line 1"),
            (b"\xff\xfe\x00", "utf16.csv", "UTF-16"),
            (b"hello", "what.exe", "a name ending in"),
        ],
    )
    def test_a_file_that_cannot_be_read_is_refused_at_once(self, people, ed, data, filename, words):
        response = send(ed, people, data, filename, name="Typed name")
        assert response.status_code == 422
        assert words in response.content.decode()
        assert "Typed name" in response.content.decode()

    def test_no_file_and_too_large_a_file_are_said_so(self, people, ed, settings):
        response = ed.post(url(people, "dataset_import"), {"name": "x"})
        assert response.status_code == 422
        assert "Choose a file first" in response.content.decode()
        settings.IMPORT_MAX_BYTES = 10
        response = send(ed, people, CSV)
        assert response.status_code == 422
        assert "larger than" in response.content.decode()

    def test_an_upload_belongs_to_the_session_that_sent_it(self, people, ed, sign_in):
        step = send(ed, people, CSV).url
        assert sign_in(people.alice).get(step).status_code == 404
        assert ed.get(url(people, "dataset_import"), {"upload": "../secret_key"}).status_code == 404

    def test_an_upload_is_gone_once_imported_and_old_ones_make_room(self, people, ed):
        for _ in range(5):
            step = send(ed, people, CSV).url
        assert KeptFile.objects.count() == 3
        ed.post(step, {"column_submission": "text"})
        assert KeptFile.objects.count() == 2
        assert ed.get(step).status_code == 404

    def test_uploads_nobody_came_back_for_are_forgotten_after_a_day(self, people):
        upload_id = uploads.keep(b"data")
        sent = KeptFile.objects.get().created_at
        uploads.forget_old(now=sent + timedelta(hours=23))
        assert uploads.kept(upload_id) == b"data"
        uploads.forget_old(now=sent + timedelta(hours=25))
        assert not KeptFile.objects.exists()

    def test_a_dataset_file_with_rubric_and_ground_truth_comes_in_whole(self, people, ed):
        data = {
            "name": "Labelled",
            "prompt": "Capital of France?",
            "rubric": [{"name": "city", "weight": 1, "requirement": "Names Paris."}],
            "items": [{"id": "a", "submission": "Paris", "ground_truth": ["MET"]}],
        }
        step = send(ed, people, json.dumps(data).encode(), "labelled.json").url
        page = ed.get(ed.post(step, {}).url).content.decode()
        assert "Labelled rubric v1" in page
        assert "Ground truth of Labelled" in page

    def test_a_reviewer_may_not_import(self, people, sign_in):
        assert sign_in(people.rae).get(url(people, "dataset_import")).status_code == 403


class TestDataset:
    def test_shows_facts_and_items(self, people, sign_in, dataset):
        page = sign_in(people.bob).get(url(people, "dataset", dataset.pk))
        assert [item.key for item in page.context["page"].rows] == ["good", "bad", "empty-ish"]
        assert page.context["item_count"] == 3
        assert url(people, "labels_import", dataset.pk) not in page.content.decode()

    def test_an_editor_is_offered_what_comes_next(self, people, ed, dataset):
        page = ed.get(url(people, "dataset", dataset.pk)).content.decode()
        for name in ("run_new", "queue_new"):
            assert f"{url(people, name)}?dataset={dataset.pk}" in page
        assert url(people, "labels_import", dataset.pk) in page

    def test_search_and_order_are_in_the_address(self, people, ed, dataset):
        page = ed.get(url(people, "dataset", dataset.pk), {"q": "paris", "order": "-key"})
        assert [item.key for item in page.context["page"].rows] == ["good", "bad"]

    @pytest.mark.parametrize("query", [{"order": "dataset__team__slug"}, {"cursor": "e30"}])
    def test_orders_and_cursors_that_are_not_ours_are_refused(self, people, ed, dataset, query):
        assert ed.get(url(people, "dataset", dataset.pk), query).status_code == 400

    def test_pages_follow_each_other_without_gaps(self, people, ed):
        items = [{"id": f"i{number:03}", "submission": "x"} for number in range(120)]
        dataset = factories.dataset(people.team, people.ed, items=items)
        seen, cursor = [], None
        for _ in range(3):
            query = {"order": "key"} | ({"cursor": cursor} if cursor else {})
            page = ed.get(url(people, "dataset", dataset.pk), query).context["page"]
            seen += [item.key for item in page.rows]
            cursor = page.next_cursor
        assert seen == [item["id"] for item in items]
        assert cursor is None

    def test_the_items_table_never_loads_bodies_and_asks_a_fixed_number_of_times(
        self, people, ed, dataset, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(41):
            page = ed.get(url(people, "dataset", dataset.pk))
        bodies = {"submission", "thinking", "prompt", "reference"}
        assert all(bodies <= item.get_deferred_fields() for item in page.context["page"].rows)

    def test_htmx_gets_the_table_without_the_frame(self, people, ed, dataset):
        page = ed.get(url(people, "dataset", dataset.pk), headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in page
        assert "empty-ish" in page

    def test_another_teams_dataset_is_not_there(self, people, sign_in, dataset):
        stranger = sign_in(people.charlie)
        assert stranger.get(url(people, "dataset", dataset.pk)).status_code == 404
        assert stranger.get(reverse("dataset", args=[people.other_team.slug, dataset.pk])).status_code == 404


class TestItem:
    def test_shows_everything_of_the_item_and_its_neighbours(self, people, sign_in):
        items = [
            {"id": "one", "submission": "First."},
            {
                "id": "two",
                "submission": "**Second**",
                "thinking": "Hmm.",
                "prompt": [{"role": "user", "content": "Say second."}],
                "reference": "The reference.",
                "metadata": {"items": "a key called items", "model": "m1"},
                "rubric": [{"weight": 2, "requirement": "Says second."}],
            },
            {"id": "three", "submission": "Third."},
        ]
        dataset = factories.dataset(people.team, people.ed, items=items)
        one, two, three = dataset.items.order_by("position")
        page = sign_in(people.bob).get(url(people, "item", two.pk)).content.decode()
        for words in (
            "<strong>Second</strong>",
            "Hmm.",
            "Say second.",
            "The reference.",
            "m1",
            "Says second.",
        ):
            assert words in page
        assert "a key called items" in page
        assert url(people, "item", one.pk) in page
        assert url(people, "item", three.pk) in page

    def test_the_datasets_prompt_stands_in_for_a_missing_one(self, people, ed):
        data = {"prompt": "Shared prompt?", "items": [{"id": "a", "submission": "Yes."}]}
        ed.post(send(ed, people, json.dumps(data).encode(), "d.json").url, {})
        assert "Shared prompt?" in ed.get(url(people, "item", Item.objects.get().pk)).content.decode()

    def test_links_the_runs_it_is_in_without_any_verdict(self, people, sign_in, dataset):
        version = factories.version(people.team, people.ed)
        run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
        queue = factories.queue(
            people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.rae], blind="none"
        )
        item = dataset.items.get(key="good")
        review = queues.start_review(queue, item, people.rae)
        criterion = version.criteria.get(name="capital")
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET, reason="A telling reason.")
        assert Judgement.objects.exists()
        page = sign_in(people.ann).get(url(people, "item", item.pk)).content.decode()
        assert url(people, "run_item", run.pk, item.pk) in page
        assert "A telling reason." not in page
        assert "chip--helped" not in page

    def test_shows_where_its_ground_truth_comes_from_and_names_only_when_asked(self, people, sign_in):
        dataset = factories.dataset(people.team, people.ed)
        version = factories.version(people.team, people.ed)
        lines = ["item_id,criterion,rater,verdict", "good,capital,xenia,MET", "good,capital,yolanda,UNMET"]
        lines += ["good,concise,xenia,MET", "good,concise,yolanda,MET"]
        factories.import_labels(
            dataset, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
        )
        item, capital = dataset.items.get(key="good"), version.criteria.get(name="capital")
        bob = sign_in(people.bob)

        def truths():
            page = bob.get(url(people, "item", item.pk)).content.decode()
            return " ".join(page.partition('id="ground-truth"')[2].partition("</section>")[0].split())

        assert "people are tied" in truths()
        assert "unanimous" in truths()
        adjudications.adjudicate(
            item, capital, by=people.rae, verdict="UNMET", cause="human_wrong", reason="It is Lyon."
        )
        hidden = truths()
        bob.post(url(people, "item_names", item.pk), {"names": "1"})
        named = truths()
        assert "adjudicated" in hidden
        assert "It is Lyon." in hidden
        assert ">met (a person, imported), unmet (a person, imported)</td>" in hidden
        assert ">xenia: met (a person, imported), yolanda: unmet (a person, imported)</td>" in named
        for name in ("xenia", "yolanda", "by rae"):
            assert name not in hidden
            assert name in named
        looked = people.team.journal.filter(verb="looked at the names on")
        assert [(entry.actor, entry.target_id) for entry in looked] == [(people.bob, item.pk)]
        other = bob.get(url(people, "item", dataset.items.get(key="bad").pk)).content.decode()
        assert "Nobody has labelled it yet." in other
        assert looked.count() == 1

    def test_ground_truth_waits_until_one_has_reviewed_the_item(self, people, sign_in, dataset):
        version = factories.version(people.team, people.ed)
        queue = factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann, people.rae],
            raters_per_item=2,
        )
        item = dataset.items.get(key="good")

        def submit(user):
            review = queues.start_review(queue, item, user)
            for criterion in version.criteria.all():
                reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET)
            reviews.submit(review, now=timezone.now())

        submit(people.rae)
        before = sign_in(people.ann).get(url(people, "item", item.pk)).content.decode()
        assert "Hidden until you finish your reviews" in before
        assert "chip--helped" not in before
        submit(people.ann)
        after = sign_in(people.ann).get(url(people, "item", item.pk)).content.decode()
        assert ">met, met</td>" in " ".join(after.split())  # of people here nothing more is said
        assert "Hidden until you finish your reviews" not in after
        assert "chip--helped" in after

    def test_what_a_submission_says_is_escaped(self, people, ed):
        hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>"
        items = [{"id": hostile, "submission": hostile, "reference": hostile, "note": hostile}]
        dataset = factories.dataset(people.team, people.ed, items=items)
        for address in (url(people, "dataset", dataset.pk), url(people, "item", dataset.items.get().pk)):
            page = ed.get(address).content.decode()
            assert "<script>alert" not in page
            assert "<img src=x" not in page

    def test_json_with_half_a_surrogate_pair_is_shown_as_it_is_stored(self, people, ed):
        items = [{"id": "a", "submission": '{"note": "cut \\ud83d"}'}]
        item = factories.dataset(people.team, people.ed, items=items).items.get()
        assert "cut \\ud83d" in ed.get(url(people, "item", item.pk)).content.decode()

    def test_another_teams_item_is_not_there(self, people, sign_in, dataset):
        item = dataset.items.first()
        stranger = sign_in(people.charlie)
        assert stranger.get(reverse("item", args=[people.other_team.slug, item.pk])).status_code == 404


class TestLabels:
    def labels(self, *lines):
        text = "item_id,criterion,rater,verdict,reason\n" + "\n".join(lines) + "\n"
        return SimpleUploadedFile("labels.csv", text.encode())

    def test_labels_become_a_closed_queue(self, people, ed, dataset):
        version = factories.version(people.team, people.ed)
        form = {
            "file": self.labels("good,capital,kim,MET,clear", "good,concise,kim,UNMET,"),
            "rubric_version": version.pk,
            "queue_name": "Kim's labels",
        }
        response = ed.post(url(people, "labels_import", dataset.pk), form)
        page = ed.get(response.url).content.decode()
        assert "2 labels on 1 item" in page
        assert "Kim&#x27;s labels" in page
        assert not ReviewQueue.objects.exists(), "nothing is stored yet"
        response = ed.post(response.url)
        queue = ReviewQueue.objects.get(name="Kim's labels")
        assert response.url == url(people, "queue", queue.pk)
        assert Judgement.objects.filter(review__queue=queue).count() == 2

    def test_before_the_import_it_says_who_is_a_machine(self, people, ed, dataset):
        version = factories.version(people.team, people.ed)
        form = {
            "file": self.labels("good,capital,kim,MET,", "good,capital,gpt,UNMET,"),
            "rubric_version": version.pk,
            "rater_kind": "machine",
        }
        checked = ed.post(url(people, "labels_import", dataset.pk), form)
        page = ed.get(checked.url).content.decode()
        assert page.count('<option value="machine" selected>a program or model</option>') == 2
        assert "Grades of 2 machines become imported runs, one each." in page
        ed.post(checked.url)
        assert set(Rater.objects.filter(name__in=["kim", "gpt"]).values_list("kind", flat=True)) == {
            "machine"
        }

    def test_a_file_is_there_for_its_dataset_and_once(self, people, ed, dataset):
        version = factories.version(people.team, people.ed)
        other = factories.dataset(people.team, people.ed, name="Another")
        form = {"file": self.labels("good,capital,kim,MET,"), "rubric_version": version.pk}
        checked = ed.post(url(people, "labels_import", dataset.pk), form).url
        upload = checked.partition("?")[2]
        assert ed.get(f"{url(people, 'labels_import', other.pk)}?{upload}").status_code == 404
        assert ed.get(f"{url(people, 'dataset_add', dataset.pk)}?{upload}").status_code == 404
        assert ed.post(checked).status_code == 302
        assert ed.post(checked).status_code == 404, "it was imported"
        assert ReviewQueue.objects.count() == 1

    def test_what_changed_since_the_file_was_looked_at_is_said(self, people, ed, dataset):
        version = factories.version(people.team, people.ed)
        form = {
            "file": self.labels("good,capital,kim,MET,"),
            "rubric_version": version.pk,
            "queue_name": "Taken",
        }
        checked = ed.post(url(people, "labels_import", dataset.pk), form).url
        factories.queue(
            people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], name="Taken"
        )
        response = ed.post(checked)
        assert response.status_code == 422
        assert "Taken" in response.content.decode()
        assert ReviewQueue.objects.count() == 1

    def test_a_rubric_version_is_needed_where_items_bring_none(self, people, ed, dataset):
        response = ed.post(
            url(people, "labels_import", dataset.pk), {"file": self.labels("good,capital,kim,MET,")}
        )
        assert response.status_code == 422
        assert response.context["form"]["rubric_version"].errors

    def test_a_rubric_version_is_not_asked_for_where_items_bring_their_own(self, people, ed):
        items = [{"id": "a", "submission": "x", "rubric": [{"name": "short", "requirement": "Is short."}]}]
        dataset = factories.dataset(people.team, people.ed, items=items)
        address = url(people, "labels_import", dataset.pk)
        assert "rubric_version" not in ed.get(address).context["form"].fields
        assert ed.post(address, {"file": self.labels("a,short,kim,MET,")}).status_code == 302

    def test_another_teams_rubric_version_cannot_be_chosen(self, people, ed, dataset):
        foreign = factories.version(people.other_team, people.charlie)
        form = {"file": self.labels("good,capital,kim,MET,"), "rubric_version": foreign.pk}
        response = ed.post(url(people, "labels_import", dataset.pk), form)
        assert response.status_code == 422
        assert response.context["form"]["rubric_version"].errors

    def test_a_name_that_is_taken_is_refused_at_its_field(self, people, ed, dataset):
        version = factories.version(people.team, people.ed)
        factories.queue(
            people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], name="Taken"
        )
        form = {
            "file": self.labels("good,capital,kim,MET,"),
            "rubric_version": version.pk,
            "queue_name": "Taken",
        }
        response = ed.post(url(people, "labels_import", dataset.pk), form)
        assert response.status_code == 422
        assert response.context["form"]["queue_name"].errors


class TestAddingItems:
    """The two steps of an import, into a dataset there is."""

    def add(self, client, people, dataset, data, filename="more.csv"):
        address = url(people, "dataset_add", dataset.pk)
        return client.post(address, {"file": SimpleUploadedFile(filename, data)}, follow=True)

    def test_the_file_is_looked_at_first_and_its_items_stand_behind_the_others(self, people, ed, dataset):
        columns = self.add(ed, people, dataset, b"key,question,text\nlate,What?,This.\n")
        page = columns.content.decode()
        assert "Add items to capital answers" in page
        assert 'name="name"' not in page
        done = ed.post(
            columns.request["PATH_INFO"] + "?" + columns.request["QUERY_STRING"],
            {"column_submission": "text", "column_id": "key", "column_prompt": "question"},
            follow=True,
        )
        assert "Added 1 item from more.csv." in done.content.decode()
        assert [item.key for item in dataset.items.all()] == ["good", "bad", "empty-ish", "late"]

    def test_answers_of_a_version_are_asked_what_their_cases_ask(self, people, ed, dataset):
        columns = self.add(ed, people, dataset, b'{"id": "good", "submission": "Paris!"}', "v5.jsonl")
        step = columns.request["PATH_INFO"] + "?" + columns.request["QUERY_STRING"]
        refused = ed.post(step, {"system": "@v5"})
        assert (refused.status_code, "as assistant@v4" in refused.content.decode()) == (422, True)
        page = ed.post(step, {"system": "assistant@v5"}, follow=True).content.decode()
        assert "Added 1 item from v5.jsonl." in page
        assert "2 cases of capital answers without an answer of assistant@v5: bad, empty-ish." in page
        added = dataset.items.get(key="good@assistant@v5")
        assert added.prompt == dataset.items.get(key="good").prompt
        shown = ed.get(url(people, "item", added.pk)).content.decode()
        other = url(people, "item", dataset.items.get(key="good").pk)
        assert ("assistant@v5" in shown, f'href="{other}"' in shown) == (True, True)

    def test_an_id_that_is_there_is_a_fault_with_its_place(self, people, ed, dataset):
        columns = self.add(ed, people, dataset, b'{"id": "good", "submission": "x"}', "more.jsonl")
        answer = ed.post(columns.request["PATH_INFO"] + "?" + columns.request["QUERY_STRING"])
        assert answer.status_code == 422
        page = answer.content.decode()
        assert "items[0].id" in page
        assert "an id that capital answers does not have yet" in page
        assert dataset.items.count() == 3

    def test_a_file_kept_for_one_dataset_goes_into_no_other(self, people, ed, dataset):
        other = factories.dataset(people.team, people.ed, name="other")
        columns = self.add(ed, people, dataset, b"id,submission\nlate,x\n")
        query = columns.request["QUERY_STRING"]
        assert ed.get(url(people, "dataset_add", other.pk) + "?" + query).status_code == 404
        assert ed.get(url(people, "dataset_import") + "?" + query).status_code == 404

    def test_a_half_of_a_split_offers_no_adding(self, people, ed, dataset):
        page = ed.get(url(people, "dataset", dataset.pk)).content.decode()
        assert url(people, "dataset_add", dataset.pk) in page
        Dataset.objects.filter(pk=dataset.pk).update(sealed_as="test", seal="x" * 64, seal_salt="y")
        page = ed.get(url(people, "dataset", dataset.pk)).content.decode()
        assert url(people, "dataset_add", dataset.pk) not in page
        assert ed.get(url(people, "dataset_add", dataset.pk)).status_code == 409


def test_an_items_texts_share_one_markdown_budget_and_what_is_over_it_is_whole(people, ed):
    """A prompt of five eighths of the budget is laid out, a submission of as much is not, a short one is."""
    long = "word " * (MARKDOWN_BUDGET // 8)
    row = {"prompt": f"{long}*first*", "submission": f"{long}*second* <b>", "reference": "*third*"}
    item = factories.dataset(people.team, people.ed, items=[row]).items.get()
    page = ed.get(url(people, "item", item.pk)).content.decode()
    assert page.count("Shown as plain text") == 1
    assert "<em>first</em>" in page
    assert f'<pre class="code">{long}*second* &lt;b&gt;</pre>' in page
    assert "<em>third</em>" in page
