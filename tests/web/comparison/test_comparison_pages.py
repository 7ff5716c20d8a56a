"""Pages of the comparison room, at the HTTP interface, on a table small enough to work out by hand."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.engine.verdict import Verdict
from rubricweb.models import Adjudication, JournalEntry, Review, ReviewQueue, Run, RunState
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.remembered import remembered

# Four items, one criterion. What x, y and z said; what the judge said. Item 2: the judge differs and so does
# one rater; item 4: one rater differs from the other two and the judge.
LABELS = {"1": "MET MET MET", "2": "MET MET UNMET", "3": "UNMET UNMET UNMET", "4": "UNMET MET UNMET"}
JUDGED = {"1": "MET", "2": "UNMET", "3": "UNMET", "4": "UNMET"}
NAMES = {"x": "Xenia", "y": "Yusuf", "z": "Zoltan"}


def version(people: Cast):
    return factories.version(
        people.team,
        people.ed,
        title="Rightness",
        criteria=[{"name": "only", "weight": 1, "requirement": "Is right."}],
    )


def dataset(people: Cast, labels: dict[str, str] = LABELS, name: str = "capital answers"):
    items = [{"id": key, "submission": f"Text {key}"} for key in labels]
    return factories.dataset(people.team, people.ed, items=items, name=name)


def label(people: Cast, data, rubric_version, labels: dict[str, str] = LABELS, name: str = "") -> ReviewQueue:
    lines = ["item_id,criterion,rater,verdict,reason"]
    for key, verdicts in labels.items():
        for rater, verdict in zip("xyz", verdicts.split(), strict=False):
            lines.append(f"{key},only,{NAMES[rater]},{verdict},because {rater} thinks so")
    return factories.import_labels(
        data,
        rubric_version,
        by=people.ed,
        data="\n".join(lines).encode(),
        filename="labels.csv",
        queue_name=name,
    )


def judge() -> InProcessJudge:
    return InProcessJudge(lambda requirement, response: JUDGED.get(response.strip()[-1], "UNMET"))


@pytest.fixture
def graded(people: Cast) -> tuple[Run, ReviewQueue]:
    return remembered(("comparison pages", people.team.pk), lambda: label_and_grade(people))


def label_and_grade(people: Cast) -> tuple[Run, ReviewQueue]:
    rubric_version, data = version(people), dataset(people)
    queue = label(people, data, rubric_version)
    run = factories.run(
        people.team, people.ed, dataset=data, rubric_version=rubric_version, name="The whole run"
    )
    return grade(run, judge()), queue


def url(people: Cast, name: str, *args: object) -> str:
    return reverse(name, args=[people.team.slug, *args])


def text(answer) -> str:
    """The page as one reads it: no tags, entities resolved, spaces single."""
    words = re.sub(r"<title>.*?</title>", " ", answer.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", words)))


def get(client: Client, address: str, status: int = 200, **query: object):
    answer = client.get(address, query)
    assert answer.status_code == status, answer.content.decode()[:2000]
    return answer


def show_names(client: Client, people: Cast, run: Run, key: str, *, status: int = 302) -> None:
    item = run.dataset.items.get(key=key)
    assert client.post(url(people, "item_names", item.pk), {"names": "1"}).status_code == status


def open_item(people: Cast, run: Run, key: str) -> str:
    return url(people, "compare_item", run.dataset.items.get(key=key).pk)


def decide(people: Cast, client: Client, run: Run, key: str, query: str = "", **typed: str):
    item, criterion = run.dataset.items.get(key=key), run.rubric_version.criteria.get()
    return client.post(url(people, "adjudication_unit", item.pk, criterion.pk) + query, typed)


class TestFigures:
    def test_each_figure_is_the_one_worked_out_by_hand(self, people, sign_in, graded) -> None:
        page = text(get(sign_in(people.bob), url(people, "compare")))
        # Truth MET MET UNMET UNMET, judge MET UNMET UNMET UNMET.
        assert "n 4 n, of 4 with a ground truth" in page
        assert "Accuracy 0.75 95 % interval [0.30, 0.95]" in page  # 3 of 4
        assert "Balanced accuracy 0.75" in page  # (1/2 + 2/2) / 2
        assert "Cohen κ 0.50" in page  # (0.75 − 0.5) / 0.5
        assert "MCC 0.58" in page  # (1·2 − 1·0) / √(2·2·1·3)
        assert "Human α 0.39" in page  # 1 − 11·4 / 72, see tests/selectors
        assert "Coverage 100% a verdict on 4 of 4 units" in page
        assert "Bias −0.25 [" in page  # judge 1/4 MET, people 2/4
        assert "judge strict" not in page  # four units cannot tell

    def test_share_carries_its_wilson_interval(self, people, sign_in, graded) -> None:
        # 3 of 4, z = 1.96: centre (0.75 + 0.4802) / 1.9604 = 0.6275, half 0.3268 → 0.3006 to 0.9544.
        assert "[0.30, 0.95]" in text(get(sign_in(people.bob), url(people, "compare")))

    def test_every_figure_is_explained(self, people, sign_in, graded) -> None:
        answer = get(sign_in(people.bob), url(people, "compare"))
        links = set(re.findall(r'href="#(about-\w+)"', answer.content.decode()))
        anchors = set(re.findall(r'id="(about-\w+)"', answer.content.decode()))
        assert {"about-kappa", "about-alpha", "about-mcc", "about-accuracy"} <= links <= anchors

    def test_small_numbers_are_called_a_hint(self, people, sign_in, graded) -> None:
        page = text(get(sign_in(people.bob), url(people, "compare")))
        assert "Only 4 units: take every figure as a hint." in page
        assert "The judge says MET far" not in page

    def test_each_cell_of_the_matrix_opens_exactly_its_units(self, people, sign_in, graded) -> None:
        bob = sign_in(people.bob)
        content = get(bob, url(people, "compare")).content.decode()
        cells = re.findall(r'href="([^"]+judged=\w+&amp;truth=\w+[^"]*)"[^>]*>(\d+)<', content)
        assert len(cells) == 8  # overall and for the one criterion
        for address, count in cells:
            rows = get(bob, html.unescape(address)).context["page"].rows
            assert len(rows) == int(count), address
        assert sorted(int(count) for _, count in cells[:4]) == [0, 1, 1, 2]

    def test_ties_and_decisions_are_counted_beside(self, people, sign_in) -> None:
        labels = LABELS | {"2": "MET UNMET", "3": "UNMET UNMET MET"}
        rubric_version, data = version(people), dataset(people)
        label(people, data, rubric_version, labels)
        run = grade(
            factories.run(people.team, people.ed, dataset=data, rubric_version=rubric_version), judge()
        )
        rae = sign_in(people.rae)
        decide(people, rae, run, "3", verdict="MET", cause="rubric_unclear", reason="It is there.")
        page = text(get(rae, url(people, "compare")))
        assert "Undecided ties 1" in page
        assert "Adjudicated 1" in page
        assert "n 3 n, of 3 with a ground truth" in page

    def test_no_figure_is_made_up_when_there_are_too_few_labels(self, people, sign_in) -> None:
        labels = {"1": "MET"}
        rubric_version, data = version(people), dataset(people, labels)
        label(people, data, rubric_version, labels)
        grade(factories.run(people.team, people.ed, dataset=data, rubric_version=rubric_version), judge())
        page = text(get(sign_in(people.bob), url(people, "compare")))
        assert "Cohen κ – not defined for these verdicts" in page
        assert "Human α – no unit labelled twice" in page

    def test_htmx_gets_the_part_below_the_heading(self, people, sign_in, graded) -> None:
        page = sign_in(people.bob).get(url(people, "compare"), headers={"HX-Request": "true"})
        assert b"<html" not in page.content
        assert "0.58" in page.content.decode()

    def test_number_of_queries_does_not_grow_with_the_items(
        self, people, sign_in, django_assert_max_num_queries
    ) -> None:
        labels = {str(number): "MET UNMET MET" for number in range(60)}
        rubric_version, data = version(people), dataset(people, labels)
        label(people, data, rubric_version, labels)
        grade(factories.run(people.team, people.ed, dataset=data, rubric_version=rubric_version), judge())
        bob = sign_in(people.bob)
        # As many whether there are sixty items or six.
        with django_assert_max_num_queries(56):
            get(bob, url(people, "compare"))
        with django_assert_max_num_queries(35):
            get(bob, url(people, "adjudication"))


class TestChoice:
    def test_begins_with_the_newest_finished_run_over_labels(self, people, sign_in, graded) -> None:
        run, queue = graded
        unlabelled = dataset(people, name="nobody labelled these")
        newer = factories.run(
            people.team, people.ed, dataset=unlabelled, rubric_version=run.rubric_version, name="Newer"
        )
        grade(newer, judge())
        context = get(sign_in(people.bob), url(people, "compare")).context
        assert context["found"].run == run
        assert context["found"].queues == (queue,)

    def test_a_queue_over_another_dataset_is_left_out_and_named(self, people, sign_in, graded) -> None:
        run, _ = graded
        other = label(people, dataset(people, name="other"), run.rubric_version, name="Other labels")
        answer = get(sign_in(people.bob), url(people, "compare"), run=run.pk, queue=other.pk)
        assert "Other labels holds labels of another dataset" in text(answer)
        assert answer.context["found"].overall.n == 4

    def test_one_of_several_queues_can_be_chosen(self, people, sign_in, graded) -> None:
        run, queue = graded
        second = label(people, run.dataset, run.rubric_version, {"1": "UNMET"}, name="Second look")
        answer = get(sign_in(people.bob), url(people, "compare"), run=run.pk, queue=second.pk)
        assert answer.context["found"].units == 1
        both = get(sign_in(people.bob), url(people, "compare"), run=run.pk, queue=[queue.pk, second.pk])
        assert both.context["found"].units == 4

    def test_a_run_under_way_says_that_its_figures_will_move(self, people, sign_in, graded) -> None:
        done, _ = graded
        run = factories.run(people.team, people.ed, dataset=done.dataset, rubric_version=done.rubric_version)
        assert run.state == RunState.RUNNING
        page = text(get(sign_in(people.bob), url(people, "compare"), run=run.pk))
        assert "This run has not ended" in page
        assert "No verdict of the judge 4" in page

    def test_labels_on_another_version_are_said_to_be_so(self, people, sign_in, graded) -> None:
        run, _ = graded
        other = version(people)
        queue = label(people, run.dataset, other, name="By the other rubric")
        page = text(get(sign_in(people.bob), url(people, "compare"), run=run.pk, queue=queue.pk))
        assert "Nothing to compare People labelled capital answers by another rubric, Rightness v1;" in page
        assert "whose criteria nobody labelled" in page
        # Its labels are no units on items' own rubrics.
        assert "On other wordings 4 units labelled by criteria this run was never asked: in no figure" in page
        assert "On items’ own rubrics" not in page

    def test_an_empty_team_is_told_what_comes_first(self, people, sign_in) -> None:
        assert "No run has graded anything yet." in text(get(sign_in(people.bob), url(people, "compare")))
        assert "No labels of people yet" in text(get(sign_in(people.bob), url(people, "adjudication")))

    def test_a_graded_dataset_without_labels_asks_for_labels(self, people, sign_in) -> None:
        run = factories.run(people.team, people.ed, dataset=dataset(people), rubric_version=version(people))
        grade(run, judge())
        page = text(get(sign_in(people.bob), url(people, "compare")))
        assert "Nobody has labelled anything that a run graded." in page
        asked = text(get(sign_in(people.bob), url(people, "compare"), run=run.pk))
        assert "Nobody has labelled capital answers by the rubric of" in asked

    def test_labels_without_a_finished_run_show_where_people_differ(self, people, sign_in) -> None:
        rubric_version, data = version(people), dataset(people)
        label(people, data, rubric_version)
        bob = sign_in(people.bob)
        assert "No run has graded what people labelled." in text(get(bob, url(people, "compare")))
        rows = get(bob, url(people, "adjudication")).context["page"].rows
        assert [row.item_key for row in rows] == ["2", "4"]
        factories.run(people.team, people.ed, dataset=data, rubric_version=rubric_version)
        assert "over what people labelled has not ended." in text(get(bob, url(people, "compare")))
        # Of a queue without reviews it is said of its own dataset, whatever is labelled elsewhere.
        other = factories.dataset(people.team, people.ed, name="other answers")
        empty = factories.queue(
            people.team, people.ed, dataset=other, rubric_version=rubric_version, raters=[people.ann]
        )
        page = text(get(bob, url(people, "compare"), queue=empty.pk))
        assert "No run has graded other answers yet." in page
        grade(factories.run(people.team, people.ed, dataset=other, rubric_version=rubric_version), judge())
        page = text(get(bob, url(people, "compare"), queue=empty.pk))
        assert "Nobody has labelled other answers by the rubric of" in page

    def test_a_holistic_run_says_that_it_has_no_verdicts(self, people, sign_in, graded) -> None:
        done, _ = graded
        run = factories.run(
            people.team,
            people.ed,
            dataset=done.dataset,
            rubric_version=done.rubric_version,
            autograder="rubric_as_judge",
        )
        page = text(get(sign_in(people.bob), url(people, "compare"), run=run.pk))
        assert "gave every item one score and no verdicts" in page
        assert "Human α 0.39" in page

    def test_items_with_own_rubrics_are_compared_overall(self, people, sign_in) -> None:
        own = {"criteria": [{"name": "only", "weight": 1, "requirement": "Is right."}]}
        items = [{"id": key, "submission": f"Text {key}", "rubric": own} for key in LABELS]
        data = factories.dataset(people.team, people.ed, items=items)
        label(people, data, None)
        grade(factories.run(people.team, people.ed, dataset=data, rubric_version=None), judge())
        page = text(get(sign_in(people.bob), url(people, "compare")))
        assert "Every item brings its own rubric" in page
        assert "Cohen κ 0.50" in page

    @pytest.mark.parametrize(
        "query", ["run=x", "run=1&queue=1__gt", "item__submission=x", "queue=" + "9" * 30]
    )
    def test_addresses_we_never_gave_out_are_refused(self, people, sign_in, graded, query: str) -> None:
        assert sign_in(people.bob).get(f"{url(people, 'compare')}?{query}").status_code == 400

    def test_another_teams_run_and_queue_do_not_exist(self, people, sign_in, graded) -> None:
        run, queue = graded
        charlie = sign_in(people.charlie)
        address = reverse("compare", args=[people.other_team.slug])
        get(charlie, address, 404, run=run.pk)
        get(charlie, address, 404, queue=queue.pk)


class TestInboxOfARun:
    def test_the_judge_of_the_run_stands_beside_people(self, people, sign_in, graded) -> None:
        run, queue = graded
        kinder = factories.run(
            people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version, name="Kinder"
        )
        grade(kinder, InProcessJudge(lambda requirement, response: "MET"))
        bob = sign_in(people.bob)
        page = get(bob, url(people, "adjudication"), run=run.pk, queue=queue.pk)
        # People differ on 2 and 4; the run's judge says what all say on 1 and 3.
        assert [row.item_key for row in page.context["page"].rows] == ["2", "4"]
        assert "Only the judge of The whole run is compared with people here." in text(page)
        rows = get(bob, url(people, "adjudication"), run=kinder.pk).context["page"].rows
        assert [(row.item_key, row.kind) for row in rows] == [
            ("2", "people differ"),
            ("4", "people differ"),
            ("3", "judge differs"),
        ]
        assert [row.judged for row in rows] == [("MET",)] * 3

    def test_compare_counts_what_its_link_leads_to(self, people, sign_in, graded) -> None:
        bob = sign_in(people.bob)
        content = get(bob, url(people, "compare")).content.decode()
        button = r'<a class="button[^"]*" href="([^"]+)"><svg[^>]*><use[^>]*></use></svg>\s+Decide\s+(\d+)'
        [(link, count)] = re.findall(button, content)
        assert int(count) == get(bob, html.unescape(link)).context["page"].total == 2

    def test_what_stands_is_the_decision_else_the_majority(self, people, sign_in, graded) -> None:
        rae = sign_in(people.rae)
        decide(people, rae, graded[0], "2", verdict="MET", cause="judge_wrong")
        rows = get(rae, url(people, "adjudication"), decided="1").context["page"].rows
        assert {row.item_key: (row.rule, row.stands) for row in rows} == {
            "2": ("adjudicated", "MET"),
            "4": ("majority", "UNMET"),
        }
        assert [row.item_key for row in get(rae, url(people, "adjudication")).context["page"].rows] == ["4"]

    def test_next_stays_in_the_cell_one_came_from(self, people, sign_in, graded) -> None:
        run, queue = graded
        query = {"run": run.pk, "queue": queue.pk, "judged": "UNMET", "truth": "UNMET"}
        item, criterion = run.dataset.items.get(key="3"), run.rubric_version.criteria.get()
        unit = get(sign_in(people.bob), url(people, "adjudication_unit", item.pk, criterion.pk), **query)
        assert unit.context["around"].total == 2
        assert "judged=UNMET&truth=UNMET" in unit.context["before_url"] + unit.context["after_url"]

    @pytest.mark.parametrize(
        "query", ["judged=MET", "judged=MET&truth=MET", "judged=met&truth=MET&run={run}"]
    )
    def test_a_cell_is_named_whole_and_by_labels_there_are(self, people, sign_in, graded, query) -> None:
        address = f"{url(people, 'adjudication')}?{query.format(run=graded[0].pk)}"
        assert sign_in(people.bob).get(address).status_code == 400

    def test_a_long_list_comes_in_pages_that_lose_nothing(self, people, sign_in) -> None:
        labels = {str(number): "MET UNMET MET" for number in range(60)}
        rubric_version, data = version(people), dataset(people, labels)
        label(people, data, rubric_version, labels)
        bob = sign_in(people.bob)
        first = get(bob, url(people, "adjudication")).context["page"]
        second = get(bob, url(people, "adjudication"), cursor=first.next_cursor).context["page"]
        assert (len(first.rows), len(second.rows), second.next_cursor) == (50, 10, None)
        assert len({row.item_id for row in (*first.rows, *second.rows)}) == 60

    def test_only_those_who_may_are_asked_to_decide(self, people, sign_in, graded) -> None:
        assert "Decide one by one" in text(get(sign_in(people.rae), url(people, "adjudication")))
        page = text(get(sign_in(people.ann), url(people, "adjudication")))
        assert "Decide one by one" not in page
        assert "Read one by one" in page


class TestNavigation:
    def waiting(self, answer) -> str:
        [link] = [link for link in answer.context["nav"] if link["label"] == "Adjudicate"]
        return link["count"]

    def test_it_says_how_much_waits_for_those_who_may_decide(self, people, sign_in, graded) -> None:
        rae = sign_in(people.rae)
        assert self.waiting(get(rae, url(people, "runs"))) == "2"
        assert self.waiting(get(sign_in(people.bob), url(people, "runs"))) == ""
        decide(people, rae, graded[0], "2", verdict="MET", cause="judge_wrong")
        assert self.waiting(get(rae, url(people, "runs"))) == "1"

    def test_what_a_person_is_still_to_review_blind_is_not_counted(self, people, sign_in, graded) -> None:
        run, _ = graded
        factories.queue(
            people.team,
            people.ed,
            dataset=run.dataset,
            rubric_version=run.rubric_version,
            raters=[people.rae],
            name="Blind",
        )
        assert self.waiting(get(sign_in(people.rae), url(people, "runs"))) == ""
        assert self.waiting(get(sign_in(people.alice), url(people, "runs"))) == "2"


class TestItem:
    def test_shows_every_voice_and_what_stands(self, people, sign_in, graded) -> None:
        run, _ = graded
        page = text(get(sign_in(people.bob), open_item(people, run, "2")))
        assert "Text 2" in page
        assert "because z thinks so" in page
        assert "judge says UNMET" in page
        assert "majority Met" in page

    def test_names_of_people_are_hidden_until_asked_for(self, people, sign_in, graded) -> None:
        run, _ = graded
        bob = sign_in(people.bob)
        page = text(get(bob, open_item(people, run, "2")))
        assert "Rater A" in page
        assert "Rater C" in page
        assert not any(name in page for name in NAMES.values())
        show_names(bob, people, run, "2")
        page = text(get(bob, open_item(people, run, "2")))
        assert all(name in page for name in NAMES.values())
        assert "Rater A" not in page

    def test_the_decider_is_a_name_too(self, people, sign_in, graded) -> None:
        run, _ = graded
        decide(people, sign_in(people.rae), run, "2", verdict="MET", cause="judge_wrong")
        page = text(get(sign_in(people.bob), open_item(people, run, "2")))
        assert "Decided Met judge wrong" in page
        assert "by Rae" not in page
        bob = sign_in(people.bob)
        show_names(bob, people, run, "2")
        assert "by Rae" in text(get(bob, open_item(people, run, "2")))

    def test_without_labels_the_newest_run_is_shown_alone(self, people, sign_in) -> None:
        data = dataset(people)
        run = factories.run(people.team, people.ed, dataset=data, rubric_version=version(people))
        grade(run, judge())
        page = text(get(sign_in(people.bob), open_item(people, run, "2")))
        assert "judge says UNMET" in page
        assert "no label" in page

    def test_each_criterion_leads_to_where_it_is_decided(self, people, sign_in, graded) -> None:
        run, _ = graded
        for person, offered, form in ((people.bob, "Open", False), (people.rae, "Decide", True)):
            client = sign_in(person)
            page = get(client, open_item(people, run, "2")).content.decode()
            link, word = re.search(r'href="([^"]+/criteria/[^"]+)">.*?</svg> (\w+)</a>', page).groups()
            assert word == offered
            assert ("Decide and next" in get(client, html.unescape(link)).content.decode()) is form

    def test_what_a_submission_says_is_never_markup(self, people, sign_in) -> None:
        items = [{"id": "1", "submission": "<script>alert(1)</script> **bold**"}]
        data = factories.dataset(people.team, people.ed, items=items)
        page = get(sign_in(people.bob), url(people, "compare_item", data.items.get().pk)).content.decode()
        assert "<script>alert" not in page
        assert "<strong>bold</strong>" in page


class TestDeciding:
    def test_a_decision_stands_and_leads_to_the_next(self, people, sign_in, graded) -> None:
        run, queue = graded
        rae = sign_in(people.rae)
        answer = decide(
            people, rae, run, "2", f"?run={run.pk}&queue={queue.pk}", verdict="MET", cause="judge_wrong"
        )
        assert answer.status_code == 302
        criterion = run.rubric_version.criteria.get()
        following = run.dataset.items.get(key="4")
        assert answer["Location"].startswith(url(people, "adjudication_unit", following.pk, criterion.pk))
        assert Adjudication.objects.get().cause == "judge_wrong"
        page = get(rae, answer["Location"])
        assert re.search(r"Text 2\s*, only: decided Met", text(page))
        last = decide(
            people, rae, run, "4", f"?run={run.pk}&queue={queue.pk}", verdict="UNMET", cause="human_wrong"
        )
        assert last["Location"].startswith(url(people, "adjudication"))
        assert "Nothing left to decide" in text(get(rae, last["Location"]))

    def test_against_the_majority_a_reason_is_needed_and_nothing_typed_is_lost(
        self, people, sign_in, graded
    ) -> None:
        run, _ = graded
        answer = decide(people, sign_in(people.rae), run, "2", verdict="UNMET", cause="human_wrong")
        assert answer.status_code == 422
        page = answer.content.decode()
        assert "Most raters said MET. To decide UNMET, give the reason." in text(answer)
        assert re.search(r'value="UNMET"[^>]* checked', page)
        assert re.search(r'value="human_wrong"[^>]* checked', page)
        assert not Adjudication.objects.exists()
        decide(people, sign_in(people.rae), run, "2", verdict="UNMET", cause="human_wrong", reason="Not so.")
        assert Adjudication.objects.get().reason == "Not so."

    def test_an_unfinished_form_says_what_is_missing(self, people, sign_in, graded) -> None:
        answer = decide(people, sign_in(people.rae), graded[0], "2", reason="long thoughts")
        assert answer.status_code == 422
        assert "Choose the final verdict." in text(answer)
        assert "Say why they differed." in text(answer)
        assert "long thoughts" in text(answer)

    @pytest.mark.parametrize(
        "typed", [{"verdict": "YES", "cause": "judge_wrong"}, {"verdict": "MET", "cause": "verdict__in"}]
    )
    def test_words_outside_the_closed_lists_are_refused(self, people, sign_in, graded, typed) -> None:
        assert decide(people, sign_in(people.rae), graded[0], "2", **typed).status_code == 422
        assert not Adjudication.objects.exists()

    def test_deciding_again_shows_and_replaces_the_decision(self, people, sign_in, graded) -> None:
        run, _ = graded
        rae = sign_in(people.rae)
        decide(people, rae, run, "2", verdict="UNMET", cause="human_wrong", reason="Not there.")
        assert "Decide again" in get(rae, open_item(people, run, "2")).content.decode()
        item, criterion = run.dataset.items.get(key="2"), run.rubric_version.criteria.get()
        page = get(rae, url(people, "adjudication_unit", item.pk, criterion.pk)).content.decode()
        assert re.search(r'value="human_wrong"[^>]* checked', page)
        decide(people, rae, run, "2", verdict="MET", cause="judge_wrong")
        assert Adjudication.objects.get().verdict == "MET"
        assert JournalEntry.objects.filter(verb="adjudicated").count() == 2

    def test_those_below_reviewer_cannot_decide(self, people, sign_in, graded) -> None:
        for person, status in ((people.ann, 403), (people.bob, 403), (people.charlie, 404)):
            answer = decide(people, sign_in(person), graded[0], "2", verdict="MET", cause="judge_wrong")
            assert answer.status_code == status
        assert not Adjudication.objects.exists()

    def test_a_criterion_of_another_team_is_not_decided_here(self, people, sign_in, graded) -> None:
        theirs = factories.version(people.other_team, people.charlie)
        item = graded[0].dataset.items.first()
        address = url(people, "adjudication_unit", item.pk, theirs.criteria.first().pk)
        answer = sign_in(people.rae).post(address, {"verdict": "MET", "cause": "judge_wrong"})
        assert answer.status_code == 404

    def test_causes_add_up_to_the_to_do_list_of_the_rubric(self, people, sign_in, graded) -> None:
        rae = sign_in(people.rae)
        decide(people, rae, graded[0], "2", verdict="MET", cause="rubric_unclear")
        decide(people, rae, graded[0], "4", verdict="UNMET", cause="rubric_unclear")
        [row] = get(rae, url(people, "compare")).context["todo"]
        rubric = url(people, "rubric", graded[0].rubric_version.rubric.pk)
        assert get(rae, rubric).context["todo"] == [row]
        assert dict(row.counts) == {
            "judge_wrong": 0,
            "human_wrong": 0,
            "rubric_unclear": 2,
            "item_broken": 0,
        }


class TestBlinding:
    @pytest.fixture
    def blind(self, people, graded) -> Run:
        """ann and rae are still to review all four items blind."""
        run, _ = graded
        factories.queue(
            people.team,
            people.ed,
            dataset=run.dataset,
            rubric_version=run.rubric_version,
            raters=[people.ann, people.rae],
            raters_per_item=2,
            name="Blind",
        )
        return run

    def test_a_rater_sees_no_figure_and_no_row_of_what_is_still_to_do(
        self, people, sign_in, blind: Run
    ) -> None:
        ann = sign_in(people.ann)
        page = get(ann, url(people, "compare"))
        assert "4 items left out for you" in text(page)
        assert "Submit your reviews in “Blind”." in text(page)
        assert not re.search("queue of 0|undefined|Have 0 items", text(page))
        assert page.context["found"].overall.n == 0
        page = get(ann, url(people, "adjudication"))
        assert "4 items left out for you" in text(page)
        assert page.context["page"].rows == ()
        for query in ({"run": blind.pk, "judged": "MET", "truth": "MET"}, {"decided": "1"}):
            assert get(ann, url(people, "adjudication"), **query).context["page"].rows == ()

    def test_a_rater_sees_the_item_and_no_verdict(self, people, sign_in, blind: Run) -> None:
        ann = sign_in(people.ann)
        show_names(ann, people, blind, "2", status=403)
        page = text(get(ann, open_item(people, blind, "2")))
        assert "Hidden until you finish your reviews" in page
        assert "Text 2" in page
        assert "judge says" not in page
        assert "thinks so" not in page

    def test_a_reviewer_cannot_decide_what_they_are_to_review_blind(
        self, people, sign_in, blind: Run
    ) -> None:
        for typed in ({"verdict": "MET", "cause": "judge_wrong"}, {}):
            answer = decide(people, sign_in(people.rae), blind, "2", **typed)
            assert answer.status_code == 403
            assert "thinks so" not in answer.content.decode()
        assert not Adjudication.objects.exists()

    def test_causes_of_hidden_items_are_not_counted(self, people, sign_in, blind: Run) -> None:
        decide(people, sign_in(people.alice), blind, "2", verdict="MET", cause="rubric_unclear")
        assert get(sign_in(people.ann), url(people, "compare")).context["todo"] == []
        assert len(get(sign_in(people.bob), url(people, "compare")).context["todo"]) == 1

    def test_submitting_opens_the_item(self, people, sign_in, blind: Run) -> None:
        queue = ReviewQueue.objects.get(name="Blind")
        item = blind.dataset.items.get(key="2")
        review = queues.start_review(queue, item, people.ann)
        criterion = blind.rubric_version.criteria.get()
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET)
        reviews.submit(review, now=queue.created_at)
        assert Review.objects.get(pk=review.pk).submitted_at is not None
        page = text(get(sign_in(people.ann), open_item(people, blind, "2")))
        assert "judge says UNMET" in page
