"""Examples in a run: drawn from decided labels, frozen, never from what is graded."""

import pytest

from rubricweb.errors import Invalid
from rubricweb.models import Dataset, Item, ReviewQueue, RubricVersion, Run
from rubricweb.services import adjudications
from rubricweb.services.runs.few_shot import FewShot
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

CRITERIA = [
    {"name": "paris", "weight": 4.0, "requirement": "Names Paris."},
    {
        "name": "tone",
        "weight": 6.0,
        "requirement": "How friendly is the tone?",
        "options": [{"label": "Cold", "value": 0.0}, {"label": "Warm", "value": 1.0}],
    },
]
LABELLED = [{"id": f"dev {n}", "submission": f"Development text {n}."} for n in range(4)]
GRADED = [{"id": f"test {n}", "submission": f"Test text {n}."} for n in range(3)]
LABELS = """\
item_id,criterion,rater,verdict,reason
dev 0,paris,x,MET,Because zero names it.
dev 1,paris,x,UNMET,Because one does not.
dev 2,paris,x,MET,
dev 2,paris,y,UNMET,
dev 3,paris,x,CANNOT_ASSESS,
"""


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def graded(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed, name="to grade", items=GRADED)


@pytest.fixture
def labelled(people: Cast, version: RubricVersion) -> ReviewQueue:
    dataset = factories.dataset(people.team, people.ed, name="labelled", items=LABELLED)
    return factories.import_labels(
        dataset, version, by=people.ed, data=LABELS.encode(), filename="labels.csv"
    )


def planned(people: Cast, graded: Dataset, version: RubricVersion, asked: FewShot, **options) -> Run:
    return factories.run(
        people.team,
        people.ed,
        dataset=graded,
        rubric_version=version,
        few_shot_from=asked,
        **options,
    )


def answer(name: str, requirement: str, response: str) -> str:
    return "MET" if "Paris" in requirement else "Warm"


def test_decided_labels_are_shown_and_ties_and_abstentions_are_not(
    people: Cast, graded: Dataset, version: RubricVersion, labelled: ReviewQueue
) -> None:
    run = planned(people, graded, version, FewShot(labelled.dataset, n=5))
    assert run.few_shot is not None
    keys = labelled.dataset.items.in_bulk(run.few_shot.item_ids)
    assert sorted(item.key for item in keys.values()) == ["dev 0", "dev 1"]
    judge = LabelJudge(answer)
    grade(run, judge)
    about_paris = [prompt.user for prompt in judge.prompts if "Names Paris." in prompt.user]
    assert len(about_paris) == 3
    for user in about_paris:
        assert "Development text 0." in user
        assert "Because one does not." in user
        assert "Development text 2." not in user
        assert "Development text 3." not in user
    # Nobody labelled the tone.
    assert not any("<examples>" in prompt.user for prompt in judge.prompts if "Paris" not in prompt.user)


def test_an_adjudication_stands_above_the_majority(
    people: Cast, graded: Dataset, version: RubricVersion, labelled: ReviewQueue
) -> None:
    item, criterion = labelled.dataset.items.get(key="dev 2"), version.criteria.get(name="paris")
    adjudications.adjudicate(
        item, criterion, by=people.rae, verdict="UNMET", cause="human_wrong", reason="It is Lyon."
    )
    # Nobody labelled the tone in the queue: what was decided of it is no example from there.
    tone = version.criteria.get(name="tone")
    adjudications.adjudicate(item, tone, by=people.rae, verdict="Warm", cause="human_wrong")
    run = planned(people, graded, version, FewShot(labelled.dataset, queue=labelled, n=5))
    assert run.few_shot is not None
    assert {one.criterion for one in run.few_shot.examples} == {criterion.pk}
    shown = {one.item: (one.label, one.reason) for one in run.few_shot.examples}
    assert shown[item.pk] == ("UNMET", "It is Lyon.")


def test_what_is_decided_after_the_start_changes_nothing(
    people: Cast, graded: Dataset, version: RubricVersion, labelled: ReviewQueue
) -> None:
    run = planned(people, graded, version, FewShot(labelled.dataset, n=5))
    item, criterion = labelled.dataset.items.get(key="dev 0"), version.criteria.get(name="paris")
    adjudications.adjudicate(
        item, criterion, by=people.rae, verdict="UNMET", cause="human_wrong", reason="Changed my mind."
    )
    judge = LabelJudge(answer)
    grade(run, judge)
    assert not any("Changed my mind." in prompt.user for prompt in judge.prompts)


def test_the_same_seed_draws_the_same_items(
    people: Cast, graded: Dataset, version: RubricVersion, labelled: ReviewQueue
) -> None:
    draws = [
        planned(people, graded, version, FewShot(labelled.dataset, labelled, n=1, seed=seed)).few_shot
        for seed in (3, 3)
    ]
    assert draws[0] == draws[1]
    assert draws[0] is not None
    assert (draws[0].n, draws[0].seed, draws[0].queue_id) == (1, 3, labelled.pk)
    assert len(draws[0].examples) == 1


