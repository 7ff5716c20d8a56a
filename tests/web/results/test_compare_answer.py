"""Compare answers first: one sentence, one picture, criteria by what needs work, all else in a fold."""

import csv
import html
import io
import re
from dataclasses import replace

import pytest
from django.urls import reverse

from rubricweb.web.comparison.answer import comparison_answer
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.selectors.comparison.words import made

# Twenty items, two criteria, three people. Of "right" everybody says MET, and so does the judge. Of "kind"
# people say MET on the first ten items, the judge on all twenty.
CRITERIA = [
    {"name": "right", "weight": 1, "requirement": "Is right."},
    {"name": "kind", "weight": 1, "requirement": "Is kind."},
]
NAMES = ("Xenia", "Yusuf", "Zoltan")


@pytest.fixture
def run(people: Cast):
    version = factories.version(people.team, people.ed, title="Replies", criteria=CRITERIA)
    items = [{"id": str(key), "submission": f"Text {key}"} for key in range(20)]
    data = factories.dataset(people.team, people.ed, items=items, name="replies")
    lines = ["item_id,criterion,rater,verdict,reason"]
    for key in range(20):
        for name in NAMES:
            lines.append(f"{key},right,{name},{'MET' if key % 2 else 'UNMET'},seen")
            lines.append(f"{key},kind,{name},{'MET' if key < 10 else 'UNMET'},seen")
    factories.import_labels(
        data, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )

    def judge(requirement: str, response: str) -> str:
        key = int(response.strip().split()[-1])
        return "MET" if "kind" in requirement or key % 2 else "UNMET"

    return grade(
        factories.run(people.team, people.ed, dataset=data, rubric_version=version), InProcessJudge(judge)
    )


def page(people: Cast, client, **query) -> str:
    answer = client.get(reverse("compare", args=[people.team.slug]), query)
    assert answer.status_code == 200, answer.content.decode()[:500]
    return html.unescape(answer.content.decode())


def before_the_fold(content: str) -> str:
    return content.split('id="all-figures"')[0]


def rows(content: str) -> list[str]:
    return re.findall(r'<tr id="criterion-\d+".*?table__link"[^>]*>(\w+)<', content, flags=re.DOTALL)


def test_the_sentence_comes_before_every_figure(people, sign_in, run) -> None:
    content = page(people, sign_in(people.bob))
    # People pass 20 of 40, the judge 30: 75 % and 50 %; kind alone is told after Holm.
    sentence = content.index("This judge passes 75% where people pass 50%.")
    assert content.index("Judge against people</h1>") < sentence < content.index("Accuracy")
    assert "It is too lenient on 1 of 2 criteria." in before_the_fold(content)
    # The judge agrees with all three on 30 of 40 and a person with the other two on all.
    assert "Too lenient" in before_the_fold(content)


def test_criteria_stand_by_what_needs_work(people, sign_in, run) -> None:
    bob = sign_in(people.bob)
    assert rows(page(people, bob)) == ["kind", "right"]
    assert rows(page(people, bob, by="agreement")) == ["kind", "right"]
    by_agreement = page(people, bob, by="agreement")
    assert "Criteria, widest gap first" in by_agreement
    assert "Criteria, largest bias first" in page(people, bob)


def test_a_row_opens_with_which_way_they_differ_and_an_example(people, sign_in, run) -> None:
    bob, kind = sign_in(people.bob), run.rubric_version.criteria.get(name="kind")
    assert "people say unmet" not in page(people, bob)
    opened = page(people, bob, criterion=kind.pk)
    assert "In 10 of 10 disagreements people say unmet and the judge met." in opened
    # The example is an item of its own with the judge's reason, and its link.
    assert reverse("compare_item", args=[people.team.slug, run.dataset.items.get(key="10").pk]) in opened


def test_a_bias_of_options_alone_has_no_picture_of_pass_rates() -> None:
    # The judge gives 60 of 100 more credit, of options, which no rate of passing tells.
    biased = made.comparison({"MET MET": 30, "UNMET MET": 60, "UNMET UNMET": 10})
    told = comparison_answer(biased)
    assert told is not None
    assert [row.name for row in told.picture.rows] == ["People", "The judge"]
    nothing = replace(biased.rates, people=made.NOTHING, judge=made.NOTHING)
    answer = comparison_answer(replace(biased, rates=nothing))
    assert answer is not None
    assert answer.verdict.sentence == "This judge’s answers score 0.60 higher than people’s."
    assert not answer.picture.title.startswith("Share")


