"""`rubricweb rubrics` and `datasets`: what there is, by the names other commands take."""

import json
import re

from django.utils import timezone

from rubricweb.api.datasets.schemas import AddedAnswers, ImportedRater, LabelsPlan, SealedCopies
from rubricweb.api.reviews.label_file_schemas import LabelsImported
from rubricweb.engine.formats.rubric_files import read_rubric
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Dataset, JournalEntry, Judgement, Rater, ReviewQueue, Rubric, Run
from rubricweb.selectors.datasets.items import ITEM_ORDERS
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast


def test_rubrics_and_versions_are_listed_and_a_version_is_written_as_a_file(
    people: Cast, at_terminal, tmp_path
) -> None:
    version = factories.version(people.team, people.ed)
    bob, ed = at_terminal(people.bob), at_terminal(people.ed)
    [row] = map(json.loads, bob("rubrics", "list", "--json").out.splitlines())
    assert (row["id"], row["title"], row["newest_number"]) == (version.rubric_id, version.title, 1)
    assert bob("rubrics", "list").out.split()[-1] == "0"  # runs
    assert "rubricweb import-rubric" in bob("rubrics", "list", "--search", "nothing of it").err
    [one] = map(json.loads, bob("rubrics", "versions", version.title, "--json").out.splitlines())
    assert (one["id"], one["number"], one["published_by"]) == (version.pk, 1, "ed")
    assert f"id:{version.pk}" in bob("rubrics", "versions", version.rubric_id).out
    written = bob("rubrics", "show", f"id:{version.pk}").out
    assert read_rubric(written, filename="rubric.yaml") == version.to_engine()
    (tmp_path / "again.yaml").write_text(written)
    again = ed("import-rubric", tmp_path / "again.yaml")
    assert again.err.startswith("Already there:")
    unknown = bob("rubrics", "versions", "Nowhere")
    assert (unknown.code, f"Known: {version.rubric_id} ({version.title})" in unknown.err) == (1, True)


def test_the_id_that_lists_of_rubrics_print_is_that_of_a_version_everywhere(
    people: Cast, at_terminal, tmp_path
) -> None:
    ed = at_terminal(people.ed)
    first = factories.version(people.team, people.ed, title="First")
    for weight in (2, 3):  # the ids of First's versions run ahead of the numbers of rubrics
        (tmp_path / "again.yaml").write_text(
            f"title: First\ncriteria:\n- {{name: polite, weight: {weight}, requirement: Is polite.}}\n"
        )
        assert ed("import-rubric", tmp_path / "again.yaml").code == 0
    second = factories.version(people.team, people.ed, title="Second")
    assert second.pk != second.rubric_id
    listed = ed("rubrics", "list").out
    assert re.search(rf"{second.rubric_id} +Second +v1 \(id:{second.pk}\)", listed)
    assert re.search(rf"{first.rubric_id} +First +v3 \(id:\d+\)", listed)

    # What is meant for a rubric's number is never taken for the id of another one's version.
    bare = ed("rubrics", "show", second.rubric_id)
    assert (bare.code, bare.out, "names no version; write id:N" in bare.err) == (2, "", True)
    for action in (("rubrics", "versions"), ("archive", "rubric")):
        refused = ed(*action, f"id:{second.pk}")
        assert (refused.code, "a rubric is named by its number or title" in refused.err) == (1, True)

    dataset = factories.dataset(people.team, people.ed, name="told")
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=second)
    shown = ed("runs", "show", run.pk).out
    assert f"Second v1 (id:{second.pk})" in shown
    assert f"told (id:{dataset.pk})" in shown
    own = {"id": "own", "submission": "4", "rubric": [{"weight": 1, "requirement": "Says 4."}]}
    mixed = factories.dataset(people.team, people.ed, name="mixed", items=[own])
    run = factories.run(people.team, people.ed, dataset=mixed, rubric_version=second)
    assert "items that bring a rubric are judged by their own" in ed("runs", "show", run.pk).out
    assert "judged by their own" not in shown


