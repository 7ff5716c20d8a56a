"""What the pages of reviews say in sentences of several cases."""

from rubricweb.models import ReviewQueue


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
