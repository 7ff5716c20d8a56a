"""Exported verdicts stand under the question they count for, whatever it is called in the version they
were given to.
"""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import pytest

from rubricweb.models import Criterion, Dataset, ReviewQueue, RubricVersion, Run
from rubricweb.selectors.labels.ground_truth import ground_truth
from rubricweb.services import exports
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.versions import changed, said

UNNAMED = [{"requirement": "Is polite."}, {"requirement": "Is clear."}]


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed, items=[{"id": "a", "submission": "Hello."}])


@pytest.fixture
def first(people: Cast) -> RubricVersion:
    """C1 is "Is polite.", C2 "Is clear."."""
    return factories.version(people.team, people.ed, criteria=UNNAMED)


def with_one_above(version: RubricVersion) -> RubricVersion:
    """The next version: C1 is "Names the rule.", C2 "Is polite.", C3 "Is clear."."""
    rubric = version.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    draft = {**rubric.draft, "criteria": [{"requirement": "Names the rule."}, *rubric.draft["criteria"]]}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    return rubrics.publish(rubric, by=None)


def labelled(people: Cast, dataset: Dataset, version: RubricVersion, rater: str, *told: str) -> ReviewQueue:
    """What a rater said of the item, criterion by criterion; "MET>UNMET" was changed after the reveal."""
    lines = ["item_id,criterion,rater,verdict,final_verdict"]
    for criterion, verdict in zip(version.criteria.order_by("position"), told, strict=True):
        before, _, after = verdict.partition(">")
        lines.append(f"a,{criterion.name},{rater},{before},{after}")
    name = f"{rater} on {version} ({version.pk})"
    return factories.import_labels(
        dataset, version, by=people.ed, data="\n".join(lines).encode(), filename="l.csv", queue_name=name
    )


def exported(
    people: Cast, dataset: Dataset, queues: Sequence[ReviewQueue], format: str, run: Run | None = None
) -> bytes:
    made = exports.export(
        people.team,
        viewer=people.bob,
        dataset=dataset,
        what="verdicts",
        format=format,
        queues=queues,
        run=run,
    )
    return "".join(map(str, made.chunks)).encode()


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def read(data: bytes, *columns: str) -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in columns) for row in table(data)]


def elsewhere(
    people: Cast, version: RubricVersion, data: bytes, filename: str = "back.csv", **options: Any
) -> dict[str, str | None]:
    """What is settled where nobody has said anything yet, by the words of the criteria, from this file."""
    item = [{"id": "a", "submission": "Hello."}]
    dataset = factories.dataset(people.team, people.ed, items=item, name=f"elsewhere {filename}")
    back = factories.import_labels(dataset, version, by=people.ed, data=data, filename=filename, **options)
    words = dict(Criterion.objects.values_list("pk", "requirement"))
    return {words[criterion]: truth.verdict for (_, criterion), truth in ground_truth([back]).items()}


def test_a_label_stands_under_the_criterion_of_the_version_it_counts_for(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    queue = labelled(people, dataset, first, "zed", "MET", "UNMET")
    second = with_one_above(first)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=second)
    grade(run, InProcessJudge(lambda question, answer: "MET" if "polite" in question else "UNMET"))
    wide = exported(people, dataset, [queue], "wide", run)
    assert read(wide, "rater_kind", "C1", "C2", "C3") == [
        ("human", "", "MET", "UNMET"),
        ("judge", "UNMET", "MET", "UNMET"),
    ]
    long = exported(people, dataset, [queue], "csv", run)
    uids = dict(second.criteria.values_list("name", "uid"))
    by_zed = [row for row in table(long) if row["rater"] == "zed"]
    assert [(row["criterion"], row["criterion_id"], row["verdict"], row["counts_by"]) for row in by_zed] == [
        ("C2", uids["C2"], "MET", "same words"),
        ("C3", uids["C3"], "UNMET", "same words"),
    ]
    # Given to the first version, read by the second.
    assert {(row["rubric_version"], row["rubric"]) for row in by_zed} == {("1", "Capitals v2")}