def test_the_example_has_the_reason_of_the_judge_that_is_compared(people, sign_in, run) -> None:
    other = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version)
    grade(other, InProcessJudge(lambda requirement, response: "UNMET"))
    kind = run.rubric_version.criteria.get(name="kind")
    # Of kind people say UNMET from the eleventh item on, where the first judge says MET and the other UNMET.
    shown = page(people, sign_in(people.bob), run=run.pk, criterion=kind.pk)
    assert "“judge says MET”" in before_the_fold(shown)
    assert "“judge says UNMET”" not in before_the_fold(shown)


def test_raw_scores_are_drawn_inside_the_drawing(people, sign_in, run) -> None:
    raw = factories.run(
        people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version, normalize=False
    )
    grade(raw, InProcessJudge(lambda requirement, response: "MET"))
    drawn = page(people, sign_in(people.bob), run=raw.pk)
    # 2 of 2 points by the judge: from 4 to 96 % that is the top, whatever people say.
    assert re.findall(r'plot__dot" cx="\S+" cy="([\d.]+)%"', drawn) == ["4"] * 20


def test_a_criterion_that_is_not_there_opens_nothing(people, sign_in, run) -> None:
    assert "disagreements people say" not in page(people, sign_in(people.bob), criterion=10**9)


@pytest.mark.parametrize("query", [{"by": "kappa"}, {"criterion": "kind"}])
def test_what_cannot_be_asked_is_refused_by_name(people, sign_in, run, query) -> None:
    answer = sign_in(people.bob).get(reverse("compare", args=[people.team.slug]), query)
    assert answer.status_code == 400
    assert str(next(iter(query.values()))) in html.unescape(answer.content.decode())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        # Xenia says MET on two items of 20 more than the others: the intervals overlap.
        (2, "No rater is clearly more lenient than another."),
        (20, "Most lenient: Xenia; strictest:"),
    ],
)
def test_the_board_names_the_most_lenient_where_the_labels_tell(
    people, sign_in, more: int, said: str
) -> None:
    version = factories.version(people.team, people.ed, title="Replies", criteria=CRITERIA[:1])
    items = [{"id": str(key), "submission": f"Text {key}"} for key in range(20)]
    data = factories.dataset(people.team, people.ed, items=items, name="replies")
    lines = ["item_id,criterion,rater,verdict"]
    for key in range(20):
        for name in NAMES:
            met = name == NAMES[0] and key < more
            lines.append(f"{key},right,{name},{'MET' if met else 'UNMET'}")
    labels = "\n".join(lines).encode()
    factories.import_labels(data, version, by=people.ed, data=labels, filename="labels.csv")
    queue = people.team.queues.get()
    answer = sign_in(people.rae).get(reverse("queue_agreement", args=[people.team.slug, queue.pk]))
    assert said in html.unescape(answer.content.decode())


def test_the_agreement_board_says_first_whether_people_agree_well_enough(people, sign_in, run) -> None:
    queue = people.team.queues.get()
    answer = sign_in(people.rae).get(reverse("queue_agreement", args=[people.team.slug, queue.pk]))
    content = html.unescape(answer.content.decode())
    # All three say the same of everything. On twenty items that may be chance: the interval begins at 0.66.
    sentence = content.index("Not enough labels to say whether people agree well enough (α 1.00).")
    assert "Interval 0.66 to 1.00; the usual bar is 0.67." in content
    assert (
        sentence < content.index("Criteria, least agreement first") < content.index("Human ceiling, accuracy")
    )


def test_the_figures_go_out_as_a_file(people, sign_in, run) -> None:
    answer = sign_in(people.bob).get(reverse("compare", args=[people.team.slug]), {"format": "csv"})
    assert answer["Content-Disposition"] == f'attachment; filename="comparison-{run.pk}.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    figures = {(row["criterion"], row["figure"]): row for row in rows}
    # 30 of 40 labels alike; of kind the judge passes all twenty items and people ten.
    assert float(figures["", "accuracy"]["value"]) == 0.75
    assert float(figures["kind", "rate_judge"]["value"]) == 1.0
    assert float(figures["kind", "rate_people"]["value"]) == 0.5
    assert (figures["kind", "bias"]["weight"], figures["kind", "bias"]["n"]) == ("1.0", "20")
    assert float(figures["right", "seat_kappa_difference"]["value"]) == 0.0


def test_another_format_is_refused_by_name(people, sign_in, run) -> None:
    answer = sign_in(people.bob).get(reverse("compare", args=[people.team.slug]), {"format": "xlsx"})
    assert answer.status_code == 400
    assert "csv, or nothing for the page" in html.unescape(answer.content.decode())
