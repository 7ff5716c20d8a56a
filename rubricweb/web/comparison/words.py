"""What Compare says in sentences of several cases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString

from rubricweb.engine.agreement import LabelsNeeded
from rubricweb.engine.agreement.intervals import CONFIDENCE, p_against
from rubricweb.engine.agreement.raters.leading import WITHIN, seat_kappas
from rubricweb.engine.agreement.scores.scores import ScoreAgreement
from rubricweb.engine.number_format import counted, interval_text, number, share
from rubricweb.models import ReviewQueue, RubricVersion
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.comparison.people_means import PeopleEstimate
from rubricweb.templatetags.display import figure
from rubricweb.web.shared.tiles import sentence


@dataclass(frozen=True)
class Fact:
    """One line of a list of facts; `about` is where the page explains the term, "" where it does not."""

    term: str
    detail: str
    about: str = ""


def other_wordings(comparison: Comparison, queues: Sequence[ReviewQueue]) -> str:
    """Which queues have labels that count in no figure, since the run asked in other words; "" without any.

    `queues` are those labelled by another version or rubric than the run's.
    """
    if not comparison.on_other_versions:
        return ""
    labelled = sentence(
        *(f"{queue.name} was labelled by {_version(queue.rubric_version)}" for queue in queues)
    )
    return (
        f"{labelled}. The run graded by {_version(comparison.run.rubric_version)}. "
        f"Labels count where both ask the same: {counted(comparison.on_other_versions, 'unit')} labelled "
        "under other words, or by criteria the run’s rubric does not have, are in no figure."
    )


def _version(version: RubricVersion | None) -> str:
    return str(version) if version else "the items’ own rubrics"


# ── Left out ───────────────────────────────────────────────────────────────────


def special_cases(comparison: Comparison, inbox: str, *, has_choices: bool) -> Iterator[Fact]:
    """What is left out of the figures or counts another way; `inbox` is its address with run and queues."""
    people = counted(comparison.raters, "rater")
    yield Fact("People", f"{people} in {counted(len(comparison.queues), 'queue')}")
    yield Fact("Human ceiling", _ceiling(comparison, has_choices=has_choices), about="about-ceiling")
    if comparison.within is not None:
        yield Fact("In one table of all criteria", _pooled(comparison), about="about-within")
    yield Fact("Undecided ties", _ties(comparison, inbox))
    yield Fact("Adjudicated", _adjudicated(comparison, inbox))
    overall = comparison.overall
    yield Fact(
        "Cannot assess",
        f"{overall.abstained_judged:,} by the judge, {overall.abstained_reference:,} by people",
    )
    errors = f", {comparison.errors:,} of them errors" if comparison.errors else ""
    yield Fact("No verdict of the judge", f"{overall.missing:,}{errors}")
    if comparison.criteria and comparison.on_own_rubrics:
        own = counted(comparison.on_own_rubrics, "unit")
        yield Fact("On items’ own rubrics", f"{own}, in the overall figures only")
    if comparison.of_other_systems:
        other = f"{counted(comparison.of_other_systems, 'unit')} of answers the run was not over"
        yield Fact("Of other system versions", f"{other}: in no figure")
    if comparison.on_other_versions:
        other = (
            f"{counted(comparison.on_other_versions, 'unit')} labelled by criteria this run was never asked"
        )
        yield Fact("On other wordings", f"{other}: in no figure")
    if comparison.hidden_items:
        hidden = counted(comparison.hidden_items, "item")
        yield Fact("Hidden from you", f"{hidden} you are still to review blind")


def _ceiling(comparison: Comparison, *, has_choices: bool) -> str:
    """One person and the judge in their seat, within criteria where there are several."""
    ceiling, within = comparison.ceiling, comparison.within
    person = ceiling.kappa if within is None else within.seat.kappa
    if person.value is None:
        return (
            "undefined: κ has no value for these labels"
            if ceiling.n
            else "undefined: no unit labelled by two people"
        )
    kind = " of met-or-unmet criteria" if has_choices else ""
    said = format_html(
        '<span class="num">κ{} {}</span>, each of these {} compared with the others on {}{}',
        "" if within is None else f" {WITHIN}",
        figure(person),
        counted(ceiling.raters, "person", "people"),
        counted(ceiling.n, "unit"),
        kind,
    )
    seat = seat_kappas(ceiling, within)
    if seat is None:
        return said
    return format_html(
        '{}; the judge in their seat <span class="num">κ {}</span>, difference <span class="num">{}</span>',
        said,
        figure(seat.judge),
        figure(seat.difference, signed=True),
    )


def _pooled(comparison: Comparison) -> SafeString:
    """What other tools report, and where a judge does well that only knows how often criteria are met."""
    ceiling = comparison.ceiling
    said = format_html(
        'claims nothing: <span class="num">κ {}</span>; people’s α <span class="num">{}</span>; one person’s '
        'κ <span class="num">{}</span>',
        figure(comparison.overall.kappa),
        figure(comparison.human_alpha),
        figure(ceiling.kappa),
    )
    if ceiling.judge is None:
        return said
    return format_html(
        '{}, the judge in their seat <span class="num">{}</span>, difference <span class="num">{}</span>',
        said,
        figure(ceiling.judge.kappa),
        figure(ceiling.judge.kappa_difference, signed=True),
    )


def _ties(comparison: Comparison, inbox: str) -> str:
    if not comparison.undecided:
        return "none"
    return format_html(
        "{}, {} of what was labelled; in no figure of a majority until somebody decides, ½ in every mean",
        _link(f"{inbox}&kind=people+differ", comparison.undecided),
        figure(comparison.tied_share, percent=True),
    )


def _adjudicated(comparison: Comparison, inbox: str) -> str:
    if not comparison.adjudicated:
        return "none"
    link = _link(f"{inbox}&decided=1", comparison.adjudicated)
    return format_html(
        "{}, where the decision replaces people’s verdict in accuracy and κ; means are of what people said",
        link,
    )


def _link(address: str, count: int) -> SafeString:
    return format_html('<a href="{}">{}</a>', address, f"{count:,}")


# ── Scores ───────────────────────────────────────────────────────────────────────────────────────


def bias_words(agreement: ScoreAgreement, confidence: float) -> str:
    """Whether the judge's scores differ from people's by more than chance.

    Claimed where both the interval of the bias and the paired t test say so: where few items differ from the
    rest the interval is the wider of the two. `confidence` is that of the comparison's claims: at a look at a
    test split it is higher.
    """
    p, tested = p_against(agreement.bias), agreement.bias_t.p
    if p is None:
        # Several items of which no two fall apart are answers to one case.
        of = "items" if agreement.n < 2 else "cases"
        return f"Whether the bias could be chance is undefined: it takes two {of}."
    level = 1 - confidence
    # Over cases the two differ for another reason as well: the test counts each case once.
    if tested is not None and tested < level <= p and agreement.bias_t.n == agreement.n:
        return "The bias could be chance: so few items would not have shown rare large differences."
    p = max(p, tested or 0.0)
    chance = "is unlikely to be chance" if p < level else "could be chance"
    said = "p < 0.001" if p < 0.001 else f"p = {number(p)}"
    asked = f", and at this look a claim takes less than {level:.2g}" if level <= p < 1 - CONFIDENCE else ""
    return f"The bias {chance}: {said}{asked}."


def estimate_words(estimate: PeopleEstimate) -> str:
    """What the estimated human score rests on."""
    these, needed = estimate.these, estimate.needed
    if these is None:
        return ""
    if estimate.is_census:
        basis = "People were asked about every item."
    else:
        basis = (
            f"{these.n:,} of {counted(these.population_size, 'item')} are labelled, drawn at random; each "
            "counts one over the probability it was drawn with."
        )
    trust = ""
    if these.lam is not None:
        trust = (
            f"The judge is trusted at {share(these.lam)}: 0% ignores it, 100% takes its mean and corrects it "
            "by the labels."
        )
    if estimate.cases:
        basis += " Several answers to a case count as one."
    outside = ""
    if estimate.left_out:
        verb = "does" if estimate.left_out == 1 else "do"
        outside = f"{counted(estimate.left_out, 'labelled item')} outside the sample {verb} not count."
    more = _labels_needed(these.n, needed)
    people = "" if estimate.like_these is None else estimate.like_these.other_raters_words
    return sentence(basis, these.reason, people, trust, _unanswered(estimate), outside, more, between=" ")


def _labels_needed(labelled: int, needed: LabelsNeeded | None) -> str:
    if needed is None:
        return ""
    if needed.reason:
        # A few items that are all labelled are a pilot to which nothing can be added.
        return "" if needed.labels == labelled else needed.reason
    return (
        "To tell the mean of such cases from one 0.05 away takes about "
        f"{counted(needed.labels or 0, 'random label')} in all."
    )


def _unanswered(estimate: PeopleEstimate) -> str:
    these, like_these = estimate.these, estimate.like_these
    if these is None or like_these is None or not these.missing:
        return ""
    verb = "has" if these.missing == 1 else "have"
    said = f"{counted(these.missing, 'item')} that people were asked about {verb} no answer"
    if these.worst is None:
        return f"{said}."
    ends = f"{interval_text(these.worst, these.best)} of these items"
    if like_these.worst is not None:
        ends += f" and {interval_text(like_these.worst, like_these.best)} of cases like these"
    return f"{said}: with all of them at the bottom or the top the interval would be {ends}."
