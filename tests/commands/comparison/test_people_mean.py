"""`rubricweb compare` says what people would say of all items, and how far missing answers could move it."""

from rubricweb.engine.number_format import interval_text
from rubricweb.selectors.comparison.people_means import estimate_of
from rubricweb.selectors.reviews.queue_sources import Source
from tests.factories import Cast
from tests.worlds.sampled import graded, label, numbered, opened


def test_bounds_of_what_has_no_answer_name_their_populations(people: Cast, at_terminal) -> None:
    run = graded(people, numbered(40), lambda requirement, text: "MET")
    sample = opened(people, run, Source("sample", size=20, seed=4))
    label(sample, people.ann, 16, lambda item, name: "UNMET" if name == "kind" else "MET")
    label(sample, people.ann, 4, lambda item, name: "CANNOT_ASSESS")
    found = estimate_of(run, [sample], viewer=people.bob)
    these, like_these = found.these, found.like_these
    assert these is not None
    assert like_these is not None
    said = " ".join(at_terminal(people.bob)("compare", run.pk).out.split())
    assert (
        "4 items people were asked about have no answer; with all of them worst or best the interval would "
        f"be {interval_text(these.worst, these.best)} over the 40 items of capital answers and "
        f"{interval_text(like_these.worst, like_these.best)} over cases like these."
    ) in said
