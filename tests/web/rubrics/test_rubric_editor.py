"""The editor's choices, checks, rules, lint and trials, at the HTTP interface."""

import json
import re

import pytest
from django.urls import reverse

from rubricweb.engine import Submission
from rubricweb.engine.checks import CHECKS
from rubricweb.engine.checks.reference import _helper
from rubricweb.errors import Invalid
from rubricweb.models import Rubric
from rubricweb.selectors.rubrics.trials import try_rubric
from rubricweb.selectors.rubrics.versions import checked_draft
from rubricweb.services.rubrics import rubrics
from rubricweb.web.rubrics.check_fields import CheckFields
from rubricweb.web.rubrics.forms import RubricForm
from tests import factories

CHOICE = {
    "name": "tone",
    "weight": 5.0,
    "requirement": "How does the reply treat the customer?",
    "scale_type": "ordinal",
    "options": [
        {"label": "curt", "value": 0},
        {"label": "correct", "value": 0.5},
        {"label": "warm", "value": 1},
        {"label": "not applicable", "na": True},
    ],
    "aggregation": "median",
}
KEYWORDS = {
    "name": "names it",
    "weight": 2.0,
    "check": "contains_keywords",
    "params": {
        "keywords": ["Paris", " of France"],
        "mode": "fraction",
        "match": "substring",
        "case_sensitive": True,
    },
}
SCHEMA = {
    "weight": 1.0,
    "check": "json_schema",
    "params": {"schema": {"type": "object", "required": ["a"]}, "source": "fenced"},
}
EVERYTHING = {
    "title": "Everything",
    "guidelines": "Be fair.",
    "criteria": [
        {"name": "plain", "weight": -2.5, "requirement": "Contains an insult.", "aggregation": "any"},
        CHOICE,
        KEYWORDS,
        SCHEMA,
    ],
    "pass_rule": {"min_score": 0.7, "min_criterion": 0.5},
    "length_penalty": {
        "free_budget": 100,
        "max_cap": 400,
        "penalty_at_cap": 0.5,
        "exponent": 1.6,
        "counts": "OUTPUT_ONLY",
    },
}


@pytest.fixture
def ed(people, sign_in):
    return sign_in(people.ed)


@pytest.fixture
def rubric(people):
    return rubrics.create_rubric(people.team, by=people.ed, title="Everything", draft=EVERYTHING)


@pytest.fixture
def url(people, rubric):
    return lambda name, *args: reverse(name, args=[people.team.slug, rubric.pk, *args])


def as_posted(form: RubricForm, **pressed: str) -> dict[str, str]:
    """What a browser sends for the form as it is shown."""
    posted = {"revision": str(form.revision)}
    for part in (form.head, form.pass_rule, form.length_penalty):
        for field in part:
            if field.value() not in (None, False):
                posted[field.html_name] = "on" if field.value() is True else str(field.value())
    for position, row in enumerate(form.rows, start=1):
        posted |= {row[name].html_name: row.text(name) for name in row.fields}
        posted[f"{row.prefix}-order"] = str(position)
        for place, option in enumerate(row.options, start=1):
            posted[f"{option.prefix}-label"], posted[f"{option.prefix}-value"] = option.label, option.value
            posted[f"{option.prefix}-order"] = str(place)
            posted |= {f"{option.prefix}-na": "on"} if option.na else {}
        posted |= {param.html_name: param.value for param in [*row.params.fields, row.params.rest]}
    return posted | (pressed or {"save": "1"})


def shown(draft: dict) -> RubricForm:
    return RubricForm.from_draft(draft, 0)


def test_who_was_signed_out_meanwhile_keeps_the_form_as_it_is(client, url, rubric):
    posted = as_posted(shown(EVERYTHING))
    answer = client.post(url("rubric_edit"), posted, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.content) == (401, b"")
    assert client.post(url("rubric_edit"), posted).url.startswith(reverse("account_login"))


