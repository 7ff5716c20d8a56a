"""Texts in scripts that run from right to left begin at the right, beside others that do not."""

import pytest
from django.urls import reverse

from tests import factories
from tests.browser.conftest import Open
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HEBREW = "פריז היא בירת צרפת, והיא שוכנת על נהר הסיין."
ENGLISH = "Paris is the capital of France."

# How far the first line of the last text that holds these words (the submission, not a heading) is from
# both sides of the block it stands in.
SIDES = """words => {
    let sides = null;
    const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const node = walk.currentNode;
        if (!node.data.includes(words) || !node.parentElement.checkVisibility()) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const line = range.getClientRects()[0];
        let block = node.parentElement;
        while (getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
        const { left, right } = block.getBoundingClientRect();
        const { paddingLeft, paddingRight } = getComputedStyle(block);
        sides = [line.left - left - parseFloat(paddingLeft), right - line.right - parseFloat(paddingRight)];
    }
    return sides;
}"""


def test_each_text_begins_at_its_own_side(people: Cast, open_as: Open, violations: list[str]) -> None:
    version = factories.version(people.team, people.ed)
    items = [{"id": "he", "submission": HEBREW}, {"id": "en", "submission": ENGLISH}]
    dataset = factories.dataset(people.team, people.ed, items=items)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    for key, words in (("he", HEBREW[:12]), ("en", ENGLISH[:12])):
        item = dataset.items.get(key=key)
        for name, ids in (("item", [item.pk]), ("run_item", [run.pk, item.pk])):
            page = open_as(people.bob, reverse(name, args=[people.team.slug, *ids]))
            sides = page.evaluate(SIDES, words)
            assert sides is not None, (name, key)
            left, right = sides
            assert (right if key == "he" else left) < 2, (name, key, sides)
            assert (left if key == "he" else right) > 20, (name, key, sides)
    assert violations == []