@pytest.mark.parametrize("format", ["csv", "jsonl", "wide"])
def test_each_question_gets_its_own_labels_again(
    people: Cast, dataset: Dataset, first: RubricVersion, format: str
) -> None:
    ann = labelled(people, dataset, first, "Ann", "MET", "UNMET")
    second = with_one_above(first)
    ben = labelled(people, dataset, second, "ben", "UNMET", "MET", "MET")
    data = exported(people, dataset, [ann, ben], format)
    assert elsewhere(people, second, data, "back.jsonl" if format == "jsonl" else "back.csv") == {
        "Names the rule.": "UNMET",
        "Is polite.": "MET",
        "Is clear.": None,
    }


def test_a_renamed_and_reweighted_criterion_has_one_column_one_weight_and_one_effect(
    people: Cast, dataset: Dataset
) -> None:
    first = factories.version(
        people.team, people.ed, criteria=[{"name": "polite", "requirement": "Is polite.", "weight": 1}]
    )
    ann = labelled(people, dataset, first, "Ann", "MET")
    assert first.rubric is not None
    second = changed(first.rubric, said(name="courteous", weight=-2, group="Manners"))
    ben = labelled(people, dataset, second, "ben", "MET")
    wide = table(exported(people, dataset, [ann, ben], "wide"))
    assert list(wide[0]) == ["item_id", "rater", "rater_kind", "run", "courteous"]
    long = exported(people, dataset, [ann, ben], "csv")
    assert read(long, "rater", "criterion", "group", "weight", "effect") == [
        ("Ann", "courteous", "Manners", "-2.0", "hurt"),
        ("ben", "courteous", "Manners", "-2.0", "hurt"),
    ]


def test_a_label_carried_to_another_option_is_written_as_what_it_counts_as(
    people: Cast, dataset: Dataset
) -> None:
    tone = {"name": "tone", "requirement": "How friendly?"}
    before = [{"label": "plain", "value": 0}, {"label": "warm", "value": 1}, {"label": "odd", "value": 0}]
    after = [{"label": "cold", "value": 0.2}, {"label": "kind", "value": 1}]
    first = factories.version(people.team, people.ed, criteria=[{**tone, "options": before}])
    queues = [
        labelled(people, dataset, first, "Ann", "plain>warm"),
        labelled(people, dataset, first, "ben", "odd"),
    ]
    assert first.rubric is not None
    second = changed(first.rubric, said(options=after))
    queues.append(labelled(people, dataset, second, "zed", "kind"))
    mapped = NewLabelDecision("carry", {"plain": "cold", "warm": "kind", "odd": None})
    decide(second, second.criteria.get().uid, mapped, by=people.ed)
    rows = read(
        exported(people, dataset, queues, "csv"), "rater", "criterion", "verdict", "value", "final_verdict"
    )
    # "odd" counts as nothing there: it stays an answer to the earlier question.
    assert sorted(rows) == [
        ("Ann", "tone", "cold", "0.2", "kind"),
        ("ben", "tone (v1)", "odd", "0.0", ""),
        ("zed", "tone", "kind", "1.0", ""),
    ]
    wide = exported(people, dataset, queues, "wide")
    assert sorted(read(wide, "rater", "tone", "tone (v1)", "tone (final)")) == [
        ("Ann", "cold", "", "kind"),
        ("ben", "", "odd", ""),
        ("zed", "kind", "", ""),
    ]


