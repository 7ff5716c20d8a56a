"""Imports of files as lists show them, who labelled in files, and what of them no judge is shown."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db.models import Count, Q, TextField
from django.db.models.functions import Cast

from rubricweb.engine.conversations.unseen_parts import unseen_parts, unseen_words
from rubricweb.engine.formats.result_files import csv_line
from rubricweb.engine.origin import Origin, origin_of
from rubricweb.models import Dataset, DatasetImport, ImportState, Item, Judgement, Rater, Team, User
from rubricweb.selectors.blinding import hidden_datasets
from rubricweb.selectors.shared.pages import Page, keyset_page

UNENDED = (ImportState.WAITING, ImportState.RUNNING, ImportState.ASKS)


def imports(team: Team, *, cursor: str | None = None, size: int = 50) -> Page[DatasetImport]:
    """The team's imports, newest first, without their faults."""
    rows = DatasetImport.objects.filter(team=team).select_related("dataset", "created_by").defer("faults")
    return keyset_page(rows, order=("-pk",), cursor=cursor, size=size)


def unended(team: Team, *, viewer: User) -> list[DatasetImport]:
    """Those that are under way or wait for an answer, as `without_hidden_names` tells of them."""
    rows = DatasetImport.objects.filter(team=team, state__in=UNENDED).select_related("dataset")
    newest = rows.defer("faults", "found").order_by("-pk")[:20]
    return without_hidden_names(newest, viewer=viewer, team=team)


def without_hidden_names(rows: Iterable[DatasetImport], *, viewer: User, team: Team) -> list[DatasetImport]:
    """The imports, without which items say the same, and which cases are new, where this person is still to
    review some of the dataset blind: keys tell who answered. Not to be saved.

    Of what others sent there they are told neither the name of the file, nor the version that answered, nor
    what was found in it or wrong with it: that tells whose answers it brought.
    """
    found = list(rows)
    into_datasets = [one for one in found if one.dataset_id is not None]
    hidden = hidden_datasets(viewer, team) if into_datasets else frozenset()
    for one in into_datasets:
        if one.dataset_id not in hidden:
            continue
        if one.created_by_id != viewer.pk:
            one.filename = one.name = one.system = one.message = ""
            one.found, one.faults = {}, []
            continue
        one.found = {**one.found, "duplicates": []}
        if preview := one.found.get("preview"):
            names = [name for name in preview["new_names"] if name["what"] != "case"]
            one.found["preview"] = {**preview, "first_duplicates": [], "new_names": names}
    return found


def faults_csv(job: DatasetImport) -> str:
    """Every fault of a refused file that was counted, a line each under a header."""
    return "".join(map(csv_line, [("where", "found", "allowed"), *job.faults]))


@dataclass(frozen=True)
class ImportedRater:
    """Somebody whose labels of a dataset came in files, how many, and what they count as.

    `member` is the user name of a member, "" for none. `is_said`: of a name in files somebody said so, which
    can be taken back.
    """

    id: int
    name: str
    rater_kind: str
    labels: int
    member: str = ""
    is_said: bool = False

    @property
    def origin(self) -> Origin:
        return origin_of(self.rater_kind, imported=True)


def imported_raters(dataset: Dataset) -> list[ImportedRater]:
    """Who labelled the dataset in files, by name: people and settled labels found by their reviews, machines
    by their runs. What a member gave under a name that was said to be theirs stands under that name. Three
    queries, one more for each such name.
    """
    found: list[ImportedRater] = []
    for rows, rater in (
        (Judgement.objects.in_reviews(queue__dataset=dataset, imported=True), "review__rater"),
        (Judgement.objects.filter(run__dataset=dataset, run__rater__isnull=False), "run__rater"),
    ):
        named = rows.order_by().values(rater, f"{rater}__name", f"{rater}__kind", f"{rater}__user__username")
        columns = (rater, f"{rater}__name", f"{rater}__kind", "n", f"{rater}__user__username")
        for pk, name, kind, n, member in named.annotate(n=Count("pk")).values_list(*columns):
            found.append(ImportedRater(pk, name, kind, n, member or ""))
    counts = {one.id: one.labels for one in found}
    names = Rater.objects.filter(same_as__in=counts).select_related("same_as__user")
    for alias in names:
        own = alias.same_as
        assert own is not None, "asked for"
        moved = Judgement.objects.in_reviews(queue__dataset=dataset, pk__in=alias.moved_reviews)
        labels, member = moved.count(), own.user.username if own.user else own.name
        counts[own.pk] -= labels
        found.append(ImportedRater(alias.pk, alias.name, alias.kind, labels, member, True))
    found = [replace(one, labels=counts.get(one.id, one.labels)) for one in found]
    return sorted((one for one in found if one.labels), key=lambda one: (one.name, one.id))


def unseen_in_dataset(dataset: Dataset) -> str:
    """In how many items' prompts pictures and the like are, in a sentence; "" where none is. Two queries."""
    in_words = Cast("prompt", TextField())
    prompts = (
        Item.objects.current()
        .filter(dataset=dataset)
        .annotate(in_words=in_words)
        # A part has a type, and what stands within a text is in base64.
        .filter(Q(in_words__contains='"type"') | Q(in_words__contains=";base64,"))
        .order_by()
        .values_list("prompt", flat=True)
    )
    shared = "The dataset's prompt has them too." if unseen_parts(dataset.prompt) else ""
    own = unseen_words(sum(unseen_parts(prompt) > 0 for prompt in prompts.iterator(chunk_size=100)))
    if shared and not own:
        return unseen_words(dataset.items.count())
    return f"{own} {shared}".strip()