def test_items_that_are_to_be_graded_are_refused_whatever_they_are_called(
    people: Cast, version: RubricVersion, labelled: ReviewQueue
) -> None:
    by_words = [{"id": "elsewhere", "submission": "Development  text 1."}]
    by_id = [{"id": "dev 0", "submission": "Something else."}]
    for name, items, key in (("by words", by_words, "dev 1"), ("by id", by_id, "dev 0")):
        graded = factories.dataset(people.team, people.ed, name=name, items=items)
        with pytest.raises(Invalid, match=f"1 items that are to be graded \\({key}\\)") as refusal:
            planned(people, graded, version, FewShot(labelled.dataset))
        assert refusal.value.faults[0].place == "few_shot.dataset"
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"n": 0}, "few_shot.n", "found 0; allowed: 1 to 20"),
        ({"n": 21}, "few_shot.n", "found 21"),
        ({"seed": -1}, "few_shot.seed", "a whole number from 0"),
    ],
)
def test_numbers_out_of_range_are_refused(
    people: Cast, graded, version, labelled, change, place: str, said: str
) -> None:
    with pytest.raises(Invalid, match=said) as refusal:
        planned(people, graded, version, FewShot(labelled.dataset, **change))
    assert refusal.value.faults[0].place == place


def test_a_sealed_test_half_is_refused(
    people: Cast, graded: Dataset, version: RubricVersion, labelled: ReviewQueue
) -> None:
    dataset = labelled.dataset
    dataset.sealed_as, dataset.seal, dataset.seal_salt = "test", "0" * 64, "0" * 32
    dataset.save()
    with pytest.raises(Invalid, match="sealed as a test split"):
        planned(people, graded, version, FewShot(dataset))


def shown_keys(run: Run) -> set[str]:
    assert run.few_shot is not None
    return {item.key for item in Item.objects.filter(pk__in=run.few_shot.item_ids)}


def test_no_example_is_drawn_from_a_test_case(
    people: Cast, graded: Dataset, version: RubricVersion, labelled: ReviewQueue
) -> None:
    labelled.dataset.cases.filter(key="dev 0").update(half="test")
    assert shown_keys(planned(people, graded, version, FewShot(labelled.dataset, n=5))) == {"dev 1"}
    labelled.dataset.cases.update(half="test")
    with pytest.raises(Invalid, match="all of a test split or graded by the run; allowed: labelled cases"):
        planned(people, graded, version, FewShot(labelled.dataset))


def test_no_example_is_drawn_from_a_case_the_run_grades(
    people: Cast, version: RubricVersion, labelled: ReviewQueue
) -> None:
    with pytest.raises(Invalid, match="all of a test split or graded by the run") as refusal:
        planned(people, labelled.dataset, version, FewShot(labelled.dataset))
    assert refusal.value.faults[0].place == "few_shot.dataset"
    chosen = [labelled.dataset.items.get(key="dev 0").pk]
    run = planned(people, labelled.dataset, version, FewShot(labelled.dataset, n=5), item_ids=chosen)
    assert shown_keys(run) == {"dev 1"}


def test_no_example_is_drawn_from_a_case_of_which_another_versions_answer_is_graded(
    people: Cast, version: RubricVersion
) -> None:
    """Both versions answer a and b; people labelled v1's. A run over v2's answer to a may show b alone."""
    rows = [
        {"case_id": case, "prompt": f"{case}?", "system": f"bot@{v}", "submission": f"{v} on {case}"}
        for v in ("v1", "v2")
        for case in "ab"
    ]
    dataset = factories.dataset(people.team, people.ed, name="two", items=rows)
    of = {(item.system_version.label, item.case.key): item for item in dataset.items.all()}
    lines = ["item_id,criterion,rater,verdict,reason"]
    lines += [f"{of['v1', case].key},paris,x,MET,so" for case in "ab"]
    factories.import_labels(
        dataset, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )
    run = planned(people, dataset, version, FewShot(dataset, n=5), item_ids=[of["v2", "a"].pk])
    assert shown_keys(run) == {of["v1", "b"].key}


def test_an_example_with_the_words_of_what_is_graded_is_left_out(
    people: Cast, version: RubricVersion
) -> None:
    rows = [{"id": "a", "submission": "The same."}, {"id": "b", "submission": "The same."}, LABELLED[1]]
    dataset = factories.dataset(people.team, people.ed, name="same words", items=rows)
    labels = b"item_id,criterion,rater,verdict,reason\nb,paris,x,MET,\ndev 1,paris,x,UNMET,"
    factories.import_labels(dataset, version, by=people.ed, data=labels, filename="labels.csv")
    chosen = [dataset.items.get(key="a").pk]
    run = planned(people, dataset, version, FewShot(dataset, n=5), item_ids=chosen)
    assert shown_keys(run) == {"dev 1"}


def test_a_dataset_nobody_labelled_a_queue_elsewhere_and_a_holistic_judge_are_refused(
    people: Cast, graded: Dataset, version: RubricVersion, labelled: ReviewQueue
) -> None:
    bare = factories.dataset(people.team, people.ed, name="bare", items=[{"id": "b", "submission": "Bare."}])
    with pytest.raises(Invalid, match="without a decided label"):
        planned(people, graded, version, FewShot(bare))
    with pytest.raises(Invalid, match="a queue over bare"):
        planned(people, graded, version, FewShot(bare, labelled))
    with pytest.raises(Invalid, match="per_criterion, one_shot"):
        planned(people, graded, version, FewShot(labelled.dataset), autograder="rubric_as_judge")


def test_an_item_with_its_own_rubric_is_shown_no_examples(
    people: Cast, version: RubricVersion, labelled: ReviewQueue
) -> None:
    own = [{"name": "only", "weight": 1, "requirement": "Has its own rubric."}]
    items = [*GRADED[:1], {"id": "own", "submission": "Own.", "rubric": own}]
    graded = factories.dataset(people.team, people.ed, name="some own", items=items)
    judge = LabelJudge(answer)
    grade(planned(people, graded, version, FewShot(labelled.dataset, n=2)), judge)
    with_examples = {"<examples>" in prompt.user for prompt in judge.prompts if "own rubric" in prompt.user}
    assert with_examples == {False}
