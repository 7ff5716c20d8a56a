"""The shipped instructions, which a judge is told where it has none of its own."""

from __future__ import annotations

from collections.abc import Callable

from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.engine.autograders.instructions import (
    EDITION,
    FormTexts,
    JudgeWording,
    shipped_instructions,
)
from rubricweb.engine.judging.definition import JudgeDefinition


def shipped_texts(definition: JudgeDefinition, wording: JudgeWording) -> FormTexts:
    """The shipped instructions of its way of asking and of the wording's edition, for each form of question.

    Without texts for a way of asking or an edition that there is not.
    """
    asking = AUTOGRADERS.get(definition.autograder)
    if asking is None or definition.reply_format not in asking.reply_formats:
        return FormTexts()
    if not 1 <= wording.edition <= EDITION:
        return FormTexts()
    return FormTexts(
        **{
            form: shipped_instructions(
                asking.prompt_name(definition.reply_format, options=form == "with_options"),
                edition=wording.edition,
            )
            for form in FormTexts.model_fields
        }
    )


def written_out(definition: JudgeDefinition) -> JudgeDefinition:
    """The same with the shipped instructions where it has none of its own, to be edited."""

    def filled(wording: JudgeWording, form: str, shipped: str) -> str:
        own = getattr(wording.instructions, form)
        return own or ("" if getattr(wording.whole_messages, form) else shipped)

    return _worded(definition, filled)


def shipped_left_out(definition: JudgeDefinition) -> JudgeDefinition:
    """The same without instructions that are the shipped ones: what is told so is the same judge."""

    def emptied(wording: JudgeWording, form: str, shipped: str) -> str:
        own: str = getattr(wording.instructions, form)
        return "" if own.strip() == shipped.strip() else own

    return _worded(definition, emptied)


def _worded(definition: JudgeDefinition, text: Callable[[JudgeWording, str, str], str]) -> JudgeDefinition:
    """With instructions that `text` gives for a wording, a form and its shipped text."""

    def worded(wording: JudgeWording) -> JudgeWording:
        shipped = shipped_texts(definition, wording)
        texts = {form: text(wording, form, getattr(shipped, form)) for form in FormTexts.model_fields}
        return wording.model_copy(update={"instructions": FormTexts(**texts)})

    members = tuple(
        one if one.wording is None else one.model_copy(update={"wording": worded(one.wording)})
        for one in definition.members
    )
    return definition.model_copy(update={"wording": worded(definition.wording), "members": members})
