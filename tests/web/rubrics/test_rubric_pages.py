"""Pages of the rubrics room, at the HTTP interface."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from rubricweb.models import Rubric, RubricVersion
from rubricweb.services.rubrics import rubrics
from tests import factories


def url(people, name, *args):
    return reverse(name, args=[people.team.slug, *args])


@pytest.fixture
def ed(people, sign_in):
    return sign_in(people.ed)


@pytest.fixture
def rubric(people):
    """A rubric with one published version (capital +10, concise +5, wrong_country −15)."""
    return factories.version(people.team, people.ed).rubric


def typed(rubric, *criteria, title=None, guidelines="", **extra):
    """The editor's form as a browser posts it."""
    form = {"title": title or rubric.title, "guidelines": guidelines, "revision": rubric.draft_revision}
    for index, criterion in enumerate(criteria):
        form |= {f"criteria-{index}-{name}": value for name, value in criterion.items()}
        form.setdefault(f"criteria-{index}-order", index + 1)
    return form | (extra or {"save": "1"})


CITY = {"name": "city", "weight": "10", "requirement": "Names the city."}
SHORT = {"name": "short", "weight": "5", "requirement": "Is short."}


class TestList:
    def test_shows_title_version_criteria_and_runs(self, people, ed, rubric):
        page = ed.get(url(people, "rubrics")).content.decode()
        assert "Capitals" in page
        assert "v1" in page

    def test_a_team_without_rubrics_is_offered_the_first_step(self, people, ed):
        page = ed.get(url(people, "rubrics")).content.decode()
        assert "No rubrics yet" in page
        assert url(people, "rubric_new") in page

    def test_a_viewer_is_not_offered_what_only_editors_may_do(self, people, sign_in):
        page = sign_in(people.bob).get(url(people, "rubrics")).content.decode()
        assert url(people, "rubric_new") not in page

    def test_search_finds_by_title_and_says_when_nothing_does(self, people, ed, rubric):
        assert "Capitals" in ed.get(url(people, "rubrics"), {"q": "capi"}).content.decode()
        page = ed.get(url(people, "rubrics"), {"q": "zebra"}).content.decode()
        assert "Capitals" not in page
        assert "No rubric has these words" in page

    def test_htmx_gets_the_list_without_the_frame(self, people, ed, rubric):
        page = ed.get(url(people, "rubrics"), headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in page
        assert "Capitals" in page

    def test_number_of_queries_does_not_grow_with_the_list(
        self, people, ed, rubric, django_assert_max_num_queries
    ):
        for number in range(20):
            rubrics.create_rubric(people.team, by=people.ed, title=f"Rubric {number}")
        # session, user, membership, last team, navigation and banner, then one query for the page.
        with django_assert_max_num_queries(14):
            ed.get(url(people, "rubrics"))

    def test_a_forged_cursor_is_refused(self, people, ed):
        assert ed.get(url(people, "rubrics"), {"cursor": "zzz"}).status_code == 400


class TestNewAndImport:
    def test_a_new_rubric_opens_in_the_editor(self, people, ed):
        response = ed.post(url(people, "rubric_new"), {"title": "Answers"})
        rubric = Rubric.objects.get(title="Answers")
        assert response.url == url(people, "rubric_edit", rubric.pk)
        assert ed.get(response.url).status_code == 200

    def test_a_rubric_without_a_title_is_refused_at_the_field(self, people, ed):
        response = ed.post(url(people, "rubric_new"), {"title": ""})
        assert response.status_code == 422
        page = response.content.decode()
        # The only field has the focus: what is wrong with it is said there, and not above it as well.
        assert page.count("This field is required") == 1
        assert '<input type="text" name="title" autofocus' in page
        assert not Rubric.objects.exists()

    def test_an_imported_file_is_published_as_version_one(self, people, ed):
        data = b"title: From a file\ncriteria:\n- requirement: Names the city.\n"
        response = ed.post(url(people, "rubric_import"), {"file": SimpleUploadedFile("r.yaml", data)})
        version = RubricVersion.objects.get(title="From a file")
        assert response.url == url(people, "rubric", version.rubric_id)
        assert version.number == 1

    def test_every_fault_of_a_file_is_listed_and_the_typed_title_kept(self, people, ed):
        data = b"criteria:\n- weight: .nan\n  requirement: A\n- requirement: ''\n"
        form = {"file": SimpleUploadedFile("r.yaml", data), "title": "Typed title"}
        response = ed.post(url(people, "rubric_import"), form)
        page = response.content.decode()
        assert response.status_code == 422
        assert "criteria[0].weight" in page
        assert "criteria[1].requirement" in page
        assert "Typed title" in page
        assert '<section class="faults" role="alert" tabindex="-1" autofocus>' in page
        assert not Rubric.objects.exists()

    def test_importing_nothing_asks_for_a_file(self, people, ed):
        response = ed.post(url(people, "rubric_import"), {"title": "Typed title"})
        assert response.status_code == 422
        assert "Choose a file first" in response.content.decode()


class TestEditor:
    def test_saving_stores_the_draft_as_typed(self, people, ed, rubric):
        form = typed(rubric, CITY, SHORT | {"tags": 'plain, "with, comma"', "guidance": "One\r\ntwo"})
        response = ed.post(url(people, "rubric_edit", rubric.pk), form)
        assert response.url == url(people, "rubric_edit", rubric.pk)
        rubric.refresh_from_db()
        assert rubric.draft["criteria"] == [
            {"name": "city", "weight": 10.0, "requirement": "Names the city."},
            {
                "name": "short",
                "weight": 5.0,
                "requirement": "Is short.",
                "guidance": "One\ntwo",
                "tags": ["plain", "with, comma"],
            },
        ]
        page = ed.get(response.url).content.decode()
        assert "plain, &quot;with, comma&quot;" in page

    def test_saving_without_a_change_changes_nothing_in_the_draft(self, people, ed, rubric):
        before = rubrics.checked(rubric.draft)
        page = ed.get(url(people, "rubric_edit", rubric.pk))
        form = page.context["form"]
        posted = {
            "title": form.head["title"].value(),
            "guidelines": "",
            "revision": form.revision,
            "save": "1",
        }
        for position, row in enumerate(form.rows, start=1):
            posted |= {row[name].html_name: row[name].value() for name in row.fields}
            posted[f"{row.prefix}-order"] = position
        ed.post(url(people, "rubric_edit", rubric.pk), posted)
        rubric.refresh_from_db()
        assert rubrics.checked(rubric.draft) == before

    def test_a_half_written_draft_is_kept(self, people, ed, rubric):
        ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, {"weight": "heavy", "requirement": ""}))
        rubric.refresh_from_db()
        assert rubric.draft["criteria"] == [{"weight": "heavy", "requirement": ""}]
        assert "heavy" in ed.get(url(people, "rubric_edit", rubric.pk)).content.decode()

    def test_order_numbers_decide_the_order(self, people, ed, rubric):
        form = typed(rubric, CITY | {"order": "2"}, SHORT | {"order": "1"})
        ed.post(url(people, "rubric_edit", rubric.pk), form)
        rubric.refresh_from_db()
        assert [criterion["name"] for criterion in rubric.draft["criteria"]] == ["short", "city"]

    def test_adding_a_row_without_javascript_keeps_everything_and_saves_nothing(self, people, ed, rubric):
        response = ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, CITY, add="1"))
        assert [row.label for row in response.context["form"].rows] == ["city", "(empty)"]
        rubric.refresh_from_db()
        assert len(rubric.draft["criteria"]) == 3

    def test_removing_a_row_without_javascript_keeps_the_others(self, people, ed, rubric):
        response = ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, CITY, SHORT, remove="0"))
        assert [row.label for row in response.context["form"].rows] == ["short"]

    def test_a_criterion_shows_how_many_points_of_the_score_it_moves(self, people, ed, rubric):
        response = ed.get(url(people, "rubric_edit", rubric.pk))
        # 10, 5 and −15 of the 15 that are wanted
        assert [row.points for row in response.context["form"].rows] == pytest.approx(
            [200 / 3, 100 / 3, -100]
        )
        page = response.content.decode()
        assert all(f"data-points>{shown}<" in page for shown in ("+67", "+33", "−100"))

    def test_options_that_are_close_in_value_move_fewer_points(self, people, ed, rubric):
        near = CITY | {
            "kind": "choice",
            "options-0-label": "poor",
            "options-0-value": "0.4",
            "options-1-label": "good",
            "options-1-value": "0.9",
            "options-2-label": "n/a",
            "options-2-na": "on",
        }
        form = ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, near, SHORT, add="1")).context[
            "form"
        ]
        # Weights 10, 5 and the 1 of the new row: the first moves (0.9 − 0.4) · 10 of 16.
        assert [row.points for row in form.rows][:2] == pytest.approx([500 / 16, 500 / 16])

    def test_what_somebody_else_saved_and_what_was_typed_are_both_kept(self, people, ed, rubric):
        form = typed(rubric, CITY | {"requirement": "My careful words."})
        rubrics.save_draft(rubric, draft={"title": "Theirs", "criteria": []}, revision=rubric.draft_revision)
        response = ed.post(url(people, "rubric_edit", rubric.pk), form, follow=True)
        assert "Both changes are kept." in response.content.decode()
        rubric.refresh_from_db()
        assert rubric.title == "Theirs"
        assert rubric.draft["criteria"][0]["requirement"] == "My careful words."

    def test_after_a_conflict_mine_can_deliberately_replace_theirs(self, people, ed, rubric):
        form = typed(rubric, CITY, title="Mine")
        rubrics.save_draft(rubric, draft={"title": "Theirs", "criteria": []}, revision=rubric.draft_revision)
        ed.post(url(people, "rubric_edit", rubric.pk), form | {"overwrite": rubric.draft_revision})
        rubric.refresh_from_db()
        assert rubric.title == "Mine"

    def test_a_missing_title_is_shown_at_its_field_and_nothing_is_lost(self, people, ed, rubric):
        form = typed(rubric, CITY | {"requirement": "My careful words."}) | {"title": " "}
        response = ed.post(url(people, "rubric_edit", rubric.pk), form)
        assert response.status_code == 422
        assert response.context["form"].head["title"].errors
        assert "My careful words." in response.content.decode()

    def test_publishing_shows_every_fault_at_its_field(self, people, ed, rubric):
        form = typed(rubric, CITY | {"weight": "nan"}, SHORT | {"requirement": " "}, publish="1")
        response = ed.post(url(people, "rubric_edit", rubric.pk), form)
        assert response.status_code == 422
        first, second = response.context["form"].rows
        assert first["weight"].errors
        assert second["requirement"].errors
        assert [problem.label for problem in response.context["form"].problems] == [
            "Criterion 1, weight",
            "Criterion 2, requirement",
        ]
        rubric.refresh_from_db()
        assert rubric.draft["criteria"][0]["weight"] == "nan"
        assert RubricVersion.objects.count() == 1

    def test_a_sound_draft_goes_on_to_the_last_look_before_publishing(self, people, ed, rubric):
        response = ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, CITY, publish="1"))
        assert response.url == url(people, "rubric_publish", rubric.pk)

    def test_htmx_saves_without_touching_the_form(self, people, ed, rubric):
        response = ed.post(
            url(people, "rubric_edit", rubric.pk), typed(rubric, CITY), headers={"HX-Request": "true"}
        )
        page = response.content.decode()
        assert f'name="revision" value="{rubric.draft_revision + 1}"' in page
        assert "<textarea" not in page
        assert "rubric:saved" in response["HX-Trigger-After-Settle"]

    def test_the_preview_asks_the_judge_about_what_is_typed(self, people, ed, rubric):
        factories.dataset(people.team, people.ed)
        form = typed(rubric, CITY, SHORT, preview_row="1")
        page = ed.post(url(people, "rubric_preview", rubric.pk), form).content.decode()
        assert "&lt;criterion&gt;Is short.&lt;/criterion&gt;" in page
        assert "Paris is the capital of France." in page
        rubric.refresh_from_db()
        assert len(rubric.draft["criteria"]) == 3

    def test_the_preview_of_a_faulty_draft_says_what_is_missing(self, people, ed, rubric):
        page = ed.post(
            url(people, "rubric_preview", rubric.pk), typed(rubric, {"weight": "x"})
        ).content.decode()
        assert "2 to fix before publishing" in page

    def test_a_reviewer_may_not_edit(self, people, sign_in, rubric):
        assert sign_in(people.rae).get(url(people, "rubric_edit", rubric.pk)).status_code == 403

    def test_another_teams_rubric_is_not_there(self, people, sign_in, rubric):
        stranger = sign_in(people.charlie)
        assert stranger.get(url(people, "rubric_edit", rubric.pk)).status_code == 404
        other = reverse("rubric_edit", args=[people.other_team.slug, rubric.pk])
        assert stranger.get(other).status_code == 404

    def test_what_a_rubric_says_is_escaped(self, people, ed, rubric):
        hostile = "<script>alert(1)</script>"
        criterion = {"name": hostile, "requirement": f"{hostile}</textarea>{hostile}", "weight": hostile}
        ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, criterion, title=hostile))
        for name in ("rubric_edit", "rubric", "rubric_source"):
            assert hostile not in ed.get(url(people, name, rubric.pk)).content.decode()


