"""Pages of the datasets room: lists, bringing files in, items one by one."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb import access
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import NOT_RETIRED, Dataset, Item, Role, User
from rubricweb.selectors.datasets import combinations, imports, versions
from rubricweb.selectors.datasets import items as selectors
from rubricweb.selectors.datasets.columns import columns, metadata_keys, names, read_where
from rubricweb.selectors.datasets.halves import halves, read_half, split_is_withheld
from rubricweb.selectors.datasets.judged.filters import ERRORS, LABELS, read_judged
from rubricweb.selectors.datasets.judged.shown import name_scores, raters_of
from rubricweb.selectors.datasets.systems import answers_called, counted_versions
from rubricweb.selectors.datasets.tags import asked_tags, name_tags, tag_counts
from rubricweb.selectors.labels.provenance import item_provenance
from rubricweb.selectors.reviews import comments
from rubricweb.selectors.rubrics import versions as rubric_selectors
from rubricweb.selectors.teams.members import members
from rubricweb.services.datasets import columns as column_services
from rubricweb.services.datasets import raters, splits
from rubricweb.web.datasets.forms import SplitForm
from rubricweb.web.http import TeamRequest, now, searched, team_page, text_of
from rubricweb.web.saved_views.of_list import views_of_list
from rubricweb.web.shared.archived import archive_link
from rubricweb.web.shared.names import are_names_shown
from rubricweb.web.shared.selections import SELECTED_MAX, selected_items, use
from rubricweb.web.shared.titles import titles

SHOWN_VERSIONS = 20


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def datasets(request: TeamRequest) -> HttpResponse:
    search, archived = searched(request.GET), request.GET.get("archived") == "1"
    page = selectors.datasets(
        request.team, search=search, archived=archived, cursor=request.GET.get("cursor")
    )
    context = {"page": page, "search": search, **archive_link(request, Dataset)}
    if request.htmx:
        return render(request, "datasets/_datasets.html", context)
    may_edit = request.membership.may(Role.EDITOR)
    context["imports"] = imports.unended(request.team, viewer=request.user) if may_edit else []
    context["combinations"] = combinations.noteworthy(request.team, now()) if may_edit else []
    return render(request, "datasets/datasets.html", context)


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def dataset(request: TeamRequest, dataset_id: int) -> HttpResponse:
    dataset = access.access_dataset(request.team, dataset_id)
    search, order = searched(request.GET), request.GET.get("order", "position")
    where = read_where(dataset, request.GET.getlist("where"))
    version = selectors.read_version(request.GET.get("version", ""))
    # Views that were saved before say `half`.
    half = read_half(request.GET.get("split", request.GET.get("half", "")))
    tags = asked_tags(request.GET.getlist("tag"))
    system = answers_called(dataset, request.GET.get("system", ""))
    judged = read_judged(request.team, request.GET)
    context: dict[str, Any] = {
        "dataset": dataset,
        "half": half,
        "case_tags": tags,
        "system": system,
        "judged": judged,
        "page": selectors.items(
            dataset,
            viewer=request.user,
            search=search,
            order=order,
            cursor=request.GET.get("cursor"),
            where=where,
            listed=selectors.Listed(version, half, tags, system, judged),
        ),
        "columns": columns(dataset, where) if version in (selectors.CURRENT, dataset.version) else [],
        "version": "" if version in (selectors.CURRENT, dataset.version) else str(version),
        "where": [f"{name}={value}" for name, value in where],
        "search": search,
        "order": order,
        "may_edit": request.membership.may(Role.EDITOR),
    }
    rows = context["page"].rows
    context |= views_of_list(request, "items", dataset)
    context["has_scores"] = name_scores(rows, judged, viewer=request.user, team=request.team)
    context |= titles(request, [row.pk for row in rows])
    if request.htmx:
        return render(request, "datasets/_items.html", context)
    context |= {"label_choices": LABELS, "error_choices": ERRORS, "raters": raters_of(dataset)}
    context["item_count"], context["own_rubrics"] = selectors.own_rubric_counts(dataset)
    context |= {
        "changes": versions.changes(dataset, viewer=request.user, most=SHOWN_VERSIONS),
        "retired": versions.retired_count(dataset),
    }
    context |= {"runs": selectors.runs_over(dataset), "queues": selectors.queues_over(dataset)}
    context["halves"] = halves(dataset, viewer=request.user)
    context["tag_counts"] = tag_counts(dataset, viewer=request.user, asked=tags)
    context["systems"] = [version for version in counted_versions(dataset) if version.system.name]
    context["listed_versions"] = [
        version for version in context["systems"] if version.system.archived_at is None
    ]
    if context["may_edit"]:
        declared = names(dataset)
        context["metadata_keys"] = [(name, name in declared) for name in metadata_keys(dataset)]
    context["imported_raters"] = imports.imported_raters(dataset)
    if context["may_edit"] and context["imported_raters"]:
        context["members"] = [row.membership.user for row in members(request.team)]
    if dataset.split_report:
        context["may_see_labels"] = not split_is_withheld(dataset, request.user)
    return render(request, "datasets/dataset.html", context)


@team_page(Role.VIEWER)
@require_POST
def select(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """Goes on with the ticked items, or with all that match the search, to what is to be done with them."""
    dataset = access.access_dataset(request.team, dataset_id)
    search, where = searched(request.POST), read_where(dataset, request.POST.getlist("where"))
    half, tags = read_half(text_of(request.POST, "split")), asked_tags(request.POST.getlist("tag"))
    system = answers_called(dataset, text_of(request.POST, "system"))
    judged = read_judged(request.team, request.POST)
    chosen = selected_items(request.POST)
    if request.POST.get("all") == "1":
        version = selectors.read_version(text_of(request.POST, "version"))
        chosen = selectors.matching_ids(
            dataset,
            viewer=request.user,
            search=search,
            where=where,
            most=SELECTED_MAX + 1,
            listed=selectors.Listed(version, half, tags, system, judged),
        )
    back = reverse("dataset", args=[request.team.slug, dataset.pk])
    narrowed = [("q", search)] * bool(search) + [("where", f"{name}={value}") for name, value in where]
    narrowed += [("split", half)] * bool(half) + [("tag", tag) for tag in tags]
    narrowed += [("system", system)] * bool(system) + judged.as_query
    return use(request, chosen, back=f"{back}?{urlencode(narrowed)}" if narrowed else back)


@team_page(Role.EDITOR)
@require_POST
def declare_columns(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """Which metadata lists show and are narrowed by: the keys that were ticked."""
    dataset = access.access_dataset(request.team, dataset_id)
    wanted = [name.replace("\0", "") for name in request.POST.getlist("column") if name.strip()]
    try:
        column_services.declare(dataset, wanted, by=request.user)
    except Invalid as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Columns of {dataset}: {', '.join(wanted) or 'none'}.")
    return redirect("dataset", request.team.slug, dataset.pk)


@team_page(Role.VIEWER)
@require_safe
def item(request: TeamRequest, item_id: int) -> HttpResponse:
    item = access.access_item(request.team, item_id)
    previous, following = selectors.neighbours(item)
    own = item.rubric_version_id
    name_tags([item], told=selectors.name_systems([item], viewer=request.user, team=request.team))
    others = selectors.other_answers(item, viewer=request.user)
    around = [one for one in (previous, following) if one is not None]
    names = titles(request, [one.pk for one in (item, *around, *others)])
    context = {
        "item": item,
        **names,
        "key": names["titles"][item.pk].key,
        "other_answers": others,
        "is_current": item.retired_in == NOT_RETIRED,
        **dict(zip(("wrong", "corrected"), selectors.corrections_of(item), strict=True)),
        "may_change": request.membership.may(Role.EDITOR) and not item.dataset.sealed_as,
        "may_tag": request.membership.may(Role.EDITOR),
        "submission": item.to_engine(),
        "metadata": list(item.shown_metadata.items()),  # type: ignore[attr-defined]  # named above
        "previous": previous,
        "following": following,
        "groups": rubric_selectors.grouped(rubric_selectors.version_with_criteria(own)) if own else [],
        "runs": selectors.runs_containing(item, viewer=request.user),
        "thread": comments.thread(item, viewer=request.user),
    }
    return render(request, "datasets/item.html", context | _ground_truth(request, item))


def _ground_truth(request: TeamRequest, item: Item) -> dict[str, Any]:
    """What stands for the item and why, with the names of who said so where they are shown."""
    try:
        truths = item_provenance(item, viewer=request.user)
    except Withheld as error:
        return {"withheld": str(error)}
    return {"truths": truths, "names": bool(truths) and are_names_shown(request, item)}


@team_page(Role.EDITOR)
def seal(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """Asks how many items examples are drawn from; the answer opens the dataset they are in."""
    dataset = access.access_dataset(request.team, dataset_id)
    form = SplitForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = splits.split_dataset(dataset, by=request.user, **form.cleaned_data)
        except (Invalid, Conflict, Withheld) as error:
            form.refuse(error)
        else:
            report = made.report
            words = f"{report.n_train:,} items for examples, {report.n_test:,} to test on."
            messages.success(request, f"{dataset} is copied into two sealed datasets: {words}")
            return redirect("dataset", request.team.slug, made.dev.pk)
    context = {"dataset": dataset, "form": form}
    return render(request, "datasets/seal.html", context, status=422 if form.errors else 200)


@team_page(Role.EDITOR)
@require_POST
def rater_kind(request: TeamRequest, dataset_id: int, rater_id: int) -> HttpResponse:
    """What a rater that came with a file is."""
    dataset = access.access_dataset(request.team, dataset_id)
    rater = access.access_imported_rater(dataset, rater_id)
    try:
        raters.change_kind(rater, request.POST.get("rater_kind", ""), by=request.user)
    except Conflict as error:
        messages.error(request, str(error))
    return redirect("dataset", request.team.slug, dataset.pk)


@team_page(Role.EDITOR)
@require_POST
def rater_member(request: TeamRequest, dataset_id: int, rater_id: int) -> HttpResponse:
    """Which member a person in files is; an empty name takes that back."""
    dataset = access.access_dataset(request.team, dataset_id)
    rater = access.access_imported_rater(dataset, rater_id)
    named = text_of(request.POST, "member")
    try:
        if named:
            member = User.objects.filter(username=named, memberships__team=request.team).first()
            if member is None:
                raise Invalid.at("member", repr(named[:80]), "a member of the team")
            raters.declare_member(rater, member, by=request.user)
            messages.success(request, f"{rater} is {member}: the labels are theirs, in every file.")
        else:
            raters.take_member_back(rater, by=request.user)
            messages.success(request, f"{rater} is no member after all.")
    except (Conflict, Invalid) as error:
        messages.error(request, str(error))
    return redirect("dataset", request.team.slug, dataset.pk)
