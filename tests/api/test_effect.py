"""What an answer does to the score, beside the verdict that is stored."""

from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion, Item, Review
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

CRITERIA = [
    {"name": "names", "weight": 3, "requirement": "Names Paris."},
    {"name": "insults", "weight": -2, "requirement": "Insults the reader."},
    {"name": "noted", "weight": 0, "requirement": "Is of interest."},
]


def test_a_report_says_what_each_verdict_did_to_the_score(people: Cast, as_member) -> None:
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed, criteria=CRITERIA),
    )
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    item = run.dataset.items.get(key="good")
    report = as_member(people.bob).get(f"/runs/{run.pk}/items/{item.pk}")
    assert [(one["verdict"], one["effect"]) for one in report["verdicts"]] == [
        ("MET", "helped"),
        ("MET", "hurt"),
        ("MET", "neither"),
    ]


def differing(people: Cast) -> tuple[Item, Criterion, Review]:
    """rae finds the insult absent, ann and the judge find it; the rest is met by all."""
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    dataset = factories.dataset(people.team, people.ed, items=factories.ITEMS[:1])
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    raters = [people.rae, people.ann]
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=raters,
        raters_per_item=2,
        run=run,
        blind="none",
    )
    item = dataset.items.get()
    for rater in raters:
        review = queues.start_review(queue, item, rater)
        for criterion in reviews.criteria_of(review):
            absent = rater == people.rae and criterion.name == "insults"
            reviews.save_verdict(review, criterion.pk, verdict=Verdict.UNMET if absent else Verdict.MET)
        reviews.submit(review, now=timezone.now())
    return item, version.criteria.get(name="insults"), Review.objects.get(rater__user=people.rae)


def test_the_inbox_a_decision_and_ground_truth_say_it_too(people: Cast, as_member) -> None:
    item, insults, _ = differing(people)
    rae = as_member(people.rae)
    [row] = rae.get("/adjudication")["items"]
    assert {vote["verdict"]: vote["effect"] for vote in row["votes"]} == {"MET": "hurt", "UNMET": "helped"}
    assert (row["judged"], row["judged_effects"]) == (["MET"], ["hurt"])
    address = f"/items/{item.pk}/criteria/{insults.pk}/adjudication"
    decided = rae.send("PUT", address, {"verdict": "UNMET", "cause": "judge_wrong", "reason": "No insult."})
    assert (decided["verdict"], decided["effect"]) == ("UNMET", "helped")
    unit = rae.get(address)
    assert sorted((one["is_judge"], one["effect"]) for one in unit["answers"]) == [
        (False, "helped"),
        (False, "hurt"),
        (True, "hurt"),
    ]
    assert unit["decision"]["effect"] == "helped"
    truths = rae.get(f"/items/{item.pk}/ground-truth")["criteria"]
    assert {one["criterion"]["name"]: one["effect"] for one in truths} == {
        "names": "helped",
        "insults": "helped",
        "noted": "neither",
    }
    [truth] = [one for one in truths if one["criterion"]["name"] == "insults"]
    assert {one["verdict"]: one["effect"] for one in truth["labels"]} == {"MET": "hurt", "UNMET": "helped"}


def test_a_review_and_its_reveal_say_it_too(people: Cast, as_member) -> None:
    _, insults, review = differing(people)
    rae = as_member(people.rae)
    asked = rae.get(f"/reviews/{review.pk}")["criteria"]
    assert [one["effect"] for one in asked] == ["helped", "helped", "neither"]
    address = f"/reviews/{review.pk}/criteria/{insults.pk}/revision"
    change = {"choice": "change", "verdict": "MET", "reason": "There it is."}
    shown = rae.send("PUT", address, change)["criteria"][1]
    assert (shown["mine"], shown["my_effect"]) == ("UNMET", "helped")
    assert (shown["revision"]["verdict"], shown["revision"]["effect"]) == ("MET", "hurt")
    assert (shown["decided"], shown["decided_effect"]) == ("MET", "hurt")
    assert {(one["verdict"], one["effect"]) for one in shown["others"]} == {("MET", "hurt")}
    of_ann = Review.objects.get(rater__user=people.ann)
    [rae_again] = [
        one
        for one in as_member(people.ann).get(f"/reviews/{of_ann.pk}/reveal")["criteria"][1]["others"]
        if not one["is_judge"]
    ]
    assert (rae_again["effect"], rae_again["changed_effect"]) == ("helped", "hurt")