class TestSource:
    def test_the_draft_is_shown_as_yaml_and_as_json(self, people, ed, rubric):
        assert "- name: capital" in ed.get(url(people, "rubric_source", rubric.pk)).context["source"]
        page = ed.get(url(people, "rubric_source", rubric.pk), {"format": "json"})
        assert json.loads(page.context["source"])["criteria"][0]["name"] == "capital"

    def test_another_format_is_refused(self, people, ed, rubric):
        assert ed.get(url(people, "rubric_source", rubric.pk), {"format": "xml"}).status_code == 400

    def test_saving_yaml_changes_the_draft(self, people, ed, rubric):
        source = "guidelines: Be fair.\r\ncriteria:\r\n- requirement: Names the city.\r\n  weight: 3\r\n"
        form = {"source": source, "revision": rubric.draft_revision}
        assert ed.post(url(people, "rubric_source", rubric.pk), form).status_code == 302
        rubric.refresh_from_db()
        assert rubric.draft["criteria"] == [{"requirement": "Names the city.", "weight": 3}]
        assert rubric.title == "Capitals"  # a source without a title keeps the one there is

    def test_an_incomplete_draft_may_be_saved_as_source_too(self, people, ed, rubric):
        form = {"source": "criteria:\n- weight: heavy\n", "revision": rubric.draft_revision}
        assert ed.post(url(people, "rubric_source", rubric.pk), form).status_code == 302
        page = ed.get(url(people, "rubric_source", rubric.pk)).content.decode()
        assert "error: criteria[0].weight: " in page

    @pytest.mark.parametrize(
        ("source", "place"),
        [
            ("criteria: [}", "line 1, column 12"),
            ("criteria:\n- requirement: A\n  wieght: 3\n", "line 3: criteria[0].wieght"),
            ("criteria:\n- requirement: [1, 2]\n", "line 2: criteria[0].requirement"),
            ('{"criteria": [{"requirement": "A", "weight": NaN}]}', "line 1: criteria[0].weight"),
            ("just words", "just words"),
            ("", "textarea"),
        ],
    )
    def test_what_cannot_be_a_draft_is_refused_at_its_line_and_kept_as_typed(
        self, people, ed, rubric, source, place
    ):
        response = ed.post(
            url(people, "rubric_source", rubric.pk), {"source": source, "revision": rubric.draft_revision}
        )
        assert response.status_code == 422
        assert place in response.content.decode()
        assert response.context["source"] == source
        rubric.refresh_from_db()
        assert len(rubric.draft["criteria"]) == 3

    def test_a_conflict_keeps_the_typed_source(self, people, ed, rubric):
        revision = rubric.draft_revision
        rubrics.save_draft(rubric, draft={"title": "Theirs", "criteria": []}, revision=revision)
        source = "criteria:\n- requirement: My careful words.\n"
        response = ed.post(url(people, "rubric_source", rubric.pk), {"source": source, "revision": revision})
        assert response.status_code == 422
        assert "My careful words." in response.content.decode()

    def test_changing_to_the_form_saves_first(self, people, ed, rubric):
        form = {"source": "- requirement: New words.", "revision": rubric.draft_revision, "form": "1"}
        response = ed.post(url(people, "rubric_source", rubric.pk), form)
        assert response.url == url(people, "rubric_edit", rubric.pk)
        assert "New words." in ed.get(response.url).content.decode()


