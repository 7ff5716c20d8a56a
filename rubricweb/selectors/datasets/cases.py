"""The words of a case."""

from rubricweb.models import Case, CaseText, Item


def words_of(case: Case) -> Item:
    """The present words of a case, as one of its items has them; not stored where none answers them yet."""
    rows = Item.objects.filter(case=case, wording=case.wording)
    item = rows.select_related("case", "dataset", "rubric_version").order_by("pk").first()
    if item is not None:
        return item
    text = CaseText.objects.select_related("case__dataset").filter(case=case, number=case.wording).first()
    if text is not None:
        return as_item(text)
    # Sealed halves of earlier releases have no words of a corrected case but those of the answers they hold.
    rows = Item.objects.filter(case=case).select_related("case", "dataset", "rubric_version")
    return rows.earliest("-wording", "pk")


def as_item(text: CaseText) -> Item:
    """Words nobody has answered yet, as an item would have them."""
    return Item(
        dataset=text.case.dataset,
        case=text.case,
        wording=text.number,
        prompt=text.prompt,
        reference=text.reference,
        description=text.description,
        rubric_version=text.rubric_version,
    )


def neighbours(case: Case) -> tuple[int | None, int | None]:
    """The ids of the cases before and after it in its dataset, by when they were added; None at its ends."""
    others = Case.objects.filter(dataset=case.dataset_id)
    before = others.filter(pk__lt=case.pk).order_by("-pk").values_list("pk", flat=True).first()
    after = others.filter(pk__gt=case.pk).order_by("pk").values_list("pk", flat=True).first()
    return before, after
