"""The export page: what it offers, and what it keeps from whom."""

import json

import pytest
from django.urls import reverse

from rubricweb.models import JournalEntry, Run
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

LABELS = "item_id,criterion,rater,verdict,reason\n" + "".join(
    f"good,{criterion},{rater},{verdict},\n"
    for criterion in ("capital", "concise", "wrong_country")
    for rater, verdict in (("x", "MET"), ("y", "MET"), ("z", "UNMET"))
)


@pytest.fixture
def graded(people: Cast) -> Run:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="First run")
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    factories.import_labels(dataset, version, by=people.ed, data=LABELS.encode(), filename="labels.csv")
    return run


def page(people: Cast, sign_in, user, **query: object):
    return sign_in(user).get(reverse("exports", args=[people.team.slug]), query)


def test_a_team_without_datasets_is_told_what_to_do(people: Cast, sign_in) -> None:
    assert "There is no dataset to export from." in page(people, sign_in, people.bob).content.decode()


def test_the_page_does_not_promise_to_import_a_bundle(people: Cast, sign_in, graded: Run) -> None:
    text = page(people, sign_in, people.bob, dataset=graded.dataset_id).content.decode()
    _, found, bundle = text.partition("Bundle of everything")
    assert found
    words = bundle.partition("</label>")[0]
    assert "opens here" not in words
    assert "read_bundle" in words


def test_queues_and_runs_offered_are_those_of_the_dataset(people: Cast, sign_in, graded: Run) -> None:
    other = factories.dataset(people.team, people.ed, name="Other")
    text = page(people, sign_in, people.bob, dataset=graded.dataset_id).content.decode()
    assert "labels" in text
    assert "First run" in text
    text = page(people, sign_in, people.bob, dataset=other.pk).content.decode()
    assert "First run" not in text
    assert "Nobody has submitted labels of" in text
    assert "Have people review it, or import labels." in text


def test_a_link_from_a_run_asks_for_its_verdicts(people: Cast, sign_in, graded: Run) -> None:
    answer = page(people, sign_in, people.bob, dataset=graded.dataset_id, run=graded.pk)
    form = answer.context["form"]
    assert (form["what"].value(), form["run"].value()) == ("verdicts", str(graded.pk))


def test_ground_truth_is_the_majority_in_an_autorubric_dataset(people: Cast, sign_in, graded: Run) -> None:
    query = {
        "dataset": graded.dataset_id,
        "queues": people.team.queues.get().pk,
        "what": "ground_truth",
        "format": "autorubric",
    }
    answer = sign_in(people.bob).get(reverse("export_download", args=[people.team.slug]), query)
    assert answer["Content-Disposition"] == 'attachment; filename="capital-answers-ground_truth.json"'
    [item] = json.loads(b"".join(answer.streaming_content))["items"]
    assert item["ground_truth"] == ["MET", "MET", "MET"]
    assert JournalEntry.objects.filter(verb="exported", actor=people.bob).count() == 1


def test_a_combination_that_does_not_exist_is_said_on_the_form(people: Cast, sign_in, graded: Run) -> None:
    query = {
        "dataset": graded.dataset_id,
        "run": graded.pk,
        "what": "verdicts",
        "format": "autorubric",
    }
    answer = sign_in(people.bob).get(reverse("export_download", args=[people.team.slug]), query)
    assert answer.status_code == 422
    assert "export verdicts as csv, wide or jsonl" in answer.content.decode()
    assert answer.context["form"]["format"].value() == "autorubric"


def test_without_a_dataset_the_download_leads_back_to_the_form(people: Cast, sign_in, graded: Run) -> None:
    answer = sign_in(people.bob).get(reverse("export_download", args=[people.team.slug]))
    assert (answer.status_code, answer["Location"]) == (302, reverse("exports", args=[people.team.slug]))


def test_a_blind_rater_is_told_before_choosing(people: Cast, sign_in, graded: Run) -> None:
    factories.queue(
        people.team,
        people.ed,
        dataset=graded.dataset,
        rubric_version=graded.rubric_version,
        raters=[people.ann],
    )
    text = page(people, sign_in, people.ann, dataset=graded.dataset_id).content.decode()
    assert "Hidden until you finish your reviews" in text
    assert "Download" not in text


def test_the_page_opens_with_a_dataset_that_has_something_to_export(
    people: Cast, sign_in, graded: Run
) -> None:
    """Labelled goes before graded, graded before new."""
    newer = factories.dataset(people.team, people.ed, name="Newer")
    assert page(people, sign_in, people.bob).context["form"].chosen == graded.dataset
    graded.dataset.queues.get().delete()
    assert page(people, sign_in, people.bob).context["form"].chosen == graded.dataset
    graded.judgements.all().delete()
    graded.delete()
    assert page(people, sign_in, people.bob).context["form"].chosen == newer