class TestPublishing:
    def test_the_last_look_says_what_changes(self, people, ed, rubric):
        ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, CITY))
        page = ed.get(url(people, "rubric_publish", rubric.pk)).content.decode()
        assert "1 added · 3 removed" in page
        # It opens at its top, where that is said, and not at the note below.
        assert "autofocus" not in page.partition("<main")[2].partition("</main>")[0]

    def test_publishing_makes_the_next_version_with_its_note(self, people, ed, rubric):
        ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, CITY))
        ed.post(url(people, "rubric_publish", rubric.pk), {"note": "Only the city counts", "revision": 1})
        page = ed.get(url(people, "rubric", rubric.pk)).content.decode()
        assert rubric.versions.count() == 2
        assert "Only the city counts" in page
        assert "The same as version 2" in page

    def test_a_draft_saved_since_the_last_look_is_not_published_unseen(self, people, ed, rubric):
        ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, CITY))
        response = ed.post(url(people, "rubric_publish", rubric.pk), {"note": "My note", "revision": 0})
        assert response.status_code == 422
        assert "My note" in response.content.decode()
        assert rubric.versions.count() == 1

    def test_a_faulty_draft_is_refused_with_its_faults(self, people, ed, rubric):
        ed.post(url(people, "rubric_edit", rubric.pk), typed(rubric, CITY | {"weight": "x"}))
        response = ed.post(url(people, "rubric_publish", rubric.pk), {"note": "", "revision": 1})
        assert response.status_code == 422
        assert "criteria[0].weight" in response.content.decode()

    def test_a_viewer_may_not_publish(self, people, sign_in, rubric):
        assert sign_in(people.bob).post(url(people, "rubric_publish", rubric.pk)).status_code == 403


