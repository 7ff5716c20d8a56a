"""The dashboard and the export page as people get them."""

import csv
import io
import json
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Run, User
from rubricweb.services.runs import control
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade
from tests.worlds.remembered import remembered

LABELS = "item_id,criterion,rater,verdict,reason\ngood,capital,x,MET,=1+1\nbad,capital,x,UNMET,\n"


@pytest.fixture
def graded(people: Cast) -> Run:
    return remembered(("dashboard pages", people.team.pk), lambda: grade_and_label(people))


def grade_and_label(people: Cast) -> Run:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="First run")
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    factories.import_labels(dataset, version, by=people.ed, data=LABELS.encode(), filename="labels.csv")
    return run


def board(people: Cast, sign_in, **query: str):
    """Of every dataset, where none is asked for."""
    return sign_in(people.bob).get(reverse("dashboard", args=[people.team.slug]), {"dataset": "all"} | query)


def drawn(answer) -> list[list[tuple[str, float | None]]]:
    """Each line of the chart, that of the judge in use last, as the column and the value of each point."""
    chart = answer.context["chart"]
    return [
        [(chart.columns[point.column].name, point.figure.value) for point in line.points]
        for line in chart.lines
    ]


def test_a_run_is_a_point_with_interval_and_coverage(people: Cast, sign_in, graded: Run) -> None:
    answer = board(people, sign_in)
    page = answer.content.decode()
    # Every criterion MET: (10 + 5 − 15) / 15 = 0 for each of the three items.
    assert "First run" in page
    assert "0.00" in page
    assert "100%" in page
    assert drawn(answer) == [[("First run", 0.0)]]
    assert "First run scores 0.00." in page
    assert "No review waits for you." in page


def test_people_stand_beside_the_judge_per_criterion(people: Cast, sign_in, graded: Run) -> None:
    rates = board(people, sign_in).context["board"].pass_rates
    assert [(row.criterion.name, row.judge.value, row.people.value) for row in rates] == [
        ("capital", 1.0, 0.5),
        ("concise", 1.0, None),
        ("wrong_country", 1.0, None),
    ]


def test_the_page_says_that_labels_of_a_file_describe_their_own_items(
    people: Cast, sign_in, graded: Run
) -> None:
    page = " ".join(board(people, sign_in).content.decode().split())
    assert (
        "by people, the mean over items of what their raters said, with 95 % intervals. People: These "
        "figures describe 2 labelled items alone, which are no random sample: the labels of"
    ) in page


def test_the_chart_goes_out_as_csv(people: Cast, sign_in, graded: Run) -> None:
    answer = board(people, sign_in, format="csv")
    assert answer["Content-Disposition"].startswith("attachment")
    [row] = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert (row["dataset"], row["mean_score"], row["items"]) == ("capital answers", "0.0", "3")


def test_a_filter_that_fits_no_run_says_so(people: Cast, sign_in, graded: Run) -> None:
    assert "No run fits this filter" in board(people, sign_in, dataset="999999999").content.decode()


@pytest.mark.parametrize("value", ["x", "1__gt", "-1", "9" * 30])
def test_a_filter_that_is_no_number_is_refused(people: Cast, sign_in, value: str) -> None:
    assert board(people, sign_in, dataset=value).status_code == 400


def test_a_blind_rater_sees_no_rates_of_people(people: Cast, sign_in, graded: Run) -> None:
    factories.queue(
        people.team,
        people.ed,
        dataset=graded.dataset,
        rubric_version=graded.rubric_version,
        raters=[people.ann],
    )
    answer = sign_in(people.ann).get(reverse("dashboard", args=[people.team.slug]))
    board = answer.context["board"]
    assert (board.pass_rates, board.trends) == ((), ())
    page = " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())
    assert "3 Reviews First look · blind until you submit" in page
    assert "The score of First run is hidden until you finish your reviews." in page
    assert "Nothing to draw until you have reviewed" in page
    assert "Pass rate by criterion Hidden until you finish your reviews of First run ." in page
    assert "undefined" not in page.partition("Pass rate by criterion")[2]


def test_a_team_whose_runs_have_no_scores_is_not_told_that_it_has_none(people: Cast, sign_in) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    control.cancel_run(run, by=people.ed, now=timezone.now())
    assert "No runs yet" not in board(people, sign_in).content.decode()


def download(people: Cast, sign_in, user, **query):
    return sign_in(user).get(reverse("export_download", args=[people.team.slug]), query)


def test_verdicts_are_downloaded_as_they_were_given(people: Cast, sign_in, graded: Run) -> None:
    queue = people.team.queues.get()
    query = {"dataset": graded.dataset_id, "queues": queue.pk, "run": graded.pk, "what": "verdicts"}
    answer = download(people, sign_in, people.bob, **query, format="jsonl")
    rows = [json.loads(line) for line in b"".join(answer.streaming_content).decode().splitlines()]
    assert len(rows) == 2 + 9
    assert rows[0]["reason"] == "=1+1"
    answer = download(people, sign_in, people.bob, **query, format="csv")
    assert "'=1+1" in b"".join(answer.streaming_content).decode()
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"] == 'attachment; filename="capital-answers-verdicts.csv"'


def test_ground_truth_without_labels_is_refused_on_the_form(people: Cast, sign_in, graded: Run) -> None:
    answer = download(
        people, sign_in, people.bob, dataset=graded.dataset_id, what="ground_truth", format="jsonl"
    )
    assert answer.status_code == 422
    assert "choose at least one queue" in answer.content.decode()