def test_an_import_says_what_else_goes_by_the_name(people: Cast, at_terminal, tmp_path) -> None:
    ed, rubric, answers = at_terminal(people.ed), tmp_path / "polite.json", tmp_path / "answers.json"
    polite = {"title": "Polite", "criteria": [{"name": "x", "weight": 1, "requirement": "Is polite."}]}
    rubric.write_text(json.dumps(polite))
    assert ed("import-rubric", rubric).err.endswith(")\n")  # nothing else
    first = Rubric.objects.get()
    answers.write_text(json.dumps({"rubric": polite, "items": [{"id": "one", "submission": "Thanks."}]}))
    said = ed("import-dataset", answers).err
    assert f"Its rubric: Polite v1 (id:{first.versions.get().pk + 1}), beside the rubric Polite (" in said
    answers.write_text(json.dumps({"items": [{"id": "one", "submission": "Thank you."}]}))
    dataset = Dataset.objects.get()
    assert f"), beside answers (id:{dataset.pk})\n" in ed("import-dataset", answers).err
    assert ed("archive", "rubric", first.pk).code == 0
    polite["criteria"][0]["weight"] = 2
    rubric.write_text(json.dumps(polite))
    assert f" of rubric {first.pk}, which is archived" in ed("import-rubric", rubric).err


def test_what_an_import_prints_names_the_dataset_to_other_commands(
    people: Cast, at_terminal, tmp_path
) -> None:
    ed, file = at_terminal(people.ed), tmp_path / "answers.jsonl"
    file.write_text('{"id": "one", "submission": "Paris."}')
    printed = ed("import-dataset", file).err
    dataset = Dataset.objects.get(name="answers")
    assert printed == f"Stored answers (id:{dataset.pk})\nColumns: id, submission\n"
    named = f"id:{dataset.pk}"
    for room in ("items", "columns", "raters", "versions", "split", "tag"):
        assert ed("datasets", room, named).code == 0, room
    assert "Paris." in ed("datasets", "items", named).out
    assert "labels of answers yet" in ed("export", "--dataset", named).err
    assert "no such runs" in ed("runs", "list", "--dataset", named).err
    file.write_text('{"id": "two", "submission": "Rome."}')
    assert f"Added 1 item to answers ({named})" in ed("add-items", file, "--dataset", named).err
    assert ed("rename", "dataset", named, "Capitals").code == 0
    unknown = ed("datasets", "items", f"id:{dataset.pk + 1}")
    assert (unknown.code, f"Known: {dataset.pk} (Capitals)" in unknown.err) == (1, True)


def test_answers_of_the_next_version_are_planned_added_and_taken_once(
    people: Cast, at_terminal, tmp_path
) -> None:
    items = [
        {"case_id": name, "system": "assistant@v4", "prompt": f"{name}?", "submission": "Yes."}
        for name in ("one", "two")
    ]
    factories.dataset(people.team, people.ed, name="asked", items=items)
    ed, file = at_terminal(people.ed), tmp_path / "v5.jsonl"
    file.write_text('{"id": "two", "submission": "No."}')
    wanted = ("datasets", "add-answers", "asked", file, "--system", "assistant@v5")
    planned = ed(*wanted, "--plan").err
    assert "Would add 1 answer of assistant@v5." in planned
    assert "1 case without an answer: one" in planned
    printed = ed(*wanted, "--json").out
    assert misfits(AddedAnswers, printed) == []
    shown = json.loads(printed)
    assert (shown["answers"], shown["missing"]) == (1, ["one"])
    again = ed(*wanted)
    assert (again.code, "a case that assistant@v5 has not answered" in again.err) == (1, True)
    assert "assistant@v5" in ed("datasets", "items", "asked").out


def test_datasets_and_items_are_listed_a_few_at_a_time(people: Cast, at_terminal) -> None:
    dataset = factories.dataset(people.team, people.ed)
    bob = at_terminal(people.bob)
    [row] = map(json.loads, bob("datasets", "list", "--json").out.splitlines())
    assert (row["id"], row["item_count"], row["sealed_as"]) == (dataset.pk, 3, None)
    assert dataset.name in bob("datasets", "list").out
    first = bob("datasets", "items", dataset.name, "--limit", "2", "--json")
    assert [json.loads(line)["key"] for line in first.out.splitlines()] == ["good", "bad"]
    assert "--limit says how many are shown, now 2" in first.err
    found = bob("datasets", "items", dataset.pk, "--search", "Belgium")
    assert f"id:{dataset.items.get(key='bad').pk}" in found.out
    assert "good" not in found.out
    wrong = bob("datasets", "items", dataset.pk, "--sort", "submission")
    assert (wrong.code, all(order in wrong.err for order in ITEM_ORDERS)) == (1, True)


