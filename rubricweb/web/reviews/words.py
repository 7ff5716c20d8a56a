"""What the pages of reviews say in sentences of several cases."""

from rubricweb.models import ReviewQueue
from rubricweb.selectors.reviews.reveals import Differences

SKIP_REASONS = (
    "Not my field",
    "I cannot read it",
    "Not a real answer",
    "The rubric does not fit it",
    "I know whose answer it is",
)
"""The usual reasons to skip an item, in the order of their keys: 1 to 5."""


def close_question(queue: ReviewQueue, drafts: int) -> str:
    """Asked before a queue with so many unsubmitted drafts is closed."""
    question = f"Close {queue.name}? Nobody can review in it any more"
    if drafts:
        question += f"; {drafts} draft{'s' if drafts != 1 else ''} will stay unsubmitted"
    question += "."
    if queue.blind != "none":
        question += " Its verdicts stop being hidden; reopening cannot undo what its raters saw meanwhile."
    return question


def reopen_question(queue: ReviewQueue) -> str:
    """Asked before a closed queue is opened again."""
    question = f"Open {queue.name} again?"
    if queue.blind != "none":
        question += (
            " Its verdicts are hidden from its raters again. Since it was closed they may have seen some:"
            " labels they give from now on may not be blind."
        )
    return question


def differs_note(differences: Differences) -> str:
    """What passes by after a submit: "2 of 6 differ from the judge". "" where nothing differs.

    Without a judge the others are people: "1 of 6 differs from other raters".
    """
    count, by_judge = differences.from_judge or differences.from_people, differences.from_judge
    if not count:
        return ""
    whom = "the judge" if by_judge else "other raters"
    return f"{count} of {differences.asked} {'differs' if count == 1 else 'differ'} from {whom}"
