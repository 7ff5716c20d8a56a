"""Pictures and other files in prompts of items, which no judge is shown: said at an import and in a plan."""

from collections.abc import Iterable

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from rubricweb.engine.parsers.unseen_parts import unseen_parts, unseen_words
from rubricweb.models import Dataset, Item

CHUNK = 100


def unseen_in_dataset(dataset: Dataset) -> str:
    """In how many items' prompts such parts are, in a sentence; "" where none is. One query."""
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
    own = unseen_words(sum(unseen_parts(prompt) > 0 for prompt in prompts.iterator(chunk_size=CHUNK)))
    if shared and not own:
        return unseen_words(dataset.items.count())
    return f"{own} {shared}".strip()


def unseen_in_sample(items: Iterable[Item], of: int) -> str:
    """The same of items that a plan looked at, `of` so many."""
    sample = list(items)
    found = sum(unseen_parts(item.to_engine().query) > 0 for item in sample)
    return unseen_words(found, f" of {len(sample):,} that were looked at" if len(sample) < of else "")