def test_a_blind_rater_cannot_download_what_they_must_not_see(people: Cast, sign_in, graded: Run) -> None:
    factories.queue(
        people.team,
        people.ed,
        dataset=graded.dataset,
        rubric_version=graded.rubric_version,
        raters=[people.ann],
    )
    query = {"dataset": graded.dataset_id, "run": graded.pk, "what": "verdicts", "format": "jsonl"}
    answer = download(people, sign_in, people.ann, **query)
    assert answer.status_code == 403
    assert "verdicts of 3 items are left out" in answer.content.decode()


def test_another_teams_run_cannot_be_named(people: Cast, sign_in, graded: Run) -> None:
    version = factories.version(people.other_team, people.charlie)
    theirs = factories.run(
        people.other_team,
        people.charlie,
        dataset=factories.dataset(people.other_team, people.charlie),
        rubric_version=version,
    )
    query = {"dataset": graded.dataset_id, "run": theirs.pk, "what": "verdicts", "format": "csv"}
    assert download(people, sign_in, people.bob, **query).status_code == 422


def test_runs_are_joined_by_dataset_rubric_version_judge_and_autograder_only(
    people: Cast, sign_in, graded: Run
) -> None:
    later = factories.dataset(people.team, people.ed, name="later answers")
    for autograder in ("per_criterion", "one_shot"):
        run = factories.run(
            people.team,
            people.ed,
            dataset=later,
            rubric_version=graded.rubric_version,
            autograder=autograder,
        )
        grade(run, InProcessJudge(lambda requirement, response: "MET"))
    answer = board(people, sign_in)
    # Three series; that of the newest run that scored something is the judge in use, drawn last. The one-shot
    # run (all errors) has no mean.
    assert drawn(answer) == [[("First run", 0.0)], [("Run 3", None)], [("Run 2", 0.0)]]
    chart = answer.context["chart"]
    assert [column.name for column in chart.columns] == ["First run", "Run 2", "Run 3"]
    assert [(line.kind, line.label.partition(" · ")[2]) for line in chart.lines] == [
        ("old", "capital answers · criterion by criterion"),
        ("old", "later answers · all criteria at once"),
        ("judge", "later answers · criterion by criterion"),
    ]
    assert [one.column for line in chart.lines for one in line.path] == [0, 1]
    assert "plot__line" not in answer.content.decode()


def test_agreement_with_people_stands_beside_the_score(people: Cast, sign_in, graded: Run) -> None:
    agreement = board(people, sign_in).context["board"].agreement
    # People said MET and UNMET, the judge MET twice: accuracy ½, expected ½, κ = 0.
    assert (agreement.run, agreement.overall.kappa.value, agreement.overall.kappa.n) == (graded, 0.0, 2)


@pytest.mark.parametrize("narrowed", [False, True])
def test_what_is_missing_for_agreement_is_asked_of_whoever_can_do_it(
    people: Cast, sign_in, narrowed: bool
) -> None:
    """Nobody has labelled anything, or with a filter: only another dataset."""
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    other = factories.dataset(people.team, people.ed, name="Other answers")
    if narrowed:
        factories.import_labels(other, version, by=people.ed, data=LABELS.encode(), filename="labels.csv")
    url = reverse("dashboard", args=[people.team.slug])

    def said(user: User) -> str:
        page = sign_in(user).get(url, {"dataset": dataset.pk if narrowed else "all"}).content.decode()
        return " ".join(page.partition('id="judge-title"')[2].partition("</section>")[0].split())

    asks_editors = "Have 3 items labelled" if narrowed else "Open a review queue over"
    assert asks_editors in said(people.ed)
    assert "An editor can open a review queue." in said(people.ann)
    asked = {"rubric_version": version, "raters": [people.ann]}
    if narrowed:
        factories.queue(people.team, people.ed, dataset=other, name="Elsewhere", **asked)
        assert "An editor can open a review queue." in said(people.ann)
    factories.queue(people.team, people.ed, dataset=dataset, **asked)
    assert "Submit the reviews that wait for you." in said(people.ann)
    assert asks_editors not in said(people.ann)
    assert "An editor can open a review queue." in said(people.bob)


def test_choices_and_numbers_are_no_shares_and_have_no_pooled_kappa(people: Cast, sign_in) -> None:
    options = [{"label": "Poor", "value": 0.0}, {"label": "Good", "value": 1.0}]
    criteria = [
        {"name": "tone", "weight": 1.0, "requirement": "How warm is it?", "options": options},
        {"name": "short", "weight": 0.0, "check": "length_between", "params": {"max": 40}},
    ]
    version = factories.version(people.team, people.ed, criteria=criteria)
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, LabelJudge(lambda name, requirement, response: "Good"))
    labels = "item_id,criterion,rater,verdict,reason\ngood,tone,x,Good,\nbad,tone,x,Poor,\n"
    factories.import_labels(dataset, version, by=people.ed, data=labels.encode(), filename="labels.csv")
    page = " ".join(board(people, sign_in).content.decode().split())
    assert f'each choice has its own κ. <a href="/t/capitals/compare/?run={run.pk}">Look at them' in page
    rates = page.partition('id="rates-title"')[2].partition("</table>")[0]
    # Every item is short, and the judge says Good of each; people say it of half.
    assert rates.count(">1.00") == 2
    assert rates.count(">0.50") == 1
    assert rates.count("<svg") == 1  # a check of weight 0 may be any number, beyond the end of a bar


def test_the_dashboard_takes_as_many_queries_however_many_runs(
    people: Cast, sign_in, graded: Run, django_assert_max_num_queries
) -> None:
    for _ in range(4):
        run = factories.run(
            people.team, people.ed, dataset=graded.dataset, rubric_version=graded.rubric_version
        )
        grade(run, InProcessJudge(lambda requirement, response: "MET"))
    client, url = sign_in(people.bob), reverse("dashboard", args=[people.team.slug])
    client.get(url)
    with django_assert_max_num_queries(55):
        client.get(url)