class TestFormAndDraft:
    def test_a_draft_of_every_kind_comes_back_as_it_was(self, ed, rubric, url):
        form = ed.get(url("rubric_edit")).context["form"]
        assert ed.post(url("rubric_edit"), as_posted(form)).status_code == 302
        rubric.refresh_from_db()
        assert rubric.draft == EVERYTHING

    @pytest.mark.parametrize("format", ["yaml", "json"])
    def test_the_source_of_a_draft_of_every_kind_comes_back_as_it_was(self, ed, rubric, url, format):
        source = ed.get(url("rubric_source"), {"format": format}).context["source"]
        response = ed.post(url("rubric_source"), {"source": source, "revision": rubric.draft_revision})
        assert response.status_code == 302
        rubric.refresh_from_db()
        assert rubric.draft == EVERYTHING

    @pytest.mark.parametrize(
        "entry",
        [
            {"weight": "heavy", "requirement": "", "scale_type": "nominal", "options": []},
            {"weight": 1.0, "requirement": "A", "scale_type": "ordinal", "options": [{"value": "half"}]},
            {"weight": 1.0, "requirement": "A", "scale_type": "ordinal", "options": [{"label": "only"}]},
            {"weight": 1.0, "check": ""},
            {"weight": 1.0, "check": "no_such_check", "params": {"deep": [1, {"a": None}]}},
            {"weight": 1.0, "check": "contains_keywords", "params": {"keywords": "one text", "extra": 1}},
            {"weight": 1.0, "check": "contains_keywords", "params": {"keywords": ["a\nb"]}},
            {"weight": 1.0, "check": "length_between", "params": {"unit": "lines", "min": "5"}},
            {"weight": 1.0, "check": "json_schema", "params": {"schema": "no object", "source": "whole"}},
            {"weight": 1.0, "check": "think_format"},
            {"weight": 1.0, "requirement": "A", "aggregation": "no_such_rule"},
        ],
    )
    def test_what_is_not_valid_yet_is_kept_as_typed(self, entry):
        [kept] = shown({"title": "T", "criteria": [entry]}).draft()["criteria"]
        defaults = {"mode": "all", "match": "substring", "case_sensitive": False, "unit": "characters"}
        params = kept.get("params", {})
        # Parameters with a default are written out, nothing else is added and nothing is changed.
        added = {name: value for name, value in params.items() if name not in entry.get("params", {})}
        assert added.items() <= defaults.items()
        left = {name: value for name, value in params.items() if name not in added}
        assert {**kept, "params": left} == {"params": {}, **entry}

    @pytest.mark.parametrize("name", list(CHECKS))
    def test_every_check_can_be_filled_in_from_its_form(self, name):
        fields = CheckFields(name, "p")
        assert fields.title == CHECKS[name].title
        assert all(field.help and field.label for field in fields.fields)
        again = CheckFields.from_params(name, fields.params(), "p")
        assert again.params() == fields.params()
        assert not again.rest.value

    def test_another_kind_leaves_the_others_fields_out(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"]) | {"criteria-1-kind": "binary"}
        ed.post(url("rubric_edit"), posted)
        rubric.refresh_from_db()
        assert set(rubric.draft["criteria"][1]) == {"name", "weight", "requirement", "aggregation"}

    def test_a_requirement_that_repeats_its_check_follows_the_parameters(self):
        entry = {
            "check": "length_between",
            "params": {"unit": "words", "max": 9},
            "requirement": "Has at most 9 words",
        }
        form = shown({"criteria": [entry]})
        assert form.rows[0].text("requirement") == ""
        content, _ = checked_draft(form.draft())
        assert content.criteria[0].requirement == "Has at most 9 words"

    def test_options_stand_in_the_order_of_their_numbers(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        posted |= {"criteria-1-options-0-order": "3", "criteria-1-options-2-order": "1"}
        ed.post(url("rubric_edit"), posted)
        rubric.refresh_from_db()
        labels = [option["label"] for option in rubric.draft["criteria"][1]["options"]]
        assert labels == ["warm", "correct", "curt", "not applicable"]

    def test_a_number_that_no_json_column_holds_stays_a_text(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        posted |= {"criteria-3-params-schema": '{"maximum": NaN}', "criteria-1-options-0-value": "1e999"}
        ed.post(url("rubric_edit"), posted)
        rubric.refresh_from_db()
        assert rubric.draft["criteria"][3]["params"]["schema"] == '{"maximum": NaN}'
        assert rubric.draft["criteria"][1]["options"][0]["value"] == "1e999"


class TestWithoutJavaScript:
    @pytest.mark.parametrize(
        ("pressed", "labels"),
        [
            ({"add_option": "1"}, ["curt", "correct", "warm", "not applicable", ""]),
            ({"remove_option": "1-1"}, ["curt", "warm", "not applicable"]),
            ({"begin_with": "1-thirds"}, ["curt", "correct", "warm", "not applicable"]),
        ],
    )
    def test_buttons_change_the_options_and_save_nothing(self, ed, rubric, url, pressed, labels):
        form = ed.get(url("rubric_edit")).context["form"]
        response = ed.post(url("rubric_edit"), as_posted(form, **pressed))
        assert [option.label for option in response.context["form"].rows[1].options] == labels
        rubric.refresh_from_db()
        assert rubric.draft == EVERYTHING

    def test_an_empty_list_of_options_begins_with_a_preset(self, ed, rubric, url):
        form = ed.get(url("rubric_edit")).context["form"]
        posted = as_posted(form, begin_with="0-thirds") | {"criteria-0-kind": "choice"}
        row = ed.post(url("rubric_edit"), posted).context["form"].rows[0]
        assert [(option.label, option.value) for option in row.options] == [
            ("yes", "1"),
            ("partly", "0.5"),
            ("no", "0"),
        ]

    def test_a_newly_chosen_check_shows_its_parameters(self, ed, rubric, url):
        form = ed.get(url("rubric_edit")).context["form"]
        posted = as_posted(form, show_check="0")
        posted |= {"criteria-0-kind": "check", "criteria-0-check": "matches_regex"}
        page = ed.post(url("rubric_edit"), posted).content.decode()
        assert 'name="criteria-0-params-pattern"' in page

    def test_a_button_for_a_row_that_is_gone_changes_nothing(self, ed, rubric, url):
        form = ed.get(url("rubric_edit")).context["form"]
        response = ed.post(url("rubric_edit"), as_posted(form, add_option="77"))
        assert len(response.context["form"].rows) == 4


class TestFaults:
    def test_every_fault_stands_at_its_control(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"], publish="1")
        posted |= {
            "pass_rule-min_score": "most",
            "length_penalty-max_cap": "5",
            "criteria-1-options-1-value": "2",
            "criteria-2-params-keywords": "",
            "criteria-3-params-schema": "{bad",
            "criteria-0-aggregation": "median",
        }
        response = ed.post(url("rubric_edit"), posted)
        assert response.status_code == 422
        form = response.context["form"]
        assert {problem.anchor for problem in form.problems} == {
            "id_pass_rule-min_score",
            "rules",
            "id_criteria-0-aggregation",
            "id_criteria-1-options-1-value",
            "id_criteria-2-params-keywords",
            "id_criteria-3-params-schema",
        }
        page = response.content.decode()
        assert all(f'id="{problem.anchor}"' in page for problem in form.problems)
        assert form.rules_are_open
        assert (
            "Not JSON"
            in next(field for field in form.rows[3].params.fields if field.name == "schema").errors[0]
        )
        assert form.rows[1].options[1].errors

    def test_an_option_nobody_filled_in_does_not_shift_the_faults(self):
        form = shown({"criteria": [CHOICE]})
        form.rows[0].add_option()
        form.rows[0].options.insert(0, form.rows[0].options.pop())
        form.rows[0].options[2].value = "9"
        _, faults = checked_draft(form.draft())
        form.show(faults)
        assert [bool(option.errors) for option in form.rows[0].options] == [False, False, True, False, False]

    def test_too_many_options_are_refused(self, ed, rubric, url):
        posted = {"title": "T", "revision": "0", "save": "1"}
        posted |= {f"criteria-0-options-{index}-label": str(index) for index in range(101)}
        assert ed.post(url("rubric_edit"), posted).status_code == 400

    def test_what_options_and_parameters_say_is_escaped(self, ed, rubric, url):
        hostile = '"><script>alert(1)</script>'
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        posted |= {
            "criteria-1-options-0-label": hostile,
            "criteria-2-params-keywords": f"{hostile}</textarea>{hostile}",
            "criteria-3-check": hostile,
        }
        ed.post(url("rubric_edit"), posted)
        for page in (url("rubric_edit"), url("rubric"), url("rubric_source")):
            assert hostile not in ed.get(page).content.decode()
        assert hostile not in ed.post(url("rubric_preview"), posted).content.decode()
        assert hostile not in ed.post(url("rubric_try"), posted).content.decode()


class TestWhileTyping:
    def test_lint_stands_at_the_criterion_and_in_the_list(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        posted |= {"criteria-0-requirement": "Is accurate and concise."}
        page = ed.post(url("rubric_preview"), posted).content.decode()
        assert 'id="criterion-0-notes"' in page
        assert "<mark>accurate and concise</mark>" in page
        assert page.count('hx-swap-oob="true"') == 2 + 2 * 4  # list and count, notes and mark of each row
        rubric.refresh_from_db()
        assert rubric.draft == EVERYTHING

    def test_lint_never_keeps_from_publishing(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"], publish="1")
        posted |= {"criteria-0-requirement": "Is accurate and concise."}
        assert ed.post(url("rubric_edit"), posted).url == url("rubric_publish")

    def test_a_choice_is_shown_with_its_options_in_order_to_reviewer_and_judge(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"], preview_row="1")
        page = ed.post(url("rubric_preview"), posted).content.decode()
        for part in (page.partition("As the judge is asked")[0], page.partition("As the judge is asked")[2]):
            places = [part.index(label) for label in ("curt", "correct", "warm", "not applicable")]
            assert places == sorted(places)

    def test_a_check_is_answered_on_the_sample_item_and_asks_no_judge(self, ed, people, rubric, url):
        factories.dataset(people.team, people.ed)
        posted = as_posted(ed.get(url("rubric_edit")).context["form"], preview_row="2")
        page = ed.post(url("rubric_preview"), posted).content.decode()
        # "Paris is the capital of France." holds both keywords.
        assert '<span class="badge badge--info">1</span>' in page
        assert "A check asks no judge" in page

    def test_the_parameters_of_a_chosen_check_are_drawn_with_what_was_typed(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"], row="2")
        posted |= {"criteria-2-check": "no_forbidden_phrases"}
        page = ed.post(url("rubric_check"), posted).content.decode()
        assert 'name="criteria-2-params-phrases"' in page
        assert 'value="true" checked' in page  # case_sensitive, which both have

    def test_a_row_that_is_not_there_is_not_found(self, ed, rubric, url):
        assert ed.post(url("rubric_check"), {"row": "5"}).status_code == 404


class TestTrials:
    def test_checks_answer_at_once_and_the_rest_waits_for_a_run(self, ed, rubric, url, settings):
        settings.OFFLINE_JUDGE_URL = ""
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        posted |= {"try_submission": "Paris, surely."}
        page = ed.post(url("rubric_try"), posted, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in page
        assert ">0.5<" in page  # one of two keywords
        assert "2 criteria need a judge" in page

    @pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
    def test_a_text_too_long_for_a_page_is_refused_with_the_limit(self, ed, rubric, url, headers):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        # Four criteria: 10,000,000 characters to read are a quarter as many of the text.
        posted |= {"try_submission": "a" * 2_500_000}
        assert "Too long" not in ed.post(url("rubric_try"), posted, headers=headers).content.decode()
        posted |= {"try_submission": "a" * 2_500_001}
        page = ed.post(url("rubric_try"), posted, headers=headers).content.decode()
        assert "Too long to be tried on 4 criteria here: 2,500,001 characters, at most 2,500,000." in page
        assert "trial__answer" not in page

    def test_what_needs_a_helper_process_waits_for_a_run(self):
        # Formulas can take seconds to compare: no request of a page computes them, however many there are.
        formula = {"weight": 1, "check": "math_equivalence", "params": {"reference": "$x$"}}
        tower = Submission(output="$" + "9^{" * 20 + "9" + "}" * 20 + "$")
        _helper.end()  # another test's
        tried = try_rubric({"criteria": [formula] * 50}, tower)
        assert {one.error for one in tried.answers} == {
            "not measured on a page, as it may take seconds: a run does"
        }
        assert _helper._process is None, "no helper was started"

    def test_without_javascript_the_editor_comes_back_with_the_answers(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        posted |= {"try_submission": "Paris, surely."}
        response = ed.post(url("rubric_try"), posted)
        page = response.content.decode()
        assert "Paris, surely." in page
        assert ">0.5<" in page
        assert len(response.context["form"].rows) == 4

    def test_nothing_pasted_means_the_sample_item(self, ed, people, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        assert "Paste a submission first" in ed.post(url("rubric_try"), posted).content.decode()
        factories.dataset(people.team, people.ed)
        page = ed.post(url("rubric_try"), posted, headers={"HX-Request": "true"}).content.decode()
        assert "of capital answers" in page

    def test_a_rubric_of_checks_gets_its_score_and_whether_it_passes(self):
        short = {"weight": 1, "check": "length_between", "params": {"unit": "words", "max": 3}}
        draft = {
            "title": "T",
            "criteria": [{**KEYWORDS, "weight": 3}, short],
            "pass_rule": {"min_score": 0.7},
        }
        # keywords 1 of 2, weight 3; three words or fewer, weight 1: (1.5 + 1) / 4
        trial = try_rubric(draft, Submission(output="Paris, surely."))
        assert (trial.score, trial.passed, trial.waiting) == (0.625, False, 0)

    def test_the_offline_judge_answers_what_checks_cannot(self, ed, rubric, url, settings):
        settings.OFFLINE_JUDGE_URL = "http://127.0.0.1:9/v1"  # stands for "there is one"; nothing is sent
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        posted |= {"try_submission": "Thank you! I am warm and correct. Paris lies in the middle of France."}
        page = ed.post(url("rubric_try"), posted, headers={"HX-Request": "true"}).content.decode()
        assert "offline judge (not an LLM)" in page
        assert "only compares words" in page
        assert "need a judge" not in page
        assert "chip--" in page
        assert "<html" not in page

    def test_a_reply_that_cannot_be_read_is_an_error_of_that_criterion(self):
        draft = {"title": "T", "criteria": [{"requirement": "Is warm."}, KEYWORDS]}
        trial = try_rubric(draft, Submission(output="Paris"), judge=lambda prompt: "no idea")
        assert trial.answers[0].error
        # only the check was answered: 0.5, on 2 of the 3 that the weights add up to
        assert (trial.score, trial.coverage) == (0.5, 2 / 3)

    def test_a_judge_answers_choices_by_their_options(self):
        reply = json.dumps({"explanation": "It thanks.", "option": 3})
        draft = {"title": "T", "criteria": [CHOICE]}
        trial = try_rubric(draft, Submission(output="Thanks!"), judge=lambda prompt: reply)
        assert trial.answers[0].answer.option == "warm"
        assert (trial.score, trial.passed) == (1.0, None)

    def test_a_faulty_check_is_named_and_costs_no_other(self):
        draft = {"criteria": [{"check": "no_such_check"}, KEYWORDS, {"requirement": ""}]}
        trial = try_rubric(draft, Submission(output="Paris"))
        assert [tried.answer and tried.answer.value for tried in trial.answers] == [None, 0.5]
        assert "faults" in trial.answers[0].error
        assert (trial.score, trial.waiting) == (None, 1)

    @pytest.mark.parametrize("name", ["rubric_try", "rubric_check", "rubric_preview"])
    def test_a_viewer_may_not_ask(self, people, sign_in, rubric, url, name):
        assert sign_in(people.bob).post(url(name)).status_code == 403


class TestVersions:
    def test_a_version_shows_options_checks_and_rules(self, ed, people, rubric, url):
        rubrics.publish(rubric, by=people.ed)
        page = ed.get(url("rubric_version", 1)).content.decode()
        for words in (
            "not applicable",
            "votes: median",
            "Contains as many as possible of",
            "score of at least 0.7",
        ):
            assert words in page
        assert "nothing up to 100 words of output, 0.5 from 400 (exponent 1.6)" in page

    def test_a_diff_shows_options_parameters_and_rules_before_and_after(self, ed, people, rubric, url):
        rubrics.publish(rubric, by=people.ed)
        rubric.refresh_from_db()
        draft = json.loads(json.dumps(EVERYTHING))
        draft["criteria"][1]["options"][1]["value"] = 0.4
        del draft["criteria"][1]["options"][3]
        draft["criteria"][1]["scale_type"] = "nominal"
        draft["criteria"][1]["aggregation"] = "mode"
        draft["criteria"][3]["params"]["source"] = "whole"
        draft["pass_rule"] = {"min_score": 0.9}
        rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
        rubrics.publish(rubric, by=people.ed)
        page = ed.get(url("rubric_version", 2)).content.decode()
        for piece in (
            "<del>0.5</del> <ins>0.4</ins>",
            "<del>not applicable</del>",
            "<del>ordinal</del> <ins>nominal</ins>",
            "<del>median</del> <ins>mode</ins>",
            "every criterion at least 0.5</del> <ins>score of at least 0.9</ins>",
        ):
            assert piece in page, piece

    def test_a_rubric_of_every_kind_is_published_from_the_editor(self, ed, rubric, url):
        form = ed.get(url("rubric_edit")).context["form"]
        assert ed.post(url("rubric_edit"), as_posted(form, publish="1")).url == url("rubric_publish")
        ed.post(url("rubric_publish"), {"note": "", "revision": "1"})
        content, _ = checked_draft(EVERYTHING)
        assert rubric.versions.get().to_engine().to_dict(ids=False) == content.to_dict()

    def test_what_is_wrong_with_all_parameters_of_a_check_is_said_where_its_link_leads(self, ed, rubric, url):
        posted = as_posted(ed.get(url("rubric_edit")).context["form"], publish="1")
        posted |= {"criteria-2-check": "length_between"}
        posted |= {"criteria-2-params-min": "", "criteria-2-params-max": ""}
        page = ed.post(url("rubric_edit"), posted).content.decode()
        problems = page[page.index('id="problems"') :].partition("</div>")[0]
        [(place, about)] = re.findall(r'<a href="#([^"]*)">([^<]*)</a>', problems)
        assert (place, about) == ("id_criteria-2-params_rest", "Criterion 3, parameters")
        assert "Give min, max or both." in problems
        there = page[page.index(f'id="{place}"') :].partition("</div>")[0]
        assert "<li>Give min, max or both.</li>" in there
        posted |= {"criteria-2-params-min": "9", "criteria-2-params-max": "3"}
        page = ed.post(url("rubric_edit"), posted).content.decode()
        assert "Give a min (9) that is not above max (3)." in page

    def test_a_criterion_renamed_and_reworded_in_the_editor_stays_the_same_one(self, ed, people, rubric, url):
        first = rubrics.publish(rubric, by=people.ed)
        posted = as_posted(ed.get(url("rubric_edit")).context["form"])
        posted |= {"criteria-0-name": "insult", "criteria-0-requirement": "Insults somebody."}
        ed.post(url("rubric_edit"), posted | {"publish": "1"})
        rubric.refresh_from_db()
        ed.post(url("rubric_publish"), {"note": "", "revision": str(rubric.draft_revision)})
        second = rubric.versions.get(number=2)
        assert second.criteria.get(name="insult").uid == first.criteria.get(name="plain").uid
        shown = ed.get(url("rubric_version", 2)).content.decode()
        assert "1 reworded · 1 renamed" in shown

    def test_a_form_from_before_the_publication_rewords_its_unnamed_criteria(self, ed, people, url, rubric):
        empty = rubrics.create_rubric(people.team, by=people.ed, title="New")
        address = reverse("rubric_edit", args=[people.team.slug, empty.pk])
        written = {"criteria-0-requirement": "Names it.", "criteria-1-requirement": "Is short."}
        form = ed.post(address, {**as_posted(ed.get(address).context["form"]), "add": "1"}).context["form"]
        posted = as_posted(form) | written
        ed.post(address, posted)
        empty.refresh_from_db()
        first = rubrics.publish(empty, by=people.ed)
        answer = ed.post(address, posted | {"revision": "1", "criteria-0-requirement": "Names the city."})
        assert answer.status_code == 302
        empty.refresh_from_db()
        second = rubrics.publish(empty, by=people.ed)
        uids = [list(one.criteria.values_list("uid", flat=True)) for one in (first, second)]
        assert uids[0] == uids[1]
        # Where a draft came without ids, the form is refused that does not know them yet.
        before = as_posted(ed.get(url("rubric_edit")).context["form"])
        rubrics.publish(rubric, by=people.ed)
        before |= {"criteria-3-params-source": "whole"}
        assert "changed this draft meanwhile" in ed.post(url("rubric_edit"), before).content.decode()


class TestHuge:
    def test_a_hundred_criteria_of_ten_options_are_shown_and_saved(
        self, ed, people, django_assert_max_num_queries, settings
    ):
        options = [{"label": f"step {step}", "value": step / 9} for step in range(10)]
        entry = {"weight": 1.0, "scale_type": "ordinal", "options": options}
        criteria = [
            {**entry, "name": f"n{i}", "requirement": f"Detail number {i} is given."} for i in range(100)
        ]
        huge = rubrics.create_rubric(people.team, by=people.ed, title="Huge", draft={"criteria": criteria})
        address = reverse("rubric_edit", args=[people.team.slug, huge.pk])
        # session, user, membership, team, navigation and banner, the rubric and its sample item
        with django_assert_max_num_queries(19):
            response = ed.get(address)
        posted = as_posted(response.context["form"])
        assert ed.post(address, posted).status_code == 302
        assert Rubric.objects.get(pk=huge.pk).draft["criteria"] == criteria
        # A thousand such criteria are no larger than the largest form; of one that is, something is said.
        assert len(posted) * 10 < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = len(posted) - 1
        refused = ed.post(address, posted)
        assert refused.status_code == 413
        assert "can be saved as YAML or JSON" in refused.content.decode()
        told = ed.post(address, posted, headers={"HX-Request": "true"})
        assert "can be saved as YAML or JSON" in told["HX-Trigger"]


class TestLongSources:
    """Typed text is read while others wait for the same process: what is too long is not read at all."""

    def test_more_than_a_megabyte_is_refused_with_its_size(self, ed, rubric, url):
        # 25 and 2 characters around 500,000 ones and 499,999 commas
        source = '{"title":"x","criteria":[' + ",".join(["1"] * 500_000) + "]}"
        answer = ed.post(url("rubric_source"), {"source": source, "revision": rubric.draft_revision})
        assert answer.status_code == 422
        assert "The text is too long: 1,000,026 bytes, at most 1,000,000" in answer.content.decode()
        rubric.refresh_from_db()
        assert rubric.draft == EVERYTHING

    def test_a_thousand_criteria_fit(self, ed, rubric, url):
        asked = "Does the reply say so, and does it say it in words the customer understands? " * 10
        entries = [{"requirement": f"{number}: {asked}", "weight": 1} for number in range(1_000)]
        source = json.dumps({"title": "Long", "criteria": entries})
        assert 800_000 < len(source) < 1_000_000
        answer = ed.post(url("rubric_source"), {"source": source, "revision": rubric.draft_revision})
        assert answer.status_code == 302
        rubric.refresh_from_db()
        assert len(rubric.draft["criteria"]) == 1_000

    @pytest.mark.parametrize(
        ("filler", "placed"), [(200_000, "line 2: criteria[0].wieght"), (300_000, "criteria[0].wieght")]
    )
    def test_faults_of_a_long_text_are_said_without_their_lines(self, filler, placed):
        with pytest.raises(Invalid) as refused:
            rubrics.read_draft(f"criteria:\n- {{wieght: 1, requirement: {'a' * filler}}}\n")
        assert placed in {fault.place for fault in refused.value.faults}
