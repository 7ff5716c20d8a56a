"""`rubricweb compare RUN --min-kappa X`, and labels that are of other system versions than the run's."""

import json

import pytest

from rubricweb.api.comparison.schemas import Comparison
from rubricweb.models import ReviewQueue
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.reviews.queue_sources import Source
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds import halves
from tests.worlds.systems import Versions, versions

# People say MET of the odd ones of twenty; the judge says otherwise of three odd and two even ones: alike on
# 15, where chance is (10·9 + 10·11) / 400 = 0.5, so κ = (0.75 − 0.5) / 0.5 = 0.5.
WRONG = frozenset({1, 3, 5, 2, 4})


def test_a_judge_below_the_least_kappa_exits_100(people: Cast, at_terminal) -> None:
    rows = [halves.row(number) for number in range(20)]
    dataset = factories.dataset(people.team, people.ed, items=rows)
    criteria = [{"name": "only", "weight": 1, "requirement": "Is right."}]
    version = factories.version(people.team, people.ed, criteria=criteria)
    halves.label(people, dataset, version, range(20), "labels")
    run, bob = halves.judged(people, dataset, version, wrong=WRONG).pk, at_terminal(people.bob)
    assert bob("compare", run, "--min-kappa", "0.5").code == 0
    below = bob("compare", run, "--min-kappa", "0.51", "--json")
    assert (below.code, below.err) == (100, "κ 0.5000 is below --min-kappa 0.51.\n")
    assert json.loads(below.out)["overall"]["kappa"]["value"] == pytest.approx(0.5)
    for nonsense in ("nan", "1.5", "much"):
        assert bob("compare", run, "--min-kappa", nonsense).code == 2
    refused = bob("compare", run, "--with", run, "--min-kappa", "0.5")
    assert (refused.code, "--min-kappa and --with ask for different" in refused.err) == (1, True)
    # Whoever is to review some of it blind sees figures without that, and they decide nothing.
    factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        source=Source("items", item_ids=(dataset.items.get(key="i1").pk,)),
    )
    blind = at_terminal(people.ann)("compare", run, "--min-kappa", "-1")
    assert (blind.code, "no gate can be decided" in blind.err) == (1, True)


def test_a_kappa_that_is_undefined_decides_nothing(people: Cast, at_terminal) -> None:
    dataset = factories.dataset(people.team, people.ed, items=[halves.row(1), halves.row(3)])
    criteria = [{"name": "only", "weight": 1, "requirement": "Is right."}]
    version = factories.version(people.team, people.ed, criteria=criteria)
    factories.import_labels(
        dataset,
        version,
        by=people.ed,
        data=b"item_id,criterion,rater,verdict\ni1,only,x,MET\ni3,only,x,MET\n",
        filename="labels.csv",
        queue_name="labels",
    )
    run = halves.judged(people, dataset, version, wrong=frozenset()).pk
    ended = at_terminal(people.bob)("compare", run, "--min-kappa", "-1")
    assert (ended.code, "κ is undefined, a side gave one and the same verdict" in ended.err) == (1, True)


def label(world: Versions, *lines: str) -> ReviewQueue:
    return factories.import_labels(
        world.dataset,
        world.rubric_version,
        by=world.people.ed,
        data="\n".join(["item_id,criterion,rater,verdict", *lines]).encode(),
        filename="labels.csv",
        queue_name="labels",
    )


def test_labels_of_another_version_are_told_with_what_to_start(people: Cast, at_terminal) -> None:
    world = versions(people)
    run = world.run_over("v4")
    queue = label(world, "c1@assistant@v3,fact,x,MET", "c2@assistant@v3,fact,x,UNMET")
    bob = at_terminal(people.bob)
    ended = bob("compare", run.pk)
    said = " ".join(ended.out.split())
    assert ended.code == 1
    assert f"People labelled answers of assistant@v3; {run} judged those of assistant@v4." in said
    assert "(rubricweb grade … --system assistant@v3 --system assistant@v4)" in said
    assert "2 labels of other versions' answers: the run was not over those." in said
    assert "Nobody has labelled" not in said
    answer = bob("compare", run.pk, "--json")
    assert (answer.code, misfits(Comparison, answer.out)) == (1, [])
    found = json.loads(answer.out)
    assert (found["unavailable"]["code"], found["of_other_systems"]) == ("labels_of_other_systems", 2)
    assert comparison.overview(run, [queue], viewer=people.bob).unavailable.why in said


def test_who_rates_an_answer_to_the_same_case_blind_is_not_told_whose_are_labelled(
    people: Cast, at_terminal
) -> None:
    world = versions(people)
    run = world.run_over("v4")
    label(world, "c1@assistant@v3,fact,x,MET")
    [to_review] = [one.pk for one in world.answers("v4") if one.case.key == "c1"]
    [of_another] = [one.pk for one in world.answers("v3") if one.case.key == "c2"]
    world.queue(name="Blind", source=Source("items", item_ids=(to_review, of_another)))
    said = " ".join(at_terminal(people.ann)("compare", run.pk, "--queue", "labels").out.split())
    assert "left out: still to be reviewed by you, blind." in said
    assert "assistant@v3" not in said


def test_a_judge_that_only_knows_how_often_criteria_are_met_passes_no_gate(people: Cast, at_terminal) -> None:
    rows = [halves.row(number) for number in range(20)]
    dataset = factories.dataset(people.team, people.ed, items=rows)
    criteria = [
        {"name": "often", "weight": 1, "requirement": "Is often so."},
        {"name": "rarely", "weight": 1, "requirement": "Is rarely so."},
    ]
    version = factories.version(people.team, people.ed, criteria=criteria)
    lines = ["item_id,criterion,rater,verdict"]
    for number in range(20):
        often, rarely = ("UNMET", "MET") if number < 2 else ("MET", "UNMET")
        lines += [f"i{number},often,x,{often}", f"i{number},rarely,x,{rarely}"]
    factories.import_labels(
        dataset,
        version,
        by=people.ed,
        data="\n".join(lines).encode(),
        filename="labels.csv",
        queue_name="labels",
    )
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, _: "MET" if "often" in requirement else "UNMET"))
    bob = at_terminal(people.bob)
    gated = bob("compare", run.pk, "--min-kappa", "0.1", "--json")
    assert (gated.code, gated.err) == (100, "κ within criteria 0.0000 is below --min-kappa 0.1.\n")
    shown = json.loads(gated.out)
    # In one table both say MET on half of the units and agree on 36 of 40: (0.9 − 0.5) / 0.5.
    assert shown["overall"]["kappa"]["value"] == pytest.approx(0.8)
    assert shown["within"]["kappa"]["value"] == pytest.approx(0.0)
    assert "Chance counted within each criterion: κ 0" in bob("compare", run.pk).out
