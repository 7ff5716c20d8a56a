"""Writing rubrics: drafts that keep whatever was typed, and published versions that never change."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import F, Max

from rubricweb import engine
from rubricweb.engine.errors import Fault, FaultList, InvalidFile, InvalidRubric, InvalidText, named_as
from rubricweb.engine.formats.rubric_files import is_table, read_rubric, rubric_columns, taken_for
from rubricweb.engine.formats.tables.rubric_tables import RubricTable
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import decode
from rubricweb.engine.parsers.yaml_lines import lines_of
from rubricweb.engine.parsers.yaml_text import parse_yaml
from rubricweb.engine.rubric import MAX_TITLE, check_rubric
from rubricweb.engine.rubric.identity import given_name, ids_in_versions, matched_ids, with_ids
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Criterion, Rubric, RubricVersion, Team, User
from rubricweb.selectors.rubrics.earlier_criteria import earlier_criteria
from rubricweb.services.earlier_drafts import draft_at, remember, savers_since
from rubricweb.services.file_reading import read_limited
from rubricweb.services.rubrics.drafts import as_draft, as_one_list, is_draft
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide_at_publication
from rubricweb.services.rubrics.meanings import assign_meanings
from rubricweb.services.rubrics.merging import Choices, DraftMerge, merge_drafts
from rubricweb.services.shared.journal import record

T = TypeVar("T")

MAX_TYPED_BYTES = 1_000_000
"""A rubric typed as text is read while its sender, and others, wait. A thousand criteria fit."""

MAX_PLACED_BYTES = 256_000
"""Up to here faults have lines: finding them takes ten times as long as reading."""


@transaction.atomic
def create_rubric(
    team: Team, *, by: User | None, title: str, draft: Mapping[str, Any] | None = None
) -> Rubric:
    """A new rubric with a draft and no version yet."""
    title = _title(title)
    content = {"guidelines": "", "criteria": [], **(draft or {}), "title": title}
    rubric = Rubric.objects.create(team=team, title=title, draft=content, created_by=by)
    record(team, by, "created", rubric)
    return rubric


@transaction.atomic
def save_draft(
    rubric: Rubric,
    *,
    draft: Mapping[str, Any],
    revision: int,
    by: User | None = None,
    may_repeat: bool = False,
) -> Rubric:
    """Stores the draft as typed, valid or not. `revision` is the one the editor started from.

    Raises Conflict when somebody saved in between, with every field that both changed; nothing is
    overwritten, and `merged_with_saved` is the draft of both. With `may_repeat` a draft that is
    what is stored is none: whoever did not hear the answer to a save sends it again.
    """
    content = _content(draft, rubric)
    before = Rubric.objects.select_for_update().get(pk=rubric.pk).draft
    saved = Rubric.objects.filter(pk=rubric.pk, draft_revision=revision).update(
        title=content["title"], draft=content, draft_revision=F("draft_revision") + 1
    )
    rubric.refresh_from_db()
    if not saved and may_repeat and rubric.draft == content:
        return rubric
    if not saved:
        raise _conflict(rubric, content, revision)
    rubric.save(update_fields=["updated_at"])
    remember(rubric, before, by=by)
    return rubric


def _content(draft: Mapping[str, Any], rubric: Rubric) -> dict[str, Any]:
    """A draft as it is stored, its criteria with the ids they have in the rubric."""
    title = _title(str(draft.get("title") or ""))
    content = {"guidelines": "", "criteria": [], **draft, "title": title}
    return content | {"criteria": _still_identified(content["criteria"], rubric)}


def _conflict(rubric: Rubric, content: Mapping[str, Any], revision: int) -> Conflict:
    merge = merged_with_saved(rubric, draft=content, revision=revision)
    changed = "; ".join(merge.theirs_changed[:10])
    both = len(merge.conflicts)
    return Conflict(
        f"{merge.savers[:1].upper()}{merge.savers[1:]} saved this draft meanwhile (it is at save "
        f"{rubric.draft_revision}, yours began at {revision}). Changed: {changed or 'nothing'}. "
        f"Fields you changed too: {both}.",
        faults=[conflict.fault() for conflict in merge.conflicts],
    )


def merged_with_saved(
    rubric: Rubric, *, draft: Mapping[str, Any], revision: int, choices: Choices | None = None
) -> DraftMerge:
    """What comes of a draft that began at a save before the newest: see `merge_drafts`. Nothing is stored."""
    base, mine = draft_at(rubric, revision), _content(draft, rubric)
    merge = merge_drafts(base, rubric.draft, mine, choices)
    merge.savers = " and ".join(savers_since(rubric, revision)) or "somebody else"
    return merge


def _still_identified(entries: Any, rubric: Rubric) -> Any:
    """The criteria of a draft with the ids the saved draft, else a version has for them, where they came
    without.
    """
    earlier = rubric.draft.get("criteria") if isinstance(rubric.draft, Mapping) else None
    lists = [entries, earlier or []]
    if not all(isinstance(one, list) and all(isinstance(entry, Mapping) for entry in one) for one in lists):
        return entries
    ids = matched_ids(*lists)
    named = [{**entry, "id": id} for id, entry in zip(ids, entries, strict=True)]
    ids = ids_in_versions(named, earlier_criteria(rubric, ids))
    return [entry if id is None else {**entry, "id": id} for id, entry in zip(ids, entries, strict=True)]


@transaction.atomic
def publish(
    rubric: Rubric,
    *,
    by: User | None,
    note: str = "",
    revision: int | None = None,
    decisions: Mapping[str, NewLabelDecision] | None = None,
) -> RubricVersion:
    """Freezes the draft as the next version. Raises Invalid with every fault of the draft.

    `decisions` say what becomes of labels on criteria that are asked in other words, by uid; the others wait.

    `revision` is the draft somebody looked at before deciding; Conflict when it has changed since.
    Publishing a draft that equals the newest version gives that version back.
    """
    Rubric.objects.select_for_update().get(pk=rubric.pk)
    rubric.refresh_from_db()
    if revision is not None and revision != rubric.draft_revision:
        raise Conflict("The draft was saved again since you opened this page. Look at the changes once more.")
    newest = rubric.versions.prefetch_related("criteria").order_by("-number").first()
    content = checked(rubric.draft)
    content = with_ids(content, earlier_criteria(rubric, [one.id for one in content.criteria]))
    if newest is not None and newest.to_engine() == content:
        if decisions:
            raise Conflict(f"The draft is published already, as {newest}: decide about labels there.")
        return newest
    last = rubric.versions.aggregate(last=Max("number"))["last"] or 0
    [version] = store_versions(
        [content], rubric=rubric, first_number=last + 1, by=by, note=note.strip()[:300]
    )
    assign_meanings(rubric)
    _keep_ids(rubric, content, by)
    record(rubric.team, by, "published", version)
    decide_at_publication(version, decisions or {}, by=by)
    return version


def _keep_ids(rubric: Rubric, content: engine.Rubric, by: User | None) -> None:
    """Writes the ids of the published criteria into the draft: they stay the same ones when reworded."""
    entries = as_one_list(rubric.draft).get("criteria") or []
    if len(entries) == len(content.criteria) and all(isinstance(entry, dict) for entry in entries):
        named = [{**entry, "id": one.id} for one, entry in zip(content.criteria, entries, strict=True)]
        before, rubric.draft = rubric.draft, {**rubric.draft, "criteria": named}
        # Reworded without its id, one without a name would be another one: who has the draft open is told.
        is_save = any(not (entry.get("id") or given_name(entry)) for entry in entries)
        rubric.draft_revision += is_save
        rubric.save(update_fields=["draft", "draft_revision"])
        if is_save:
            remember(rubric, before, by=by)


@transaction.atomic
def restore(version: RubricVersion, *, by: User | None, revision: int) -> Rubric:
    """Puts a published version into its rubric's draft, in place of what is there; publishing it is a step of
    its own.

    `revision` is the draft somebody looked at; Conflict when it was saved since.
    """
    rubric = _rubric_of(version)
    restored = save_draft(rubric, by=by, draft=_as_written(version.to_engine()), revision=revision)
    record(rubric.team, by, "restored", version)
    return restored


@transaction.atomic
def copy(version: RubricVersion, *, by: User | None, title: str = "") -> Rubric:
    """A new rubric whose draft is this version. Its criteria keep their ids, and share no labels with it.

    Without a title it is called like the version, with (copy) behind it.
    """
    original = _rubric_of(version)
    title = title.strip() or f"{version.title[: MAX_TITLE - 7]} (copy)"
    made = create_rubric(original.team, by=by, title=title, draft=_as_written(version.to_engine()))
    record(original.team, by, "copied", version, to=made.title)
    return made


def _rubric_of(version: RubricVersion) -> Rubric:
    if version.rubric is None:
        raise Invalid("The rubric came with an item: it has no draft and no other versions.")
    return version.rubric


def _as_written(content: engine.Rubric) -> dict[str, Any]:
    """A rubric as a draft holds it, ids included. C1, C2, … are nobody's names: each follows its place."""
    written = content.to_dict()
    for place, entry in enumerate(written["criteria"], start=1):
        if entry.get("name") == f"C{place}":
            del entry["name"]
    return as_draft(written)