def test_a_labelled_dataset_is_split_in_two_sealed_halves(people: Cast, at_terminal) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        blind="none",
    )
    for item in dataset.items.all():
        review = queues.start_review(queue, item, people.ann)
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET)
        reviews.submit(review, now=timezone.now())
    ed = at_terminal(people.ed)
    printed = ed("datasets", "seal", dataset.name, "--dev", "1", "--json").out
    assert misfits(SealedCopies, printed) == []
    dev, test = (json.loads(printed)[half] for half in ("dev", "test"))
    assert [(half["sealed_as"], half["item_count"]) for half in (dev, test)] == [("dev", 1), ("test", 2)]
    assert dev["seal"] != test["seal"]
    assert dev["seal_salt"] != test["seal_salt"]
    listed = ed("datasets", "list").out
    assert "dev" in listed
    assert "test" in listed
    again = ed("datasets", "seal", dataset.name, "--dev", "1")
    assert (again.code, again.out) == (1, "")
    none = ed("datasets", "seal", dev["name"], "--dev", "5")
    assert (none.code, "cannot be split off" in none.err) == (1, True)


def test_who_labelled_in_a_file_is_said_to_be_a_person_or_a_machine(people: Cast, at_terminal) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    lines = "item_id,criterion,rater,verdict,rater_kind\ngood,concise,gpt,MET,\nbad,concise,sam,MET,\n"
    lines += "good,concise,sam,UNMET,machine\n"
    factories.import_labels(dataset, version, by=people.ed, data=lines.encode(), filename="labels.csv")
    ed, bob = at_terminal(people.ed), at_terminal(people.bob)
    queue = " ".join(bob("queues", "show", "labels").out.split())
    assert "chosen Items that an imported file has labels of." in queue
    assert "work left none" in queue
    wanted = ("--dataset", dataset.name, "--rubric", f"id:{version.pk}", "--metadata", "tongue=xx")
    refused = ed("queues", "new", "None", "--everyone", *wanted).err
    assert refused == f"No item of {dataset.name} is chosen that way.\n"
    printed = bob("datasets", "raters", dataset.name, "--json").out
    assert misfits(ImportedRater, printed, many=True) == []
    listed = [json.loads(line) for line in printed.splitlines()]
    assert [(row["name"], row["rater_kind"], row["labels"]) for row in listed] == [
        ("gpt", "human", 1),
        ("sam", "human", 1),
        ("sam", "machine", 1),
    ]
    shown = ed("datasets", "rater-kind", dataset.name, "gpt", "machine")
    assert (shown.code, shown.out.split().count("machine")) == (0, 2)
    assert Rater.objects.get(name="gpt").kind == "machine"
    again = ed("datasets", "rater-kind", dataset.name, f"id:{listed[0]['id']}", "human", "--json")
    assert [json.loads(line)["rater_kind"] for line in again.out.splitlines()] == [
        "human",
        "human",
        "machine",
    ]
    # Two are called sam, and nobody robot: nothing is changed, and there is no entry in the audit log for it.
    for name, said in (("sam", f"has 2 raters from a file called 'sam'. Known: id:{listed[0]['id']} (gpt"),
                       ("robot", "has no rater from a file called 'robot'")):  # fmt: skip
        refused = ed("datasets", "rater-kind", dataset.name, name, "machine")
        assert (refused.code, said in " ".join(refused.err.split())) == (1, True)
    assert JournalEntry.objects.filter(verb="said what a rater is").count() == 2
    factories.dataset(people.team, people.ed, name="empty")
    assert "Nobody labelled empty in a file." in bob("datasets", "raters", "empty").err