class TestVersions:
    def test_a_version_is_shown_by_group_with_weights_and_points_of_the_score(self, people, sign_in, rubric):
        page = sign_in(people.bob).get(url(people, "rubric_version", rubric.pk, 1))
        # Facts: 10 and −15 of the 15 that are wanted; Style: 5 of them
        assert [(group.name, group.gain, group.loss) for group in page.context["groups"]] == [
            ("Facts", pytest.approx(200 / 3), -100),
            ("Style", pytest.approx(100 / 3), 0),
        ]
        assert "Places Paris outside France." in page.content.decode()

    def test_a_number_that_was_never_published_is_not_found(self, people, ed, rubric):
        assert ed.get(url(people, "rubric_version", rubric.pk, 2)).status_code == 404
        assert ed.get(url(people, "rubric_version", rubric.pk, 10**30)).status_code == 404

    @pytest.mark.parametrize("format", ["yaml", "json"])
    def test_a_download_reads_back_to_the_same_rubric(self, people, sign_in, rubric, format):
        response = sign_in(people.bob).get(url(people, "rubric_download", rubric.pk, 1, format))
        assert response["Content-Disposition"] == f'attachment; filename="capitals-v1.{format}"'
        again = rubrics.read(response.content, filename=f"x.{format}")
        assert again == rubric.versions.get().to_engine()

    def test_an_unknown_download_format_is_not_found(self, people, ed, rubric):
        assert ed.get(url(people, "rubric_download", rubric.pk, 1, "exe")).status_code == 404

    def test_the_rubric_page_links_what_uses_it(self, people, ed, rubric):
        dataset = factories.dataset(people.team, people.ed)
        run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=rubric.versions.get())
        queue = factories.queue(
            people.team, people.ed, dataset=dataset, rubric_version=rubric.versions.get(), raters=[people.ann]
        )
        answer = ed.get(url(people, "rubric", rubric.pk))
        page = answer.content.decode()
        assert url(people, "run", run.pk) in page
        assert url(people, "queue", queue.pk) in page
        # Three criteria, a run and a queue are counted one by one, not all combinations of them.
        versions = answer.context["versions"]
        assert [(one.criterion_count, one.run_count, one.queue_count) for one in versions] == [(3, 1, 1)]
        assert "DISTINCT" not in str(versions.query)


def test_a_rubric_shows_its_criteria_first_published_valid_or_as_typed(people, ed):
    version = factories.version(people.team, people.ed)
    criteria = [{"requirement": "Is kind.", "weight": "heavy"}]
    draft = rubrics.create_rubric(people.team, by=people.ed, title="Draft", draft={"criteria": criteria})

    def main(rubric_id):
        return ed.get(url(people, "rubric", rubric_id)).content.decode().partition("<main")[2]

    shown = main(version.rubric.pk)
    places = [shown.index(f'id="{name}-title"') for name in ("criteria", "draft", "versions")]
    assert places == sorted(places)
    for criterion in version.criteria.all():
        assert criterion.requirement in shown
    assert shown.partition("page-head__actions")[2].partition("<details")[0].count('class="button') == 2
    assert "Is kind." in main(draft.pk)
    assert "heavy" in main(draft.pk)