def test_labels_of_other_words_share_no_name_and_no_column(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    ann = labelled(people, dataset, first, "Ann", "MET", "UNMET")
    assert first.rubric is not None
    second = changed(first.rubric, said(requirement="Is rude."))
    ben = labelled(people, dataset, second, "ben", "UNMET", "MET")
    uid = second.criteria.get(name="C1").uid
    assert read(exported(people, dataset, [ann, ben], "csv"), "rater", "criterion", "criterion_id", "rubric")[
        ::2
    ] == [("Ann", "C1 (v1)", f"{uid} (v1)", "Capitals v1"), ("Ann", "C2", *of(second, "C2"))]
    wide = exported(people, dataset, [ann, ben], "wide")
    assert read(wide, "rater", "C1", "C2", "C1 (v1)") == [
        ("Ann", "", "UNMET", "MET"),
        ("ben", "UNMET", "MET", ""),
    ]
    # Read again against the second version, what was said of other words is left out, and said to be.
    data = exported(people, dataset, [ann, ben], "csv")
    assert elsewhere(people, second, data, strict=False) == {"Is rude.": "UNMET", "Is clear.": None}
    # Read by the version it was given to, it has its own name.
    assert read(exported(people, dataset, [ann], "csv"), "criterion") == [("C1",), ("C2",)]


def of(version: RubricVersion, name: str) -> tuple[str, str]:
    return version.criteria.get(name=name).uid, str(version)


def test_criteria_of_two_rubrics_are_told_apart(people: Cast, dataset: Dataset) -> None:
    polite, clear = (
        factories.version(people.team, people.ed, title=title, criteria=[criterion, *more])
        for title, criterion, more in (
            ("Manners", UNNAMED[0], [{"name": "brief", "requirement": "Is brief."}]),
            ("Style", UNNAMED[1], []),
        )
    )
    queues = [
        labelled(people, dataset, polite, "zed", "MET", "MET"),
        labelled(people, dataset, clear, "zed", "UNMET"),
    ]
    rows = [json.loads(line) for line in exported(people, dataset, queues, "jsonl").splitlines()]
    assert sorted((row["criterion"], row["verdict"], row["rubric"]) for row in rows) == [
        ("C1 (Manners v1)", "MET", "Manners v1"),
        ("C1 (Style v1)", "UNMET", "Style v1"),
        ("brief", "MET", "Manners v1"),
    ]
    assert {row["criterion_id"] for row in rows} == {
        *polite.criteria.values_list("uid", flat=True),
        *clear.criteria.values_list("uid", flat=True),
    }
    [line] = table(exported(people, dataset, queues, "wide"))
    assert list(line.values())[4:] == ["MET", "MET", "UNMET"]
    assert list(line)[4:] == ["C1 (Manners v1)", "brief", "C1 (Style v1)"]


def test_a_copied_rubric_shares_no_name_and_no_id_with_its_original(people: Cast, dataset: Dataset) -> None:
    """A copy's criteria keep their ids, and share no labels."""
    original = factories.version(people.team, people.ed, criteria=UNNAMED[:1])
    made = rubrics.copy(original, by=people.ed, title="Capitals")
    made.refresh_from_db()
    copy = rubrics.publish(made, by=people.ed)
    queues = [
        labelled(people, dataset, original, "zed", "MET"),
        labelled(people, dataset, copy, "zed", "UNMET"),
    ]
    for columns in (("criterion",), ("criterion_id",), ("rubric",)):
        assert len(set(read(exported(people, dataset, queues, "csv"), *columns))) == 2


def test_a_wide_table_keeps_what_was_changed_after_the_reveal(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    ann = labelled(people, dataset, first, "Ann", "MET>UNMET", "MET>MET")
    ben = labelled(people, dataset, first, "ben", "UNMET", "MET")
    data = exported(people, dataset, [ann, ben], "wide")
    # Nobody changed C2: its verdicts are final as they are.
    assert list(table(data)[0])[4:] == ["C1", "C2", "C1 (final)"]
    assert read(data, "rater", "C1", "C2", "C1 (final)") == [
        ("Ann", "MET", "MET", "UNMET"),
        ("ben", "UNMET", "MET", ""),
    ]
    assert elsewhere(people, first, data) == {"Is polite.": "UNMET", "Is clear.": "MET"}
    [back] = ReviewQueue.objects.filter(dataset__name="elsewhere back.csv")
    given = back.reviews.filter(judgements__criterion__name="C1")
    assert set(given.values_list("rater__name", "judgements__verdict", "judgements__revision__verdict")) == {
        ("Ann", "MET", "UNMET"),
        ("ben", "UNMET", None),
    }
