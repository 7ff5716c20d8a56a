"""The page of patterns: every component is drawn from examples, without a table being asked."""

import pytest
from django.test import RequestFactory

from rubricweb.web.patterns.views import patterns


@pytest.fixture
def page(rf: RequestFactory) -> str:
    return patterns(rf.get("/patterns/")).content.decode()


@pytest.mark.parametrize(
    "component",
    [
        "chip--option",
        "chip--value",
        "review__check",
        "votes__stage",
        "shares__bar",
        "confusion--options",
        "launch",
    ],
)
def test_every_way_of_answering_has_its_component_on_the_page(page: str, component: str) -> None:
    assert component in page


def test_the_balance_of_a_split_stands_in_rows_of_labels(page: str) -> None:
    assert "Labels in both splits" in page
    assert "5.0%" in page  # MET on 14 of 20 dev items and on 13 of 20 test items: 0.70 − 0.65