def test_a_file_of_labels_is_looked_at_without_storing_it(people: Cast, at_terminal, tmp_path) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    path = tmp_path / "labels.csv"
    path.write_text("item_id,criterion,rater,verdict\ngood,concise,gpt,MET\nbad,concise,gpt,MET\n")
    asked = ["import-labels", path, "--dataset", dataset.name, "--rubric", f"id:{version.pk}"]
    asked += ["--rater-kind", "machine", "--plan"]
    ed = at_terminal(people.ed)
    shown = ed(*asked)
    assert (shown.code, "gpt machine 2" in " ".join(shown.out.split())) == (0, True)
    assert "Recognised: one label a row." in shown.err
    assert "2 labels of 2 items. Grades of 1 machine become imported runs, one each. Nothing was" in shown.err
    planned = ed(*asked, "--json").out
    assert misfits(LabelsPlan, planned) == []
    plan = json.loads(planned)
    assert (plan["labels"], plan["items"], plan["shape"]) == (2, 2, "long")
    assert plan["raters"] == [{"name": "gpt", "rater_kind": "machine", "labels": 2, "member": ""}]
    assert not Rater.objects.filter(name__in=["gpt", "kim"]).exists()
    assert not JournalEntry.objects.filter(verb="imported labels").exists()
    # Without --plan it is stored, and told as the API tells it.
    stored = ed(*[one for one in asked if one != "--plan"], "--json")
    assert (stored.code, "Stored the grades of gpt as imported run " in stored.err) == (0, True)
    run = Run.objects.get(rater__name="gpt")
    assert misfits(LabelsImported, stored.out) == []
    named = {"id": run.pk, "name": "gpt from labels.csv"}
    assert json.loads(stored.out) == {"queue": None, "runs": [named], "left_out": []}


def test_a_plan_shows_the_first_labels_as_they_are_read(people: Cast, at_terminal, tmp_path) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    path = tmp_path / "labels.csv"
    long = "It is short. " * 20
    path.write_text(
        "item_id,criterion,rater,verdict,reason,final_verdict,final_reason\n"
        f"good,capital,kim,yes,{long},no,It names none.\n"
        + "".join(f"good,concise,rater {n},no,,,\n" for n in range(10))
    )
    asked = ("import-labels", path, "--dataset", dataset.name, "--rubric", f"id:{version.pk}", "--plan")
    shown = at_terminal(people.ed)(*asked)
    assert shown.code == 0
    assert "The first labels as they are read:" in shown.err
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    # What was written "yes" is read as MET; a long reason is shown by its beginning.
    [kims] = [line for line in lines if line.startswith("good capital kim")]
    assert "good capital kim MET, now UNMET It is short." in kims
    assert long.strip() not in shown.out
    assert "good concise rater 8 UNMET" in lines
    assert "good concise rater 9 UNMET" not in lines  # the eleventh


def test_a_wide_file_of_labels_is_mapped_and_imported_in_part(people: Cast, at_terminal, tmp_path) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    path = tmp_path / "ratings.csv"
    path.write_text("id,gpt: capital,kim: capital,c2,why\ngood,good,yes,,Short.\nugly,no,no,no,\n")
    asked = ["import-labels", path, "--dataset", dataset.name, "--rubric", f"id:{version.pk}"]
    ed = at_terminal(people.ed)
    shown = ed(*asked, "--plan")
    assert "Recognised: a column for each rater and criterion." in shown.err
    assert "'good' is no answer (1 label). Say --value good=ANSWER" in " ".join(shown.err.split())
    said = ["--column", "kim: concise=c2", "--column", "kim: capital reason=why", "--value", "good=MET"]
    said += ["--rater-kind", "gpt=machine"]
    refused = ed(*asked, *said, "--strict")
    assert (refused.code, "line 3: id" in refused.err) == (1, True)
    assert not ReviewQueue.objects.exists()
    stored = ed(*asked, *said)
    assert stored.code == 0
    assert "Left out: 1 row on 1 item that is not in this dataset: ugly" in " ".join(stored.err.split())
    given = Judgement.objects.filter(review__queue__name="ratings")
    assert list(given.values_list("review__rater__name", "verdict", "reason")) == [("kim", "MET", "Short.")]
    of_machine = Judgement.objects.filter(run__rater__name="gpt")
    assert list(of_machine.values_list("run__name", "verdict")) == [("gpt from ratings.csv", "MET")]
    # Strictness is about what does not fit: of a file that grew it takes what is new.
    path.write_text("id,kim: capital,kim: concise,kim: capital reason\ngood,yes,no,Short.\n")
    grown = ed(*asked, "--name", "week 2", "--strict")
    assert (grown.code, "Left out: 1 label that was imported before" in grown.err) == (0, True)
    path.write_text("alpha,beta\n" + "1,2\n" * 100)
    unclear = ed(*asked)
    assert (unclear.code, unclear.err.count("alpha")) == (1, 1)