def checked(draft: Mapping[str, Any]) -> engine.Rubric:
    """The draft as the engine's rubric. Raises Invalid with every fault and its place."""
    try:
        return engine.Rubric.from_dict(dict(draft))
    except InvalidRubric as error:
        raise Invalid(f"The rubric has {_faults(len(error.faults))}.", error.faults) from error


def read_draft(text: str) -> dict[str, Any]:
    """A draft typed as YAML or JSON; it may be incomplete, but must hold nothing a form could not show.

    Raises Invalid with every fault when the text cannot be read, has unknown keys, or a list where a text
    belongs, with its line unless the text is long; and for one beyond MAX_TYPED_BYTES.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_TYPED_BYTES:
        raise Invalid(
            f"The text is too long: {size:,} bytes, at most {MAX_TYPED_BYTES:,}. "
            "A larger rubric can be imported as a file."
        )
    faults = FaultList()
    try:
        text = decode(text)
        data = parse_json(text) if text.lstrip().startswith(("{", "[")) else parse_yaml(text)
    except InvalidText as error:
        raise Invalid("The text cannot be read.", error.faults) from error
    check_rubric(data, faults)
    head = as_one_list(data)
    if not faults and not is_draft(head):
        head = engine.Rubric.from_dict(data).to_dict()
    if not is_draft(head) or (not isinstance(data, dict) and not head.get("criteria")):
        lines = lines_of(text, [fault.place for fault in faults]) if size <= MAX_PLACED_BYTES else {}
        placed = [Fault(_with_line(fault.place, lines), fault.found, fault.allowed) for fault in faults]
        raise Invalid(f"The text has {_faults(len(placed))}.", placed)
    return as_draft(head)


def _with_line(place: str, lines: Mapping[str, int]) -> str:
    return f"line {lines[place]}: {place}" if place in lines else place


@transaction.atomic
def import_rubric(
    team: Team, *, by: User | None, data: bytes, filename: str, title: str = ""
) -> RubricVersion:
    """Reads a rubric file and publishes it as version 1 of a new rubric."""
    content = with_ids(read(data, filename=filename))
    title = title or content.title or filename.rsplit("/", 1)[-1].rsplit(".", 1)[0] or "Imported rubric"
    rubric = create_rubric(team, by=by, title=title, draft=_as_written(content))
    return publish(rubric, by=by, note=f"imported from {filename}"[:300])


def read(data: bytes, *, filename: str) -> engine.Rubric:
    """The rubric in an uploaded file. Raises Invalid with every fault."""
    return _read(read_rubric, data, filename)


def _read(reader: Callable[..., T], data: bytes, filename: str) -> T:
    try:
        return read_limited(reader, data, filename=filename)
    except (InvalidRubric, InvalidFile) as error:
        taken = named_as(filename, taken_for(data, filename))
        raise Invalid(f"{taken}, has {_faults(len(error.faults))}.", error.faults) from error


def columns_read(data: bytes, filename: str) -> RubricTable | None:
    """What the columns of a table that is a rubric were read as; None for YAML and JSON.

    Raises Invalid with every fault of a table.
    """
    return _read(rubric_columns, data, filename) if is_table(filename) else None


def store_versions(
    contents: Iterable[engine.Rubric],
    *,
    rubric: Rubric | None = None,
    first_number: int = 1,
    by: User | None = None,
    note: str = "",
) -> list[RubricVersion]:
    """Frozen rows for engine rubrics, in order; without a `rubric` they belong to items."""
    contents = list(contents)
    versions = RubricVersion.objects.bulk_create(
        [
            RubricVersion(
                rubric=rubric,
                number=first_number + offset if rubric else None,
                title=content.title,
                guidelines=content.guidelines,
                pass_rule=content.pass_rule.to_dict() if content.pass_rule else None,
                length_penalty=content.length_penalty.to_dict() if content.length_penalty else None,
                metadata=content.metadata,
                note=note,
                published_by=by,
            )
            for offset, content in enumerate(contents)
        ],
        batch_size=500,
    )
    Criterion.objects.bulk_create(
        [
            Criterion(
                version=version,
                position=position,
                uid=criterion.id or "",
                name=str(criterion.name),
                requirement=criterion.requirement,
                weight=criterion.weight,
                group=criterion.group or "",
                guidance=criterion.guidance or "",
                tags=list(criterion.tags),
                met_example=criterion.met_example or "",
                unmet_example=criterion.unmet_example or "",
                kind=criterion.kind,
                options=[option.to_dict() for option in criterion.options],
                scale_type=criterion.scale_type or "",
                aggregation=criterion.aggregation or "",
                check_name=criterion.check or "",
                params=dict(criterion.params),
            )
            for version, content in zip(versions, contents, strict=True)
            for position, criterion in enumerate(content.criteria)
        ],
        batch_size=500,
    )
    return versions


def _title(title: str) -> str:
    title = title.strip()
    if not title:
        raise Invalid("A rubric needs a title.", [Fault("title", "nothing", "a title")])
    if len(title) > MAX_TITLE:
        fault = Fault("title", f"{len(title):,} characters", f"at most {MAX_TITLE}")
        raise Invalid("The title is too long.", [fault])
    return title


def _faults(count: int) -> str:
    return "one fault" if count == 1 else f"{count} faults"
