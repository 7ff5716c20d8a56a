"""A wide file of labels is mapped in the browser, on a small dark screen too."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from rubricweb.models import Judgement, Rater, ReviewQueue
from tests import factories
from tests.factories import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDE = """answer,Ann: capital,gpt: capital,c2,remarks
good,yes,excellent,0,Short.
bad,no,,1,
ugly,no,no,0,
"""


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_a_wide_file_is_mapped_corrected_and_imported(
    people: Cast,
    page: Page,
    open_as: Callable[..., Page],
    violations: list[str],
    tmp_path: Path,
    width: int,
    scheme: str,
) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    file = tmp_path / "ratings.csv"
    file.write_text(WIDE)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of two words
    open_as(people.ed, f"/t/{people.team.slug}/datasets/{dataset.pk}/labels/")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Rubric version").select_option(str(version.pk))
    page.get_by_role("button", name="Continue").click()
    # Shape and columns were recognised, but for the one whose name says nothing.
    expect(page.get_by_label("Shape")).to_have_value("both")
    expect(page.get_by_label("answer", exact=True)).to_have_value("item_id")
    expect(page.get_by_text("1 row on 1 item that is not in this dataset: ugly")).to_be_visible()
    page.get_by_label("c2", exact=True).select_option("Ann: concise")
    page.get_by_label("excellent", exact=True).select_option("MET")
    page.get_by_role("button", name="Import", exact=True).click()
    # What was just changed is shown first.
    expect(page.get_by_text("The preview is new. Look at it, then import.")).to_be_visible()
    assert not ReviewQueue.objects.exists()
    page.get_by_label("gpt", exact=True).select_option("machine")
    page.get_by_role("button", name="Update the preview").click()
    expect(page.get_by_text("Labels of machines become imported runs")).to_be_visible()
    assert violations == []  # asked before axe, which writes styles of its own
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Left out: 1 row on 1 item that is not in this dataset: ugly.")).to_be_visible()
    queue = ReviewQueue.objects.get()
    assert Judgement.objects.filter(review__queue=queue).count() == 4
    assert Judgement.objects.filter(run__rater__name="gpt").count() == 1
    assert Rater.objects.get(name="gpt").kind == "machine"
